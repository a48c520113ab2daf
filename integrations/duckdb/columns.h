/* Columns that grow: what an aggregate has seen, what a query gave, probes in the type of an index. */
#ifndef KEYRAY_DUCKDB_COLUMNS_H
#define KEYRAY_DUCKDB_COLUMNS_H

#include "types.h"

typedef struct column {
    column_type type;
    uint64_t count;
    void *data;        /* values; of texts count + 1 int64_t offsets */
    uint64_t room;     /* rows that data has memory for */
    uint8_t *validity; /* a bit for each row of room; NULL: no row is NULL */
    char *bytes;       /* of texts */
    uint64_t n_bytes, bytes_room;
} column;

/* The name of the type becomes the column's. */
void column_init(column *made, const column_type *type);
void column_free(column *freed);
/* Forgets the rows, keeps the memory. */
void column_clear(column *cleared);

/* Rows first to first + n of a flat vector of this very type. KR_ERR_HOST_MEMORY. */
kr_status column_append(column *grown, duckdb_vector vector, idx_t first, idx_t n, kr_error *err);
/* The same of values of a type that goes with the column's (conversion_check). */
kr_status column_convert(column *grown, const column_type *from, duckdb_vector vector, idx_t first, idx_t n,
                         rounding round, uint64_t *n_rounded, kr_error *err);
/* The rows of a column of the same type. */
kr_status column_concat(column *grown, const column *other, kr_error *err);

/* Row i becomes what row from[i] was. */
kr_status column_reorder(column *moved, const uint32_t *from, kr_error *err);

int column_is_null(const column *of, uint64_t row);
/* Goes on from `seed` with the value, which texts of other bytes and numbers of other bits change. */
uint64_t column_hash(const column *of, uint64_t row, uint64_t seed);
/* A view that lives until the column grows. */
kr_column column_view(const column *of);
/* n rows of it from `first` on. */
kr_column column_slice(const column *of, uint64_t first, uint64_t n);

#endif
