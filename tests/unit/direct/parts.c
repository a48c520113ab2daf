/* build=parts of kind `dense` where the parts of a column do not fit shared memory as a whole, but in slices:
 * with less of it, as if there were more rows. */
#include "base/devices/device.h"
#include "keyray/keyray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1 << 18 };

static uint64_t next_random(void)
{
    static uint64_t state = 42;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

/* Distinct values in no order: one in about `spread`; of the second half, all of them. */
static void fill(uint32_t *values, uint32_t spread)
{
    for (uint32_t i = 0, value = 77; i < ROWS;
         ++i, value += i < ROWS / 2 ? 1 + (uint32_t)next_random() % (2 * spread - 1) : 1)
        values[i] = value;
    for (uint32_t i = ROWS; i > 1; --i) {
        const uint32_t j = (uint32_t)next_random() % i, value = values[i - 1];
        values[i - 1] = values[j];
        values[j] = value;
    }
}

static const char *last_phase(const kr_index *index)
{
    return kr_index_phase_name(index, kr_index_phase_count(index) - 1);
}

/* Every row is found where it was, and validate looks at the rest. */
static void check_rows(kr_index *index, const kr_column *keys)
{
    static uint32_t rows[ROWS];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    assert_int_equal(kr_index_validate(index, NULL), KR_OK);
    assert_int_equal(kr_index_lookup(index, keys, &sink, NULL, NULL), KR_OK);
    for (uint32_t i = 0; i < ROWS; ++i)
        assert_int_equal(rows[i], i);
}

/* The phase that the build ends with. */
static void check_build(uint32_t spread, uint32_t block_nbytes, const char *phase)
{
    static uint32_t values[ROWS];
    const kr_device_options options = {.struct_size = sizeof options, .threads = 2};
    const kr_column keys = {.type = KR_U32, .count = ROWS, .data = values};
    kr_device *device = NULL;
    kr_index *index = NULL;
    fill(values, spread);
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    device->block_nbytes = block_nbytes;
    assert_int_equal(kr_index_create(device, "dense:build=parts", &keys, NULL, NULL, &index, NULL), KR_OK);
    assert_string_equal(last_phase(index), phase);
    check_rows(index, &keys);
    values[ROWS - 1] = values[5];
    kr_index_destroy(index);
    assert_int_equal(kr_index_create(device, "dense:build=parts", &keys, NULL, NULL, &index, NULL), KR_OK);
    assert_string_equal(last_phase(index), "bits");
    kr_index_destroy(index);
    kr_device_close(device);
}

/* 2^11 parts of 128 rows on average; those of the second half have more. */
static void slices_of_parts(void **state)
{
    (void)state;
    for (uint32_t nbytes = 400; nbytes < 2000; nbytes = nbytes * 5 / 4)
        check_build(4, nbytes, "parts");
    check_build(20, 1000, "parts");
}

static void sorts_what_fits_in_no_slice(void **state)
{
    (void)state;
    check_build(20, 300, "bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_parts),
        cmocka_unit_test(sorts_what_fits_in_no_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
