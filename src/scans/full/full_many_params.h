/* The parameters of the program that answers many conditions at once. */
#ifndef KEYRAY_SCANS_FULL_FULL_MANY_PARAMS_H
#define KEYRAY_SCANS_FULL_FULL_MANY_PARAMS_H

#include "program/program.h"

/* Conditions of a launch, columns that they may have together, and bytes of all their intervals. A group
 * takes eight words of every bitmap at a time. */
enum { FULL_MANY = 64, FULL_MANY_COLUMNS = 4, FULL_MANY_NBYTES = 2048, FULL_MANY_WORDS = 8 };

typedef struct full_many_column {
    const void *data;
    const uint8_t *validity; /* or NULL */
    uint32_t validity_offset, type;
} full_many_column;
kr_assert_size(full_many_column, 24);

typedef struct full_many_params {
    uint32_t *bitmaps[FULL_MANY];
    const uint32_t *alive; /* or NULL */
    uint64_t n;            /* rows */
    full_many_column columns[FULL_MANY_COLUMNS];
    uint32_t n_columns, n_conditions;
    /* base and span of each column for condition 0, then for condition 1, ...; of the key width. A column
     * that a condition does not name has all values. */
    uint64_t intervals[FULL_MANY_NBYTES / sizeof(uint64_t)];
    uint8_t uses[FULL_MANY]; /* bit c: the condition names column c */
    uint32_t has_nulls;      /* 1: a column has validity */
    uint32_t from_zero;      /* 1: every base is 0 */
} full_many_params;
kr_assert_size(full_many_params, 2752);

#endif
