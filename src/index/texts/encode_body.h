/* Which rows have a code; those that have none get one that exists, so that programs may count on codes. */
#ifndef KEYRAY_INDEX_TEXTS_ENCODE_BODY_H
#define KEYRAY_INDEX_TEXTS_ENCODE_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

typedef struct texts_known_params {
    uint32_t *codes;
    uint8_t *flags;
} texts_known_params;
kr_assert_size(texts_known_params, 16);

KR_BODY void texts_known_row(const texts_known_params *p, uint64_t i)
{
    const uint32_t code = p->codes[i];
    p->flags[i] = code != KR_NO_ROW;
    p->codes[i] = code == KR_NO_ROW ? 0 : code;
}
KR_MAP_PROGRAM(texts_known, texts_known_params, texts_known_row);

/* Of codes of a caller, which stay as they are. */
typedef struct texts_present_params {
    const uint32_t *codes;
    const uint8_t *validity;
    uint64_t validity_offset;
    uint8_t *flags;
} texts_present_params;
kr_assert_size(texts_present_params, 32);

KR_BODY void texts_present_row(const texts_present_params *p, uint64_t i)
{
    p->flags[i] = kr_load(p->codes + i) != KR_NO_ROW && kr_code_is_valid(p->validity, p->validity_offset, i);
}
KR_MAP_PROGRAM(texts_present, texts_present_params, texts_present_row);

#endif
