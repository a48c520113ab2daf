#include "columns.h"

#include <stdio.h>
#include <stdlib.h>

void *kr_test_calloc(uint64_t n, uint64_t each)
{
    void *memory = calloc(n ? n : 1, each ? each : 1);
    if (!memory) {
        fprintf(stderr, "the test itself ran out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- Where keys lie -------------------------------------------------------------------------------- */

static _Thread_local kr_keys_lie keys_lie;

kr_keys_lie kr_test_keys_lie(kr_keys_lie where)
{
    const kr_keys_lie before = keys_lie;
    keys_lie = where;
    return before;
}

kr_keys_lie kr_test_keys_lie_now(void)
{
    return keys_lie;
}

/* The ends of the type become those of the window. */
uint64_t kr_test_near_code(kr_type type, uint64_t code)
{
    const uint64_t n = KR_NEAR_VALUES, bits = 8 * kr_type_nbytes(type), most = UINT64_MAX >> (64 - bits);
    const uint64_t middle = kr_type_is_signed(type) ? (UINT64_C(1) << (bits - 1)) - n / 2 : 0;
    const uint64_t base = keys_lie == KR_KEYS_AT_ZERO  ? middle
                          : keys_lie == KR_KEYS_AT_END ? most - n + 1
                                                       : 0;
    if (keys_lie == KR_KEYS_ANYWHERE || bits < 32 || kr_type_is_float(type) ||
        (code >= base && code - base < n))
        return code;
    return base + (code < n / 2 ? code : most - code < n / 2 ? n - 1 - (most - code) : code % n);
}

/* These lie behind each other from 0 on, however many there are. */
static int lies_near(kr_pattern pattern)
{
    const int from_zero = pattern == KR_PATTERN_DENSE || pattern == KR_PATTERN_ASCENDING ||
                          pattern == KR_PATTERN_DESCENDING || pattern == KR_PATTERN_DUPLICATES;
    return keys_lie == KR_KEYS_ANYWHERE || pattern == KR_PATTERN_SUMMABLE ||
           (keys_lie == KR_KEYS_AT_ZERO && from_zero);
}

static void store_near(kr_type type, void *data, uint64_t row)
{
    const kr_column column = {.type = type, .data = data};
    const uint64_t code = kr_value_code(type, kr_value_at(&column, row)),
                   near = kr_test_near_code(type, code);
    if (near != code)
        kr_value_store_bits(type, data, row, kr_value_of_code(type, near));
}

/* ---- Patterns -------------------------------------------------------------------------------------- */

/* Each of 23, 23 and 18 bits at an end of its axis, beside one, or in the middle. */
static uint64_t corner(kr_rng *rng)
{
    static const uint8_t bits[] = {23, 23, 18};
    uint64_t key = 0;
    for (uint32_t axis = 3; axis-- > 0;) {
        const uint64_t size = UINT64_C(1) << bits[axis];
        const uint64_t places[] = {0, 0, 1, size / 2, size - 2, size - 1, size - 1};
        key = key << bits[axis] | places[kr_rng_below(rng, sizeof places / sizeof places[0])];
    }
    return key;
}

/* Mostly the last key of a row or of a plane. */
static uint64_t end_of_row(kr_rng *rng)
{
    const uint64_t most = (1 << 23) - 1, x[] = {most, most, most, most, 0, most - 1, 1};
    const uint64_t y[] = {0, 1, most}, z[] = {0, 1, (1 << 18) - 1};
    return z[kr_rng_below(rng, 3)] << 46 | y[kr_rng_below(rng, 3)] << 23 |
           x[kr_rng_below(rng, sizeof x / sizeof x[0])];
}

/* Keys where float32 coordinates of 23, 23 and 18 bits end, and their neighbours. */
static uint64_t row_limit(kr_rng *rng)
{
    static const uint8_t powers[] = {0, 22, 23, 24, 31, 32, 45, 46, 47, 63};
    const uint64_t base = UINT64_C(1) << powers[kr_rng_below(rng, sizeof powers)];
    const uint64_t near = kr_rng_below(rng, 5) - 2;
    switch (kr_rng_below(rng, 8)) {
    case 0: return near;                                     /* both ends of all axes */
    case 1: return base + near;                              /* neighbours of a row or plane */
    case 2: return base * kr_rng_below(rng, 1 << 18) + near; /* ends of some row or plane */
    case 3: return kr_rng_below(rng, 64) << 23 | kr_rng_below(rng, 2) * 0x7FFFFF; /* whole rows */
    case 4: return kr_rng_below(rng, 8) << 46 | kr_rng_below(rng, 4);             /* whole planes */
    case 5: return corner(rng);
    case 6: return corner(rng);
    default: return ~(kr_rng_below(rng, 4) << 23);
    }
}

/* Codes below `limit` at both ends and near powers of two; the first row holds the largest, or one more than
 * that. */
static uint64_t limited(uint64_t limit, uint64_t row, int over, kr_rng *rng)
{
    if (row == 0)
        return limit - 1 + (over != 0);
    switch (kr_rng_below(rng, 4)) {
    case 0: return kr_rng_below(rng, 4);
    case 1: return limit - 1 - kr_rng_below(rng, 4);
    case 2: return ((limit >> (1 + kr_rng_below(rng, 8))) + kr_rng_below(rng, 5) - 2) % limit;
    default: return kr_rng_below(rng, limit);
    }
}

static int64_t summable(kr_rng *rng)
{
    return (int64_t)kr_rng_below(rng, 1 << 21) - (1 << 20);
}

/* Floats that break a careless reduction, rarely enough that most sums stay finite. */
static void store_summable(kr_type type, void *data, uint64_t row, kr_rng *rng)
{
    static const uint8_t special[] = {1, 2, 4, 0}; /* -0, infinity, NaN, +0 of kr_value_extreme */
    if (!kr_type_is_float(type))
        kr_value_store_bits(type, data, row,
                            kr_rng_below(rng, 4) ? kr_rng_next(rng)
                                                 : kr_value_extreme(type, kr_rng_next(rng)));
    else if (kr_rng_below(rng, 64) == 0)
        kr_value_store_bits(type, data, row, kr_value_extreme(type, special[kr_rng_below(rng, 4)]));
    else
        kr_value_store_number(type, data, row, summable(rng));
}

static void store(kr_type type, void *data, uint64_t row, uint64_t count, kr_pattern pattern, kr_rng *rng)
{
    switch (pattern) {
    case KR_PATTERN_RANDOM: kr_value_store_bits(type, data, row, kr_rng_next(rng)); break;
    case KR_PATTERN_DENSE:
    case KR_PATTERN_ASCENDING: kr_value_store_number(type, data, row, (int64_t)row); break;
    case KR_PATTERN_DESCENDING: kr_value_store_number(type, data, row, (int64_t)(count - row)); break;
    case KR_PATTERN_DUPLICATES:
        kr_value_store_number(type, data, row, 3 * (int64_t)kr_rng_below(rng, count / 8 + 1));
        break;
    case KR_PATTERN_EQUAL: kr_value_store_number(type, data, row, 77); break;
    case KR_PATTERN_EXTREME:
        kr_value_store_bits(type, data, row, kr_value_extreme(type, kr_rng_next(rng)));
        break;
    case KR_PATTERN_ROWS: kr_value_store_bits(type, data, row, row_limit(rng)); break;
    case KR_PATTERN_ENDS: kr_value_store_bits(type, data, row, end_of_row(rng)); break;
    case KR_PATTERN_BITS_23:
    case KR_PATTERN_BITS_23_OVER:
        kr_value_store_bits(
            type, data, row,
            kr_value_of_code(type, limited(1 << 23, row, pattern == KR_PATTERN_BITS_23_OVER, rng)));
        break;
    case KR_PATTERN_BITS_29:
    case KR_PATTERN_BITS_29_OVER:
        kr_value_store_bits(
            type, data, row,
            kr_value_of_code(type, limited(1 << 29, row, pattern == KR_PATTERN_BITS_29_OVER, rng)));
        break;
    case KR_PATTERN_SUMMABLE: store_summable(type, data, row, rng); break;
    }
}

static void swap_elements(kr_type type, void *data, uint64_t a, uint64_t b)
{
    const kr_column column = {.type = type, .data = data};
    const uint64_t bits = kr_value_bits(type, kr_value_at(&column, a));
    kr_value_store_bits(type, data, a, kr_value_bits(type, kr_value_at(&column, b)));
    kr_value_store_bits(type, data, b, bits);
}

static void shuffle(kr_type type, void *data, uint64_t count, kr_rng *rng)
{
    for (uint64_t i = count; i > 1; --i)
        swap_elements(type, data, i - 1, kr_rng_below(rng, i));
}

static void make_validity(kr_test_column *column, kr_nulls nulls, kr_rng *rng)
{
    kr_column *view = &column->view;
    if (nulls == KR_NULLS_NONE)
        return;
    view->validity_offset = nulls == KR_NULLS_SLICED ? 13 : 0;
    column->validity = kr_test_calloc((view->count + view->validity_offset + 7) / 8, 1);
    view->validity = column->validity;
    for (uint64_t i = 0; i < view->validity_offset + view->count; ++i)
        if (nulls == KR_NULLS_NO_ROW || (nulls != KR_NULLS_ALL && kr_rng_below(rng, 4)))
            column->validity[i / 8] |= (uint8_t)(1 << i % 8);
}

static kr_test_column empty_column(kr_type type, uint64_t count)
{
    kr_test_column column = {.view = {.type = type, .count = count}};
    column.data = kr_test_calloc(count, kr_type_nbytes(type));
    column.view.data = column.data;
    return column;
}

kr_test_column kr_test_column_make(kr_type type, uint64_t count, kr_pattern pattern, kr_nulls nulls,
                                   uint64_t seed)
{
    kr_rng rng = {seed};
    kr_test_column column = empty_column(type, count);
    for (uint64_t i = 0; i < count; ++i)
        store(type, column.data, i, count, pattern, &rng);
    for (uint64_t i = 0; i < count && !lies_near(pattern); ++i)
        store_near(type, column.data, i);
    if (pattern == KR_PATTERN_DENSE)
        shuffle(type, column.data, count, &rng);
    make_validity(&column, nulls, &rng);
    return column;
}

void kr_test_column_free(kr_test_column *column)
{
    free(column->data);
    free(column->validity);
    *column = (kr_test_column){0};
}

uint32_t *kr_test_row_ids(kr_row_ids what, uint64_t count, uint64_t seed)
{
    kr_rng rng = {seed};
    if (what == KR_ROW_IDS_POSITIONS)
        return NULL;
    uint32_t *ids = kr_test_calloc(count, sizeof *ids);
    for (uint64_t i = 0; i < count; ++i)
        ids[i] = (uint32_t)(what == KR_ROW_IDS_SHUFFLED ? i
                            : what == KR_ROW_IDS_HIGH   ? KR_NO_ROW - 1 - i
                                                        : 3 * i + kr_rng_below(&rng, 3));
    if (what != KR_ROW_IDS_ASCENDING)
        shuffle(KR_U32, ids, count, &rng);
    return ids;
}

/* A value that is a key, lies beside one, or is anything. */
static uint64_t probe_bits(const kr_column *keys, kr_rng *rng)
{
    const uint64_t what = kr_rng_below(rng, 8);
    if (what == 0)
        return kr_value_extreme(keys->type, kr_rng_next(rng));
    if (what == 1 || keys->count == 0)
        return kr_rng_next(rng);
    const uint64_t row = kr_rng_below(rng, keys->count);
    const uint64_t near = what == 2 ? kr_rng_below(rng, 3) - 1 : 0;
    return kr_value_bits(keys->type, kr_value_at(keys, row)) + near;
}

kr_test_column kr_test_probes(const kr_column *keys, uint64_t count, kr_nulls nulls, uint64_t seed)
{
    kr_rng rng = {seed};
    kr_test_column probes = empty_column(keys->type, count);
    for (uint64_t i = 0; i < count; ++i)
        kr_value_store_bits(keys->type, probes.data, i, probe_bits(keys, &rng));
    make_validity(&probes, nulls, &rng);
    return probes;
}

/* From a row's or plane's start to the end of one further on, or a step beside; codes wrap, which makes some
 * ranges empty. */
static void store_rows(kr_type type, void *lower, void *upper, uint64_t row, kr_rng *rng)
{
    static const uint16_t rows[] = {1, 2, 3, 32, 1023, 1024, 1025};
    const uint64_t step = kr_rng_below(rng, 4) ? UINT64_C(1) << 23 : UINT64_C(1) << 46;
    const uint64_t first = kr_rng_below(rng, 3) ? row_limit(rng) & ~(step - 1) : 0;
    const uint64_t last = first + step * rows[kr_rng_below(rng, sizeof rows / sizeof rows[0])] - 1;
    kr_value_store_bits(type, lower, row, kr_value_of_code(type, first + kr_rng_below(rng, 3) - 1));
    kr_value_store_bits(type, upper, row, kr_value_of_code(type, last + kr_rng_below(rng, 3) - 1));
}

void kr_test_ranges(const kr_column *keys, const uint32_t *sorted, uint64_t n_sorted, uint64_t count,
                    kr_nulls nulls, uint64_t seed, kr_test_column *lower, kr_test_column *upper)
{
    static const uint8_t spans[] = {0, 0, 1, 2, 7, 31, 33, 64};
    kr_rng rng = {seed};
    *lower = kr_test_probes(keys, count, nulls, kr_rng_split(seed, 1));
    *upper = kr_test_probes(keys, count, nulls, kr_rng_split(seed, 2));
    for (uint64_t i = 0; i < count && n_sorted; ++i) {
        uint64_t first = kr_rng_below(&rng, n_sorted), last = first + spans[kr_rng_below(&rng, sizeof spans)];
        const uint64_t what = kr_rng_below(&rng, 16);
        /* Unrelated bounds may span everything, so only where that is little. */
        if (what == 0 && n_sorted <= 1000)
            continue;
        if (what >= 14 && i && n_sorted <= 1000) {
            store_rows(keys->type, lower->data, upper->data, i, &rng);
            continue;
        }
        if (i == 0)
            first = 0, last = n_sorted - 1;
        last = last < n_sorted ? last : n_sorted - 1;
        if (what == 1)
            kr_value_store_bits(keys->type, upper->data, i,
                                kr_value_bits(keys->type, kr_value_at(&lower->view, i)));
        if (what <= 1)
            continue;
        const uint64_t swap = what == 2 && i ? 1 : 0;
        kr_value_store_bits(keys->type, (swap ? upper : lower)->data, i,
                            kr_value_bits(keys->type, kr_value_at(keys, sorted[first])));
        kr_value_store_bits(keys->type, (swap ? lower : upper)->data, i,
                            kr_value_bits(keys->type, kr_value_at(keys, sorted[last])));
    }
}
