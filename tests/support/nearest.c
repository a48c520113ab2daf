#include "nearest.h"

#include <math.h>
#include <stdlib.h>

static int is_nan(kr_type type, const void *value)
{
    return kr_type_is_float(type) && isnan(kr_value_float(type, value));
}

/* high - low, exactly: the largest is 2^64 - 1. */
static uint64_t distance(kr_type type, const void *low, const void *high)
{
    return kr_value_integer(type, high) - kr_value_integer(type, low);
}

static double float_distance(kr_type type, const void *low, const void *high)
{
    return kr_value_compare(type, low, high) == 0 ? 0
                                                  : kr_value_float(type, high) - kr_value_float(type, low);
}

kr_nearest_options kr_test_nearest(const kr_column *keys, kr_rng *rng)
{
    kr_nearest_options made = {.struct_size = sizeof made,
                               .side = (kr_nearest_side)kr_rng_below(rng, 4),
                               .strict = (uint32_t)kr_rng_below(rng, 2),
                               .limited = (uint32_t)kr_rng_below(rng, 2)};
    const void *a = keys->count ? kr_value_at(keys, kr_rng_below(rng, keys->count)) : NULL;
    const void *b = keys->count ? kr_value_at(keys, kr_rng_below(rng, keys->count)) : NULL;
    if (!made.limited || !a)
        return made;
    const int rises = kr_value_compare(keys->type, a, b) <= 0;
    if (kr_type_is_float(keys->type)) {
        const double far = float_distance(keys->type, rises ? a : b, rises ? b : a);
        made.float_tolerance =
            isnan(far) ? kr_rng_below(rng, 2) ? INFINITY : 0 : far / (double)(1 + kr_rng_below(rng, 3));
    } else {
        const uint64_t far = distance(keys->type, rises ? a : b, rises ? b : a) >> kr_rng_below(rng, 3);
        made.tolerance = far > INT64_MAX ? INT64_MAX : (int64_t)far;
    }
    return made;
}

/* Whether an entry may answer, and how much of the tolerance it takes: *far, to compare two of them. */
static int reaches(kr_type type, const void *low, const void *high, const kr_nearest_options *options,
                   long double *far)
{
    const int is_float = kr_type_is_float(type);
    *far = is_float ? (long double)float_distance(type, low, high) : (long double)distance(type, low, high);
    return !options->limited || (is_float ? float_distance(type, low, high) <= options->float_tolerance
                                          : distance(type, low, high) <= (uint64_t)options->tolerance);
}

static uint32_t nearest(const kr_oracle *oracle, const void *probe, const kr_nearest_options *options)
{
    const kr_type type = oracle->keys.type;
    const kr_nearest_side side = options->side ? options->side : KR_NEAREST_BELOW;
    uint64_t first, last;
    long double down = 0, up = 0;
    kr_oracle_span(oracle, probe, probe, &first, &last);
    const uint64_t n_below = options->strict ? first : last, above = options->strict ? last : first;
    const void *low = n_below ? kr_value_at(&oracle->keys, oracle->at[n_below - 1]) : NULL;
    const void *high = above < oracle->n ? kr_value_at(&oracle->keys, oracle->at[above]) : NULL;
    int has_low = low && side != KR_NEAREST_ABOVE && !is_nan(type, low);
    int has_high = high && side != KR_NEAREST_BELOW && !is_nan(type, high);
    has_low = has_low && reaches(type, low, probe, options, &down);
    has_high = has_high && reaches(type, probe, high, options, &up);
    if (has_low && (!has_high || down <= up))
        return oracle->rows[n_below - 1];
    return has_high ? oracle->rows[above] : KR_NO_ROW;
}

uint32_t *kr_oracle_nearest(const kr_oracle *oracle, const kr_column *probes,
                            const kr_nearest_options *options)
{
    uint32_t *rows = kr_test_calloc(probes->count, sizeof *rows);
    for (uint64_t i = 0; i < probes->count; ++i)
        rows[i] = kr_value_is_valid(probes, i) && !is_nan(probes->type, kr_value_at(probes, i))
                      ? nearest(oracle, kr_value_at(probes, i), options)
                      : KR_NO_ROW;
    return rows;
}

/* Point lookups of row ids in a column of row ids. */
kr_answer kr_oracle_answer_rows(const kr_oracle *oracle, const uint32_t *rows, uint64_t n,
                                const kr_question *question)
{
    const kr_column ids = {.type = KR_U32, .count = oracle->n, .data = oracle->rows};
    const kr_column wanted = {.type = KR_U32, .count = n, .data = rows};
    kr_oracle by_row = kr_oracle_make(&ids, oracle->rows);
    const kr_answer answer = kr_oracle_answer(&by_row, &wanted, NULL, question);
    kr_oracle_free(&by_row);
    return answer;
}

/* ---- As-of joins --------------------------------------------------------------------------------- */

static int has_time(const kr_column *times, uint64_t row)
{
    return kr_value_is_valid(times, row) && !is_nan(times->type, kr_value_at(times, row));
}

static int same_group(const kr_asof_sides *s, uint64_t i, uint64_t j)
{
    for (uint32_t k = 0; k < s->n_by; ++k)
        if (!kr_value_is_valid(&s->left_by[k], i) || !kr_value_is_valid(&s->right_by[k], j) ||
            kr_value_compare(s->left_by[k].type, kr_value_at(&s->left_by[k], i),
                             kr_value_at(&s->right_by[k], j)) != 0)
            return 0;
    return 1;
}

static uint32_t asof_row(const kr_asof_sides *s, uint64_t i, const kr_nearest_options *options)
{
    const kr_type type = s->left->type;
    const kr_nearest_side side = options->side ? options->side : KR_NEAREST_BELOW;
    const void *time = kr_value_at(s->left, i);
    uint32_t below = KR_NO_ROW, above = KR_NO_ROW;
    long double down = 0, up = 0;
    for (uint64_t j = 0; j < s->right->count; ++j) {
        if (!has_time(s->right, j) || !same_group(s, i, j))
            continue;
        const void *other = kr_value_at(s->right, j);
        const int order = kr_value_compare(type, other, time);
        if ((order < 0 || (order == 0 && !options->strict)) &&
            (below == KR_NO_ROW || kr_value_compare(type, other, kr_value_at(s->right, below)) >= 0))
            below = (uint32_t)j;
        if ((order > 0 || (order == 0 && !options->strict)) &&
            (above == KR_NO_ROW || kr_value_compare(type, other, kr_value_at(s->right, above)) < 0))
            above = (uint32_t)j;
    }
    const int has_below = below != KR_NO_ROW && side != KR_NEAREST_ABOVE &&
                          reaches(type, kr_value_at(s->right, below), time, options, &down);
    const int has_above = above != KR_NO_ROW && side != KR_NEAREST_BELOW &&
                          reaches(type, time, kr_value_at(s->right, above), options, &up);
    return has_below && (!has_above || down <= up) ? below : has_above ? above : KR_NO_ROW;
}

uint32_t *kr_oracle_asof(const kr_asof_sides *sides, const kr_nearest_options *options)
{
    uint32_t *rows = kr_test_calloc(sides->left->count, sizeof *rows);
    for (uint64_t i = 0; i < sides->left->count; ++i)
        rows[i] = has_time(sides->left, i) ? asof_row(sides, i, options) : KR_NO_ROW;
    return rows;
}

kr_pairs kr_oracle_asof_join(const uint32_t *rows, uint64_t n_left, kr_join_type type)
{
    kr_pairs result = {0};
    result.pairs = kr_test_calloc(n_left, sizeof *result.pairs);
    for (uint64_t i = 0; i < n_left; ++i) {
        const int found = rows[i] != KR_NO_ROW;
        if (type != KR_JOIN_LEFT && found == (type == KR_JOIN_ANTI))
            continue;
        result.pairs[result.n][0] = (uint32_t)i;
        result.pairs[result.n++][1] = type == KR_JOIN_SEMI ? KR_NO_ROW : rows[i];
    }
    return result;
}
