/* Pivots in shared memory: the place of the last one below a bound, and what lies behind them. */
#define KR_KEY_BITS 64
#include "index/sorted/pivots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "random.h"

#include <cmocka.h>

enum { MOST = 2100, AT_ONCE = 3 };

/* Of pivots 1 .. n - 1, none of which is less than the one before. */
static uint32_t last_below(const kr_key *sorted, uint32_t n, kr_key bound)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < n; ++i)
        if (sorted[i] < bound)
            last = i;
    return last;
}

static int ascending(const void *a, const void *b)
{
    const kr_key x = *(const kr_key *)a, y = *(const kr_key *)b;
    return (x > y) - (x < y);
}

static void check(kr_rng *rng, uint32_t n, kr_key range)
{
    static kr_key sorted[2 * MOST], pivots[3 * MOST];
    const uint32_t room = kr_sorted_pivots_room(n - 1);
    assert_true(room >= n && room < 2 * MOST && (room & (room - 1)) == 0);
    for (uint32_t i = 0; i < n; ++i)
        sorted[i] = range ? kr_rng_below(rng, range) : kr_rng_next(rng);
    sorted[n - 1] = range ? sorted[n - 1] : ~(kr_key)0;
    qsort(sorted, n, sizeof *sorted, ascending);
    for (uint32_t i = n; i <= room; ++i)
        sorted[i] = ~(kr_key)0;
    for (uint32_t i = 0; i <= room; ++i)
        pivots[kr_sorted_pivot_at(i)] = sorted[i];
    for (uint32_t i = 0; i + AT_ONCE <= n; ++i) {
        const kr_key bounds[AT_ONCE] = {sorted[i], sorted[i] + 1, kr_rng_next(rng)};
        uint32_t at[AT_ONCE] = {0};
        kr_sorted_pivots_search(pivots, room, AT_ONCE, bounds, at);
        for (int v = 0; v < AT_ONCE; ++v)
            assert_int_equal(kr_sorted_pivot_of(at[v]), last_below(sorted, room, bounds[v]));
    }
}

static void finds_the_last_below(void **state)
{
    static const uint32_t sizes[] = {1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 1025, 2047, 2049};
    kr_rng rng = {1};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        check(&rng, sizes[s], 0);
        check(&rng, sizes[s], 40);
        check(&rng, sizes[s], 1);
    }
}

/* Places that one step of a search compares lie in different banks, up to a row of them. */
static void steps_meet_no_bank_twice(void **state)
{
    (void)state;
    for (uint32_t step = KR_PIVOTS_ROW / 2; step < 1024; step *= 2) {
        uint32_t in_bank[KR_PIVOTS_ROW] = {0};
        for (uint32_t j = 0; j < KR_PIVOTS_ROW; ++j)
            ++in_bank[kr_sorted_pivot_at(step + 2 * j * step) % KR_PIVOTS_ROW];
        for (uint32_t b = 0; b < KR_PIVOTS_ROW; ++b)
            assert_true(in_bank[b] <= (step < KR_PIVOTS_ROW ? 1 : step / KR_PIVOTS_ROW * 2));
    }
}

static void places_go_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 5000; ++i) {
        assert_int_equal(kr_sorted_pivot_of(kr_sorted_pivot_at(i)), i);
        assert_true(i == 0 || kr_sorted_pivot_at(i) > kr_sorted_pivot_at(i - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_last_below),
        cmocka_unit_test(steps_meet_no_bank_twice),
        cmocka_unit_test(places_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
