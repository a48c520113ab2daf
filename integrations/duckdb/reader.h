/* Columns of a table by its name, read by a second connection, which sees what is committed. */
#ifndef KEYRAY_DUCKDB_READER_H
#define KEYRAY_DUCKDB_READER_H

#include "registry.h"

/* A query's rows, chunk by chunk, for any number of threads. */
typedef struct reader {
    duckdb_result result;
    pthread_mutex_t mutex;
    int is_open, is_done;
} reader;

/* SELECT row, column, ... FROM table. Names may be quoted ("a b") and have a schema (s.t); `columns` are
 * names between commas: of one the column itself, of several, or if `as_struct`, one struct of them. `last`
 * is one more column, or NULL. */
typedef struct reading {
    const char *table, *row, *columns, *last;
    int as_struct;
} reading;

kr_status reader_open(reader *opened, registry *with, const reading *what, kr_error *err);
/* The next chunk, which the caller destroys; NULL: that was the last. */
duckdb_data_chunk reader_next(reader *of);
void reader_close(reader *closed);
/* KR_ERR_ARGUMENT: one of n rows of the table is NULL. */
kr_status check_row_ids(duckdb_vector rows, idx_t n, const char *table, kr_error *err);

/* A whole table: its rows, and a column for each of the columns. */
typedef struct whole {
    column rows, columns[COLUMNS_MOST];
    uint32_t n_columns;
} whole;
/* Reads row, then each of the columns apart. */
kr_status whole_read(whole *read, registry *with, const reading *what, kr_error *err);
void whole_free(whole *freed);

#endif
