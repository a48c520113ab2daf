/* The levels of pivots: their sizes against the definition, their slots against every leaf's last key, and
 * the searches of every fan-out, layout and instruction set against a linear count. */
#define KR_KEY_BITS 32
#include "base/devices/cpu/isa.h"
#include "base/key/key.h"
#include "index/families/pivot/pivot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

KR_PROGRAM_DECLARE(pivot_fill);

enum { MOST = 3000, PROBES = 192 };

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Slots by the definition: nodes over nodes over leaves, the lowest level first. */
static uint32_t levels_by_definition(uint64_t n, uint32_t k, uint64_t nodes[64])
{
    uint32_t levels = 0;
    uint64_t below = divide_up(n, k == 2 ? 2 : k - 1);
    for (; below > 1; ++levels)
        below = nodes[levels] = divide_up(below, k);
    return levels;
}

static void check_sizes(uint64_t n, uint32_t k, uint32_t kept)
{
    uint64_t nodes[64], slot = 0, leaves = 1;
    pivot_shape shape;
    const uint32_t all = levels_by_definition(n, k, nodes);
    const uint32_t expected = kept && kept < all ? kept : all;
    pivot_shape_of(n, k, kept, &shape);
    assert_int_equal(shape.n_levels, expected);
    assert_int_equal(shape.leaf, k == 2 ? 2 : k - 1);
    for (uint32_t level = all; level-- > all - expected; slot += nodes[level] * (k - 1))
        assert_int_equal(shape.starts[level - (all - expected)], slot);
    for (uint32_t cut = expected; cut < all; ++cut)
        leaves *= k;
    assert_int_equal(shape.n_slots, slot);
    assert_int_equal(shape.leaves, leaves);
}

static void sizes_follow_the_definition(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 33; ++k) {
        for (uint64_t n = 0; n <= MOST; ++n)
            check_sizes(n, k, (uint32_t)(n % 5));
        for (uint64_t power = k; power < (uint64_t)1 << 32; power *= k)
            for (uint64_t n = power - 2; n < power + 3 && n < UINT32_MAX; ++n)
                for (uint32_t kept = 0; kept < 4; ++kept)
                    check_sizes(n, k, kept);
        check_sizes(UINT32_MAX - 1, k, 0);
    }
}

/* The paper's example, and the share of the memory that the default may take: a tenth. */
static void sizes_are_those_of_the_paper(void **state)
{
    pivot_shape shape;
    (void)state;
    pivot_shape_of(14, 3, 0, &shape);
    assert_true(shape.n_levels == 2 && shape.n_slots == 8 && shape.starts[1] == 0 && shape.starts[0] == 2);
    pivot_shape_of(100000000, 17, 0, &shape);
    assert_true(10.0 * shape.n_slots * 4 <= 8.0 * 100000000 && 10.0 * shape.n_slots * 8 <= 12.0 * 100000000);
}

typedef struct example {
    uint32_t *keys, *rows, *packed, *pivots;
    uint32_t n;
    pivot_shape shape;
} example;

static kr_entries entries_in(const example *e, uint32_t n, uint32_t aos)
{
    return kr_entries_of(aos ? KR_LAYOUT_AOS : KR_LAYOUT_SOA, sizeof *e->keys, aos ? e->packed : e->keys,
                         e->rows, n);
}

/* Ascending keys with runs, the smallest and the largest code among them. */
static void make(example *e, uint32_t n, uint32_t k, uint32_t kept, uint32_t aos)
{
    *e = (example){.n = n};
    pivot_shape_of(n, k, kept, &e->shape);
    e->keys = malloc((n + 1) * sizeof(uint32_t));
    e->rows = malloc((n + 1) * sizeof(uint32_t));
    e->packed = malloc((2 * n + 1) * sizeof(uint32_t));
    e->pivots = malloc((e->shape.n_slots + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; ++i) {
        e->keys[i] = i < n / 8 ? 0 : i >= n - n / 8 ? UINT32_MAX : i / 3 * 9 + 0x7FFFFF00u;
        e->rows[i] = 7 * i + 1;
        e->packed[2 * i] = e->keys[i];
        e->packed[2 * i + 1] = e->rows[i];
    }
    const pivot_build_params params = {entries_in(e, n, aos), e->pivots, NULL, e->shape};
    pivot_fill_u32.cpu(&params, 0, e->shape.n_slots, e->shape.n_slots);
}

static void drop(example *e)
{
    free(e->keys);
    free(e->rows);
    free(e->packed);
    free(e->pivots);
}

/* Each leaf's last key has one slot, except the last leaf's; slots of a level ascend, padding comes last. */
static void slots_hold_every_last_key_once(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 33; ++k)
        for (uint32_t n = 0; n < 700; n += 1 + n / 40) {
            example e;
            uint8_t seen[700] = {0};
            uint32_t pivots = 0, expected = 0;
            make(&e, n, k, 0, 0);
            for (uint32_t i = 0; i < n; ++i) /* keys that tell their position */
                e.keys[i] = i;
            const pivot_build_params params = {entries_in(&e, n, 0), e.pivots, NULL, e.shape};
            pivot_fill_u32.cpu(&params, 0, e.shape.n_slots, e.shape.n_slots);
            for (uint32_t slot = 0; slot < e.shape.n_slots; ++slot)
                if (e.pivots[slot] != UINT32_MAX) {
                    assert_in_range(e.pivots[slot], 0, n - 1);
                    assert_int_equal((e.pivots[slot] + 1) % e.shape.leaf, 0);
                    assert_int_equal(seen[e.pivots[slot]]++, 0);
                    ++pivots;
                }
            for (uint32_t last = e.shape.leaf; last < n; last += e.shape.leaf)
                ++expected;
            assert_int_equal(pivots, expected);
            drop(&e);
        }
}

static uint32_t below(const example *e, uint64_t bound)
{
    uint32_t count = 0;
    while (count < e->n && e->keys[count] < bound)
        ++count;
    return count;
}

/* Probes around keys all over the column, and at both ends of the codes. */
static void make_probes(const example *e, uint32_t *lower, uint32_t *upper)
{
    for (uint32_t i = 0; i < PROBES; ++i) {
        const uint32_t base = e->n ? e->keys[(uint64_t)i * (e->n - 1) / (PROBES - 1)] : i;
        lower[i] = base + i % 3 - 1;
        upper[i] = i % 4 ? lower[i] + i % 5 * (i % 7 == 0 ? 500 : 1) : UINT32_MAX;
        if (upper[i] < lower[i])
            upper[i] = lower[i];
    }
}

static void check_program(const example *e, kr_cpu_call *call, uint32_t aos)
{
    uint32_t lower[PROBES], upper[PROBES], rows[PROBES];
    kr_match matches[PROBES];
    make_probes(e, lower, upper);
    pivot_params params = {
        .batch = {.lower = lower, .upper = upper, .lower_type = KR_U32, .upper_type = KR_U32},
        .put = {.out = matches, .what = KR_PUT_MATCH},
        .entries = entries_in(e, e->n, aos),
        .pivots = e->pivots,
        .shape = e->shape,
    };
    call(&params, 0, PROBES, PROBES);
    params.put = (kr_put){.out = rows, .what = KR_PUT_ROW};
    call(&params, 0, PROBES, PROBES);
    for (uint32_t i = 0; i < PROBES; ++i) {
        const uint32_t first = below(e, lower[i]), last = below(e, (uint64_t)upper[i] + 1);
        assert_int_equal(matches[i].where, first);
        assert_int_equal(matches[i].count, last - first);
        assert_int_equal(rows[i], first < last ? e->rows[first] : KR_NO_ROW);
    }
}

KR_PROGRAM_DECLARE(pivot_k0);
KR_PROGRAM_DECLARE(pivot_k2);
KR_PROGRAM_DECLARE(pivot_k3);
KR_PROGRAM_DECLARE(pivot_k5);
KR_PROGRAM_DECLARE(pivot_k9);
KR_PROGRAM_DECLARE(pivot_k17);
KR_PROGRAM_DECLARE(pivot_k33);
KR_PROGRAM_DECLARE(pivot_group_k3);
KR_PROGRAM_DECLARE(pivot_group_k17);

static const struct {
    uint32_t k; /* 0: any */
    const kr_program *program;
} programs[] = {
    {0, &KR_W(pivot_k0)},   {2, &KR_W(pivot_k2)},       {3, &KR_W(pivot_k3)},
    {5, &KR_W(pivot_k5)},   {9, &KR_W(pivot_k9)},       {17, &KR_W(pivot_k17)},
    {33, &KR_W(pivot_k33)}, {3, &KR_W(pivot_group_k3)}, {17, &KR_W(pivot_group_k17)},
};

static void check_searches(uint32_t n, uint32_t k, uint32_t kept, uint32_t aos, uint32_t isas)
{
    example e;
    make(&e, n, k, kept, aos);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i)
        for (uint32_t isa = 0; isa < isas; ++isa)
            if (programs[i].k == 0 || programs[i].k == k)
                check_program(&e, isa ? programs[i].program->cpu_isa[isa - 1] : programs[i].program->cpu,
                              aos);
    drop(&e);
}

static void searches_find_what_counting_finds(void **state)
{
    uint32_t most;
    (void)state;
    assert_int_equal(kr_cpu_isa(&most, NULL), KR_OK);
    for (uint32_t k = 2; k <= 33; ++k)
        for (uint32_t n = 0; n < 1500; n += 1 + n / 12)
            check_searches(n, k, n % 3, n / 2 % 2, most + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow_the_definition),
        cmocka_unit_test(sizes_are_those_of_the_paper),
        cmocka_unit_test(slots_hold_every_last_key_once),
        cmocka_unit_test(searches_find_what_counting_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
