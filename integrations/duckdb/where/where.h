/* keyray_where('t') on version 2 of DuckDB's C API, which hands the predicates of a WHERE to the function. */
#ifndef KEYRAY_DUCKDB_WHERE_H
#define KEYRAY_DUCKDB_WHERE_H

#include "../fail.h"
#include "../share.h"
#define DUCKDB_V2_API_ALLOW_UNSTABLE 1 /* so this is for one version of DuckDB, which the footer names */
#include "duckdb_extension_v2.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN

/* What the functions of one database have in common. */
typedef struct shared_state {
    const share *with;
    pthread_mutex_t mutex;
    struct asking *first;     /* all that are bound */
    uint64_t tickets, secret; /* how many were given; where they begin */
} shared_state;

/* A column of the table, or the row. */
typedef struct asked_column {
    char *name;                   /* as conditions call it; NULL: the row */
    const char *sql;              /* its type, a static text */
    DUCKDB_V2_LOGICAL_TYPE_ID id; /* in SQL */
    kr_type type;
    kr_unit unit;
    uint32_t column; /* of the table */
} asked_column;

/* One call of keyray_where in one plan: DuckDB's bind data. */
typedef struct asking {
    shared_state *state;
    struct asking *next, *before;
    uint64_t ticket;
    char *name;
    uint32_t n_columns;
    asked_column *columns; /* the row, then those of the table */
    uint32_t n_conditions;
    kr_condition **conditions; /* rows that are given satisfy all of them */
    int is_row_unused;         /* the query does not name the row: DuckDB asks for it to count */
} asking;

/* Makes a failure of the call that has `to`, unless it has one. */
void refuse(duckdb_v2_error_info_handle *to, DUCKDB_V2_ERROR code, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

static inline duckdb_v2_identifier_t text_of(const char *text)
{
    return (duckdb_v2_identifier_t){text, strlen(text)};
}

/* 1: it has that column, of the same type. */
int is_column_of(const share *with, const shared_table *table, const asked_column *of);
/* Bind data is made by the bind callback, and taken by the others. */
void bind_where(duckdb_v2_function_bind_info_handle info, duckdb_v2_table_function_bind_info_handle result,
                duckdb_v2_context_handle context, duckdb_v2_error_info_handle *err);
void push_where(duckdb_v2_table_function_filter_pushdown_info_handle info, duckdb_v2_context_handle context,
                duckdb_v2_error_info_handle *err);
/* 1: a ticket that was given. Under the mutex. */
int is_ticket(const shared_state *of, uint64_t ticket);
/* Sets what hands over rows. 0: DuckDB refused it. */
int set_reading(duckdb_v2_table_function_handle function, duckdb_v2_error_info_handle *err);

/* How a condition answers a predicate. */
typedef enum exactness {
    LEFT,  /* not at all: DuckDB's alone */
    WIDER, /* no row is missing, but DuckDB must look at what is given */
    EXACT
} exactness;

/* What the translation of a predicate needs. */
typedef struct translation {
    const asking *of;
    duckdb_v2_table_function_filter_pushdown_info_handle info;
} translation;

/* The condition of a predicate that is not LEFT; the caller destroys it. */
exactness translate(const translation *of, duckdb_v2_expression_handle predicate, kr_condition **condition);

/* Values of one column, written as kr_condition_compare takes them. */
typedef struct constants {
    const asked_column *column;
    kr_type type;
    uint64_t n;
    void *data;
    uint8_t *validity;
    char *bytes;
    uint64_t n_bytes;
} constants;

/* 0: a type that keyray has not, or no memory. */
int constants_open(constants *opened, DUCKDB_V2_LOGICAL_TYPE_ID type, uint64_t room);
/* 0: the value is of another type. NULL is a value. */
int constants_add(constants *to, DUCKDB_V2_LOGICAL_TYPE_ID type, duckdb_v2_value_handle value);
int constants_add_text(constants *to, const char *text, uint64_t nbytes);
kr_column constants_view(const constants *of);
void constants_close(constants *closed);

#endif
