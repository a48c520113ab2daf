/* The exclusive prefix sum against a plain loop. */
#include "base/devices/device.h"
#include "steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(kr_device *device, uint64_t n)
{
    uint64_t *values = malloc((n + 1) * sizeof *values), *expected = malloc((n + 1) * sizeof *expected);
    uint64_t sum = 0;
    assert_true(values && expected);
    for (uint64_t i = 0; i < n; ++i) {
        values[i] = (i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> (i % 50); /* sums wrap around */
        expected[i] = sum;
        sum += values[i];
    }
    values[n] = expected[n] = 0x5E47;
    assert_int_equal(sum_on(device, values, n, NULL, NULL), KR_OK);
    assert_memory_equal(values, expected, (n + 1) * sizeof *values);
    free(values);
    free(expected);
}

static void sums(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 1000, 65535, 65536, 65537, 131072, 1000003};
    (void)state;
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        const kr_device_options options = {.struct_size = sizeof options, .threads = threads};
        kr_device *device = NULL;
        assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
            check(device, sizes[i]);
        kr_device_close(device);
    }
}

static void too_little_scratch_is_refused(void **state)
{
    kr_device *device = NULL;
    uint64_t values[2] = {4, 5}, temp[1];
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    assert_true(kr_device_scan_temp(device, 2) > 0);
    assert_int_equal(kr_device_scan_temp(device, 0), 0);
    assert_int_equal(device->ops->exclusive_sum(device, values, 2, temp, 0, NULL, NULL), KR_ERR_INTERNAL);
    assert_true(values[0] == 4 && values[1] == 5);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(too_little_scratch_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
