#include "kinds/kind.h"

#include <stdio.h>
#include <string.h>

#define KR_KIND(name) extern const kr_kind kr_kind_##name;
#include "kinds/kinds.def"
#undef KR_KIND

#define KR_KIND(name) &kr_kind_##name,
static const kr_kind *const kinds[] = {
#include "kinds/kinds.def"
};

const kr_kind *kr_kind_at(uint32_t ordinal)
{
    return ordinal < sizeof kinds / sizeof kinds[0] ? kinds[ordinal] : NULL;
}

static const char *words_of(uint32_t capability)
{
    switch (capability) {
    case KR_CAN_POINT: return "answers no point lookups";
    case KR_CAN_RANGE: return "answers no range lookups";
    case KR_CAN_NEAREST: return "finds no nearest keys";
    case KR_CAN_UPDATE: return "cannot insert and delete rows";
    default: return "cannot give rows other keys";
    }
}

kr_status kr_kind_check(const kr_kind *kind, uint32_t capability, kr_error *err)
{
    char able[256] = "";
    if (kind->capabilities & capability)
        return KR_OK;
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        const kr_kind *other = kr_kind_at(i);
        const int by_option = capability == KR_CAN_UPDATE && other->updates_with;
        const size_t used = strlen(able);
        if (other->capabilities & capability)
            snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "",
                     by_option ? other->updates_with : other->name);
    }
    return kr_fail(err, KR_ERR_UNSUPPORTED, "kind '%s' %s; create the index with a kind that can: %s",
                   kind->name, words_of(capability), able);
}
