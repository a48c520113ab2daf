/* Filter vectors and their borders, against a loop over the rows. */
#include "table/families/vectors/vectors.h"
#include "base/key/key.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_MOST = 5000, LIMITS_MOST = 300 };

static kr_device *open_cpu(void)
{
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", NULL, &device, NULL), KR_OK);
    return device;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void check(kr_device *device, const kr_column *column, const uint64_t *limits, uint32_t n)
{
    kr_work work = kr_work_on(device, NULL, NULL);
    kr_vectors vectors = kr_vectors_make(&work, column, limits, n);
    assert_int_equal(vectors.words.nbytes, kr_vectors_nbytes(column->count, n));
    for (uint32_t v = 0; v < n; ++v)
        for (uint64_t r = 0; r < vectors.stride * 32; ++r) {
            const int is_in = r < column->count &&
                              kr_code_is_valid(column->validity, column->validity_offset, r) &&
                              kr_code_load((uint32_t)column->type, column->data, r) <= limits[v];
            assert_int_equal(kr_vectors_at(&vectors, v)[r / 32] >> (r % 32) & 1, is_in);
        }
    assert_int_equal(kr_vectors_check(&work, column, limits, &vectors), 0);
    if (n && column->count) {
        const uint64_t row = column->count - 1;
        ((uint32_t *)vectors.words.data)[row / 32] ^= (uint32_t)1 << row % 32;
        assert_int_equal(kr_vectors_check(&work, column, limits, &vectors), row + 1);
    }
    assert_int_equal(kr_work_end(&work), KR_OK);
    kr_vectors_release(device, &vectors, NULL);
}

static void have_the_rows(void **state)
{
    static const uint64_t counts[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 4999};
    static const uint32_t limit_counts[] = {0, 1, 2, 127, 128, 129, 257};
    static uint32_t data[ROWS_MOST];
    static uint8_t validity[ROWS_MOST / 8 + 2];
    uint64_t limits[LIMITS_MOST];
    kr_rng rng = {1};
    kr_device *device = open_cpu();
    (void)state;
    for (uint32_t i = 0; i < ROWS_MOST; ++i)
        data[i] = (uint32_t)kr_rng_below(&rng, 1000);
    for (uint32_t i = 0; i < sizeof validity; ++i)
        validity[i] = (uint8_t)kr_rng_below(&rng, 256);
    for (uint32_t c = 0; c < sizeof counts / sizeof *counts; ++c)
        for (uint32_t l = 0; l < sizeof limit_counts / sizeof *limit_counts; ++l) {
            const kr_column plain = {.type = KR_U32, .count = counts[c], .data = data};
            const kr_column with_nulls = {
                .type = KR_U32, .count = counts[c], .data = data, .validity = validity, .validity_offset = 5};
            for (uint32_t i = 0; i < limit_counts[l]; ++i)
                limits[i] = i + 1 < limit_counts[l] ? 3 * i + 1 : UINT64_MAX;
            check(device, &plain, limits, limit_counts[l]);
            check(device, &with_nulls, limits, limit_counts[l]);
        }
    kr_device_close(device);
}

static void have_rows_of_each_type(void **state)
{
    static uint64_t data[ROWS_MOST];
    kr_rng rng = {2};
    kr_device *device = open_cpu();
    (void)state;
    for (uint32_t i = 0; i < ROWS_MOST; ++i)
        data[i] = kr_rng_next(&rng);
    for (uint32_t type = KR_U8; type <= KR_TIMESTAMP64; ++type) {
        const kr_column column = {.type = (kr_type)type, .count = 1111, .data = data};
        uint64_t limits[5];
        for (uint32_t i = 0; i < 5; ++i)
            limits[i] = kr_code_load(type, data, 100 * i);
        qsort(limits, 5, sizeof *limits, compare);
        check(device, &column, limits, 5);
    }
    kr_device_close(device);
}

/* ---- Borders --------------------------------------------------------------------------------- */

static void check_borders(kr_device *device, uint64_t *codes, uint64_t n, uint32_t k)
{
    kr_border borders[LIMITS_MOST];
    kr_work work = kr_work_on(device, NULL, NULL);
    qsort(codes, n, sizeof *codes, compare);
    const uint32_t n_borders = kr_borders_choose(&work, &(kr_codes){codes, n, 64, 0}, k, borders);
    assert_int_equal(kr_work_end(&work), KR_OK);
    assert_in_range(n_borders, 0, k ? k - 1 : 0);
    for (uint32_t b = 0; b < n_borders; ++b) {
        assert_in_range(borders[b].rank, b ? borders[b - 1].rank + 1 : 1, n - 1);
        assert_true(codes[borders[b].rank - 1] <= borders[b].limit);
        assert_true(codes[borders[b].rank] > borders[b].limit);
    }
    /* A bin that is larger than three even ones is one value. */
    for (uint32_t b = 0; b <= n_borders && n; ++b) {
        const uint64_t first = b ? borders[b - 1].rank : 0, end = b < n_borders ? borders[b].rank : n;
        if (end - first > 3 * (n / k + 1))
            assert_int_equal(codes[first], codes[end - 1]);
    }
}

static void lie_between_values(void **state)
{
    static uint64_t codes[ROWS_MOST];
    kr_rng rng = {3};
    kr_device *device = open_cpu();
    (void)state;
    for (uint32_t t = 0; t < 300; ++t) {
        const uint64_t n = kr_rng_below(&rng, ROWS_MOST), values = 1 + kr_rng_below(&rng, 2 * n + 1);
        for (uint64_t i = 0; i < n; ++i)
            codes[i] = kr_rng_below(&rng, 3) ? kr_rng_below(&rng, values) : UINT64_MAX;
        check_borders(device, codes, n, 1 + (uint32_t)kr_rng_below(&rng, 200));
    }
    kr_device_close(device);
}

static void of_few_rows(void **state)
{
    uint64_t codes[4] = {7, 7, 7, 7};
    kr_device *device = open_cpu();
    (void)state;
    for (uint64_t n = 0; n <= 4; ++n)
        check_borders(device, codes, n, 128);
    codes[3] = 0;
    for (uint64_t n = 0; n <= 4; ++n)
        check_borders(device, codes, n, 3);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(have_the_rows),
        cmocka_unit_test(have_rows_of_each_type),
        cmocka_unit_test(lie_between_values),
        cmocka_unit_test(of_few_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
