#include "predicates.h"

static uint32_t values_of(kr_rng *rng, kr_compare compare)
{
    return compare == KR_IS_NULL   ? 0
           : compare == KR_BETWEEN ? 2
           : compare == KR_IN      ? 1 + (uint32_t)kr_rng_below(rng, KR_PREDICATE_VALUES)
                                   : 1;
}

kr_predicate kr_predicate_make(const kr_column *columns, kr_rng *rng, uint32_t column)
{
    const kr_column *of = columns + column;
    kr_predicate p = {.column = column, .compare = (kr_compare)(KR_LESS + (int)kr_rng_below(rng, 9))};
    p.n = values_of(rng, p.compare);
    for (uint64_t i = 0; i < p.n; ++i) {
        const uint64_t bits = of->count && kr_rng_below(rng, 4)
                                  ? kr_value_bits(of->type, kr_value_at(of, kr_rng_below(rng, of->count)))
                                  : kr_value_extreme(of->type, kr_rng_below(rng, 40));
        kr_value_store_bits(of->type, p.values, i, bits);
    }
    return p;
}

uint32_t kr_predicates_make(const kr_column *columns, uint32_t n_columns, kr_rng *rng,
                            kr_predicate *predicates)
{
    uint32_t n = 0;
    while (!n)
        for (uint32_t c = 0; c < n_columns; ++c)
            if (kr_rng_below(rng, 3))
                predicates[n++] = kr_predicate_make(columns, rng, c);
    return n;
}

static int value_holds(const kr_column *of, const kr_predicate *p, uint64_t row)
{
    const kr_column values = {.type = of->type, .count = p->n, .data = p->values};
    const void *value = kr_value_at(of, row);
    int by[KR_PREDICATE_VALUES];
    for (uint64_t i = 0; i < p->n; ++i)
        by[i] = kr_value_compare(of->type, value, kr_value_at(&values, i));
    switch (p->compare) {
    case KR_LESS: return by[0] < 0;
    case KR_LESS_EQUAL: return by[0] <= 0;
    case KR_GREATER: return by[0] > 0;
    case KR_GREATER_EQUAL: return by[0] >= 0;
    case KR_EQUAL: return by[0] == 0;
    case KR_NOT_EQUAL: return by[0] != 0;
    case KR_BETWEEN: return by[0] >= 0 && by[1] <= 0;
    default:
        for (uint64_t i = 0; i < p->n; ++i)
            if (by[i] == 0)
                return 1;
        return 0;
    }
}

int kr_predicate_holds(const kr_column *columns, const kr_predicate *p, uint64_t row)
{
    const kr_column *of = columns + p->column;
    const int is_value = kr_value_is_valid(of, row);
    return p->compare == KR_IS_NULL ? !is_value : is_value && value_holds(of, p, row);
}

kr_status kr_predicates_condition(const kr_column *columns, const char *const *names,
                                  const kr_predicate *predicates, uint32_t n, kr_condition **condition,
                                  kr_error *err)
{
    kr_condition *parts[16] = {NULL};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        const kr_predicate *p = predicates + i;
        const kr_column values = {.type = columns[p->column].type, .count = p->n, .data = p->values};
        status = kr_condition_compare(names[p->column], p->compare, &values, parts + i, err);
    }
    if (status == KR_OK)
        status = kr_condition_and((const kr_condition *const *)parts, n, condition, err);
    for (uint32_t i = 0; i < n; ++i)
        kr_condition_destroy(parts[i]);
    return status;
}
