/* Codes that hashes led to are compared with the texts that they stand for; of long texts the lengths, and
 * the rest by texts_long_verify. */
#ifndef KEYRAY_INDEX_TEXTS_FIND_BODY_H
#define KEYRAY_INDEX_TEXTS_FIND_BODY_H

#include "index/texts/strings.h"

typedef struct texts_verify_params {
    kr_strings probes, texts;
    uint32_t *codes;
} texts_verify_params;
kr_assert_size(texts_verify_params, 136);

typedef struct texts_verify_state {
    uint32_t code;
} texts_verify_state;

KR_BODY int texts_verify_begin(const texts_verify_params *p, uint64_t i, texts_verify_state *s)
{
    s->code = p->codes[i];
    if (s->code == KR_NO_ROW)
        return 0;
    if (p->texts.each) {
        kr_strings_ask_bytes(&p->texts, s->code, 0, UINT32_MAX);
        return 0;
    }
    kr_strings_ask(&p->texts, s->code);
    return 1;
}

KR_BODY int texts_verify_step(const texts_verify_params *p, texts_verify_state *s)
{
    kr_strings_ask_bytes(&p->texts, s->code, 0, UINT32_MAX);
    return 0;
}

KR_BODY void texts_verify_end(const texts_verify_params *p, uint64_t i, texts_verify_state *s)
{
    if (s->code != KR_NO_ROW &&
        !kr_strings_seem_equal(kr_strings_get(&p->probes, i), kr_strings_get(&p->texts, s->code)))
        p->codes[i] = KR_NO_ROW;
}
KR_PROBE_PROGRAM_AHEAD(texts_verify, texts_verify_params, texts_verify_state, texts_verify_begin,
                       texts_verify_step, texts_verify_end);

#endif
