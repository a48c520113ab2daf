/* A divided index answers as one in device memory: on the CPU, which is told to divide, with all parts
 * travelling and with none. */
#include "scene.h"

static const scene scenes[] = {
    {.type = KR_U32, .keys = KEYS, .probes = PROBES},
    {.type = KR_U32, .different = 900, .nulls = 1, .keys = KEYS, .probes = PROBES},
    {.type = KR_U32, .different = 3, .keys = KEYS, .probes = 40}, /* keys with more rows than a part */
    {.type = KR_U64, .row_ids = 1, .keys = KEYS, .probes = PROBES},
    {.type = KR_F64, .different = 2000, .nulls = 1, .row_ids = 1, .keys = KEYS, .probes = PROBES},
    {.type = KR_F32, .keys = KEYS, .probes = PROBES},
    {.type = KR_U16, .keys = KEYS, .probes = PROBES},
    {.type = KR_I32, .keys = PART_ROWS, .probes = PROBES}, /* one part */
    {.type = KR_I32, .keys = 1, .probes = PROBES},
    {.type = KR_U64, .keys = 0, .probes = PROBES},
    {.type = KR_U64, .keys = KEYS, .probes = 1},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

static void compare_scene(const char *divided_spec, const char *plain_spec, const scene *s, int way)
{
    kr_device *device = open_device(PART_ROWS, way, 0);
    columns c = columns_of(s, 17 + (uint64_t)(s - scenes));
    kr_index *plain = build(device, plain_spec, &c), *divided = build(device, divided_spec, &c);
    for (sort = POINT; sort <= RANGE; ++sort)
        compare_all(plain, divided, way, &c);
    sort = NEAREST;
    for (int side = KR_NEAREST_BELOW; side <= KR_NEAREST_EITHER; ++side)
        for (uint32_t strict = 0; strict < 2; ++strict)
            for (uint32_t limited = 0; limited < 2; ++limited) {
                nearest = (kr_nearest_options){.struct_size = sizeof nearest,
                                               .side = (kr_nearest_side)side,
                                               .strict = strict,
                                               .limited = limited};
                if (limited && (s->type == KR_F32 || s->type == KR_F64))
                    nearest.float_tolerance = 1e6;
                else if (limited)
                    nearest.tolerance = s->type == KR_U16 ? 5 : 100000;
                compare_result(plain, divided, way, &c, KR_RESULT_ROW);
                compare_result(plain, divided, way, &c, KR_RESULT_COUNT);
                compare_rows(plain, divided, &c, KR_ORDER_ROW, 0);
            }
    kr_index_destroy(divided);
    kr_index_destroy(plain);
    free_columns(&c);
    kr_device_close(device);
}

static void test_scenes_travelling(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENES; ++i)
        compare_scene("array:keep=host", "array", &scenes[i], TRAVEL);
    compare_scene("array:keep=host,layout=aos,probes=sorted", "array", &scenes[1], TRAVEL);
    compare_scene("array:keep=host,ends=scan", "array", &scenes[3], TRAVEL);
}

static void test_scenes_on_host(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENES; ++i)
        compare_scene("array:keep=host", "array", &scenes[i], HOST);
    compare_scene("array:keep=host,layout=aos,probes=partitioned", "array", &scenes[1], HOST);
}

/* ---- Nearest keys at the ends of parts -------------------------------------------------------- */

/* Every probe, and keys with gaps of every size, so that every border of two parts has probes on both sides
 * of its middle. */
static void test_nearest_at_borders(void **state)
{
    enum { VALUES = 1 << 16 };
    kr_rng rng = {3};
    columns c = {.keys = {.type = KR_U16}, .lower = {.type = KR_U16, .count = VALUES}};
    uint16_t *keys = take(VALUES, sizeof *keys), *probes = take(VALUES, sizeof *probes);
    for (uint32_t at = 5; at < VALUES - 9; at += 1 + (uint32_t)kr_rng_below(&rng, 60))
        for (uint64_t repeats = kr_rng_below(&rng, 4) ? 1 : 3; repeats; --repeats)
            keys[c.keys.count++] = (uint16_t)at;
    for (uint32_t i = 0; i < VALUES; ++i)
        probes[i] = (uint16_t)i;
    c.keys.data = keys;
    c.lower.data = probes;
    (void)state;
    for (uint64_t part_rows = 1; part_rows < 40; part_rows = part_rows * 2 + 1) {
        kr_device *device = open_device(part_rows, TRAVEL, 0);
        kr_index *plain = build(device, "array", &c), *divided = build(device, "array:keep=host", &c);
        sort = NEAREST;
        for (int i = 0; i < 12; ++i) {
            nearest = (kr_nearest_options){.struct_size = sizeof nearest,
                                           .side = (kr_nearest_side)(KR_NEAREST_BELOW + i % 3),
                                           .strict = (uint32_t)i / 3 % 2,
                                           .limited = (uint32_t)i / 6,
                                           .tolerance = i / 6 ? 11 : 0};
            compare_result(plain, divided, TRAVEL, &c, KR_RESULT_ROW);
        }
        kr_index_destroy(divided);
        kr_index_destroy(plain);
        kr_device_close(device);
    }
    free(probes), free(keys);
}

/* ---- Larger than the device -------------------------------------------------------------------- */

static uint64_t peak_of(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    assert_int_equal(kr_device_query(device, &info, NULL), KR_OK);
    return info.peak_nbytes;
}

/* An index of 32 MiB, whose column alone would not fit: parts are as large as the cap wants. Then the same
 * answers as without a cap, though a batch takes several pieces. */
static void test_larger_than_the_cap(void **state)
{
    enum { MANY = 1 << 22, CAP = 12 << 20 };
    const scene s = {.type = KR_U32, .keys = MANY, .probes = 300000};
    kr_device *large = open_device(0, TRAVEL, 0), *small = open_device(0, TRAVEL, CAP);
    columns c = columns_of(&s, 5);
    kr_index *plain = build(large, "array", &c), *divided = build(small, "array:keep=host", &c);
    kr_index_info info = {.struct_size = sizeof info};
    (void)state;
    assert_int_equal(kr_index_query(divided, &info, NULL), KR_OK);
    assert_true(info.footprint_nbytes >= (uint64_t)MANY * 8 && info.peak_nbytes <= CAP &&
                peak_of(small) <= CAP);
    assert_string_equal(kr_index_component_name(divided, 0), "host memory");
    assert_string_equal(kr_index_counter_name(divided, 0), "parts");
    assert_true(kr_index_counter_value(divided, 0) > 3);
    sort = RANGE;
    compare_result(plain, divided, TRAVEL, &c, KR_RESULT_COUNT);
    sort = POINT;
    compare_result(plain, divided, TRAVEL, &c, KR_RESULT_MIN);
    compare_rows(plain, divided, &c, KR_ORDER_ROW, 0);
    assert_true(peak_of(small) <= CAP);
    kr_index_destroy(divided);
    kr_index_destroy(plain);
    free_columns(&c);
    kr_device_close(small);
    kr_device_close(large);
}

/* Lists that do not fit: a few places of a part at a time, and few rows of a list. */
static void test_wide_ranges_under_a_cap(void **state)
{
    enum { CAP = 3 << 20 };
    const scene s = {.type = KR_U32, .keys = 60000, .probes = 60};
    kr_device *large = open_device(0, TRAVEL, 0), *small = open_device(5000, TRAVEL, CAP);
    columns c = columns_of(&s, 6);
    kr_index *plain = build(large, "array", &c), *divided = build(small, "array:keep=host", &c);
    (void)state;
    sort = RANGE;
    for (int way = TRAVEL; way < WAYS; ++way) {
        kr_divide_indexes(small, 5000, probe_nbytes[way]);
        compare_result(plain, divided, way, &c, KR_RESULT_SUM);
        compare_rows(plain, divided, &c, KR_ORDER_KEY, 20);
    }
    kr_index_destroy(divided);
    kr_index_destroy(plain);
    free_columns(&c);
    kr_device_close(small);
    kr_device_close(large);
}

/* ---- What it refuses ---------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    kr_device *device = open_device(PART_ROWS, TRAVEL, 0);
    columns c = columns_of(&scenes[0], 1);
    kr_index *divided = build(device, "array:keep=host", &c);
    kr_error err = {0};
    kr_prepared *prepared = NULL;
    uint32_t *rows = take(PROBES, sizeof *rows);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    (void)state;
    assert_int_equal(kr_index_update(divided, &c.lower, NULL, NULL, NULL, &err), KR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "keep=device"));
    assert_int_equal(kr_prepare_lookup(divided, &c.lower, &sink, &prepared, &err), KR_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "keep=device"));
    assert_null(prepared);
    free(rows);
    kr_index_destroy(divided);
    free_columns(&c);
    kr_device_close(device);
}

/* An index that does not fit: the text says what would, but not where the option changes nothing. */
static void test_option_is_named(void **state)
{
    static const char *const specs[] = {"array", "pivot", "hash", "array:keep=host"};
    const scene s = {.type = KR_U32, .keys = 1 << 17, .probes = 8};
    kr_device *small = open_device(0, TRAVEL, 128 << 10);
    columns c = columns_of(&s, 2);
    (void)state;
    for (int i = 0; i < 4; ++i)
        for (int divides = 0; divides < 2; ++divides) {
            kr_error err = {0};
            kr_index *index = NULL;
            kr_divide_no_indexes(small);
            if (divides)
                kr_divide_indexes(small, 0, UINT64_MAX);
            const kr_status status = kr_index_create(small, specs[i], &c.keys, NULL, NULL, &index, &err);
            assert_int_equal(status, divides && i == 3 ? KR_OK : KR_ERR_DEVICE_MEMORY);
            assert_int_equal(strstr(err.text, "with keep=host") != NULL, divides && i < 2);
            kr_index_destroy(index);
        }
    free_columns(&c);
    kr_device_close(small);
}

/* Explain tells how many parts there would be. */
static void test_explanation(void **state)
{
    kr_device *device = open_device(PART_ROWS, TRAVEL, 0);
    const kr_column keys = {.type = KR_U32, .count = 10 * PART_ROWS};
    kr_explanation e = {.struct_size = sizeof e};
    (void)state;
    assert_int_equal(kr_index_explain(device, KR_OP_POINT, "array:keep=host", &keys, 100, &e, NULL), KR_OK);
    assert_non_null(strstr(e.reason, "10 parts of 300 rows"));
    assert_non_null(strstr(e.probe_order, "divided: "));
    assert_int_equal(kr_index_explain(device, KR_OP_POINT, "array", &keys, 100, &e, NULL), KR_OK);
    assert_null(strstr(e.reason, "parts"));
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes_travelling),       cmocka_unit_test(test_scenes_on_host),
        cmocka_unit_test(test_nearest_at_borders),      cmocka_unit_test(test_larger_than_the_cap),
        cmocka_unit_test(test_wide_ranges_under_a_cap), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_option_is_named),         cmocka_unit_test(test_explanation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
