/* Texts that a pattern of LIKE matches. */
#ifndef KEYRAY_INDEX_TEXTS_MATCH_BODY_H
#define KEYRAY_INDEX_TEXTS_MATCH_BODY_H

#include "index/texts/strings.h"

typedef struct texts_match_params {
    kr_strings texts;
    const uint8_t *pattern;
    uint8_t *matched; /* 1: text first + i matches */
    uint64_t n_pattern, first;
} texts_match_params;
kr_assert_size(texts_match_params, 96);

/* Where the next character begins. A byte that begins no sequence of UTF-8 is a character of its own. */
KR_BODY uint64_t texts_match_next(kr_strings_text text, uint64_t at)
{
    const int is_first = text.bytes[at] >= 0xC0;
    ++at;
    while (is_first && at < text.n && (text.bytes[at] & 0xC0) == 0x80)
        ++at;
    return at;
}

/* From each % on the rest is looked for as early as can be: an earlier % need not be tried again. */
KR_BODY int texts_match_like(const uint8_t *pattern, uint64_t n, kr_strings_text text)
{
    uint64_t at = 0, i = 0, star = n + 1, resume = 0; /* star: behind the last %; n + 1: there was none */
    for (;;) {
        if (i < n && pattern[i] == '%') {
            star = ++i;
            resume = at;
        } else if (at >= text.n) {
            return i == n;
        } else if (i < n && (pattern[i] == '_' || pattern[i] == text.bytes[at])) {
            at = pattern[i] == '_' ? texts_match_next(text, at) : at + 1;
            ++i;
        } else if (star > n) {
            return 0;
        } else {
            at = resume = texts_match_next(text, resume);
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
