/* As-of joins with and without groups, of one key of at most 64 bits and of ranks, sorted sides and others,
 * against nested loops. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 3 };

/* How the columns of both sides are made. */
typedef struct scene {
    const char *name;
    uint64_t left, right;
    kr_pattern times;
    kr_nulls nulls;
    uint32_t n_by;
    kr_type groups[GROUPS];
    kr_pattern group_pattern;
    int ascends;
} scene;

static const scene scenes[] = {
    {"empty", 0, 0, KR_PATTERN_RANDOM, KR_NULLS_NONE, 1, {KR_U8}, KR_PATTERN_DUPLICATES, 0},
    {"empty-left", 0, 20, KR_PATTERN_DENSE, KR_NULLS_NONE, 0, {0}, 0, 0},
    {"empty-right", 20, 0, KR_PATTERN_DENSE, KR_NULLS_NONE, 1, {KR_U32}, KR_PATTERN_DUPLICATES, 0},
    {"no-group", 150, 90, KR_PATTERN_DUPLICATES, KR_NULLS_SOME, 0, {0}, 0, 0},
    {"extreme", 80, 120, KR_PATTERN_EXTREME, KR_NULLS_SLICED, 0, {0}, 0, 0},
    {"merged", 150, 140, KR_PATTERN_DUPLICATES, KR_NULLS_NONE, 0, {0}, 0, 1},
    {"merged-extreme", 90, 90, KR_PATTERN_EXTREME, KR_NULLS_NONE, 0, {0}, 0, 1},
    {"byte-group", 120, 130, KR_PATTERN_DUPLICATES, KR_NULLS_SOME, 1, {KR_I8}, KR_PATTERN_DUPLICATES, 0},
    {"extreme-in-groups", 90, 90, KR_PATTERN_EXTREME, KR_NULLS_SLICED, 1, {KR_U8}, KR_PATTERN_DUPLICATES, 0},
    {"one-group", 60, 60, KR_PATTERN_RANDOM, KR_NULLS_NONE, 1, {KR_U16}, KR_PATTERN_EQUAL, 0},
    {"wide-group", 100, 110, KR_PATTERN_DUPLICATES, KR_NULLS_SOME, 1, {KR_U64}, KR_PATTERN_EXTREME, 0},
    {"float-group", 100, 110, KR_PATTERN_RANDOM, KR_NULLS_NONE, 1, {KR_F64}, KR_PATTERN_EXTREME, 0},
    {"two-groups", 130, 130, KR_PATTERN_DENSE, KR_NULLS_SOME, 2, {KR_U8, KR_I16}, KR_PATTERN_DUPLICATES, 0},
    {"two-wide-groups", 90, 140, KR_PATTERN_DENSE, KR_NULLS_SOME, 2, {KR_F32, KR_I64}, KR_PATTERN_EXTREME, 0},
    {"three-groups",
     70,
     140,
     KR_PATTERN_DUPLICATES,
     KR_NULLS_SOME,
     3,
     {KR_U8, KR_U64, KR_F64},
     KR_PATTERN_DUPLICATES,
     0},
    {"nulls", 20, 20, KR_PATTERN_DENSE, KR_NULLS_ALL, 1, {KR_U8}, KR_PATTERN_EQUAL, 0},
};

/* A scene's columns, for the oracle and for the library. */
typedef struct columns {
    kr_test_column times[2], groups[2][GROUPS];
    kr_placed placed_times[2], placed_groups[2][GROUPS];
    kr_column views[2][GROUPS], host_views[2][GROUPS];
} columns;

static kr_test_column make(kr_type type, uint64_t n, kr_pattern pattern, kr_nulls nulls, uint64_t seed)
{
    return kr_test_column_make(type, n, pattern, nulls, seed);
}

static int by_value(const void *a, const void *b, void *type)
{
    return kr_value_compare(*(const kr_type *)type, a, b);
}

static void make_columns(const scene *s, kr_type type, uint64_t seed, columns *made)
{
    const uint64_t rows[2] = {s->left, s->right};
    memset(made, 0, sizeof *made);
    for (uint32_t side = 0; side < 2; ++side) {
        made->times[side] = make(type, rows[side], s->times, s->nulls, kr_rng_split(seed, side));
        if (s->ascends)
            qsort_r(made->times[side].data, rows[side], kr_type_nbytes(type), by_value, &type);
        for (uint32_t j = 0; j < s->n_by; ++j)
            made->groups[side][j] = make(s->groups[j], rows[side], s->group_pattern, s->nulls,
                                         kr_rng_split(seed, 10 + 2 * j + side));
    }
    for (uint32_t j = 0; j < s->n_by; ++j) { /* few groups, so that rows meet; some of one side only */
        for (uint64_t i = 0; i < rows[0] && rows[1]; ++i)
            if (i % 8)
                kr_value_store_bits(
                    s->groups[j], made->groups[0][j].data, i,
                    kr_value_bits(s->groups[j], kr_value_at(&made->groups[1][j].view, i % 6 % rows[1])));
        for (uint64_t i = 6; i < rows[1]; ++i)
            kr_value_store_bits(s->groups[j], made->groups[1][j].data, i,
                                kr_value_bits(s->groups[j], kr_value_at(&made->groups[1][j].view, i % 6)));
    }
}

static kr_status place_columns(const scene *s, kr_device *device, kr_place place, columns *c, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t side = 0; side < 2 && !status; ++side) {
        status = kr_placed_make(device, place, &c->times[side].view, side, &c->placed_times[side], err);
        for (uint32_t j = 0; j < s->n_by && !status; ++j) {
            status =
                kr_placed_make(device, place, &c->groups[side][j].view, 0, &c->placed_groups[side][j], err);
            c->views[side][j] = c->placed_groups[side][j].view;
            c->host_views[side][j] = c->groups[side][j].view;
        }
    }
    return status;
}

static void free_columns(columns *c)
{
    for (uint32_t side = 0; side < 2; ++side) {
        for (uint32_t j = 0; j < GROUPS; ++j) {
            kr_placed_free(&c->placed_groups[side][j]);
            kr_test_column_free(&c->groups[side][j]);
        }
        kr_placed_free(&c->placed_times[side]);
        kr_test_column_free(&c->times[side]);
    }
}

/* ---- One join --------------------------------------------------------------------------------------- */

static void compare(kr_suite *suite, kr_join *join, const kr_join_info *info, const kr_pairs *want,
                    int with_right, const char *what)
{
    uint32_t *left = kr_test_calloc(info->pairs, sizeof *left),
             *right = kr_test_calloc(info->pairs, sizeof *right);
    kr_error err = {0};
    if (info->pairs != want->n) {
        kr_test_fail(suite, "%s: want %llu rows, got %llu", what, (unsigned long long)want->n,
                     (unsigned long long)info->pairs);
    } else if (kr_test_ok(suite, kr_join_read(join, 0, want->n, left, with_right ? right : NULL, &err), &err,
                          what)) {
        for (uint64_t i = 0; i < want->n; ++i)
            if (left[i] != want->pairs[i][0] || (with_right && right[i] != want->pairs[i][1]))
                kr_test_fail(suite, "%s: row %llu: want (%u, %u), got (%u, %u)", what, (unsigned long long)i,
                             want->pairs[i][0], want->pairs[i][1], left[i], right[i]);
    }
    free(left);
    free(right);
}

static void check_join(kr_suite *suite, const kr_suite_device *on, const char *spec, const scene *s,
                       columns *c, const kr_nearest_options *nearest, const kr_join_options *options)
{
    const uint64_t before = kr_in_use(on->device);
    const kr_asof_sides sides = {&c->times[0].view, &c->times[1].view, c->host_views[0], c->host_views[1],
                                 s->n_by};
    const int with_right = options->type == KR_JOIN_INNER || options->type == KR_JOIN_LEFT;
    kr_error err = {0};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    char what[192];
    snprintf(what, sizeof what, "%s, side %d%s%s %lld %g, type %d", s->name, (int)nearest->side,
             nearest->strict ? ", strict" : "", nearest->limited ? ", within" : ", any",
             (long long)nearest->tolerance, nearest->float_tolerance, (int)options->type);
    kr_status status =
        kr_join_create_asof(on->device, spec, &c->placed_times[0].view, &c->placed_times[1].view, c->views[0],
                            c->views[1], s->n_by, nearest, options, &join, &err);
    if (!status)
        status = kr_join_query(join, &info, &err);
    if (kr_test_ok(suite, status, &err, what)) {
        uint32_t *rows = kr_oracle_asof(&sides, nearest);
        kr_pairs want = kr_oracle_asof_join(rows, s->left, options->type);
        compare(suite, join, &info, &want, with_right, what);
        kr_test_expect(suite, info.spec[0] && info.device[0] && info.tracer[0],
                       "a join names its spec, device and tracer");
        kr_test_expect(suite, info.peak_nbytes >= info.footprint_nbytes || kr_spec_keeps_on_host(info.spec),
                       "a peak is no less than what is kept");
        if (s->ascends)
            kr_test_expect(suite, !strcmp(info.indexed, on->is_host ? "none" : "right"),
                           "sorted sides are merged on a CPU");
        free(want.pairs);
        free(rows);
    }
    kr_join_destroy(join);
    kr_test_expect(suite, kr_in_use(on->device) == before, "a join releases what it took");
}

static void check_scene(kr_suite *suite, const kr_suite_device *on, const char *spec, const scene *s,
                        kr_type type, kr_place place)
{
    kr_rng rng = {kr_rng_split(suite->seed, (uint64_t)(s - scenes) * KR_N_TYPES + type)};
    columns c;
    kr_error err = {0};
    const kr_column widest = {.type = KR_U64};
    const char *must_name;
    make_columns(s, type, kr_rng_next(&rng), &c);
    /* Groups and times as one key lie far apart. */
    if ((s->n_by && kr_spec_wants_near(spec)) ||
        kr_spec_refuses(spec, s->n_by ? &widest : &c.times[1].view, &must_name)) {
        free_columns(&c);
        return;
    }
    if (kr_test_ok(suite, place_columns(s, on->device, place, &c, &err), &err, "the test's columns"))
        for (int join_type = KR_JOIN_INNER; join_type <= KR_JOIN_LEFT; ++join_type)
            for (int i = 0; i < 3; ++i) {
                const kr_nearest_options nearest = kr_test_nearest(&c.times[1].view, &rng);
                const kr_join_options options = {
                    .struct_size = sizeof options, .type = (kr_join_type)join_type, .unordered = i == 2};
                check_join(suite, on, spec, s, &c, &nearest, &options);
            }
    free_columns(&c);
}

static void check_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    const uint8_t byte = 0;
    const kr_column one = {.type = KR_U8, .count = 1, .data = &byte};
    kr_error err = {0};
    kr_join *join = NULL;
    if (!(kr_spec_capabilities(spec) & KR_CAN_NEAREST)) {
        const kr_status status =
            kr_join_create_asof(on->device, spec, &one, &one, NULL, NULL, 0, NULL, NULL, &join, &err);
        kr_test_refused(suite, KR_ERR_UNSUPPORTED, status, &err,
                        "an as-of join of a kind without nearest keys");
        return;
    }
    for (int type = 1; type <= KR_N_TYPES; ++type)
        for (size_t i = 0;
             kr_join_type_is_wanted(suite, spec, (kr_type)type) && i < sizeof scenes / sizeof *scenes; ++i)
            check_scene(suite, on, spec, &scenes[i], (kr_type)type,
                        (i + (size_t)type) % 2 ? KR_PLACE_HOST : KR_PLACE_DEVICE);
}

void kr_run_asof(kr_suite *suite)
{
    kr_test_special(suite, "asof", 0, check_spec);
}
