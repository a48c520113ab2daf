/* Codes of one dictionary become those of another; texts that have no code. */
#ifndef KEYRAY_INDEX_TEXTS_CODES_BODY_H
#define KEYRAY_INDEX_TEXTS_CODES_BODY_H

#include "index/texts/strings.h"

/* codes[i] := map[codes[i]]; those that are none, from n on, become KR_NO_ROW, so that they are none of the
 * other dictionary, either. */
typedef struct texts_recode_params {
    const uint32_t *map;
    uint32_t *codes;
    uint64_t n;
} texts_recode_params;
kr_assert_size(texts_recode_params, 24);

KR_BODY void texts_recode_row(const texts_recode_params *p, uint64_t i)
{
    const uint32_t code = p->codes[i];
    p->codes[i] = code < p->n ? kr_load(p->map + code) : KR_NO_ROW;
}
KR_MAP_PROGRAM(texts_recode, texts_recode_params, texts_recode_row);

/* *missing becomes the number of rows, less the first that is not NULL and has none of the n_codes codes; 0:
 * there is none. */
typedef struct texts_missing_params {
    const uint32_t *codes;
    const uint8_t *validity;
    uint64_t validity_offset, n;
    uint64_t n_codes;
    uint64_t *missing;
} texts_missing_params;
kr_assert_size(texts_missing_params, 48);

KR_BODY void texts_missing_row(const texts_missing_params *p, uint64_t i)
{
    if (kr_load(p->codes + i) >= p->n_codes && kr_code_is_valid(p->validity, p->validity_offset, i))
        kr_atomic_max64(p->missing, p->n - i);
}
KR_MAP_PROGRAM(texts_missing, texts_missing_params, texts_missing_row);

/* to[i] := from[i] + base */
typedef struct texts_shift_params {
    const uint64_t *from;
    uint64_t *to;
    uint64_t base;
} texts_shift_params;
kr_assert_size(texts_shift_params, 24);

KR_BODY void texts_shift_row(const texts_shift_params *p, uint64_t i)
{
    p->to[i] = kr_load(p->from + i) + p->base;
}
KR_MAP_PROGRAM(texts_shift, texts_shift_params, texts_shift_row);

#endif
