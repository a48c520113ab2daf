/* The levels of a pivot buffer and the parameters of a lookup, as host code and bodies see them.
 *
 * The sorted entries are cut into leaves of `leaf` entries. k leaves lie under a node of k - 1 slots, k nodes
 * under a node of the next level, and so on up to one node. Slot i of level l holds the last key of leaf k^l
 * (1 + i + i / (k - 1)) - 1. If that is the last entry of all or lies behind it, the slot holds the largest
 * code: searches count keys below a bound, so they never count it. With t levels cut off at the bottom, k^t
 * leaves take the place of one. */
#ifndef KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_PARAMS_H

#include "index/kinds/lookup_program.h"
#include "index/results/params.h"
#include "index/sorted/entries.h"

enum { PIVOT_LEVELS = 32 };

typedef struct pivot_shape {
    uint32_t k;
    uint32_t leaf;     /* 2 if k = 2, else k - 1: as many entries as a node has slots */
    uint32_t leaves;   /* under a slot of the lowest level that is kept: k^t */
    uint32_t n_levels; /* kept */
    uint32_t n_slots;
    uint32_t reserved;
    uint32_t starts[PIVOT_LEVELS]; /* first slot of each level, the lowest level first; the topmost has 0 */
} pivot_shape;
kr_assert_size(pivot_shape, 152);

typedef struct pivot_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
    kr_entries entries;
    const void *pivots; /* kr_key[shape.n_slots] */
    pivot_shape shape;
} pivot_params;
kr_assert_size(pivot_params, 336);

typedef struct pivot_sum_params {
    pivot_params search; /* its put.what is KR_PUT_ROW: searches end at the first entry */
    reduce_params how;
} pivot_sum_params;
kr_assert_size(pivot_sum_params, 496);

/* The parameters of building and checking the levels. */
typedef struct pivot_build_params {
    kr_entries entries;
    void *pivots;
    uint64_t *found; /* when checking: one more than the largest slot that holds something else */
    pivot_shape shape;
} pivot_build_params;
kr_assert_size(pivot_build_params, 200);

#endif
