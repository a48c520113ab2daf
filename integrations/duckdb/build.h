/* What aggregates collect: columns of keys, or of a table, with rows and values. */
#ifndef KEYRAY_DUCKDB_BUILD_H
#define KEYRAY_DUCKDB_BUILD_H

#include "registry.h"

typedef struct builder {
    char *name, *spec;
    column *columns;
    uint32_t n_columns;
    int is_struct;
    column rows;   /* BIGINT */
    column values; /* BIGINT or DOUBLE; type 0: there are none */
} builder;

/* Where the arguments of an aggregate are; -1: it has none of these. */
typedef struct arguments {
    int key, row, spec, value;
} arguments;

/* Rows first to first + n of a chunk; makes the builder when it is NULL. */
kr_status builder_take(builder **taken, duckdb_data_chunk chunk, const arguments *at, idx_t first, idx_t n,
                       kr_error *err);
/* Adds a copy of what `from` has, or nothing of NULL: a window of DuckDB reads `from` more than once. */
kr_status builder_combine(builder **into, const builder *from, kr_error *err);
void builder_free(builder *freed);
contents builder_contents(const builder *of);

/* Makes an index, or a table, under the builder's name, and empties the builder. */
kr_status builder_make_index(builder *of, registry *in, int replace, uint64_t *n_rows, kr_error *err);
kr_status builder_make_table(builder *of, registry *in, int replace, uint64_t *n_rows, kr_error *err);

#endif
