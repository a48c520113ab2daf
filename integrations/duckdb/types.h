/* Types of DuckDB as types of keyray, and values of one type as values of another. */
#ifndef KEYRAY_DUCKDB_TYPES_H
#define KEYRAY_DUCKDB_TYPES_H

#include "duck.h"
#include "fail.h"

enum { COLUMNS_MOST = 8 }; /* of an index; of a table there may be more */

/* What a column of an index or a table is, in SQL and here. */
typedef struct column_type {
    duckdb_type sql;
    kr_type type;
    kr_unit unit; /* of timestamps */
    char *name;   /* the field of a struct that it was; NULL: it was no field */
} column_type;

/* "WHO: what the error says", whole characters of UTF-8 only: DuckDB's clients refuse others. */
enum { MESSAGE_NBYTES = 640 };
void put_message(char message[MESSAGE_NBYTES], const char *who, const kr_error *err);

/* A copy that the caller frees of a text without a 0, at which the library would end it. `what` names it. */
kr_status take_text(span of, const char *what, char **copy, kr_error *err);

/* The name of a type in SQL, for errors. */
const char *sql_name(duckdb_type type);

/* KR_ERR_TYPE says which types there are and what to write instead. The name is NULL. */
kr_status column_type_of(duckdb_type sql, column_type *type, kr_error *err);
/* The type in SQL of a column that SQL did not make, as of a file that the command wrote. */
duckdb_type sql_type_of(kr_type type, kr_unit unit);
int is_text(const column_type *type);
/* Of a column with room for values of this type; 0 of texts. */
uint32_t value_nbytes(const column_type *type);

/* What becomes of a value that the other type has not. */
typedef enum rounding {
    ROUND_NONE, /* it equals nothing */
    ROUND_UP,   /* the next one above: of a lower bound */
    ROUND_DOWN  /* the next one below: of an upper bound */
} rounding;

/* Values of one type as another's; without a value where there is none. */
typedef struct conversion {
    const column_type *to;
    rounding round;
    uint64_t n_rounded; /* += values that were changed or have none */
} conversion;

/* KR_ERR_TYPE says which cast helps. */
kr_status conversion_check(const column_type *from, const column_type *to, kr_error *err);
/* 1: values are taken as they are. */
int is_same_type(const column_type *one, const column_type *other);
/* The value at `from`; 0: there is none. */
int convert(conversion *job, const column_type *from, const void *value, void *converted);

#endif
