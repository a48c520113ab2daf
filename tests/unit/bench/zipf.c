/* The Zipf distribution in fixed point, against shares and weights computed elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/workload/workload.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Shares of the ranks up to 1, 2, 100, 2047, 3000 and 70000, in 10^-9, computed with 40 digits. */
static const uint64_t zipf_ranks[] = {1, 2, 100, 2047, 3000, 70000};
static const struct {
    uint32_t hundredths;
    uint64_t n, shares[LENGTH(zipf_ranks)];
} zipf_cases[] = {
    {25, 1060921, {22688, 41767, 941767, 9189509, 12245792, 130169690}},
    {50, 1000, {16180965, 27622636, 300797740, 1000000000, 1000000000, 1000000000}},
    {50, 1060921, {485776, 829272, 9030389, 43252682, 52509160, 256340191}},
    {100, 1060921, {69195225, 103792838, 358941758, 567510906, 593954512, 811900337}},
    {100, 4294967295, {43940736, 65911104, 227937187, 360383924, 377176290, 515577457}},
    {150, 1060921, {383078118, 518516686, 924319269, 983811945, 986756963, 997848045}},
    {500, 4294967295, {964387340, 994524444, 999999997, 999999999, 999999999, 999999999}},
};

/* Random numbers in even steps, so that shares are exact except for the step. */
static void test_zipf_shares(void **state)
{
    (void)state;
    enum { STEPS = 1 << 20 };
    for (size_t c = 0; c < LENGTH(zipf_cases); c++) {
        kr_zipf zipf;
        uint64_t counts[LENGTH(zipf_ranks)] = {0};
        assert_int_equal(kr_zipf_open(zipf_cases[c].hundredths, zipf_cases[c].n, &zipf, NULL), KR_OK);
        for (uint64_t i = 0; i < STEPS; i++) {
            uint64_t rank = 1 + kr_zipf_rank(&zipf, i << 44, kr_random(1, i));
            assert_in_range(rank, 1, zipf_cases[c].n);
            for (size_t k = 0; k < LENGTH(zipf_ranks); k++)
                counts[k] += rank <= zipf_ranks[k];
        }
        assert_int_equal(1 + kr_zipf_rank(&zipf, 0, 0), 1);
        for (size_t k = 0; k < LENGTH(zipf_ranks); k++) {
            uint64_t expected = zipf_cases[c].shares[k] * STEPS / 1000000000;
            assert_in_range(counts[k], expected - (expected > 8 ? 8 : expected), expected + 8);
        }
        kr_zipf_close(&zipf);
    }
}

/* Every rank with a slot of its own, against integer division, for s = 1 .. 5. */
static void test_zipf_weights(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= 5; s++) {
        kr_zipf zipf;
        assert_int_equal(kr_zipf_open(100 * s, 2051, &zipf, NULL), KR_OK);
        uint64_t first = zipf.below[1], power;
        for (uint64_t rank = 2; rank < 2048; rank++) {
            power = rank;
            for (uint32_t i = 1; i < s; i++)
                power *= rank;
            uint64_t weight = zipf.below[rank] - zipf.below[rank - 1], exact = first / power;
            uint64_t slack = exact / (UINT64_C(1) << 48) + 8;
            assert_in_range(weight, exact - (exact < slack ? exact : slack), exact + slack);
        }
        assert_int_equal(zipf.last_slot, 2049); /* 2048 and 2049, 2050 and 2051 */
        kr_zipf_close(&zipf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf_shares),
        cmocka_unit_test(test_zipf_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
