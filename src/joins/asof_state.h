/* An as-of join under way, and two ways to search it that asof.c picks from. */
#ifndef KEYRAY_JOINS_ASOF_STATE_H
#define KEYRAY_JOINS_ASOF_STATE_H

#include "joins/keys.h"

/* The columns of a side are the groups and, last, the times. */
typedef struct asof {
    keyed keys;
    kr_nearby near;  /* of times */
    kr_buffer rows;  /* uint32_t[left rows]: the right row of each, or KR_NO_ROW */
    uint32_t merged; /* 1: no index was built */
} asof;

static inline const kr_column *asof_times(const asof *a, const keys_side *side)
{
    return &side->columns[a->keys.n_equal].column;
}

/* Fills a->rows; takes keys of any width, in more steps than one key of all columns. */
kr_status asof_ranked(asof *a, kr_error *err);

/* By a merge, where both columns ascend and have no NULLs; *done says whether. For CPUs. */
kr_status asof_merge_u32(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near,
                         int *done, kr_error *err);
kr_status asof_merge_u64(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near,
                         int *done, kr_error *err);

#endif
