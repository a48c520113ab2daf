/* What the programs of spread_width_body.h get. */
#ifndef KEYRAY_INDEX_KEPT_SPREAD_PARAMS_H
#define KEYRAY_INDEX_KEPT_SPREAD_PARAMS_H

#include "index/kinds/batch.h"

/* As KEPT_*. */
enum { SPREAD_LOWEST, SPREAD_SECOND, SPREAD_LAST_BUT_ONE, SPREAD_HIGHEST, SPREAD_ENDS };

typedef struct spread_params {
    kr_batch batch;
    const void *ends;      /* kr_key[SPREAD_ENDS][n_parts] */
    uint64_t *offsets;     /* stops of each probe; then those of the probes before it */
    void *parts;           /* kr_key: of each stop */
    uint32_t *probes;      /* of each stop */
    const uint32_t *order; /* the stop at each place */
    void *lower, *upper;   /* kr_key: of each place */
    uint32_t n_parts;
    uint32_t is_empty; /* 1: the index has no entries */
} spread_params;
kr_assert_size(spread_params, 144);

#endif
