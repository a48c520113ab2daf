/* Lengths of search paths: in the pivot levels all are the same, whatever is looked up (Henneberg and
 * Schuhknecht, "Is Binary Search Really All You Need?", 3.3). */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA

#include "index/kinds/lookup_program.h"
#undef KR_LOOKUP_PROGRAM_ /* the bodies alone: the library has the programs */
#undef KR_GROUP_PROGRAM_
#define KR_LOOKUP_PROGRAM_(...) kr_assert_size(uint32_t, 4)
#define KR_GROUP_PROGRAM_(...) kr_assert_size(uint32_t, 4)
#include "index/families/pivot/pivot.h"
#include "index/families/pivot/pivot_search.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

KR_PROGRAM_DECLARE(pivot_fill);

enum { MOST = 700 };

static const kr_group alone = {0, 1};
static const kr_pin none = {NULL, 0, 0};

typedef struct span {
    uint32_t least, most;
} span;

static void widen(span *all, uint32_t one)
{
    all->least = one < all->least ? one : all->least;
    all->most = one > all->most ? one : all->most;
}

/* Nodes of the levels that a search for each key, each gap and both ends goes through. */
static span nodes_of_pivot(uint32_t k, uint32_t n, uint32_t kept, uint32_t *keys, uint32_t *slots)
{
    span all = {0xFFFFFFFFu, 0};
    pivot_params p = {
        .batch = {.lower_type = KR_U32, .upper_type = KR_U32},
        .put = {.what = KR_PUT_ROW},
        .entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, NULL, n),
        .pivots = slots,
    };
    pivot_shape_of(n, k, kept, &p.shape);
    const pivot_build_params build = {p.entries, slots, NULL, p.shape};
    pivot_fill_u32.cpu(&build, 0, p.shape.n_slots, p.shape.n_slots);
    for (uint32_t key = 5; key <= 10 * n + 5; key += 5) {
        pivot_state s = {0};
        uint32_t nodes = 0;
        p.batch.lower = &key;
        assert_true(pivot_begin(&p, 0, key, &s));
        do
            nodes += !(s.phase & PIVOT_LEAVES);
        while (pivot_step(&p, k, none, alone, &s));
        assert_int_equal(s.at, (key + 9) / 10 - 1);
        widen(&all, nodes);
    }
    assert_int_equal(all.most, p.shape.n_levels);
    return all;
}

static void pivots_are_as_deep_everywhere(void **state)
{
    static uint32_t keys[MOST], slots[2 * MOST];
    (void)state;
    for (uint32_t i = 0; i < MOST; ++i)
        keys[i] = 10 * (i + 1);
    for (uint32_t k = 2; k <= 33; ++k)
        for (uint32_t n = 1; n < MOST; n += 1 + n / 20)
            for (uint32_t kept = 0; kept < 4; ++kept) {
                const span all = nodes_of_pivot(k, n, kept, keys, slots);
                assert_int_equal(all.least, all.most);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pivots_are_as_deep_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
