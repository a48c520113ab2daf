/* Random comparisons of columns with values, and which rows they hold for, by the definition. */
#ifndef KEYRAY_TESTS_PREDICATES_H
#define KEYRAY_TESTS_PREDICATES_H

#include "random.h"
#include "values.h"

enum { KR_PREDICATE_VALUES = 6 };

typedef struct kr_predicate {
    uint32_t column;
    kr_compare compare;
    uint64_t n;
    uint64_t values[KR_PREDICATE_VALUES]; /* as a column of the type */
} kr_predicate;

/* A comparison with values, most of them of the column. */
kr_predicate kr_predicate_make(const kr_column *columns, kr_rng *rng, uint32_t column);
/* Of up to n_columns columns, at least one. Returns how many. */
uint32_t kr_predicates_make(const kr_column *columns, uint32_t n_columns, kr_rng *rng,
                            kr_predicate *predicates);
int kr_predicate_holds(const kr_column *columns, const kr_predicate *p, uint64_t row);
/* All of n predicates, at most 16. */
kr_status kr_predicates_condition(const kr_column *columns, const char *const *names,
                                  const kr_predicate *predicates, uint32_t n, kr_condition **condition,
                                  kr_error *err);

#endif
