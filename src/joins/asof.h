/* As-of joins: each left row gets the right row whose time is nearest, among the right rows of its group. */
#ifndef KEYRAY_JOINS_ASOF_H
#define KEYRAY_JOINS_ASOF_H

#include "joins/keys.h"

/* A checked join. */
typedef struct kr_asof_job {
    kr_device *device;
    const char *spec;
    const kr_column *left, *right;       /* times */
    const kr_column *left_by, *right_by; /* n_by columns of each side, at most KR_BY_MOST */
    uint32_t n_by;
    kr_nearby near; /* of times */
    kr_join_type type;
} kr_asof_job;

/* Fills join->left, right and info. Blocks. */
kr_status kr_asof_run(const kr_asof_job *job, kr_join *join, kr_error *err);

/* ---- What the files of as-of joins share ----------------------------------------------------- */

/* A join under way. Its columns are the groups and, last, the times. */
typedef struct asof {
    keyed keys;
    const kr_asof_job *job;
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
