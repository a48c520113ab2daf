/* Joins by sorting and merging, on a CPU: sides that ascend are read in turn, and no index is built. In joins
 * on equal values only the left side has to ascend: a right side in no order is sorted first, which is less
 * work than to index and search it.
 *
 * Equality: the partners of a left key are the right rows from the first key >= it to the last key <= it.
 * Ranges: if both bounds ascend, its partners are the rows from the first upper bound >= it to the last lower
 * bound <= it. So one program serves both: equality is the range join whose bounds are one column.
 *
 * A side with a validity bitmap does not count as one that ascends: its NULL rows have values of any size.
 * Right and full joins are not merged. */
#ifndef KEYRAY_JOIN_SORT_MERGE_H
#define KEYRAY_JOIN_SORT_MERGE_H

#include "join/pairs.h"

/* Merges the sides, fills *join but for spec, device and costs, and returns 1, if the device is a CPU and all
 * columns ascend, or the left one does and may_sort(ctx), which is then asked, says 1. Else the time it took
 * to find that out is in the work's watch. Blocks. */
int kr_join_sort_merge(kr_work *work, const kr_join_job *job, int (*may_sort)(void *ctx), void *ctx,
                       kr_join *join);

/* Whether the first n rows of a column, of which none is NULL, ascend, and whether they are distinct besides
 * (`distinct` may be NULL). For CPUs. Blocks. */
int kr_join_ascends(kr_work *work, const kr_column *column, uint64_t n, int *distinct);

/* ---- Programs, once per width of codes and instruction set (sort_merge_simd_width.c) ---------------- */

/* Over the rows of a column. */
typedef struct join_order_params {
    const void *data;
    uint64_t *falls;   /* not 0 afterwards: some row is below the one before */
    uint64_t *repeats; /* not 0: some row is equal to the one before */
    uint64_t n, type;
} join_order_params;
kr_assert_size(join_order_params, 40);

/* Over pieces of `each` left rows. `counts` has the results of each piece. Programs that make at most one
 * result of a left row write from the place of the piece's first row on; the others from counts[piece] on,
 * and counts[piece + 1] is where the piece ends. */
typedef struct join_merge_params {
    const void *left, *lower, *upper; /* equality: lower and upper are the right side, perhaps sorted codes */
    uint32_t *left_rows, *right_rows;
    uint64_t *counts;
    uint64_t each, n_left, n_right;
    uint32_t type, right_type;
    uint32_t single;  /* 1: equality, and one partner is enough: keys are distinct, or only rows are wanted */
    uint32_t outer;   /* 1: left rows without a partner make a pair, too */
    uint32_t without; /* join_merge_rows: 1: left rows without a partner, 0: with one */
    uint32_t reserved;
} join_merge_params;
kr_assert_size(join_merge_params, 96);

extern const kr_program join_order_u32, join_order_u64;
extern const kr_program join_merge_rows_u32, join_merge_rows_u64;     /* left rows */
extern const kr_program join_merge_single_u32, join_merge_single_u64; /* pairs, at most one of a left row */
extern const kr_program join_merge_count_u32, join_merge_count_u64;   /* how many pairs */
extern const kr_program join_merge_pairs_u32, join_merge_pairs_u64;

#endif
