/* Order-preserving encodings: all pairs of extreme values, random pairs, every value of the small types. */
#include "base/key/key.h"

#include "random.h"
#include "values.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const kr_type types[] = {KR_U8,  KR_I8,  KR_U16, KR_I16, KR_U32,    KR_I32,
                                KR_U64, KR_I64, KR_F32, KR_F64, KR_DATE32, KR_TIMESTAMP64};
enum { N_TYPES = sizeof types / sizeof types[0] };

/* Elements as columns of one row. */
static uint64_t code_of(kr_type type, uint64_t bits)
{
    uint64_t element = 0;
    kr_value_store_bits(type, &element, 0, bits);
    return kr_code_load(type, &element, 0);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void check_pair(kr_type type, uint64_t a, uint64_t b)
{
    uint64_t x = 0, y = 0;
    kr_value_store_bits(type, &x, 0, a);
    kr_value_store_bits(type, &y, 0, b);
    const uint64_t code_a = code_of(type, a), code_b = code_of(type, b);
    const int by_code = (code_a > code_b) - (code_a < code_b);
    if (by_code != sign(kr_value_compare(type, &x, &y))) {
        char text_a[48], text_b[48];
        fail_msg("%s: %s and %s have codes %#llx and %#llx", kr_type_name(type),
                 kr_value_print(type, &x, text_a), kr_value_print(type, &y, text_b),
                 (unsigned long long)code_a, (unsigned long long)code_b);
    }
}

/* Stored back, a code gives a value equal to the one it came from, and its code is the same. */
static void check_round_trip(kr_type type, uint64_t bits)
{
    uint64_t element = 0, back = 0;
    kr_value_store_bits(type, &element, 0, bits);
    const uint64_t code = kr_code_load(type, &element, 0);
    kr_code_store(type, &back, 0, code);
    assert_int_equal(kr_value_compare(type, &element, &back), 0);
    assert_true(kr_code_load(type, &back, 0) == code);
    if (kr_type_key_bits(type) == 32)
        assert_true(code <= UINT32_MAX);
    assert_true(kr_type_significant_bits(type) == 64 || code >> kr_type_significant_bits(type) == 0);
    if (kr_type_is_float(type))
        assert_true(isnan(kr_value_float(type, &element))
                        ? isnan(kr_code_float(type, code))
                        : kr_code_float(type, code) == kr_value_float(type, &element));
    else
        assert_true(kr_code_integer(type, code) == kr_value_integer(type, &element));
}

static void orders_extreme_values(void **state)
{
    enum { N = 280 };
    (void)state;
    for (int t = 0; t < N_TYPES; ++t)
        for (uint64_t a = 0; a < N; ++a) {
            check_round_trip(types[t], kr_value_extreme(types[t], a));
            for (uint64_t b = 0; b < N; ++b)
                check_pair(types[t], kr_value_extreme(types[t], a), kr_value_extreme(types[t], b));
        }
}

static void orders_random_values(void **state)
{
    kr_rng rng = {42};
    (void)state;
    for (int t = 0; t < N_TYPES; ++t)
        for (int i = 0; i < 100000; ++i) {
            const uint64_t a = kr_rng_next(&rng), b = kr_rng_next(&rng);
            check_pair(types[t], a, b);
            check_pair(types[t], a, a + 1);
            check_round_trip(types[t], a);
        }
}

static void orders_every_small_value(void **state)
{
    (void)state;
    for (int t = 0; t < N_TYPES; ++t) {
        const uint32_t bits = 8 * kr_type_nbytes(types[t]);
        if (bits > 16)
            continue;
        /* In ascending order the codes are 0, 1, 2, ... */
        for (uint64_t i = 0; i < UINT64_C(1) << bits; ++i) {
            const uint64_t value = kr_type_is_signed(types[t]) ? i - (UINT64_C(1) << (bits - 1)) : i;
            assert_true(code_of(types[t], value) == i);
            check_round_trip(types[t], value);
        }
    }
}

static void knows_floats(void **state)
{
    static const uint32_t nans[] = {0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFFC00000, 0xFFFFFFFF};
    static const uint64_t wide_nans[] = {0x7FF0000000000001, 0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF,
                                         0xFFF0000000000001, 0xFFF8000000000000, 0xFFFFFFFFFFFFFFFF};
    (void)state;
    for (size_t i = 0; i < sizeof nans / sizeof nans[0]; ++i) {
        assert_int_equal(kr_encode_f32(nans[i]), UINT32_MAX);
        assert_true(kr_encode_f64(wide_nans[i]) == UINT64_MAX);
    }
    assert_true(kr_encode_f32(0x7F800000) < UINT32_MAX); /* infinity lies below NaN */
    assert_true(kr_encode_f64(0x7FF0000000000000) < UINT64_MAX);
    assert_int_equal(kr_encode_f32(0x80000000), kr_encode_f32(0)); /* -0 is +0 */
    assert_true(kr_encode_f64(0x8000000000000000) == kr_encode_f64(0));
    assert_int_equal(kr_decode_f32(kr_encode_f32(0x80000000)), 0);
    assert_true(kr_encode_f32(0xFF800000) < kr_encode_f32(0xFF7FFFFF)); /* -infinity is the least */
    assert_true(kr_encode_f32(0x80000001) < kr_encode_f32(0) && kr_encode_f32(0) < kr_encode_f32(1));
    assert_true(kr_encode_f64(0x8000000000000001) < kr_encode_f64(0) && kr_encode_f64(0) < kr_encode_f64(1));
}

static void reads_validity(void **state)
{
    static const uint8_t bits[] = {0x81, 0x02};
    (void)state;
    assert_true(kr_code_is_valid(NULL, 0, 12345));
    assert_true(kr_code_is_valid(bits, 0, 0) && !kr_code_is_valid(bits, 0, 1) &&
                kr_code_is_valid(bits, 0, 7));
    assert_true(kr_code_is_valid(bits, 7, 0) && !kr_code_is_valid(bits, 7, 1) &&
                kr_code_is_valid(bits, 7, 2));
    assert_true(kr_code_is_valid(bits, 9, 0) && !kr_code_is_valid(bits, 9, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_extreme_values),    cmocka_unit_test(orders_random_values),
        cmocka_unit_test(orders_every_small_value), cmocka_unit_test(knows_floats),
        cmocka_unit_test(reads_validity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
