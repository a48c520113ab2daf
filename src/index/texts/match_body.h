/* Texts that a pattern of LIKE matches. */
#ifndef KEYRAY_INDEX_TEXTS_MATCH_BODY_H
#define KEYRAY_INDEX_TEXTS_MATCH_BODY_H

#include "index/texts/strings.h"

typedef struct texts_match_params {
    kr_strings texts;
    const uint16_t *pattern; /* bytes, KR_STRINGS_ANY, KR_STRINGS_ONE */
    uint8_t *matched;        /* 1: text first + i matches */
    uint64_t n_pattern, first;
} texts_match_params;
kr_assert_size(texts_match_params, 96);

/* From each % on the rest is looked for as early as can be: an earlier % need not be tried again. */
KR_BODY int texts_match_like(const uint16_t *pattern, uint64_t n, kr_strings_text text)
{
    uint64_t at = 0, i = 0, star = n + 1, resume = 0; /* star: behind the last %; n + 1: there was none */
    for (;;) {
        if (i < n && pattern[i] == KR_STRINGS_ANY) {
            star = ++i;
            resume = at;
        } else if (at >= text.n) {
            return i == n;
        } else if (i < n && (pattern[i] == KR_STRINGS_ONE || pattern[i] == text.bytes[at])) {
            at = pattern[i] == KR_STRINGS_ONE ? kr_strings_next(text, at) : at + 1;
            ++i;
        } else if (star > n) {
            return 0;
        } else {
            at = resume = kr_strings_next(text, resume);
            i = star;
        }
    }
}

KR_BODY void texts_match_one(const texts_match_params *p, uint64_t i)
{
    const kr_strings_text text = kr_strings_get(&p->texts, p->first + i);
    p->matched[i] = (uint8_t)texts_match_like(p->pattern, p->n_pattern, text);
}
KR_MAP_PROGRAM(texts_match, texts_match_params, texts_match_one);

#endif
