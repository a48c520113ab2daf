/* What a report counts when it is asked to: rays, primitives met, and ranges answered without rays. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 3000, RANGES = 300 };

/* Distinct keys `step` apart, and what is asked of them. */
typedef struct spread {
    kr_type type;
    uint64_t step, max_rays;
    int one_row; /* all keys lie in one row, else each in its own */
    kr_test_column keys, probes, lower, upper;
    uint64_t cut_bits;                /* rays along a row are cut after 2^cut_bits keys; 0: they are not */
    int casts_outside;                /* probes outside of the keys take a ray, too */
    uint64_t cast, found;             /* of the probes: those that take rays, those with a key */
    uint64_t untraced, rows, matches; /* of the ranges, rows of those that are traced */
    int meets_neighbours;             /* rays do, by design */
    uint64_t bucket;                  /* keys of one, 0: every key has its own triangle */
    uint64_t most_rays;               /* to find a bucket */
    uint64_t bucketed;                /* probes whose keys lie in neither the first nor the last bucket */
} spread;

static uint64_t number_of(const char *text)
{
    return text[0] ? strtoull(text, NULL, 10) : 0;
}

static void set(kr_test_column *column, uint64_t i, uint64_t code)
{
    kr_value_store_bits(column->view.type, column->data, i, kr_value_of_code(column->view.type, code));
}

/* Probes at keys, between them and on both sides of all. */
static void make_probes(spread *s, uint64_t n, kr_rng *rng)
{
    s->probes = kr_test_column_make(s->type, n, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t at = kr_rng_below(rng, KEYS + 4); /* keys are 2 .. KEYS + 1 steps */
        const uint64_t code = at * s->step + (kr_rng_below(rng, 4) ? 0 : 1);
        set(&s->probes, i, code);
        s->cast += s->casts_outside || (code >= 2 * s->step && code <= (KEYS + 1) * s->step);
        s->found += code % s->step == 0 && at >= 2 && at <= KEYS + 1;
        s->bucketed += s->bucket && code % s->step == 0 && at >= 2 + s->bucket &&
                       at < 2 + (KEYS - 1) / s->bucket * s->bucket;
    }
}

/* From one key to another; as many rows as may be traced, and one more, are among them. */
static void make_ranges(spread *s, kr_rng *rng)
{
    s->lower = kr_test_column_make(s->type, RANGES, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    s->upper = kr_test_column_make(s->type, RANGES, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    for (uint64_t i = 0; i < RANGES; ++i) {
        const uint64_t widths[] = {
            1, 2, s->max_rays - 1, s->max_rays, s->max_rays + 1, kr_rng_below(rng, KEYS)};
        const uint64_t width = widths[i % (sizeof widths / sizeof widths[0])];
        const uint64_t keys = width == 0 ? 1 : width > KEYS ? KEYS : width;
        const uint64_t first = 2 + kr_rng_below(rng, KEYS - keys + 1);
        const uint64_t rows = s->one_row ? 1 : keys;
        const uint64_t cuts = s->one_row && s->cut_bits ? (keys - 1) * s->step >> s->cut_bits : 0;
        set(&s->lower, i, first * s->step);
        set(&s->upper, i, (first + keys - 1) * s->step);
        s->matches += keys;
        s->untraced += rows > s->max_rays;
        s->rows += rows > s->max_rays ? 0 : rows + cuts;
    }
}

/* 0: the spec does not hold such keys. */
static int make(kr_suite *suite, const char *spec, uint64_t n_probes, spread *s)
{
    char value[32];
    kr_rng rng = {suite->seed};
    const char *must_name;
    *s = (spread){.type = KR_U64, .max_rays = 1, .one_row = 1, .step = 100};
    if (kr_spec_option(spec, "max_rays", value)[0])
        s->max_rays = number_of(value);
    if (!strcmp(kr_spec_option(spec, "mode", value), "3d")) {
        s->step = UINT64_C(1) << number_of(kr_spec_option(spec, "bits", value));
        s->one_row = 0;
    }
    s->bucket = number_of(kr_spec_option(spec, "bucket", value));
    if (s->bucket) { /* two keys per row */
        s->step = UINT64_C(1) << (number_of(kr_spec_option(spec, "bits", value)) - 1);
        s->most_rays = !strcmp(kr_spec_option(spec, "rays", value), "paper") ? 5
                       : !strcmp(value, "column")                            ? 2
                                                                             : 3;
    }
    s->casts_outside = !strcmp(kr_spec_option(spec, "outside", value), "rays");
    s->cut_bits = strcmp(kr_spec_option(spec, "answer", value), "rays") ? 0 : 18;
    s->meets_neighbours = strstr(spec, "mode=extended") && strstr(spec, "ray=zero");
    s->keys = kr_test_column_make(s->type, KEYS, KR_PATTERN_DENSE, KR_NULLS_NONE, suite->seed);
    for (uint64_t i = 0; i < KEYS; ++i)
        set(&s->keys, i, (2 + kr_value_code(s->type, kr_value_at(&s->keys.view, i))) * s->step);
    if (kr_spec_refuses(spec, &s->keys.view, &must_name))
        return 0;
    make_probes(s, n_probes, &rng);
    make_ranges(s, &rng);
    return 1;
}

static void clear(spread *s)
{
    kr_test_column_free(&s->keys);
    kr_test_column_free(&s->probes);
    kr_test_column_free(&s->lower);
    kr_test_column_free(&s->upper);
}

/* COUNT or ROW, with counters or without; `total` is the sum of the counts, or the number of rows found. */
static kr_status ask(const kr_suite_device *on, kr_index *index, kr_place place, const kr_column *lower,
                     const kr_column *upper, uint32_t count_work, kr_result result, kr_test_work *did,
                     uint64_t *total, kr_error *err)
{
    kr_report *report = NULL;
    kr_placed low = {0}, high = {0};
    kr_guarded out = {0};
    const kr_question question = {.result = result};
    *total = 0;
    kr_status status = kr_report_create(&report, err);
    if (!status)
        status = kr_placed_make(on->device, place, lower, 0, &low, err);
    if (!status && upper)
        status = kr_placed_make(on->device, place, upper, 0, &high, err);
    if (!status)
        status = kr_guarded_make(on->device, place, kr_answer_nbytes(&question, lower->count), 0, &out, err);
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = result,
                          .out = out.data,
                          .report = report,
                          .count_work = count_work};
    if (!status)
        status = upper ? kr_index_range(index, &low.view, &high.view, &sink, NULL, err)
                       : kr_index_lookup(index, &low.view, &sink, NULL, err);
    void *read = status ? NULL : kr_guarded_read(&out, err);
    for (uint64_t i = 0; read && i < lower->count; ++i)
        *total += result == KR_RESULT_COUNT ? ((uint64_t *)read)[i] : ((uint32_t *)read)[i] != KR_NO_ROW;
    status = status || read ? status : err->status;
    *did = kr_test_work_of(report);
    kr_report_destroy(report);
    free(read);
    if (out.base)
        kr_guarded_free(&out);
    kr_placed_free(&low);
    kr_placed_free(&high);
    return status;
}

static void expect_number(kr_suite *suite, uint64_t want, uint64_t got, const char *what)
{
    if (want != got)
        kr_test_fail(suite, "%s: want %llu, got %llu", what, (unsigned long long)want,
                     (unsigned long long)got);
}

/* Nothing is counted unless asked for, nor for kinds that cast no rays. */
static void expect_nothing(kr_suite *suite, const kr_test_work *did, const char *what)
{
    expect_number(suite, 0, did->rays + did->hits + did->filtered + did->repaired + did->untraced, what);
}

/* Rays find the bucket of a key and of a range's lower bound; the first and the last bucket need none. */
static void check_buckets(kr_suite *suite, const spread *s, const kr_test_work *did, uint64_t at_least,
                          uint64_t probes)
{
    expect_number(suite, 0, did->repaired, "probes whose bucket rays did not find");
    expect_number(suite, 0, did->untraced + did->filtered, "hits or ranges that were given up");
    kr_test_expect(suite, did->rays >= at_least && did->hits >= at_least,
                   "keys between the first and the last bucket are found by rays");
    kr_test_expect(suite, did->rays <= s->most_rays * probes && did->hits <= did->rays,
                   "a bucket takes no more rays than it should");
}

static void check_points(kr_suite *suite, const spread *s, const kr_test_work *did)
{
    expect_number(suite, s->cast, did->rays, "rays of point lookups");
    /* Gaps that grow with the key are padded by neighbours. */
    if (!s->meets_neighbours)
        expect_number(suite, 0, did->repaired, "repaired point lookups of plain keys");
    expect_number(suite, 0, did->untraced, "untraced point lookups");
    kr_test_expect(suite, did->hits >= s->found, "every found key was met by a ray");
    kr_test_expect(suite, did->hits - did->filtered >= s->found && did->filtered <= did->hits,
                   "hits that were not filtered are the matches");
}

static void check_ranges(kr_suite *suite, const spread *s, const kr_test_work *did)
{
    expect_number(suite, s->untraced, did->untraced, "ranges over more rows than may be traced");
    expect_number(suite, 0, did->repaired, "repaired ranges of plain keys");
    kr_test_expect(suite, did->rays >= RANGES - s->untraced && did->rays <= s->rows,
                   "a traced range casts at least one ray, and at most one per row, or piece of a row");
    kr_test_expect(suite, did->hits >= RANGES - s->untraced && did->filtered <= did->hits,
                   "every traced range meets a key");
}

static void check(kr_suite *suite, const kr_suite_device *on, kr_index *index, const spread *s,
                  kr_place place, int has_tracer, int ranges, kr_result result)
{
    const kr_column *lower = ranges ? &s->lower.view : &s->probes.view,
                    *upper = ranges ? &s->upper.view : NULL;
    kr_test_work counted = {0}, silent = {0};
    uint64_t total = 0, total_silent = 0;
    kr_error err = {0};
    kr_status status = ask(on, index, place, lower, upper, 1, result, &counted, &total, &err);
    if (!status)
        status = ask(on, index, place, lower, upper, 0, result, &silent, &total_silent, &err);
    if (!kr_test_ok(suite, status, &err, ranges ? "kr_index_range" : "kr_index_lookup"))
        return;
    const uint64_t want = !ranges ? s->found : result == KR_RESULT_COUNT ? s->matches : RANGES;
    expect_number(suite, want, total, ranges ? "matches of the ranges" : "matches of the probes");
    expect_number(suite, want, total_silent, "matches when nothing is counted");
    expect_nothing(suite, &silent, "work counted unasked");
    if (!has_tracer)
        expect_nothing(suite, &counted, "work of a kind without rays");
    else if (s->bucket)
        check_buckets(suite, s, &counted, ranges ? 0 : s->bucketed, ranges ? RANGES : s->cast);
    else if (ranges)
        check_ranges(suite, s, &counted);
    else
        check_points(suite, s, &counted);
}

/* The number before `word` in the name of a component, 0 where none has one. */
static uint64_t number_in_components(const kr_index *index, const char *word)
{
    for (uint32_t i = 0; kr_index_component_name(index, i); ++i) {
        const char *comma = strchr(kr_index_component_name(index, i), ',');
        if (comma && strstr(comma, word))
            return number_of(comma + 2);
    }
    return 0;
}

/* A component says how many parts there are: no more than primitives, of which `cgrx` has one or two per
 * bucket. */
static void check_parts(kr_suite *suite, const char *spec, const spread *s, const kr_index *index)
{
    char value[32];
    const uint64_t asked = number_of(kr_spec_option(spec, "parts", value));
    const uint64_t found = number_in_components(index, " parts");
    if (asked < 2)
        return;
    if (!s->bucket) {
        const uint64_t part = (KEYS + asked - 1) / asked;
        expect_number(suite, (KEYS + part - 1) / part, found, "parts that a component names");
        return;
    }
    const uint64_t buckets = (KEYS + s->bucket - 1) / s->bucket;
    kr_test_expect(suite, found <= asked && found <= 2 * buckets, "no more parts than asked, or triangles");
    kr_test_expect(suite, found >= (asked < buckets ? asked : buckets) / 2,
                   "as many parts as asked, or half");
}

static void test_work(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    static const kr_result results[] = {KR_RESULT_COUNT, KR_RESULT_ROW};
    spread s;
    kr_error err = {0};
    kr_index *index = NULL;
    if (!make(suite, spec, suite->reduced ? 1000 : 100000, &s)) {
        clear(&s);
        return;
    }
    const kr_status status = kr_index_create(on->device, spec, &s.keys.view, NULL, NULL, &index, &err);
    const int has_tracer = kr_casts_rays(on, spec);
    if (kr_test_ok(suite, status, &err, "kr_index_create"))
        for (uint32_t i = 0; i < 8; ++i) {
            const int ranges = i & 1;
            if (kr_spec_capabilities(spec) & (ranges ? KR_CAN_RANGE : KR_CAN_POINT))
                check(suite, on, index, &s, i & 2 ? KR_PLACE_DEVICE : KR_PLACE_HOST, has_tracer, ranges,
                      results[i >> 2]);
        }
    if (index)
        check_parts(suite, spec, &s, index);
    kr_index_destroy(index);
    clear(&s);
}

void kr_run_work(kr_suite *suite)
{
    kr_test_special(suite, "work", 0, test_work);
}
