/* Small types, exhaustively: every value as a probe, and every pair of u8 values as bounds. With few bits an
 * axis these keys fill rows and planes, so every way in which a range can begin and end in them comes up. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 150, MOST_PROBES = 1 << 16 };

/* How many keys, and the smallest row id, under each code; matches of lower .. upper by adding up. */
typedef struct tally {
    uint64_t count[MOST_PROBES + 1]; /* of the codes below this one */
    uint32_t row[MOST_PROBES];
} tally;

static void count_keys(const kr_column *keys, uint32_t values, tally *t)
{
    memset(t, 0, sizeof *t);
    memset(t->row, 0xFF, sizeof t->row);
    for (uint64_t i = keys->count; i-- > 0;) {
        const uint64_t code = kr_value_code(keys->type, kr_value_at(keys, i));
        ++t->count[code + 1];
        t->row[code] = (uint32_t)i;
    }
    for (uint32_t v = 0; v < values; ++v)
        t->count[v + 1] += t->count[v];
}

static void expect_point(kr_suite *suite, const tally *t, uint64_t code, uint64_t count, uint32_t row)
{
    if (count != t->count[code + 1] - t->count[code] || row != t->row[code])
        kr_test_fail(suite, "code %llu: want %llu matches, row %u, got %llu, %u", (unsigned long long)code,
                     (unsigned long long)(t->count[code + 1] - t->count[code]), t->row[code],
                     (unsigned long long)count, row);
}

static void check_points(kr_suite *suite, kr_index *index, const tally *t, const kr_column *probes)
{
    uint64_t *counts = kr_test_calloc(probes->count, sizeof *counts);
    uint32_t *rows = kr_test_calloc(probes->count, sizeof *rows);
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_error err = {0};
    kr_status status = kr_lookup(index, probes, &sink, NULL, &err);
    sink.result = KR_RESULT_ROW;
    sink.out = rows;
    if (!status)
        status = kr_lookup(index, probes, &sink, NULL, &err);
    if (kr_test_ok(suite, status, &err, "kr_lookup"))
        for (uint64_t i = 0; i < probes->count; ++i)
            expect_point(suite, t, i, counts[i], rows[i]);
    free(counts);
    free(rows);
}

/* Every pair where lower <= upper, and as many where it is not. */
static void check_ranges(kr_suite *suite, kr_index *index, const tally *t, kr_type type, uint32_t values)
{
    const uint64_t n = (uint64_t)values * values;
    uint8_t *lower = kr_test_calloc(n, 1), *upper = kr_test_calloc(n, 1);
    uint64_t *counts = kr_test_calloc(n, sizeof *counts);
    const kr_column low = {.type = type, .count = n, .data = lower};
    const kr_column high = {.type = type, .count = n, .data = upper};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_error err = {0};
    for (uint64_t i = 0; i < n; ++i) {
        kr_value_store_bits(type, lower, i, kr_value_of_code(type, i / values));
        kr_value_store_bits(type, upper, i, kr_value_of_code(type, i % values));
    }
    if (kr_test_ok(suite, kr_range(index, &low, &high, &sink, NULL, &err), &err, "kr_range"))
        for (uint64_t i = 0; i < n; ++i) {
            const uint64_t a = i / values, b = i % values, want = a <= b ? t->count[b + 1] - t->count[a] : 0;
            if (counts[i] != want)
                kr_test_fail(suite, "codes %llu to %llu: want %llu matches, got %llu", (unsigned long long)a,
                             (unsigned long long)b, (unsigned long long)want, (unsigned long long)counts[i]);
        }
    free(lower);
    free(upper);
    free(counts);
}

static void test_type(kr_suite *suite, const kr_suite_device *on, const char *spec, kr_type type,
                      kr_pattern pattern)
{
    const uint32_t values = 1u << 8 * kr_type_nbytes(type);
    const uint64_t n_keys = pattern == KR_PATTERN_DENSE ? values : values == 256 ? KEYS : 40 * KEYS;
    kr_test_column keys = kr_test_column_make(type, n_keys, pattern, KR_NULLS_NONE, suite->seed);
    kr_test_column probes = kr_test_column_make(type, values, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    tally *t = kr_test_calloc(1, sizeof *t);
    kr_error err = {0};
    kr_index *index = NULL;
    const char *must_name;
    count_keys(&keys.view, values, t);
    for (uint32_t v = 0; v < values; ++v)
        kr_value_store_bits(type, probes.data, v, kr_value_of_code(type, v));
    if (kr_spec_refuses(spec, &keys.view, &must_name) == KR_OK &&
        kr_test_ok(suite, kr_index_create(on->device, spec, &keys.view, NULL, NULL, &index, &err), &err,
                   "kr_index_create")) {
        if (kr_spec_capabilities(spec) & KR_CAN_POINT)
            check_points(suite, index, t, &probes.view);
        if (kr_spec_capabilities(spec) & KR_CAN_RANGE && values == 256)
            check_ranges(suite, index, t, type, values);
        kr_index_destroy(index);
    }
    free(t);
    kr_test_column_free(&keys);
    kr_test_column_free(&probes);
}

/* EVERY-KEY/DEVICE/SPEC, brief specs too. */
void kr_run_every_key(kr_suite *suite)
{
    for (uint32_t d = 0; d < suite->n_devices; ++d)
        for (uint32_t k = 0; k < suite->n_specs; ++k) {
            const kr_suite_device *on = &suite->devices[d];
            const char *spec = suite->specs[k];
            if (!kr_test_begin(suite, "every-key/%s/%s", on->info.name, spec) ||
                !kr_device_runs(suite, on, spec))
                continue;
            test_type(suite, on, spec, KR_U8, KR_PATTERN_RANDOM);
            test_type(suite, on, spec, KR_U8, KR_PATTERN_DENSE);
            test_type(suite, on, spec, KR_I16, KR_PATTERN_RANDOM);
            if (!suite->is_brief[k])
                test_type(suite, on, spec, KR_I8, KR_PATTERN_RANDOM);
            kr_test_end(suite);
        }
}
