#include "index/kinds/kind.h"

#include <stdio.h>
#include <string.h>

void kr_kind_list(char *text, size_t text_nbytes)
{
    text[0] = '\0';
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        kr_text_append(text, text_nbytes, i ? ";" : "");
        kr_text_append(text, text_nbytes, kr_kind_at(i)->name);
    }
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
    if (!able[0]) {
        kr_kind_list(able, sizeof able);
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "kind '%s' %s, and this build has no kind that can: KEYRAY_KINDS lists %s; build with "
                       "more kinds",
                       kind->name, words_of(capability), able);
    }
    return kr_fail(err, KR_ERR_UNSUPPORTED, "kind '%s' %s; create the index with a kind that can: %s",
                   kind->name, words_of(capability), able);
}
