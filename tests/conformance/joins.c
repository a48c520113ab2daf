/* Joins of every type, both ways round, ordered or not, against nested loops. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sides {
    const char *name;
    uint64_t left, right;
    kr_pattern pattern;
    kr_nulls nulls;
    int sorted; /* 1: all columns ascend */
} sides;

static const sides all_sides[] = {
    {"empty", 0, 0, KR_PATTERN_RANDOM, KR_NULLS_NONE, 0},
    {"empty-left", 0, 20, KR_PATTERN_DENSE, KR_NULLS_NONE, 0},
    {"empty-right", 20, 0, KR_PATTERN_DENSE, KR_NULLS_NONE, 0},
    {"small-left", 7, 100, KR_PATTERN_DUPLICATES, KR_NULLS_NONE, 0},
    {"small-right", 100, 33, KR_PATTERN_DUPLICATES, KR_NULLS_SOME, 0},
    {"extreme", 60, 60, KR_PATTERN_EXTREME, KR_NULLS_SLICED, 0},
    {"equal", 20, 31, KR_PATTERN_EQUAL, KR_NULLS_NONE, 0},
    {"nulls", 10, 10, KR_PATTERN_DENSE, KR_NULLS_ALL, 0},
    {"distinct-right", 300, 40, KR_PATTERN_DENSE, KR_NULLS_SOME, 0},
    {"distinct-left", 40, 300, KR_PATTERN_DENSE, KR_NULLS_NONE, 0},
    {"distinct-both", 70, 70, KR_PATTERN_DENSE, KR_NULLS_NONE, 0},
    {"sorted", 90, 60, KR_PATTERN_DUPLICATES, KR_NULLS_NONE, 1},
    {"sorted-distinct", 40, 90, KR_PATTERN_DENSE, KR_NULLS_NONE, 1},
    {"sorted-extreme", 50, 40, KR_PATTERN_EXTREME, KR_NULLS_NONE, 1},
    {"sorted-nulls", 30, 30, KR_PATTERN_DENSE, KR_NULLS_SOME, 1},
};
static const char *const type_names[] = {"", "inner", "semi", "anti", "left", "right", "full"};

/* Reads a join in two parts, so that reading from the middle is seen too. */
static kr_status read_pairs(kr_join *join, uint64_t n, int with_right, kr_pairs *got, kr_error *err)
{
    uint32_t *left = kr_test_calloc(n, sizeof *left), *right = kr_test_calloc(n, sizeof *right);
    const uint64_t cut = n / 3;
    kr_status status = kr_join_read(join, 0, cut, left, with_right ? right : NULL, err);
    if (!status)
        status = kr_join_read(join, cut, n - cut, left + cut, with_right ? right + cut : NULL, err);
    got->n = n;
    got->pairs = kr_test_calloc(n, sizeof *got->pairs);
    for (uint64_t i = 0; i < n; ++i) {
        got->pairs[i][0] = left[i];
        got->pairs[i][1] = with_right ? right[i] : KR_NO_ROW;
    }
    free(left);
    free(right);
    return status;
}

static void compare(kr_suite *suite, const kr_pairs *want, kr_pairs *got, int unordered, const char *what)
{
    if (unordered)
        kr_pairs_sort(got);
    if (got->n != want->n) {
        kr_test_fail(suite, "%s: want %llu pairs, got %llu", what, (unsigned long long)want->n,
                     (unsigned long long)got->n);
        return;
    }
    for (uint64_t i = 0; i < want->n; ++i)
        if (memcmp(want->pairs[i], got->pairs[i], sizeof want->pairs[i]) != 0) {
            kr_test_fail(suite, "%s: pair %llu: want (%u, %u), got (%u, %u)", what, (unsigned long long)i,
                         want->pairs[i][0], want->pairs[i][1], got->pairs[i][0], got->pairs[i][1]);
            return;
        }
}

/* What one join is made of: the columns as the library gets them, and in host memory for the oracle.
 * upper is NULL unless it is a range join. */
typedef struct columns {
    const kr_column *left, *lower, *upper;
} columns;

typedef struct joined {
    columns given, host;
    const char *name;
    int may_merge; /* 1: a CPU merges what ascends */
    int may_cover; /* 1: points; or the kind can index ranges */
} joined;

/* Whether a column without NULLs ascends; rows that the oracle has out of order say no. */
static int ascends(const kr_column *column)
{
    kr_oracle oracle = kr_oracle_make(column, NULL);
    int yes = !column->validity;
    for (uint64_t i = 0; i < oracle.n; ++i)
        yes = yes && oracle.rows[i] == i;
    kr_oracle_free(&oracle);
    return yes;
}

static int reads_bits(const kr_join_options *options, const kr_join_info *info)
{
    return (options->type == KR_JOIN_SEMI || options->type == KR_JOIN_ANTI) &&
           strncmp(info->spec, "dense:", 6) == 0;
}

/* A right side in no order is sorted and merged where it would have been indexed, but semi and anti joins of
 * kind `dense` read bits. */
static int is_merged(const joined *on, const kr_join_options *options, const kr_join_info *info)
{
    const columns *side = &on->host;
    if (!on->may_merge || options->inverse != KR_INVERSE_AUTO || options->type > KR_JOIN_LEFT ||
        !ascends(side->left))
        return 0;
    return side->upper
               ? ascends(side->lower) && ascends(side->upper)
               : ascends(side->lower) || (info->cost_right <= info->cost_left && !reads_bits(options, info));
}

static void check_info(kr_suite *suite, const kr_join_info *info, const joined *on,
                       const kr_join_options *options)
{
    const char *indexed = is_merged(on, options, info)                          ? "none"
                          : options->inverse == KR_INVERSE_ON || !on->may_cover ? "left"
                          : options->inverse == KR_INVERSE_OFF                  ? "right"
                          : info->cost_left < info->cost_right                  ? "left"
                                                                                : "right";
    if (strcmp(info->indexed, indexed) != 0)
        kr_test_fail(suite, "%s: the %s side was indexed, not the %s", on->name, info->indexed, indexed);
    kr_test_expect(suite, info->spec[0] && info->device[0], "a join names its spec and device");
    kr_test_expect(suite, info->peak_nbytes >= info->footprint_nbytes || kr_spec_keeps_on_host(info->spec),
                   "a join's peak is no less than it keeps");
}

static void check_join(kr_suite *suite, const kr_suite_device *on, const char *spec, const joined *sides_of,
                       const kr_join_options *options)
{
    const uint64_t before = kr_in_use(on->device);
    const int with_right = options->type != KR_JOIN_SEMI && options->type != KR_JOIN_ANTI;
    kr_error err = {0};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    kr_pairs got = {0};
    char what[128];
    snprintf(what, sizeof what, "%s, %s, inverse %d%s%s", sides_of->name, type_names[options->type],
             (int)options->inverse, options->unordered ? ", unordered" : "",
             sides_of->host.upper ? ", range" : "");
    const columns *given = &sides_of->given, *host = &sides_of->host;
    kr_status status =
        given->upper ? kr_join_create_range(on->device, spec, given->left, given->lower, given->upper,
                                            options, &join, &err)
                     : kr_join_create(on->device, spec, given->left, given->lower, options, &join, &err);
    if (given->upper && options->inverse == KR_INVERSE_OFF && !sides_of->may_cover) {
        kr_test_refused(suite, KR_ERR_UNSUPPORTED, status, &err, "ranges as the indexed side of this kind");
        return;
    }
    if (!status)
        status = kr_join_query(join, &info, &err);
    if (!status)
        status = read_pairs(join, info.pairs, with_right, &got, &err);
    if (kr_test_ok(suite, status, &err, what)) {
        kr_pairs want = kr_oracle_join(host->left, host->lower, host->upper, options->type);
        check_info(suite, &info, sides_of, options);
        compare(suite, &want, &got, options->unordered != 0, what);
        free(want.pairs);
        status = kr_join_read(join, info.pairs, 1, &(uint32_t){0}, with_right ? &(uint32_t){0} : NULL, &err);
        kr_test_refused(suite, KR_ERR_ARGUMENT, status, &err, "reading past the end of a join");
    }
    free(got.pairs);
    kr_join_destroy(join);
    kr_test_expect(suite, kr_in_use(on->device) == before, "a join releases what it took");
}

/* The oracle joins keys with ranges; here the ranges are the left side. */
static kr_pairs want_of_prepared(const columns *host, kr_join_type type)
{
    kr_pairs want = kr_oracle_join(host->left, host->lower, host->upper, type);
    for (uint64_t i = 0; host->upper && i < want.n; ++i) {
        const uint32_t key = want.pairs[i][0];
        want.pairs[i][0] = want.pairs[i][1];
        want.pairs[i][1] = key;
    }
    if (host->upper)
        kr_pairs_sort(&want);
    return want;
}

/* Joins of every type with one index of the right side; of ranges, with one of the keys. */
static void check_prepared(kr_suite *suite, const kr_suite_device *on, const char *spec,
                           const joined *sides_of)
{
    const columns *given = &sides_of->given;
    const int ranges = given->upper != NULL;
    kr_error err = {0};
    kr_index *index = NULL;
    kr_status status =
        kr_index_create(on->device, spec, ranges ? given->left : given->lower, NULL, NULL, &index, &err);
    if (!kr_test_ok(suite, status, &err, "kr_index_create"))
        return;
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type)
        for (uint32_t unordered = 0; unordered < 2; ++unordered) {
            const kr_join_options options = {
                .struct_size = sizeof options, .type = (kr_join_type)type, .unordered = unordered};
            const int with_right = type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
            kr_join *join = NULL;
            kr_join_info info = {.struct_size = sizeof info};
            kr_pairs got = {0};
            if (ranges && type != KR_JOIN_INNER)
                continue;
            status = kr_join_create_prepared(index, ranges ? given->lower : given->left, given->upper,
                                             &options, &join, &err);
            if (type >= KR_JOIN_RIGHT) {
                kr_test_refused(suite, KR_ERR_UNSUPPORTED, status, &err, "rows that no probe finds");
                continue;
            }
            if (!status)
                status = kr_join_query(join, &info, &err);
            if (!status)
                status = read_pairs(join, info.pairs, with_right, &got, &err);
            if (kr_test_ok(suite, status, &err, "kr_join_create_prepared")) {
                kr_pairs want = want_of_prepared(&sides_of->host, options.type);
                compare(suite, &want, &got, options.unordered != 0, "a prepared side");
                kr_test_expect(suite, !strcmp(info.indexed, "right"), "a prepared side is the right one");
                free(want.pairs);
            }
            free(got.pairs);
            kr_join_destroy(join);
        }
    kr_index_destroy(index);
}

typedef struct collected {
    kr_pairs pairs;
    uint64_t room;
    uint32_t largest; /* chunk */
} collected;

static int collect(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    collected *c = ctx;
    if (c->pairs.n + n > c->room)
        return 1;
    c->largest = n > c->largest ? (uint32_t)n : c->largest;
    for (uint64_t i = 0; i < n; ++i, ++c->pairs.n) {
        c->pairs.pairs[c->pairs.n][0] = left[i];
        c->pairs.pairs[c->pairs.n][1] = right ? right[i] : KR_NO_ROW;
    }
    return 0;
}

static int stop(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    (void)ctx, (void)n, (void)left, (void)right;
    return 1;
}

/* The same rows in chunks of few pairs, and counted only. */
static void check_chunks(kr_suite *suite, const kr_suite_device *on, const char *spec, const joined *sides_of,
                         const kr_join_options *options)
{
    const columns *given = &sides_of->given, *host = &sides_of->host;
    const uint64_t before = kr_in_use(on->device);
    kr_pairs want = kr_oracle_join(host->left, host->lower, host->upper, options->type);
    collected got = {.room = want.n};
    uint64_t pairs = 0, counted = 0;
    kr_error err = {0};
    got.pairs.pairs = kr_test_calloc(want.n, sizeof *got.pairs.pairs);
    kr_status status = kr_join_chunks(on->device, spec, given->left, given->lower, given->upper, options,
                                      13 * 8, collect, &got, &pairs, &err);
    if (!status)
        status = kr_join_chunks(on->device, spec, given->left, given->lower, given->upper, options, 0, NULL,
                                NULL, &counted, &err);
    if (kr_test_ok(suite, status, &err, "kr_join_chunks")) {
        kr_test_expect(suite, got.largest <= 13 && pairs == want.n && counted == want.n,
                       "chunks under the cap, and as many pairs as are counted");
        compare(suite, &want, &got.pairs, 1, "chunks");
    }
    if (want.n) {
        status = kr_join_chunks(on->device, spec, given->left, given->lower, given->upper, options, 800, stop,
                                NULL, NULL, &err);
        kr_test_refused(suite, KR_ERR_CANCELLED, status, &err, "a callback that stops");
    }
    free(got.pairs.pairs);
    free(want.pairs);
    kr_test_expect(suite, kr_in_use(on->device) == before, "chunks release what they took");
}

static void check_options(kr_suite *suite, const kr_suite_device *on, const char *spec,
                          const joined *sides_of)
{
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type)
        for (int inverse = KR_INVERSE_AUTO; inverse <= KR_INVERSE_OFF; ++inverse)
            for (uint32_t unordered = 0; unordered < 2; ++unordered) {
                const kr_join_options options = {.struct_size = sizeof options,
                                                 .type = (kr_join_type)type,
                                                 .inverse = (kr_join_inverse)inverse,
                                                 .unordered = unordered};
                check_join(suite, on, spec, sides_of, &options);
                if (unordered &&
                    (sides_of->given.upper ? inverse == KR_INVERSE_ON : inverse != KR_INVERSE_AUTO))
                    check_chunks(suite, on, spec, sides_of, &options);
            }
    check_prepared(suite, on, spec, sides_of);
}

/* A kind without ranges refuses a range join before it builds anything. */
static void expect_no_ranges(kr_suite *suite, const kr_suite_device *on, const char *spec,
                             const columns *given)
{
    kr_error err = {0};
    kr_join *join = NULL;
    const kr_status status =
        kr_join_create_range(on->device, spec, given->left, given->lower, given->upper, NULL, &join, &err);
    kr_test_refused(suite, KR_ERR_UNSUPPORTED, status, &err, "a range join of a kind without ranges");
    kr_test_expect(suite, join == NULL, "no join is written on an error");
}

/* NULL rows stay where they are, with the values that come there. */
static void sort_column(kr_test_column *column)
{
    const uint64_t n = column->view.count, width = kr_type_nbytes(column->view.type);
    kr_column values = column->view;
    values.validity = NULL;
    kr_oracle oracle = kr_oracle_make(&values, NULL);
    unsigned char *sorted = kr_test_calloc(n, width);
    for (uint64_t i = 0; i < n; ++i)
        memcpy(sorted + i * width, (const unsigned char *)values.data + oracle.rows[i] * width, width);
    memcpy(column->data, sorted, n * width);
    free(sorted);
    kr_oracle_free(&oracle);
}

static void test_sides(kr_suite *suite, const kr_suite_device *on, const char *spec, kr_type type,
                       uint32_t number, kr_place place)
{
    const sides *s = &all_sides[number];
    const uint64_t seed = kr_rng_split(kr_rng_split(suite->seed, 77 + number), type);
    kr_test_column left = kr_test_column_make(type, s->left, s->pattern, s->nulls, kr_rng_split(seed, 1));
    kr_test_column lower = kr_test_column_make(type, s->right, s->pattern, s->nulls, kr_rng_split(seed, 2));
    kr_test_column upper = kr_test_probes(&lower.view, s->right, s->nulls, kr_rng_split(seed, 3));
    if (s->sorted) {
        sort_column(&left);
        sort_column(&lower);
        sort_column(&upper);
    }
    kr_placed placed[3] = {0};
    kr_error err = {0};
    const char *must_name;
    const int fits =
        !kr_spec_refuses(spec, &left.view, &must_name) && !kr_spec_refuses(spec, &lower.view, &must_name);
    kr_status status = kr_placed_make(on->device, place, &left.view, 0, &placed[0], &err);
    if (!status)
        status = kr_placed_make(on->device, place, &lower.view, 1, &placed[1], &err);
    if (!status)
        status = kr_placed_make(on->device, place, &upper.view, 0, &placed[2], &err);
    if (kr_test_ok(suite, status, &err, "no memory for the test's columns") && fits) {
        joined sides_of = {{&placed[0].view, &placed[1].view, NULL},
                           {&left.view, &lower.view, NULL},
                           s->name,
                           on->is_host,
                           1};
        check_options(suite, on, spec, &sides_of);
        sides_of.given.upper = &placed[2].view;
        sides_of.host.upper = &upper.view;
        sides_of.may_cover = (kr_spec_capabilities(spec) & KR_CAN_NEAREST) != 0;
        if (kr_spec_capabilities(spec) & KR_CAN_RANGE)
            check_options(suite, on, spec, &sides_of);
        else
            expect_no_ranges(suite, on, spec, &sides_of.given);
    }
    for (int i = 0; i < 3; ++i)
        kr_placed_free(&placed[i]);
    kr_test_column_free(&left);
    kr_test_column_free(&lower);
    kr_test_column_free(&upper);
}

/* A spec with options takes each of the cases in one place, half of them in either. */
static int place_is_wanted(const kr_suite *suite, const char *spec, uint32_t number, kr_place place)
{
    if (suite->reduced)
        return place == KR_PLACE_HOST;
    return suite->exhaustive || !strchr(spec, ':') || (number % 2 == 0) == (place == KR_PLACE_HOST);
}

static void test_type(kr_suite *suite, kr_type type)
{
    if (!kr_join_type_is_wanted(suite, suite->spec, type) ||
        !kr_test_begin(suite, "join/%s/%s/%s", suite->on->info.name, suite->spec, kr_type_name(type)) ||
        !kr_device_runs(suite))
        return;
    if (!(kr_spec_capabilities(suite->spec) & KR_CAN_POINT)) {
        kr_test_skip(suite, suite->name, "the kind cannot look up points");
        return;
    }
    for (uint32_t i = 0; i < sizeof all_sides / sizeof all_sides[0]; ++i)
        for (int place = KR_PLACE_HOST; place <= KR_PLACE_DEVICE; ++place)
            if (place_is_wanted(suite, suite->spec, i + (uint32_t)type, (kr_place)place))
                test_sides(suite, suite->on, suite->spec, type, i, (kr_place)place);
    kr_test_end(suite);
}

/* JOIN/DEVICE/SPEC/TYPE, over all sides and places. */
void kr_run_joins(kr_suite *suite)
{
    for (int type = 1; type <= KR_N_TYPES && !suite->listed->is_brief; ++type)
        test_type(suite, (kr_type)type);
}
