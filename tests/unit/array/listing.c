/* Listing 1 of Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 3.1: started at n - 1, as
 * it is printed, it answers n - 1 for keys above the last one; started at n, as `array` does, it finds the
 * first entry that is not smaller. */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA
#define array_soa listing_soa
#define array_aos listing_aos
#define array_kary listing_kary

#include "index/families/array/array_width_body.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 300 };

/* What `array` finds. */
static uint32_t search(uint32_t *keys, uint32_t n, uint32_t step, uint32_t lookup)
{
    static const kr_group alone = {0, 1};
    static const kr_pin none = {NULL, 0, 0};
    const array_params p = {
        .batch = {.lower = &lookup, .lower_type = KR_U32, .upper_type = KR_U32},
        .put = {.what = KR_PUT_ROW},
        .entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, NULL, n),
        .top = step,
        .k = 2,
    };
    array_state s = {0};
    assert_true(array_begin(&p, 0, lookup, &s));
    while (array_soa_step(&p, none, alone, &s))
        ;
    return s.at;
}

/* Lines 1 to 7; a step that does not fit is halved, too, as the search would not end otherwise. */
static uint32_t listing(const uint32_t *keys, uint32_t offset, uint32_t step, uint32_t lookup)
{
    for (; step > 0; step >>= 1)
        if (step <= offset && keys[offset - step] >= lookup)
            offset -= step;
    return offset;
}

static uint32_t largest_power(uint32_t n)
{
    uint32_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

/* Keys 10, 20, ...: every lookup in the gaps, of a key, below and above all keys. */
static void only_the_last_differs(void **state)
{
    uint32_t keys[MOST];
    (void)state;
    for (uint32_t i = 0; i < MOST; ++i)
        keys[i] = 10 * (i + 1);
    for (uint32_t n = 1; n <= MOST; ++n)
        for (uint32_t lookup = 5; lookup <= 10 * n + 5; lookup += 5) {
            const uint32_t first = (lookup + 9) / 10 - 1, step = largest_power(n);
            assert_int_equal(listing(keys, n, step, lookup), first);
            assert_int_equal(search(keys, n, step, lookup), first);
            assert_int_equal(listing(keys, n - 1, step, lookup), first < n ? first : n - 1);
        }
}

/* The row of the page of claims. */
static void eight_keys(void **state)
{
    static const uint32_t keys[] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    assert_int_equal(listing(keys, 8 - 1, 8, 9), 7);
    assert_int_equal(listing(keys, 8, 8, 9), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_last_differs),
        cmocka_unit_test(eight_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
