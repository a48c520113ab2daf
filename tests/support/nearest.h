/* The right answers of kr_index_nearest and of as-of joins. */
#ifndef KEYRAY_TESTS_NEAREST_H
#define KEYRAY_TESTS_NEAREST_H

#include "oracle.h"

/* The side, strictness and tolerance by chance; distances of two keys are likely tolerances. */
kr_nearest_options kr_test_nearest(const kr_column *keys, kr_rng *rng);

/* A row id or KR_NO_ROW for each probe; the caller frees them. */
uint32_t *kr_oracle_nearest(const kr_oracle *oracle, const kr_column *probes,
                            const kr_nearest_options *options);

/* The answers to a question about these rows of an index: a lookup whose only match is the row. */
kr_answer kr_oracle_answer_rows(const kr_oracle *oracle, const uint32_t *rows, uint64_t n,
                                const kr_question *question);

/* Columns of an as-of join. */
typedef struct kr_asof_sides {
    const kr_column *left, *right, *left_by, *right_by;
    uint32_t n_by;
} kr_asof_sides;

/* The right row of each left row, or KR_NO_ROW: nested loops. The caller frees them. */
uint32_t *kr_oracle_asof(const kr_asof_sides *sides, const kr_nearest_options *options);
/* The rows of such a join, as kr_oracle_join has them. */
kr_pairs kr_oracle_asof_join(const uint32_t *rows, uint64_t n_left, kr_join_type type);

#endif
