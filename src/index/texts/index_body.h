/* All codes of a dictionary. */
#ifndef KEYRAY_INDEX_TEXTS_INDEX_BODY_H
#define KEYRAY_INDEX_TEXTS_INDEX_BODY_H

#include "base/program/program.h"

/* codes[i] := i */
typedef struct texts_all_params {
    uint32_t *codes;
} texts_all_params;
kr_assert_size(texts_all_params, 8);

KR_BODY void texts_all_code(const texts_all_params *p, uint64_t i)
{
    p->codes[i] = (uint32_t)i;
}
KR_MAP_PROGRAM(texts_all, texts_all_params, texts_all_code);

/* *wrong becomes one more than the last i whose codes[i] is not i. */
typedef struct texts_same_params {
    const uint32_t *codes;
    uint64_t *wrong;
} texts_same_params;
kr_assert_size(texts_same_params, 16);

KR_BODY void texts_same_code(const texts_same_params *p, uint64_t i)
{
    if (kr_load(p->codes + i) != (uint32_t)i)
        kr_atomic_max64(p->wrong, i + 1);
}
KR_MAP_PROGRAM(texts_same, texts_same_params, texts_same_code);

#endif
