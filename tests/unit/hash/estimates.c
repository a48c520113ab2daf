/* Estimates of tables are not too low, whatever the keys: all distinct, one of them twice, some of them
 * twice, all of them several times. */
#include "index/kinds/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const specs[] = {
    "hash:load=0.5",
    "hash",
    "hash:load=0.95",
    "hash:probing=double,load=0.95",
    "hash:probing=double,load=0.8,build=insert",
    "chain:occupancy=0.5",
    "chain",
    "chain:occupancy=2",
};
enum { SPECS = sizeof specs / sizeof *specs };

static kr_device *device;

/* A column of one of these types. times >= 1: every key has so many rows; else so many keys, from -times on,
 * have one row, and the others two. */
static void fill_column(void *to, uint32_t type, uint64_t n, int64_t times)
{
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t ones = (uint64_t)-times, number = times >= 1 ? i / (uint64_t)times
                                                         : i < ones ? i
                                                                    : ones + (i - ones) / 2;
        const uint64_t key = number * UINT64_C(0x9E3779B97F4A7C15);
        if (type == KR_U8)
            ((uint8_t *)to)[i] = (uint8_t)key;
        else if (type == KR_U16)
            ((uint16_t *)to)[i] = (uint16_t)key;
        else if (type == KR_U32)
            ((uint32_t *)to)[i] = (uint32_t)key;
        else
            ((uint64_t *)to)[i] = key;
    }
}

static void estimate_one(const char *spec, const kr_column *column)
{
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_index_info info = {.struct_size = sizeof info};
    kr_index *index = NULL;
    assert_int_equal(kr_index_estimate(device, spec, column, &estimate, NULL), KR_OK);
    assert_int_equal(kr_index_create(device, spec, column, NULL, NULL, &index, NULL), KR_OK);
    assert_int_equal(kr_index_query(index, &info, NULL), KR_OK);
    if (info.footprint_nbytes > estimate.footprint_nbytes || info.peak_nbytes > estimate.peak_nbytes)
        fail_msg("%s: %llu rows of type %d take %llu and %llu bytes, not %llu and %llu", spec,
                 (unsigned long long)column->count, (int)column->type,
                 (unsigned long long)info.footprint_nbytes, (unsigned long long)info.peak_nbytes,
                 (unsigned long long)estimate.footprint_nbytes, (unsigned long long)estimate.peak_nbytes);
    kr_index_destroy(index);
}

static void estimate_all(const char *spec, uint64_t n)
{
    static const uint32_t types[] = {KR_U8, KR_U16, KR_U32, KR_U64};
    static uint64_t data[40000];
    static uint8_t validity[5000];
    const int64_t rows = (int64_t)n, times[] = {1, 2, 3, rows + 1, 0, -1, -2, -5, 2 - rows, 4 - rows};
    memset(validity, 0xFF, sizeof validity);
    for (uint32_t t = 0; t < 8; ++t)
        for (uint32_t i = 0; i < sizeof times / sizeof *times; ++i) {
            fill_column(data, types[t % 4], n, times[i] < -rows ? 1 : times[i]);
            const kr_column column = {
                .type = types[t % 4], .count = n, .data = data, .validity = t / 4 ? validity : NULL};
            estimate_one(spec, &column);
        }
}

static void estimates_are_not_too_low(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s) {
        for (uint64_t n = 0; n < 40000; n += n < 40 ? 1 : n < 1100 ? 53 : n / 3 + 1)
            estimate_all(specs[s], n);
        estimate_all(specs[s], 3608); /* two more keys than half of the rows need a bucket more */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_are_not_too_low)};
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
