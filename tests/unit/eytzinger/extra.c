/* Entries of each level that are read for one range, besides its own (Henneberg and Schuhknecht, "Is Binary
 * Search Really All You Need?", 3.2, Figure 5): two at K = 2, and K in general. The bodies are included
 * unchanged; what reads the key of an entry is counted. */
#define KR_KEY_BITS 32
#undef KR_WITH_CUDA

#include "index/sorted/entries.h"

enum { MOST = 120 };

static uint32_t reads[MOST + 1]; /* by slot */

static kr_key counted_key(const kr_entries *entries, int aos, uint64_t slot)
{
    ++reads[slot];
    return kr_entry_key(entries, aos, slot);
}

#define kr_entry_key counted_key
#include "index/families/eytzinger/eytzinger_sum_simd_width_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const kr_group alone = {0, 1};

/* Entries 10, 20, ... by rank, in their places; the row of an entry is its rank. */
static eytzinger_sum_params tree_of(uint32_t k, uint32_t n, uint32_t *keys, uint32_t *rows)
{
    const eytzinger_sum_params p = {
        .search = {.batch = {.lower_type = KR_U32, .upper_type = KR_U32},
                   .entries = kr_entries_of(KR_LAYOUT_SOA, sizeof *keys, keys, rows, n),
                   .tree = eytzinger_tree_of(k, n)},
        .how = {.op = KR_REDUCE_SUM_ROWS, .alone = REDUCE_ALL_ALONE},
    };
    for (uint32_t rank = 0; rank < n; ++rank) {
        const uint64_t slot = eytzinger_slot_of_rank(&p.search.tree, rank);
        keys[slot] = 10 * (rank + 1);
        rows[slot] = rank;
    }
    return p;
}

/* The entries of a level, which lie side by side, that were read and are not of the range. */
static uint32_t extra_of(const uint32_t *keys, uint32_t from, uint32_t end, uint32_t lower, uint32_t upper)
{
    uint32_t count = 0;
    for (uint32_t slot = from; slot < end; ++slot)
        count += reads[slot] > 0 && (keys[slot] < lower || keys[slot] > upper);
    return count;
}

/* The most of any level. Of the path's nodes the search reads all entries. */
static uint32_t extra(const eytzinger_sum_params *p, const uint32_t *keys, uint32_t lower, uint32_t upper)
{
    const uint32_t k = p->search.tree.k, hidden = eytzinger_first(k), n = p->search.entries.n;
    const uint32_t first = (lower + 9) / 10 - 1, end = upper / 10 < n ? upper / 10 : n;
    const eytzinger_cross last = eytzinger_cross_last(&p->search, alone, k, lower);
    eytzinger_cross cross = last;
    uint64_t sum = 0;
    uint32_t most = 0, own = 0;
    memset(reads, 0, sizeof reads);
    do
        for (uint32_t j = cross.node * (k - 1); j < (cross.node + 1) * (k - 1) && j < n; ++j)
            ++reads[hidden + j];
    while (eytzinger_cross_up(&p->search.tree, &cross));
    cross = last;
    assert_int_equal(eytzinger_sum_alone(p, k, 0xFFFFFFFFu, upper, &cross, &sum), 0);
    for (uint32_t rank = first; rank < end; ++rank) {
        sum -= rank;
        own += reads[eytzinger_slot_of_rank(&p->search.tree, rank)] > 0;
    }
    assert_int_equal(sum, 0);
    assert_int_equal(own, end > first ? end - first : 0);
    cross = last;
    do {
        const uint32_t here = extra_of(keys, hidden + cross.first, hidden + cross.end, lower, upper);
        most = here > most ? here : most;
    } while (eytzinger_cross_up(&p->search.tree, &cross));
    return most;
}

/* Every range of keys and gaps, in trees of every size, the last level full or not. */
static uint32_t most_extra(uint32_t k, uint32_t step)
{
    static uint32_t keys[MOST + 40], rows[MOST + 40];
    uint32_t most = 0;
    for (uint32_t n = 1; n + eytzinger_first(k) <= MOST; n += step) {
        const eytzinger_sum_params p = tree_of(k, n, keys, rows);
        for (uint32_t lower = 5; lower <= 10 * n + 5; lower += 5)
            for (uint32_t upper = lower; upper <= 10 * n + 5; upper += 5) {
                const uint32_t here = extra(&p, keys, lower, upper);
                most = here > most ? here : most;
            }
    }
    return most;
}

static void two_of_a_level(void **state)
{
    (void)state;
    assert_int_equal(most_extra(2, 1), 2);
}

static void k_of_a_level(void **state)
{
    (void)state;
    for (uint32_t k = 3; k <= 17; k += 2)
        assert_int_equal(most_extra(k, 7), k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_of_a_level),
        cmocka_unit_test(k_of_a_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
