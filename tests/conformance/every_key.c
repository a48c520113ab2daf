/* Small types, exhaustively: every value as a probe, and every pair of u8 values as bounds. With few bits per
 * axis these keys fill rows and planes, so every way in which a range can begin and end in them comes up.
 * Kinds that gather keys in buckets get many sets of keys besides, in buckets of many sizes, and no lookup
 * may need more rays than it should, nor a repair. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 150, MOST_PROBES = 1 << 16 };

/* The number of keys and the smallest row id of each code; sums of numbers give the matches of lower ..
 * upper. */
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
    kr_status status = kr_index_lookup(index, probes, &sink, NULL, &err);
    sink.result = KR_RESULT_ROW;
    sink.out = rows;
    if (!status)
        status = kr_index_lookup(index, probes, &sink, NULL, &err);
    if (kr_test_ok(suite, status, &err, "kr_index_lookup"))
        for (uint64_t i = 0; i < probes->count; ++i)
            expect_point(suite, t, i, counts[i], rows[i]);
    free(counts);
    free(rows);
}

/* Every pair with lower <= upper, and as many with lower > upper. */
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
    if (kr_test_ok(suite, kr_index_range(index, &low, &high, &sink, NULL, &err), &err, "kr_index_range"))
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

/* ---- Sets of keys --------------------------------------------------------------------------- */

/* The space of a set of codes: their number, and how many a row and a plane have. */
typedef struct axes {
    uint64_t values, row, plane;
} axes;

/* 0: codes at random, 1: distinct ones, 2: few of them, 3: ends of rows, 4: ends of planes. */
enum { N_RANDOM_SETS = 5 };

static uint64_t random_code(const axes *a, uint32_t what, uint64_t number, kr_rng *rng)
{
    const uint64_t any = kr_rng_below(rng, a->values);
    const uint64_t ends[] = {0, 1, a->plane - 1, a->plane - 2, a->row - 1, a->plane - a->row};
    switch (what) {
    case 1: return (number * 37 + a->row) % a->values; /* 37 is prime to the powers of two */
    case 2: return any % 10 * a->row * 3 % a->values + any % 3;
    case 3: return any / a->row * a->row + any % 2 * (a->row - 1);
    case 4: return any / a->plane * a->plane + ends[kr_rng_below(rng, 6)];
    default: return any;
    }
}

typedef struct run {
    uint64_t first, step, count;
} run;

/* Number of codes written, at most a->values; 0 past the last set. */
static uint64_t fixed_set(const axes *a, uint32_t number, uint64_t *codes)
{
    /* A run of equal keys at the end of a row crosses a bucket's end: a mark over its representative would
     * hide rows of key 7. */
    static const uint8_t crossing[] = {1, 7, 7, 32, 39, 62, 97, 127};
    const uint64_t most = a->values - 1, row = a->row, plane = a->plane;
    const run runs[][2] = {
        {{0, 1, a->values}, {0, 0, 0}},
        {{0, 0, 10}, {0, 0, 0}},
        {{most, 0, 10}, {0, 0, 0}},
        {{0, 0, 5}, {most, 0, 5}},
        {{row - 1, 0, 7}, {row, 0, 3}},
        {{plane - 1, 0, 6}, {plane, 0, 6}},
        {{0, row, a->values / row}, {0, 0, 0}},
        {{row - 1, row, a->values / row}, {0, 0, 0}},
        {{plane - 1, plane, a->values / plane}, {0, 0, 0}},
        {{0, plane, a->values / plane}, {0, 0, 0}},
        {{most - row, 0, 9}, {most, 0, 1}},
    };
    const uint32_t n_runs = sizeof runs / sizeof runs[0];
    uint64_t n = 0;
    for (uint32_t r = 0; number < n_runs && r < 2; ++r)
        for (uint64_t i = 0; i < runs[number][r].count; ++i)
            codes[n++] = runs[number][r].first + i * runs[number][r].step;
    for (; number == n_runs && n < sizeof crossing; ++n)
        codes[n] = crossing[n];
    return n;
}

/* The rays of every single probe: no more than `most`, and none outside of the keys. */
static void check_rays(kr_suite *suite, kr_index *index, const tally *t, const kr_column *probes,
                       uint64_t most)
{
    const uint64_t n = t->count[probes->count];
    for (uint64_t i = 0; i < probes->count && !suite->has_failed; ++i) {
        const kr_column probe = {.type = probes->type, .count = 1, .data = kr_value_at(probes, i)};
        const int outside = t->count[i + 1] == 0 || t->count[i] == n;
        uint64_t count = 0;
        kr_report *report = NULL;
        kr_error err = {0};
        if (!kr_test_ok(suite, kr_report_create(&report, &err), &err, "kr_report_create"))
            return;
        const kr_sink sink = {.struct_size = sizeof sink,
                              .result = KR_RESULT_COUNT,
                              .out = &count,
                              .report = report,
                              .count_work = 1};
        if (!kr_test_ok(suite, kr_index_lookup(index, &probe, &sink, NULL, &err), &err, "kr_index_lookup"))
            return;
        const kr_test_work did = kr_test_work_of(report);
        kr_report_destroy(report);
        if (did.repaired || did.rays > (outside ? 0 : most))
            kr_test_fail(suite, "code %llu took %llu rays and %llu repairs", (unsigned long long)i,
                         (unsigned long long)did.rays, (unsigned long long)did.repaired);
    }
}

/* Ranges from every code to the last must begin at the right key, without repairs. */
static void check_from(kr_suite *suite, kr_index *index, const tally *t, const kr_column *probes)
{
    const uint64_t n = t->count[probes->count];
    uint64_t *counts = kr_test_calloc(probes->count, sizeof *counts);
    kr_test_column upper =
        kr_test_column_make(probes->type, probes->count, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    kr_report *report = NULL;
    kr_error err = {0};
    if (!kr_test_ok(suite, kr_report_create(&report, &err), &err, "kr_report_create"))
        return;
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_COUNT,
                          .out = counts,
                          .report = report,
                          .count_work = 1};
    for (uint64_t i = 0; i < probes->count; ++i)
        kr_value_store_bits(probes->type, upper.data, i, kr_value_of_code(probes->type, probes->count - 1));
    if (kr_test_ok(suite, kr_index_range(index, probes, &upper.view, &sink, NULL, &err), &err,
                   "kr_index_range")) {
        for (uint64_t i = 0; i < probes->count; ++i)
            if (counts[i] != n - t->count[i])
                kr_test_fail(suite, "from code %llu: want %llu matches, got %llu", (unsigned long long)i,
                             (unsigned long long)(n - t->count[i]), (unsigned long long)counts[i]);
        kr_test_expect(suite, kr_test_work_of(report).repaired == 0, "no range is repaired");
    }
    kr_report_destroy(report);
    kr_test_column_free(&upper);
    free(counts);
}

typedef struct sets {
    kr_suite *suite;
    const kr_suite_device *on;
    const char *spec; /* with its bucket */
    kr_column probes; /* every value, by code */
    uint64_t most_rays;
    uint64_t made; /* sets so far */
    tally *t;
} sets;

static void check_set(sets *s, const uint64_t *codes, uint64_t n)
{
    kr_suite *suite = s->suite;
    const kr_type type = s->probes.type;
    kr_test_column keys = kr_test_column_make(type, n, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    kr_error err = {0};
    kr_index *index = NULL;
    for (uint64_t i = 0; i < n; ++i)
        kr_value_store_bits(type, keys.data, i, kr_value_of_code(type, codes[i]));
    count_keys(&keys.view, (uint32_t)s->probes.count, s->t);
    if (kr_test_ok(suite, kr_index_create(s->on->device, s->spec, &keys.view, NULL, NULL, &index, &err), &err,
                   "kr_index_create")) {
        kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
        check_points(suite, index, s->t, &s->probes);
        check_from(suite, index, s->t, &s->probes);
        if (s->probes.count <= 256 && s->made++ % 8 == 0)
            check_rays(suite, index, s->t, &s->probes, s->most_rays);
    }
    if (suite->has_failed) {
        printf("  %s, %llu keys:", s->spec, (unsigned long long)n);
        for (uint64_t i = 0; i < n && i < 50; ++i)
            printf(" %llu", (unsigned long long)codes[i]);
        printf("\n");
    }
    kr_index_destroy(index);
    kr_test_column_free(&keys);
}

static void check_sets(sets *s, const axes *a)
{
    static const uint8_t sizes[] = {1, 2, 3, 5, 8, 13, 24, 40};
    uint64_t *codes = kr_test_calloc(a->values, sizeof *codes);
    kr_rng rng = {s->suite->seed};
    for (uint32_t number = 0;; ++number) {
        const uint64_t n = fixed_set(a, number, codes);
        if (n == 0 || s->suite->has_failed)
            break;
        check_set(s, codes, n);
    }
    const uint32_t rounds = a->values > 256 ? 0 : s->suite->reduced ? 1 : 5;
    for (uint32_t i = 0; i < rounds * N_RANDOM_SETS * sizeof sizes && !s->suite->has_failed; ++i) {
        const uint64_t n = sizes[i % sizeof sizes];
        for (uint64_t k = 0; k < n; ++k)
            codes[k] = random_code(a, i / sizeof sizes % N_RANDOM_SETS, k, &rng);
        check_set(s, codes, n);
    }
    free(codes);
}

/* All sets with the spec's small axes, in buckets of several sizes. */
static void test_sets(kr_suite *suite, const kr_suite_device *on, const char *spec, kr_type type)
{
    static const uint8_t buckets[] = {1, 2, 3, 4, 7, 100};
    char value[32], text[KR_SPEC_NBYTES];
    const uint64_t values = UINT64_C(1) << 8 * kr_type_nbytes(type);
    const int updates = !strcmp(kr_spec_option(spec, "updates", value), "on");
    const char *bits = kr_spec_option(spec, "bits", value);
    const uint64_t row = UINT64_C(1) << strtoul(bits, NULL, 10);
    const axes a = {values, row, row << strtoul(strchr(bits, ':') + 1, NULL, 10)};
    sets s = {.suite = suite, .on = on, .spec = text, .t = kr_test_calloc(1, sizeof *s.t)};
    kr_test_column probes = kr_test_column_make(type, values, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    for (uint64_t v = 0; v < values; ++v)
        kr_value_store_bits(type, probes.data, v, kr_value_of_code(type, v));
    s.probes = probes.view;
    s.most_rays = !strcmp(kr_spec_option(spec, "rays", value), "paper") ? 5
                  : !strcmp(value, "column")                            ? 2
                                                                        : 3;
    for (uint32_t i = 0; i < sizeof buckets && !suite->has_failed; i += values > 256 ? 2 : 1) {
        snprintf(text, sizeof text, "%s,%s=%u", spec, updates ? "node" : "bucket",
                 updates ? 2u * buckets[i] : buckets[i]);
        check_sets(&s, &a);
    }
    kr_test_column_free(&probes);
    free(s.t);
}

/* 1 for specs with small axes that do not set the size of a bucket. */
static int has_sets(const char *spec)
{
    char value[32];
    return kr_spec_option(spec, "bucket", value)[0] && !strstr(spec, "bucket=") && !strstr(spec, "node=") &&
           kr_fitting_type(spec, KR_U32) != KR_U32;
}

/* KEY-SETS/DEVICE/SPEC */
static void run_sets(kr_suite *suite)
{
    if (!has_sets(suite->spec) ||
        !kr_test_begin(suite, "key-sets/%s/%s", suite->on->info.name, suite->spec) || !kr_device_runs(suite))
        return;
    test_sets(suite, suite->on, suite->spec, kr_fitting_type(suite->spec, KR_U32));
    kr_test_end(suite);
}

/* EVERY-KEY/DEVICE/SPEC, brief specs too. */
void kr_run_every_key(kr_suite *suite)
{
    const kr_suite_device *on = suite->on;
    if (kr_test_begin(suite, "every-key/%s/%s", on->info.name, suite->spec) && kr_device_runs(suite)) {
        test_type(suite, on, suite->spec, KR_U8, KR_PATTERN_RANDOM);
        test_type(suite, on, suite->spec, KR_U8, KR_PATTERN_DENSE);
        test_type(suite, on, suite->spec, KR_I16, KR_PATTERN_RANDOM);
        if (!suite->listed->is_brief)
            test_type(suite, on, suite->spec, KR_I8, KR_PATTERN_RANDOM);
        kr_test_end(suite);
    }
    run_sets(suite);
}
