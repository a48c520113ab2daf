/* Nearest keys: every side, strict or not, with tolerances of all sizes, for keys that lie badly. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>

enum { SIDES = 4, TOLERANCES = 6 };

/* Tolerance `number` of the six: none; 0, 1, a few, most of the type, the largest. */
static void limit(kr_type type, int number, kr_nearest_options *options)
{
    static const double real[TOLERANCES] = {0, 0, 1e-3, 40.5, 1e30, INFINITY};
    static const int64_t whole[TOLERANCES] = {0, 0, 1, 40, INT64_MAX / 3, INT64_MAX};
    const uint32_t bits = 8 * kr_type_nbytes(type);
    options->limited = number > 0;
    if (kr_type_is_float(type))
        options->float_tolerance = real[number];
    else
        options->tolerance = bits < 64 && number >= 4 ? whole[number] >> (63 - bits) : whole[number];
}

static void check(const kr_fixture *fixture, kr_index *index, const kr_nearest_options *options)
{
    const kr_column *keys = &fixture->data.keys.view, *probes = &fixture->data.lower[KR_ASK_NEAREST].view;
    kr_oracle oracle = kr_oracle_make(keys, NULL);
    uint32_t *want = kr_oracle_nearest(&oracle, probes, options);
    uint32_t *got = kr_test_calloc(probes->count, sizeof *got);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = got};
    kr_error err = {0};
    char text[48];
    if (kr_test_ok(fixture->suite, kr_index_nearest(index, probes, options, &sink, NULL, &err), &err,
                   "kr_index_nearest"))
        for (uint64_t i = 0; i < probes->count; ++i)
            if (want[i] != got[i])
                kr_test_fail(fixture->suite,
                             "%s, pattern %d, side %d%s, %s %lld %g: probe %llu, %s: want row %u, got %u",
                             kr_type_name(keys->type), (int)fixture->test.pattern, (int)options->side,
                             options->strict ? ", strict" : "", options->limited ? "within" : "no limit",
                             (long long)options->tolerance, options->float_tolerance, (unsigned long long)i,
                             kr_value_print(keys->type, kr_value_at(probes, i), text), want[i], got[i]);
    free(got);
    free(want);
    kr_oracle_free(&oracle);
}

static void check_all(const kr_fixture *fixture, const kr_suite_device *on, const char *spec)
{
    const kr_column *keys = &fixture->data.keys.view;
    const char *must_name;
    kr_index *index = NULL;
    kr_error err = {0};
    if (kr_spec_refuses(spec, keys, &must_name) ||
        !kr_test_ok(fixture->suite, kr_index_create(on->device, spec, keys, NULL, NULL, &index, &err), &err,
                    "kr_index_create"))
        return;
    for (int side = 0; side < SIDES; ++side)
        for (uint32_t strict = 0; strict < 2; ++strict)
            for (int tolerance = 0; tolerance < TOLERANCES; ++tolerance) {
                kr_nearest_options options = {
                    .struct_size = sizeof options, .side = (kr_nearest_side)side, .strict = strict};
                limit(keys->type, tolerance, &options);
                check(fixture, index, &options);
            }
    kr_index_destroy(index);
}

static void check_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    static const struct keys {
        kr_pattern pattern;
        uint64_t n;
    } keys[] = {{KR_PATTERN_RANDOM, 0},       {KR_PATTERN_EXTREME, 1},  {KR_PATTERN_EQUAL, 70},
                {KR_PATTERN_DUPLICATES, 400}, {KR_PATTERN_EXTREME, 90}, {KR_PATTERN_DENSE, 60},
                {KR_PATTERN_SUMMABLE, 200}};
    if (!(kr_spec_capabilities(spec) & KR_CAN_NEAREST))
        return;
    for (int type = 1; type <= KR_N_TYPES; ++type)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
            kr_fixture fixture;
            kr_fixture_make(suite, (kr_type)type, keys[i].pattern, keys[i].n, &fixture);
            check_all(&fixture, on, spec);
            kr_fixture_free(&fixture);
        }
}

void kr_run_nearest(kr_suite *suite)
{
    kr_test_special(suite, "nearest", 0, check_spec);
}
