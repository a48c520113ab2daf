/* Parameters of validate_simd_width_body.h. */
#ifndef KEYRAY_INDEX_SORTED_VALIDATE_PARAMS_H
#define KEYRAY_INDEX_SORTED_VALIDATE_PARAMS_H

#include "base/program/program.h"

/* Codes in one array, row ids in another, or rows NULL: consecutive. */
typedef struct check_dense_params {
    const void *keys;
    const void *rows;
    uint64_t *found; /* KR_ORDER_* */
    uint64_t n;
} check_dense_params;
kr_assert_size(check_dense_params, 32);

#endif
