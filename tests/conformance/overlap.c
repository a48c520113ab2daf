/* Joins of intervals against nested loops: every type, both sorts of ends, in order or not, in chunks. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    const char *name;
    uint64_t left, right;
    kr_pattern pattern;
    kr_nulls nulls;
} scene;

static const scene scenes[] = {
    {"empty", 0, 0, KR_PATTERN_RANDOM, KR_NULLS_NONE},
    {"empty-left", 0, 9, KR_PATTERN_DENSE, KR_NULLS_NONE},
    {"empty-right", 9, 0, KR_PATTERN_DENSE, KR_NULLS_NONE},
    {"few", 40, 60, KR_PATTERN_DENSE, KR_NULLS_SOME},
    {"any", 70, 50, KR_PATTERN_RANDOM, KR_NULLS_NONE},
    {"extreme", 60, 60, KR_PATTERN_EXTREME, KR_NULLS_SLICED},
    {"equal", 20, 30, KR_PATTERN_EQUAL, KR_NULLS_NONE},
    {"again", 50, 70, KR_PATTERN_DUPLICATES, KR_NULLS_SOME},
    {"nulls", 10, 10, KR_PATTERN_DENSE, KR_NULLS_ALL},
};

/* Starts and ends of both sides: left, left, right, right. */
typedef struct columns {
    kr_test_column host[4];
    kr_placed there[4];
} columns;

/* ---- The oracle ----------------------------------------------------------------------------------- */

static int is_nan(const kr_column *column, uint64_t row)
{
    double value = 0;
    if (kr_type_is_float(column->type))
        value = kr_value_float(column->type, kr_value_at(column, row));
    return value != value;
}

static int compare(const kr_column *a, uint64_t i, const kr_column *b, uint64_t j)
{
    return kr_value_compare(a->type, kr_value_at(a, i), kr_value_at(b, j));
}

static int is_interval(const kr_column *start, const kr_column *end, uint64_t row, int open)
{
    return kr_value_is_valid(start, row) && kr_value_is_valid(end, row) && !is_nan(start, row) &&
           !is_nan(end, row) && compare(start, row, end, row) <= -open;
}

static int overlap(const columns *c, uint64_t i, uint64_t j, int open)
{
    const kr_column *left = &c->host[0].view, *left_end = &c->host[1].view, *right = &c->host[2].view,
                    *right_end = &c->host[3].view;
    return is_interval(left, left_end, i, open) && is_interval(right, right_end, j, open) &&
           compare(left, i, right_end, j) <= -open && compare(right, j, left_end, i) <= -open;
}

static kr_pairs all_pairs(const columns *c, int open, kr_join_type type)
{
    const uint64_t n_left = c->host[0].view.count, n_right = c->host[2].view.count;
    kr_pairs made = {0};
    made.pairs = kr_test_calloc(n_left * (n_right + 1), sizeof *made.pairs);
    for (uint64_t i = 0; i < n_left; ++i) {
        const uint64_t before = made.n;
        uint64_t found = 0;
        for (uint64_t j = 0; j < n_right; ++j) {
            if (!overlap(c, i, j, open))
                continue;
            ++found;
            made.pairs[made.n][0] = (uint32_t)i;
            made.pairs[made.n][1] = (uint32_t)j;
            made.n += type == KR_JOIN_INNER || type == KR_JOIN_LEFT;
        }
        if (type != KR_JOIN_INNER && (type == KR_JOIN_SEMI) == (found != 0)) {
            if (type == KR_JOIN_LEFT && found)
                continue;
            made.pairs[before][0] = (uint32_t)i;
            made.pairs[before][1] = KR_NO_ROW;
            made.n = before + 1;
        }
    }
    return made;
}

/* ---- One join --------------------------------------------------------------------------------------- */

static void expect_pairs(kr_suite *suite, const kr_pairs *want, kr_pairs *got, const char *what)
{
    if (got->n != want->n) {
        kr_test_fail(suite, "%s: want %llu rows, got %llu", what, (unsigned long long)want->n,
                     (unsigned long long)got->n);
        return;
    }
    for (uint64_t i = 0; i < want->n; ++i)
        if (memcmp(want->pairs[i], got->pairs[i], sizeof want->pairs[i]) != 0)
            kr_test_fail(suite, "%s: row %llu: want (%u, %u), got (%u, %u)", what, (unsigned long long)i,
                         want->pairs[i][0], want->pairs[i][1], got->pairs[i][0], got->pairs[i][1]);
}

static void check_join(kr_suite *suite, const kr_suite_device *on, const char *spec, const scene *s,
                       const columns *c, int open, const kr_join_options *options)
{
    const uint64_t before = kr_in_use(on->device);
    const int with_right = options->type == KR_JOIN_INNER || options->type == KR_JOIN_LEFT;
    kr_error err = {0};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    char what[128];
    snprintf(what, sizeof what, "%s, %s, type %d%s", s->name, open ? "open" : "closed", (int)options->type,
             options->unordered ? ", unordered" : "");
    kr_status status =
        kr_join_create_overlap(on->device, spec, &c->there[0].view, &c->there[1].view, &c->there[2].view,
                               &c->there[3].view, open ? KR_ENDS_OPEN : KR_ENDS_CLOSED, options, &join, &err);
    if (!status)
        status = kr_join_query(join, &info, &err);
    kr_pairs got = {.n = info.pairs, .pairs = kr_test_calloc(info.pairs, sizeof *got.pairs)};
    uint32_t *left = kr_test_calloc(info.pairs, sizeof *left),
             *right = kr_test_calloc(info.pairs, sizeof *right);
    if (!status)
        status = kr_join_read(join, 0, info.pairs, left, with_right ? right : NULL, &err);
    for (uint64_t i = 0; i < info.pairs; ++i) {
        got.pairs[i][0] = left[i];
        got.pairs[i][1] = with_right ? right[i] : KR_NO_ROW;
    }
    if (options->unordered)
        kr_pairs_sort(&got);
    if (kr_test_ok(suite, status, &err, what)) {
        kr_pairs want = all_pairs(c, open, options->type);
        expect_pairs(suite, &want, &got, what);
        kr_test_expect(suite,
                       info.spec[0] && info.device[0] &&
                           (info.peak_nbytes >= info.footprint_nbytes || kr_spec_keeps_on_host(info.spec)),
                       "a join names its spec and device, and its peak is no less than its footprint");
        free(want.pairs);
    }
    free(right);
    free(left);
    free(got.pairs);
    kr_join_destroy(join);
    kr_test_expect(suite, kr_in_use(on->device) == before, "a join releases what it took");
}

/* ---- Chunks ------------------------------------------------------------------------------------------- */

typedef struct collected {
    kr_pairs pairs;
    uint64_t most, room; /* pairs of a chunk; that fit */
    int too_large;
} collected;

static int collect(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    collected *c = ctx;
    c->too_large |= n > c->most || n == 0;
    for (uint64_t i = 0; i < n && c->pairs.n < c->room; ++i, ++c->pairs.n) {
        c->pairs.pairs[c->pairs.n][0] = left[i];
        c->pairs.pairs[c->pairs.n][1] = right[i];
    }
    return 0;
}

static int stop(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    (void)ctx, (void)n, (void)left, (void)right;
    return 1;
}

static kr_status ask_chunks(kr_device *device, const char *spec, const columns *c, int open, uint64_t cap,
                            kr_pairs_chunk chunk, void *ctx, uint64_t *pairs, kr_error *err)
{
    return kr_join_overlap_chunks(device, spec, &c->there[0].view, &c->there[1].view, &c->there[2].view,
                                  &c->there[3].view, open ? KR_ENDS_OPEN : KR_ENDS_CLOSED, cap, chunk, ctx,
                                  pairs, err);
}

static void check_chunks(kr_suite *suite, const kr_suite_device *on, const char *spec, const columns *c,
                         int open)
{
    static const uint64_t caps[] = {8, 31, 200, UINT64_C(1) << 40};
    const uint64_t before = kr_in_use(on->device);
    kr_pairs want = all_pairs(c, open, KR_JOIN_INNER);
    uint64_t pairs = 0;
    kr_error err = {0};
    for (size_t i = 0; i < sizeof caps / sizeof *caps; ++i) {
        collected got = {.most = caps[i] / 8, .room = want.n + 1};
        got.pairs.pairs = kr_test_calloc(got.room, sizeof *got.pairs.pairs);
        if (kr_test_ok(suite, ask_chunks(on->device, spec, c, open, caps[i], collect, &got, &pairs, &err),
                       &err, "chunks of pairs")) {
            kr_pairs_sort(&got.pairs);
            expect_pairs(suite, &want, &got.pairs, "chunks");
            kr_test_expect(suite, pairs == want.n, "chunks count their pairs");
            kr_test_expect(suite, !got.too_large, "no chunk is empty or larger than the cap");
        }
        free(got.pairs.pairs);
    }
    pairs = 0;
    kr_test_ok(suite, ask_chunks(on->device, spec, c, open, 0, NULL, NULL, &pairs, &err), &err,
               "counting pairs");
    kr_test_expect(suite, pairs == want.n, "pairs are counted without a callback");
    kr_test_refused(suite, KR_ERR_LIMIT,
                    ask_chunks(on->device, spec, c, open, 7, collect, NULL, &pairs, &err), &err,
                    "a cap below a pair");
    if (want.n)
        kr_test_refused(suite, KR_ERR_CANCELLED,
                        ask_chunks(on->device, spec, c, open, 800, stop, NULL, &pairs, &err), &err,
                        "a callback that stops");
    free(want.pairs);
    kr_test_expect(suite, kr_in_use(on->device) == before, "chunks release what they took");
}

/* ---- Scenes ------------------------------------------------------------------------------------------- */

static kr_status make(kr_suite *suite, const scene *s, kr_type type, kr_device *device, kr_place place,
                      columns *c, kr_error *err)
{
    const uint64_t seed = kr_rng_split(kr_rng_split(suite->seed, (uint64_t)(s - scenes)), type);
    kr_status status = KR_OK;
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < 4; ++i)
        c->host[i] = kr_test_column_make(type, i < 2 ? s->left : s->right, s->pattern, s->nulls,
                                         kr_rng_split(seed, i));
    for (uint32_t side = 0; side < 4; side += 2) /* most starts are no larger than their ends */
        for (uint64_t row = 0; row < c->host[side].view.count; ++row) {
            const kr_column *start = &c->host[side].view, *end = &c->host[side + 1].view;
            const uint64_t a = kr_value_bits(type, kr_value_at(start, row)),
                           b = kr_value_bits(type, kr_value_at(end, row));
            if (row % 5 && compare(start, row, end, row) > 0) {
                kr_value_store_bits(type, c->host[side].data, row, b);
                kr_value_store_bits(type, c->host[side + 1].data, row, a);
            }
        }
    for (uint32_t i = 0; i < 4 && !status; ++i)
        status = kr_placed_make(device, place, &c->host[i].view, i % 2, &c->there[i], err);
    return status;
}

static void check_scene(kr_suite *suite, const kr_suite_device *on, const char *spec, const scene *s,
                        kr_type type)
{
    const kr_column codes = {.type = kr_type_nbytes(type) == 8 ? KR_U64 : KR_U32};
    const char *must_name;
    kr_error err = {0};
    columns c;
    if (kr_spec_refuses(spec, &codes, &must_name) || strstr(spec, "mode=") ||
        (kr_type_is_float(type) && kr_spec_wants_near(spec)))
        return;
    if (kr_test_ok(suite,
                   make(suite, s, type, on->device, type % 2 ? KR_PLACE_HOST : KR_PLACE_DEVICE, &c, &err),
                   &err, "the test's columns"))
        for (int open = 0; open < 2; ++open) {
            for (int join_type = KR_JOIN_INNER; join_type <= KR_JOIN_LEFT; ++join_type)
                for (uint32_t unordered = 0; unordered < 2; ++unordered) {
                    const kr_join_options options = {.struct_size = sizeof options,
                                                     .type = (kr_join_type)join_type,
                                                     .unordered = unordered};
                    check_join(suite, on, spec, s, &c, open, &options);
                }
            check_chunks(suite, on, spec, &c, open);
        }
    for (uint32_t i = 0; i < 4; ++i) {
        kr_placed_free(&c.there[i]);
        kr_test_column_free(&c.host[i]);
    }
}

static void check_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const uint8_t byte = 0;
    const kr_column one = {.type = KR_U8, .count = 1, .data = &byte};
    kr_error err = {0};
    kr_join *join = NULL;
    if (!(kr_spec_capabilities(spec) & KR_CAN_RANGE)) {
        const kr_status status = kr_join_create_overlap(on->device, spec, &one, &one, &one, &one,
                                                        KR_ENDS_CLOSED, NULL, &join, &err);
        kr_test_refused(suite, KR_ERR_UNSUPPORTED, status, &err, "intervals of a kind without ranges");
        return;
    }
    for (int type = 1; type <= KR_N_TYPES; ++type)
        for (size_t i = 0;
             kr_join_type_is_wanted(suite, spec, (kr_type)type) && i < sizeof scenes / sizeof *scenes; ++i)
            check_scene(suite, on, spec, &scenes[i], (kr_type)type);
}

void kr_run_overlap(kr_suite *suite)
{
    kr_test_special(suite, "overlap", 0, check_spec);
}
