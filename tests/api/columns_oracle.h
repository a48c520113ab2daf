/* Random tables of several columns, and what lookups in an index over them must answer, by comparing every
 * row. */
#ifndef KEYRAY_TESTS_API_COLUMNS_ORACLE_H
#define KEYRAY_TESTS_API_COLUMNS_ORACLE_H

#include "../support/random.h"
#include "check.h"

#include <math.h>

enum { COLUMNS_MOST = 8, ROWS_MOST = 240, PROBES_MOST = 90 };

__extension__ typedef __int128 wide_integer;
__extension__ typedef unsigned __int128 wide_distance;

/* A table, of which any column may have NULLs. */
typedef struct sample {
    kr_column columns[COLUMNS_MOST];
    uint32_t n_columns;
    uint64_t n;
    uint64_t bits[COLUMNS_MOST][ROWS_MOST]; /* element i of 8 bytes or fewer is at its own width */
    uint8_t validity[COLUMNS_MOST][ROWS_MOST / 8 + 2];
    uint32_t row_ids[ROWS_MOST];
} sample;

static int is_float_type(kr_type type)
{
    return type == KR_F32 || type == KR_F64;
}

static int is_valid(const kr_column *column, uint64_t i)
{
    const uint64_t bit = column->validity_offset + i;
    return !column->validity || (column->validity[bit / 8] >> bit % 8 & 1);
}

static wide_integer integer_of(const kr_column *c, uint64_t i)
{
    switch (c->type) {
    case KR_U8: return ((const uint8_t *)c->data)[i];
    case KR_I8: return ((const int8_t *)c->data)[i];
    case KR_U16: return ((const uint16_t *)c->data)[i];
    case KR_I16: return ((const int16_t *)c->data)[i];
    case KR_U32: return ((const uint32_t *)c->data)[i];
    case KR_U64: return ((const uint64_t *)c->data)[i];
    case KR_I64:
    case KR_TIMESTAMP64: return ((const int64_t *)c->data)[i];
    default: return ((const int32_t *)c->data)[i];
    }
}

static double float_of(const kr_column *c, uint64_t i)
{
    return c->type == KR_F32 ? (double)((const float *)c->data)[i] : ((const double *)c->data)[i];
}

/* NaN is the largest, and equals NaN. */
static int compare(const kr_column *a, uint64_t i, const kr_column *b, uint64_t j)
{
    if (!is_float_type(a->type)) {
        const wide_integer x = integer_of(a, i), y = integer_of(b, j);
        return (x > y) - (x < y);
    }
    const double x = float_of(a, i), y = float_of(b, j);
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

/* Whether two values are no farther apart than the options allow; *distance is how far. */
static int reaches(const kr_column *a, uint64_t i, const kr_column *b, uint64_t j,
                   const kr_nearest_options *options, double *far, wide_distance *distance)
{
    if (!is_float_type(a->type)) {
        const wide_integer gap = integer_of(a, i) - integer_of(b, j);
        *distance = (wide_distance)(gap < 0 ? -gap : gap);
        *far = 0;
        return !options->limited || *distance <= (uint64_t)options->tolerance;
    }
    const double x = float_of(a, i), y = float_of(b, j);
    *distance = 0;
    *far = x == y ? 0 : fabs(x - y);
    return !options->limited || *far <= options->float_tolerance;
}

/* ---- Random tables -------------------------------------------------------------------------------- */

static const double float_pool[] = {0.0, -0.0, 1.5, -2.25, 1e300, -1e300, 3.0, 1e-300, 7.0, 1e10};

/* `spread`: 0 a few values, 1 hundreds, 2 anything, of which a few come often. */
static uint64_t random_bits(kr_rng *rng, kr_type type, int spread, uint64_t base)
{
    uint64_t bits = base + kr_rng_below(rng, spread == 0 ? 6 : 700);
    if (spread == 2)
        bits = kr_rng_below(rng, 2) ? kr_rng_split(base, kr_rng_below(rng, 8)) : kr_rng_next(rng);
    if (!is_float_type(type))
        return bits;
    double value = spread == 2   ? float_pool[kr_rng_below(rng, 10)]
                   : spread == 1 ? (double)(int64_t)kr_rng_below(rng, 600) / 8 - 30
                                 : (double)kr_rng_below(rng, 6) - 2;
    if (spread == 2 && !kr_rng_below(rng, 8))
        value = kr_rng_below(rng, 2)   ? (double)NAN
                : kr_rng_below(rng, 2) ? (double)INFINITY
                                       : -(double)INFINITY;
    if (type == KR_F32) {
        const float narrow = (float)value;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    } else {
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

static void put(sample *s, uint32_t j, uint64_t i, uint64_t bits)
{
    const uint32_t width = kr_type_nbytes(s->columns[j].type);
    memcpy((char *)s->bits[j] + i * width, &bits, width);
}

/* The shape of a table, which probes and more rows have in common. */
typedef struct shape {
    uint32_t n_columns;
    kr_type types[COLUMNS_MOST];
    int spreads[COLUMNS_MOST];
    uint64_t bases[COLUMNS_MOST];
    int nulls; /* a bit for each column that has some */
} shape;

static shape random_shape(kr_rng *rng, uint32_t n_columns, int most_spread)
{
    shape of = {.n_columns = n_columns, .nulls = (int)(kr_rng_below(rng, 2) ? kr_rng_below(rng, 256) : 0)};
    for (uint32_t j = 0; j < n_columns; ++j) {
        of.types[j] = (kr_type)(KR_U8 + kr_rng_below(rng, KR_TIMESTAMP64 - KR_U8 + 1));
        of.spreads[j] = (int)kr_rng_below(rng, (uint64_t)most_spread + 1);
        of.bases[j] = kr_rng_below(rng, 3) ? kr_rng_next(rng) : (uint64_t)-3;
    }
    return of;
}

static void random_sample(kr_rng *rng, const shape *of, uint64_t n, sample *s)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->n_columns = of->n_columns;
    for (uint32_t j = 0; j < of->n_columns; ++j) {
        const uint64_t offset = kr_rng_below(rng, 8);
        s->columns[j] = (kr_column){.type = of->types[j], .count = n, .data = s->bits[j]};
        if (of->nulls >> j & 1) {
            s->columns[j].validity = s->validity[j];
            s->columns[j].validity_offset = offset;
        }
        for (uint64_t i = 0; i < n; ++i) {
            put(s, j, i, random_bits(rng, of->types[j], of->spreads[j], of->bases[j]));
            if (kr_rng_below(rng, 12))
                s->validity[j][(offset + i) / 8] |= (uint8_t)(1 << (offset + i) % 8);
        }
    }
    for (uint64_t i = 0; i < n; ++i)
        s->row_ids[i] = (uint32_t)((i * 7919 + 13) % 100003);
}

/* ---- What is asked ---------------------------------------------------------------------------------- */

typedef struct question {
    const sample *rows;
    const uint32_t *ids; /* of the rows, NULL: 0, 1, 2, ... */
    const sample *probes;
    uint32_t n_columns;
    const kr_column *upper;
    const kr_nearest_options *nearest;
} question;

static uint32_t id_of(const question *q, uint64_t row)
{
    return q->ids ? q->ids[row] : (uint32_t)row;
}

/* By all columns from `first` on, then by row id. */
static int compare_rows(const question *q, uint32_t first, uint64_t a, uint64_t b)
{
    for (uint32_t j = first; j < q->rows->n_columns; ++j) {
        const int order = compare(&q->rows->columns[j], a, &q->rows->columns[j], b);
        if (order)
            return order;
    }
    return (id_of(q, a) > id_of(q, b)) - (id_of(q, a) < id_of(q, b));
}

static int is_indexed(const sample *rows, uint64_t row)
{
    int whole = 1;
    for (uint32_t j = 0; j < rows->n_columns; ++j)
        whole &= is_valid(&rows->columns[j], row);
    return whole;
}

/* The row equals the probe in the first n columns. */
static int is_equal(const question *q, uint64_t row, uint64_t probe, uint32_t n)
{
    int same = is_indexed(q->rows, row);
    for (uint32_t j = 0; j < n; ++j)
        same = same && is_valid(&q->probes->columns[j], probe) &&
               compare(&q->rows->columns[j], row, &q->probes->columns[j], probe) == 0;
    return same;
}

/* Of a nearest value: the row on one side, or ROWS_MOST. */
static uint64_t neighbour(const question *q, uint64_t probe, int below, double *far, wide_distance *distance)
{
    const uint32_t last = q->n_columns - 1;
    const kr_column *values = &q->rows->columns[last], *probes = &q->probes->columns[last];
    uint64_t best = ROWS_MOST;
    if (!is_valid(probes, probe) || (is_float_type(probes->type) && isnan(float_of(probes, probe))))
        return best;
    for (uint64_t row = 0; row < q->rows->n; ++row) {
        double this_far;
        wide_distance gap;
        if (!is_equal(q, row, probe, last) || (is_float_type(values->type) && isnan(float_of(values, row))))
            continue;
        const int order = compare(values, row, probes, probe);
        if ((below ? order > 0 : order < 0) || (q->nearest->strict && order == 0) ||
            !reaches(values, row, probes, probe, q->nearest, &this_far, &gap))
            continue;
        const int better = best == ROWS_MOST ? 1 : compare_rows(q, last, row, best);
        if (best != ROWS_MOST && (below ? better < 0 : better > 0))
            continue;
        best = row;
        *far = this_far;
        *distance = gap;
    }
    return best;
}

static uint64_t nearest_row(const question *q, uint64_t probe)
{
    const kr_nearest_side side = q->nearest->side;
    double down_far = 0, up_far = 0;
    wide_distance down = 0, up = 0;
    const uint64_t below = side == KR_NEAREST_ABOVE ? ROWS_MOST : neighbour(q, probe, 1, &down_far, &down);
    const uint64_t above = side == KR_NEAREST_EITHER || side == KR_NEAREST_ABOVE
                               ? neighbour(q, probe, 0, &up_far, &up)
                               : ROWS_MOST;
    if (below == ROWS_MOST || above == ROWS_MOST)
        return below == ROWS_MOST ? above : below;
    return down < up || (down == up && down_far <= up_far) ? below : above;
}

/* Lists the rows that answer a probe, in the order of the columns, and returns how many there are. */
static __attribute__((unused)) uint64_t answers_of(const question *q, uint64_t probe,
                                                   uint64_t list[ROWS_MOST])
{
    const uint32_t last = q->n_columns - 1;
    uint64_t n = 0;
    if (q->nearest) {
        list[0] = nearest_row(q, probe);
        return list[0] != ROWS_MOST;
    }
    for (uint64_t row = 0; row < q->rows->n; ++row) {
        int found = is_equal(q, row, probe, q->upper ? last : last + 1);
        if (q->upper)
            found = found && is_valid(&q->probes->columns[last], probe) && is_valid(q->upper, probe) &&
                    compare(&q->rows->columns[last], row, &q->probes->columns[last], probe) >= 0 &&
                    compare(&q->rows->columns[last], row, q->upper, probe) <= 0;
        if (!found)
            continue;
        uint64_t at = n++;
        for (; at > 0 && compare_rows(q, 0, list[at - 1], row) > 0; --at)
            list[at] = list[at - 1];
        list[at] = row;
    }
    return n;
}

#endif
