/* The parts of src/advise that a call does not show: that different answers are an error, that codes are in
 * the order of values, and that a sample is as dense as its column. */
#include "advise/advise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void different_answers_are_an_error(void **state)
{
    const kr_advise_trial a = {.spec = "array"}, b = {.spec = "hash"};
    const kr_advise_answers three = {3, 17}, same = {3, 17}, four = {4, 17}, other = {3, 18};
    kr_error err = {0};
    (void)state;
    assert_int_equal(kr_advise_compare(&a, &b, &three, &same, &err), KR_OK);
    assert_int_equal(kr_advise_compare(&a, &b, &three, &other, &err), KR_ERR_INTERNAL);
    assert_non_null(
        strstr(err.text, "'array' and 'hash' answer the same questions differently: 3 and 3 rows"));
    assert_int_equal(kr_advise_compare(&a, &b, &three, &four, &err), KR_ERR_INTERNAL);
    assert_non_null(strstr(err.text, "3 and 4 rows"));
}

/* Codes ascend with the values, and lead back to them. */
static void check_codes(kr_type type, const void *values, uint64_t n)
{
    char back[8];
    const uint32_t nbytes = kr_type_nbytes(type);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t code = kr_advise_code(type, values, i);
        assert_true(code <= kr_advise_code_most(type));
        assert_true(i == 0 || kr_advise_code(type, values, i - 1) < code);
        kr_advise_value(type, code, back, 0);
        assert_memory_equal(back, (const char *)values + i * nbytes, nbytes);
    }
}

static void codes_are_in_the_order_of_values(void **state)
{
    const int8_t small[] = {-128, -1, 0, 1, 127};
    const uint16_t middle[] = {0, 1, 65535};
    const int64_t large[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    const float reals[] = {-1e30f, -1, -1e-40f, 0, 1e-40f, 1, 1e30f};
    const double doubles[] = {-1e300, -1, 0, 1, 1e300};
    const float zeros[] = {0.0f, -0.0f};
    (void)state;
    check_codes(KR_I8, small, 5);
    check_codes(KR_U16, middle, 3);
    check_codes(KR_I64, large, 5);
    check_codes(KR_TIMESTAMP64, large, 5);
    check_codes(KR_F32, reals, 7);
    check_codes(KR_F64, doubles, 5);
    assert_true(kr_advise_code(KR_F32, zeros, 0) == kr_advise_code(KR_F32, zeros, 1));
}

enum { N = 1 << 20, ROWS = 1 << 14 };

static void check_sample(kr_advise_column *whole, double density)
{
    kr_advise_column sample;
    kr_error err = {0};
    assert_int_equal(kr_advise_sort(whole, &err), KR_OK);
    assert_int_equal(kr_advise_sample(whole, ROWS, &sample, &err), KR_OK);
    assert_true(sample.valid > ROWS / 2 && sample.valid <= 2 * ROWS);
    const uint64_t span = sample.sorted[sample.n_sorted - 1] - sample.sorted[0] + 1;
    const double found = (double)sample.valid / (double)span;
    assert_true(found > 0.9 * density && found < 1.1 * density);
    kr_advise_drop(&sample);
    free(whole->sorted);
    whole->sorted = NULL;
}

static void a_sample_is_as_dense_as_the_column(void **state)
{
    static int32_t values[N];
    static uint8_t validity[N / 8];
    kr_advise_column whole = {.view = {.type = KR_I32, .count = N, .data = values}};
    (void)state;
    for (int32_t i = 0; i < N; ++i)
        values[i] = (int32_t)((uint32_t)i * 7919u % N) * 4 - 2 * N; /* one in 4 values */
    check_sample(&whole, 0.25);
    memset(validity, 0x55, sizeof validity);
    whole.view.validity = validity;
    check_sample(&whole, 0.125);
    for (int32_t i = 0; i < N; ++i)
        values[i] = i / 8; /* ascending, each 8 times */
    whole.view.validity = NULL;
    check_sample(&whole, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(different_answers_are_an_error),
                                       cmocka_unit_test(codes_are_in_the_order_of_values),
                                       cmocka_unit_test(a_sample_is_as_dense_as_the_column)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
