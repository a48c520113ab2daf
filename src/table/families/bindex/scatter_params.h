/* What the programs of `refine=scatter` see (scatter.h). */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_SCATTER_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_SCATTER_PARAMS_H

#include "base/key/codes.h"
#include "base/program/program.h"

enum {
    BINDEX_SCATTER_BLOCK = 3276, /* positions that a launch refines, as in the authors' program */
    BINDEX_SCATTER_VECTORS = 258 /* of a leaf, at most: BINDEX_VECTORS, and as many as there are ends */
};

/* A leaf as rows are compared with it. */
typedef struct bindex_scatter_test {
    const void *data;
    const uint8_t *validity;
    const uint64_t *ends; /* of intervals: low and high of each */
    const void *other;    /* NULL; or compare with this column instead */
    const uint8_t *other_validity;
    uint64_t validity_offset, other_offset;
    uint32_t type, n_intervals, nulls, compare;
} bindex_scatter_test;
kr_assert_size(bindex_scatter_test, 72);

/* Word i of `to`: the rows for which an odd number of these vectors, and of `inverts`, has a 1. */
typedef struct bindex_scatter_words_params {
    const uint32_t *words, *vectors;
    const uint32_t *alive; /* or NULL */
    uint32_t *to;
    uint64_t stride, n_rows;
    uint32_t n_vectors, inverts;
} bindex_scatter_words_params;
kr_assert_size(bindex_scatter_words_params, 56);

/* Writes the truth of the rows at these positions whose codes are low .. high. */
typedef struct bindex_scatter_refine_params {
    const bindex_scatter_test *tests;
    const uint32_t *rows;
    const uint32_t *alive; /* or NULL */
    uint32_t *bitmap;
    uint64_t low, high;
    uint32_t n_tests, test; /* `test`: the one that the rows are in order of */
} bindex_scatter_refine_params;
kr_assert_size(bindex_scatter_refine_params, 56);

/* Clears the bits of rows for which one of the tests does not hold. */
typedef struct bindex_scatter_compare_params {
    const bindex_scatter_test *tests;
    uint32_t *bitmap;
    uint32_t n_tests, reserved;
} bindex_scatter_compare_params;
kr_assert_size(bindex_scatter_compare_params, 24);

/* ---- Making and checking --------------------------------------------------------------------- */

typedef struct bindex_scatter_firsts_params {
    kr_codes codes;
    uint64_t *firsts;
} bindex_scatter_firsts_params;
kr_assert_size(bindex_scatter_firsts_params, 32);

typedef struct bindex_scatter_rows_params {
    const uint32_t *rows;
    uint64_t *found; /* 1 + a position that names no row */
    uint64_t n_rows;
} bindex_scatter_rows_params;
kr_assert_size(bindex_scatter_rows_params, 24);

/* What a check finds wrong: 1 + the position. */
enum { BINDEX_SCATTER_BAD_ORDER, BINDEX_SCATTER_BAD_FIRST, BINDEX_SCATTER_BADS };

typedef struct bindex_scatter_check_params {
    const void *data;
    const uint8_t *validity;
    const uint32_t *rows;
    const uint64_t *firsts;
    uint64_t *found; /* BINDEX_SCATTER_BADS */
    uint64_t validity_offset;
    uint32_t type, reserved;
} bindex_scatter_check_params;
kr_assert_size(bindex_scatter_check_params, 56);

#endif
