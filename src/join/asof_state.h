/* An as-of join under way, and three ways to search it that asof.c picks from. */
#ifndef KEYRAY_JOIN_ASOF_STATE_H
#define KEYRAY_JOIN_ASOF_STATE_H

#include "join/keys.h"

/* The columns of a side are the groups and, last, the times. */
typedef struct asof {
    keyed keys;
    kr_nearby near;  /* of times */
    uint32_t *rows;  /* the right row of each left row, or KR_NO_ROW */
    uint32_t merged; /* 1: no index was built */
} asof;

static inline const kr_column *asof_times(const asof *a, const keys_side *side)
{
    return &side->columns[a->keys.n_equal].column;
}

/* a->rows := the nearer one of the rows below and above that are near enough; NULL: that side is not wanted.
 */
void asof_choose_rows(asof *a, const uint32_t *below, const uint32_t *above);

/* Fills a->rows; takes keys of any width, in more steps than one key of all columns. */
void asof_ranked(asof *a);

/* By reading both sides once, where times ascend and have no NULLs and groups are few enough for a table;
 * else returns 0. For CPUs. */
int asof_sweep(asof *a);

/* By a merge, where both columns ascend and have no NULLs; else returns 0. For CPUs. */
int asof_merge_u32(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near);
int asof_merge_u64(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near);

#endif
