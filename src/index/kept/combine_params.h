/* What the programs of combine_body.h get. */
#ifndef KEYRAY_INDEX_KEPT_COMBINE_PARAMS_H
#define KEYRAY_INDEX_KEPT_COMBINE_PARAMS_H

#include "index/results/params.h"
#include <keyray/keyray.h>

typedef struct combine_params {
    reduce_params into;      /* op, type, out and any: one of each probe */
    const uint64_t *offsets; /* the stops of each probe */
    const void *answers;     /* of each stop */
    const uint8_t *flags;    /* EXISTS, MIN and MAX: likewise */
} combine_params;
kr_assert_size(combine_params, 184);

typedef struct shift_params {
    uint32_t *rows;
    uint64_t first;
} shift_params;
kr_assert_size(shift_params, 16);

#endif
