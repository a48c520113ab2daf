/* Parameters of count_simd_body.h. */
#ifndef KEYRAY_INDEX_TEXTS_COUNT_PARAMS_H
#define KEYRAY_INDEX_TEXTS_COUNT_PARAMS_H

#include "index/texts/layers.h"

typedef struct texts_count_params {
    kr_strings probes, texts;
    const uint64_t *slices; /* with their levels */
    const texts_run *runs;
    const texts_mark *marks;
    uint32_t *counts;
    uint64_t *bad;
    uint64_t starts[KR_TEXTS_LEVELS + 1];
    uint32_t which; /* KR_COUNT_BELOW ... */
    uint32_t n;
    uint32_t missing; /* the count of a row that is NULL or broken */
    uint32_t reserved;
} texts_count_params;
kr_assert_size(texts_count_params, 128 + 40 + 8 * (KR_TEXTS_LEVELS + 1) + 16);

#endif
