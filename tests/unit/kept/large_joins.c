/* Joins and batches of which neither side fits on the device: one is divided, the other comes in pieces. */
#include "scene.h"

enum { MANY = 1 << 19, CAP = 2 << 20, CHUNK = 128 << 10 };

/* Columns of 2 MiB each, whose values repeat, and ranges of few values. */
static columns make_columns(void)
{
    const scene s = {.type = KR_U32, .different = MANY, .keys = MANY, .probes = MANY};
    columns c = columns_of(&s, 8);
    for (uint32_t i = 0; i < MANY; ++i)
        ((uint32_t *)(uintptr_t)c.upper.data)[i] = ((const uint32_t *)c.lower.data)[i] + i % 3 * 5;
    return c;
}

typedef struct tally {
    uint64_t n, sum;
} tally;

static int add_pairs(void *ctx, uint64_t n, const uint32_t *left, const uint32_t *right)
{
    tally *t = ctx;
    t->n += n;
    for (uint64_t i = 0; i < n; ++i)
        t->sum += (left[i] + UINT64_C(1)) * (right ? right[i] + UINT64_C(7) : 5);
    return 0;
}

static tally join(kr_device *device, const char *spec, const columns *c, int ranges,
                  const kr_join_options *options)
{
    tally t = {0};
    uint64_t pairs = 0;
    kr_error err = {0};
    if (kr_join_chunks(device, spec, &c->keys, &c->lower, ranges ? &c->upper : NULL, options, CHUNK,
                       add_pairs, &t, &pairs, &err))
        fail_msg("%s, join type %d, inverse %d: %s", spec, (int)options->type, (int)options->inverse,
                 err.text);
    assert_true(pairs == t.n && t.n > 0);
    return t;
}

/* Whichever side is indexed: also its rows without a partner are listed under the cap. */
static void compare_joins(int ranges)
{
    kr_device *large = open_device(0, TRAVEL, 0), *small = open_device(0, TRAVEL, CAP);
    columns c = make_columns();
    kr_device_info info = {.struct_size = sizeof info};
    for (int type = KR_JOIN_INNER; type <= KR_JOIN_FULL; ++type)
        for (int inverse = KR_INVERSE_ON; inverse <= (ranges ? KR_INVERSE_ON : KR_INVERSE_OFF); ++inverse) {
            const kr_join_options options = {.struct_size = sizeof options,
                                             .type = (kr_join_type)type,
                                             .inverse = (kr_join_inverse)inverse};
            const tally want = join(large, "array", &c, ranges, &options),
                        got = join(small, "array:keep=host", &c, ranges, &options);
            assert_true(got.n == want.n && got.sum == want.sum);
        }
    assert_int_equal(kr_device_query(small, &info, NULL), KR_OK);
    assert_true(info.peak_nbytes <= CAP);
    free_columns(&c);
    kr_device_close(small);
    kr_device_close(large);
}

static void test_joins(void **state)
{
    (void)state;
    compare_joins(0);
}

static void test_joins_of_ranges(void **state)
{
    (void)state;
    compare_joins(1);
}

/* ---- Rows in chunks ---------------------------------------------------------------------------- */

static int add_rows(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                    const uint32_t *rows)
{
    tally *t = ctx;
    for (uint64_t i = 0; i < n_probes; ++i)
        for (uint64_t at = offsets[i]; at < offsets[i + 1]; ++at)
            t->sum += rows[at] * (first_probe + i + 1);
    t->n += offsets[n_probes];
    return 0;
}

static tally list_rows(kr_device *device, const char *spec, const columns *c)
{
    tally t = {0};
    kr_index *index = build(device, spec, c);
    kr_error err = {0};
    if (kr_index_lookup_chunks(index, &c->lower, &c->upper, KR_ORDER_ROW, CHUNK, add_rows, &t, &err))
        fail_msg("%s: %s", spec, err.text);
    kr_index_destroy(index);
    return t;
}

static void test_rows_in_chunks(void **state)
{
    kr_device *large = open_device(0, TRAVEL, 0), *small = open_device(0, TRAVEL, CAP);
    columns c = make_columns();
    const tally want = list_rows(large, "array", &c), got = list_rows(small, "array:keep=host", &c);
    (void)state;
    assert_true(want.n > 0 && got.n == want.n && got.sum == want.sum);
    free_columns(&c);
    kr_device_close(small);
    kr_device_close(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_joins_of_ranges),
        cmocka_unit_test(test_rows_in_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
