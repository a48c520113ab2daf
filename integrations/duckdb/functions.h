/* What the files register: each takes a hold on the registry for each of its functions. */
#ifndef KEYRAY_DUCKDB_FUNCTIONS_H
#define KEYRAY_DUCKDB_FUNCTIONS_H

#include "registry.h"

/* The functions of one connection; the first error of any is kept. */
typedef struct registering {
    duckdb_connection connection;
    registry *with;
    const char *failed; /* the name of a function that DuckDB refused, or NULL */
} registering;

/* A scalar function. Volatile, so that DuckDB computes nothing while it
 * plans. It sees NULLs. */
typedef struct scalar {
    const char *name;
    const char *arguments; /* a letter each: 'a' any type, 't' VARCHAR */
    duckdb_type returns;   /* DUCKDB_TYPE_LIST: of BIGINT */
    duckdb_scalar_function_t call;
} scalar;
void register_scalars(registering *job, const scalar *functions, uint32_t n);

/* An aggregate of VARCHAR and `parameters`, which ends with DUCKDB_TYPE_INVALID. */
typedef struct aggregate {
    const char *name;
    duckdb_type parameters[6];
    duckdb_aggregate_update_t update;
    duckdb_aggregate_finalize_t finalize;
} aggregate;

/* A table function: its parameters and its named ones end with DUCKDB_TYPE_INVALID and NULL. */
typedef struct named_parameter {
    const char *name;
    duckdb_type type;
} named_parameter;
typedef struct table_function {
    const char *name;
    duckdb_type parameters[7];
    named_parameter named[7];
    duckdb_table_function_bind_t bind;
    duckdb_table_function_init_t init, init_local; /* init_local: NULL: none */
    duckdb_table_function_t call;
    int projects; /* 1: it is told which columns are asked for */
} table_function;
void register_table_functions(registering *job, const table_function *functions, uint32_t n);

void register_builds(registering *job);
void register_lookups(registering *job);
void register_joins(registering *job);
void register_overlaps(registering *job);
void register_scans(registering *job);
void register_files(registering *job);
void register_facts(registering *job);
/* What where/ finds this extension by. */
void register_share(registering *job);
/* FROM 'x.krx' becomes FROM keyray_read('x.krx'). */
void register_replacement(duckdb_database database, registry *with);

#endif
