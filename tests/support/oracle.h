/* The right answers: a sorted array of a column's rows, compared by value. Shares only the public header with
 * the library. */
#ifndef KEYRAY_TESTS_ORACLE_H
#define KEYRAY_TESTS_ORACLE_H

#include "columns.h"

typedef struct kr_oracle {
    kr_column keys;
    uint64_t n;     /* rows that are not NULL */
    uint32_t *rows; /* the row ids in (key, row id) order */
    uint32_t *at;   /* and their positions in the column */
} kr_oracle;

/* The column must stay. `row_ids` NULL: positions. */
kr_oracle kr_oracle_make(const kr_column *keys, const uint32_t *row_ids);
void kr_oracle_free(kr_oracle *oracle);

/* Entries first .. last - 1 match lower .. upper. */
void kr_oracle_span(const kr_oracle *oracle, const void *lower, const void *upper, uint64_t *first,
                    uint64_t *last);

/* What a sink asks for. */
typedef struct kr_question {
    const char *name;
    kr_result result;
    uint32_t order;
    const kr_column *values;
    uint64_t limit;
} kr_question;

typedef struct kr_answer {
    uint64_t n; /* probes */
    void *out;
    uint8_t *valid;
    uint32_t *rows;
    uint64_t n_rows, capacity; /* of rows */
} kr_answer;

/* SUM, SUM_WIDE, MIN and MAX. */
int kr_result_has_values(kr_result result);
/* The shape of kr_sink.out. */
kr_type kr_answer_type(const kr_question *question); /* of its elements; EXISTS: u8 */
uint64_t kr_answer_length(kr_result result, uint64_t n);
uint64_t kr_answer_nbytes(const kr_question *question, uint64_t n);

/* `upper` NULL: point lookups of `lower`. */
kr_answer kr_oracle_answer(const kr_oracle *oracle, const kr_column *lower, const kr_column *upper,
                           const kr_question *question);
void kr_answer_free(kr_answer *answer);

/* 0 when both are the same; else 1 and the first difference in `text`. */
int kr_answer_differs(const kr_question *question, const kr_answer *want, const kr_answer *got, char *text,
                      size_t text_nbytes);

/* Pairs of a join, (left row, right row), sorted by both; semi and anti: left rows. */
typedef struct kr_pairs {
    uint64_t n;
    uint32_t (*pairs)[2];
} kr_pairs;

/* `upper` NULL: equality with `lower`. */
kr_pairs kr_oracle_join(const kr_column *left, const kr_column *lower, const kr_column *upper,
                        kr_join_type type);
void kr_pairs_sort(kr_pairs *pairs);

#endif
