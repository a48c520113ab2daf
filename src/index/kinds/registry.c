/* The kinds of this build: those of kinds.def. A build with KEYRAY_KINDS has a kinds.def of its own, in which
 * the kinds that it leaves out are KR_LEFT_OUT(name). */
#include "index/kinds/kind.h"

#include <stddef.h>

#define KR_LEFT_OUT(name)
#define KR_KIND(name) extern const kr_kind kr_kind_##name;
#include "index/kinds/kinds.def"
#undef KR_KIND

#define KR_KIND(name) &kr_kind_##name,
static const kr_kind *const kinds[] = {
#include "index/kinds/kinds.def"
};
#undef KR_KIND
#undef KR_LEFT_OUT

#define KR_KIND(name)
#define KR_LEFT_OUT(name) #name,
static const char *const left_out[] = {
#include "index/kinds/kinds.def"
    NULL};

const kr_kind *kr_kind_at(uint32_t ordinal)
{
    return ordinal < sizeof kinds / sizeof kinds[0] ? kinds[ordinal] : NULL;
}

const char *kr_kind_left_out_at(uint32_t ordinal)
{
    return ordinal < sizeof left_out / sizeof left_out[0] ? left_out[ordinal] : NULL;
}
