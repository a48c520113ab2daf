/* Probes of SQL in the types of an index, and the calls of the library that one column and several take. */
#ifndef KEYRAY_DUCKDB_PROBES_H
#define KEYRAY_DUCKDB_PROBES_H

#include "registry.h"

/* What is asked of an index. */
typedef struct question {
    int is_range;   /* 1: `upper` has upper bounds of the last column */
    int is_nearest; /* 1: the nearest key, as `nearest` says */
    kr_nearest_options nearest;
} question;

/* Columns that are as long as a batch; of several columns of keys the first n_columns. */
typedef struct probes {
    const item *of;
    question asked;
    column_type from[COLUMNS_MOST + 1];
    column lower[COLUMNS_MOST], upper;
    uint32_t n_columns;
    uint64_t n_rounded;
} probes;

/* "below", "above", "either", or an operator between key and probe: "<=", "<", ">=", ">". */
kr_status question_of_side(span side, question *asked, kr_error *err);

/* Probes of the types that `lower` and `upper` (NULL: none) have; the name is what errors call the item. */
kr_status probes_init(probes *made, const item *of, const question *asked, duckdb_vector lower,
                      duckdb_vector upper, kr_error *err);
/* n rows of vectors of those types. */
kr_status probes_add(probes *grown, duckdb_vector lower, duckdb_vector upper, idx_t first, idx_t n,
                     kr_error *err);
/* KR_ERR_TYPE: a tolerance of the other kind than the keys of an index or a table. */
kr_status probes_check_tolerance(const char *name, const column_type *key, const kr_nearest_options *nearest,
                                 kr_error *err);
void probes_clear(probes *cleared);
void probes_free(probes *freed);
uint64_t probes_count(const probes *of);

/* n answers from probe `first` on. */
kr_status probes_answer(const probes *of, uint64_t first, uint64_t n, const kr_sink *sink, kr_error *err);
/* All rows of each of *n probes: offsets, one more than probes, and row ids in *rows, which the caller frees.
 * Where there are more than `most` row ids, *n becomes less, but not 0. */
kr_status probes_rows(const probes *of, uint64_t first, uint64_t *n, uint64_t most, uint64_t *offsets,
                      uint32_t **rows, kr_error *err);

#endif
