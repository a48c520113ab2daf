/* What every file of the extension uses of DuckDB's C extension API, version 1 from v1.2.0 on. */
#ifndef KEYRAY_DUCKDB_DUCK_H
#define KEYRAY_DUCKDB_DUCK_H

#include "duckdb_extension.h"

#include <keyray/keyray.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN

/* A text that someone else owns; it need not end with 0. */
typedef struct span {
    const char *data;
    size_t nbytes;
} span;

static inline span text_at(duckdb_vector vector, idx_t row)
{
    duckdb_string_t *strings = duckdb_vector_get_data(vector);
    return (span){duckdb_string_t_data(strings + row), duckdb_string_t_length(strings[row])};
}

static inline int is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity && !duckdb_validity_row_is_valid(validity, row);
}

static inline void set_null(duckdb_vector vector, idx_t row)
{
    duckdb_vector_ensure_validity_writable(vector);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), row);
}

static inline duckdb_type type_of(duckdb_vector vector)
{
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    const duckdb_type id = duckdb_get_type_id(type);
    duckdb_destroy_logical_type(&type);
    return id;
}

/* A copy that the caller frees; NULL: no memory. */
static inline char *copy_text(span of)
{
    char *made = malloc(of.nbytes + 1);
    if (made) {
        memcpy(made, of.data, of.nbytes);
        made[of.nbytes] = 0;
    }
    return made;
}

#endif
