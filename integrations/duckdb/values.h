/* The values of a table's columns, for SQL. */
#ifndef KEYRAY_DUCKDB_VALUES_H
#define KEYRAY_DUCKDB_VALUES_H

#include "registry.h"

/* A column in host memory; of texts codes, and the dictionary. */
typedef struct value_column {
    column_type type;
    kr_column codes;
    void *copied, *copied_validity; /* of a column on a GPU */
    const kr_texts *texts;
} value_column;

/* Column c of a table that stays meanwhile. */
kr_status value_column_open(value_column *opened, const item *of, uint32_t c, kr_error *err);
void value_column_close(value_column *closed);
/* Values of n row ids. */
kr_status value_column_write(const value_column *of, const uint32_t *rows, idx_t n, duckdb_vector to,
                             kr_error *err);

#endif
