/* Arguments of table functions. */
#ifndef KEYRAY_DUCKDB_ARGUMENTS_H
#define KEYRAY_DUCKDB_ARGUMENTS_H

#include "functions.h"
#include "probes.h"

/* A parameter by its place; NULL (with an error of DuckDB's call): it is NULL. The caller frees it. */
char *argument_at(duckdb_bind_info info, idx_t at, const char *what);
/* A named parameter; NULL: it was not given. The caller frees it. */
char *argument_named(duckdb_bind_info info, const char *name);
/* side, tolerance and float_tolerance of as-of joins; without a side: below. */
kr_status nearest_named(duckdb_bind_info info, question *asked, kr_error *err);
/* `otherwise` if it was not given. */
int flag_named(duckdb_bind_info info, const char *name, int otherwise);

/* inner, left, semi or anti; NULL: inner. KR_ERR_ARGUMENT. */
kr_status join_type_of(const char *how, kr_join_type *type, kr_error *err);
static inline int gives_pairs(kr_join_type type)
{
    return type == KR_JOIN_INNER || type == KR_JOIN_LEFT;
}
void add_column(duckdb_bind_info info, const char *name, duckdb_type type);

/* Zeroed memory that free releases; NULL, with an error of DuckDB's call: there is none. */
void *bind_memory(duckdb_bind_info info, size_t nbytes, const char *name);
void *init_memory(duckdb_init_info info, size_t nbytes, const char *name);

/* Ends a bind: with an error, after which `made` is released, or with the columns of pairs and `made` as its
 * data. */
void end_bind(duckdb_bind_info info, const char *name, kr_join_type type, void *made,
              duckdb_delete_callback_t release, kr_status status, const kr_error *err);

/* NAME: what the error says. */
void refuse_bind(duckdb_bind_info info, const char *name, const kr_error *err);
void refuse_init(duckdb_init_info info, const char *name, const kr_error *err);
void refuse_call(duckdb_function_info info, const char *name, const kr_error *err);
/* As many as DuckDB has. */
idx_t threads_of(registry *of);

#endif
