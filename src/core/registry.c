#include "core/family.h"

#define KR_FAMILY(name) extern const kr_family kr_family_##name;
#include "core/families.def"
#undef KR_FAMILY

#define KR_FAMILY(name) &kr_family_##name,
static const kr_family *const families[] = {
#include "core/families.def"
};

const kr_family *kr_family_at(uint32_t ordinal)
{
    return ordinal < sizeof families / sizeof families[0] ? families[ordinal] : NULL;
}
