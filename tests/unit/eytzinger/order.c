/* Rank and entry in Eytzinger order, both ways, against a walk of the tree by its definition. */
#include "index/families/eytzinger/eytzinger_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SMALLEST_K = 2, LARGEST_K = 33, FEW = 1000, MANY = 40000, AROUND = 3 };

typedef struct walk {
    eytzinger_tree tree;
    uint32_t n, rank;
} walk;

/* In key order: before key c of a node, what lies under child c. */
static void visit(walk *w, uint64_t node)
{
    const uint64_t first = node * (w->tree.k - 1);
    if (first >= w->n)
        return;
    for (uint32_t c = 0; c < w->tree.k; ++c) {
        visit(w, node * w->tree.k + 1 + c);
        const uint64_t entry = first + c;
        if (c + 1 == w->tree.k || entry >= w->n)
            continue;
        assert_int_equal(eytzinger_entry(&w->tree, w->rank), entry);
        assert_int_equal(eytzinger_rank(&w->tree, w->tree.k, (uint32_t)entry), w->rank);
        ++w->rank;
    }
}

static void check(uint32_t k, uint32_t n)
{
    walk w = {eytzinger_tree_of(k, n), n, 0};
    visit(&w, 0);
    assert_int_equal(w.rank, n);
}

static void every_small_count(void **state)
{
    (void)state;
    for (uint32_t k = SMALLEST_K; k <= LARGEST_K; ++k)
        for (uint32_t n = 0; n <= FEW; ++n)
            check(k, n);
}

static void around_powers(void **state)
{
    (void)state;
    for (uint32_t k = SMALLEST_K; k <= LARGEST_K; ++k)
        for (uint32_t power = k; power < MANY; power *= k)
            for (uint32_t n = power < AROUND ? 0 : power - AROUND; n <= power + AROUND; ++n)
                check(k, n);
}

/* The entries of a match level by level, against the matches' ranks: every place is an entry of the match
 * that was not seen before, and as long as the level stays the same its right neighbour is the next. */
static void check_levels(const eytzinger_tree *tree, uint32_t first, uint32_t last, uint8_t *seen)
{
    eytzinger_levels levels = eytzinger_levels_of(tree, first, last);
    uint32_t before = 0, jumps = 0;
    for (uint32_t place = first; place < last; ++place) {
        const uint32_t entry = eytzinger_levels_to(tree, &levels, place);
        const uint32_t rank = eytzinger_rank(tree, tree->k, entry);
        if (rank < first || rank >= last || seen[rank]++)
            fail_msg("k %u, %u entries, match %u .. %u: place %u is entry %u of rank %u", tree->k,
                     tree->full + tree->leaves, first, last, place, entry, rank);
        if (place > first && entry != before + 1) {
            assert_true(entry < before);
            ++jumps;
        }
        before = entry;
    }
    uint32_t most = 1;
    for (uint64_t size = 0; size < (uint64_t)tree->full + tree->leaves; size = size * tree->k + tree->k - 1)
        ++most;
    assert_true(jumps < most);
    for (uint32_t rank = first; rank < last; ++rank)
        seen[rank] = 0;
}

static void every_span_by_levels(void **state)
{
    static const uint32_t counts[] = {1, 2, 3, 7, 8, 9, 26, 27, 28, 31, 33, 63, 64, 65, 80, 81, 82, 99};
    uint8_t seen[100] = {0};
    (void)state;
    for (uint32_t k = SMALLEST_K; k <= LARGEST_K; ++k)
        for (uint32_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
            const eytzinger_tree tree = eytzinger_tree_of(k, counts[c]);
            for (uint32_t first = 0; first <= counts[c]; ++first)
                for (uint32_t last = first; last <= counts[c]; ++last)
                    check_levels(&tree, first, last, seen);
        }
}

static void some_spans_by_levels(void **state)
{
    static uint8_t seen[MANY + AROUND + 1];
    (void)state;
    for (uint32_t k = SMALLEST_K; k <= LARGEST_K; ++k)
        for (uint32_t power = k; power < MANY; power *= k)
            for (uint32_t n = power < AROUND ? 0 : power - AROUND; n <= power + AROUND; ++n) {
                const eytzinger_tree tree = eytzinger_tree_of(k, n);
                check_levels(&tree, 0, n, seen);
                for (uint32_t j = 1; n && j < 20; ++j) {
                    const uint32_t one = j * 2654435761u % (n + 1), other = j * 40503u * 9973u % (n + 1);
                    check_levels(&tree, one < other ? one : other, one < other ? other : one, seen);
                }
            }
}

/* A thread of a group reads every so many places only. */
static void strides_by_levels(void **state)
{
    const eytzinger_tree tree = eytzinger_tree_of(3, 1000);
    (void)state;
    for (uint32_t stride = 2; stride <= 300; stride = stride * 3 - 1)
        for (uint32_t rank = 0; rank < stride; ++rank) {
            eytzinger_levels all = eytzinger_levels_of(&tree, 17, 990), some = all;
            for (uint32_t place = 17; place < 990; ++place) {
                const uint32_t entry = eytzinger_levels_to(&tree, &all, place);
                if ((place - 17) % stride == rank)
                    assert_int_equal(eytzinger_levels_to(&tree, &some, place), entry);
            }
        }
}

/* Trees that no test can walk: the places where 32 bits could overflow. */
static void largest_counts(void **state)
{
    (void)state;
    for (uint32_t k = SMALLEST_K; k <= LARGEST_K; ++k)
        for (uint32_t less = 0; less < 5; ++less) {
            const uint32_t n = 0xFFFFFFFFu - less;
            const eytzinger_tree tree = eytzinger_tree_of(k, n);
            assert_int_equal((uint64_t)tree.full + tree.leaves, n);
            for (uint32_t j = 0; j < 200000; ++j) {
                const uint32_t rank = j < 1000 ? j : j < 2000 ? n - 1 - (j - 1000) : j * 2654435761u % n;
                const uint32_t entry = eytzinger_entry(&tree, rank);
                assert_true(entry < n);
                if (eytzinger_rank(&tree, k, entry) != rank)
                    fail_msg("k %u, n %u: rank %u is entry %u, whose rank is %u", k, n, rank, entry,
                             eytzinger_rank(&tree, k, entry));
            }
            /* The match of all entries: it begins with the last level, and ends with the root's last key. */
            eytzinger_levels all = eytzinger_levels_of(&tree, 0, n);
            assert_int_equal(eytzinger_levels_to(&tree, &all, 0), tree.leaves ? tree.full : tree.bottom - 1);
            assert_int_equal(eytzinger_levels_to(&tree, &all, n - 1), k - 2);
        }
}

static void division(void **state)
{
    (void)state;
    for (uint32_t k = SMALLEST_K; k <= LARGEST_K; ++k) {
        const eytzinger_tree tree = eytzinger_tree_of(k, 1);
        for (uint32_t j = 0; j < 100000; ++j) {
            const uint32_t any = j * 2654435761u, multiple = any / k * k;
            assert_int_equal(eytzinger_divide(&tree, any), any / k);
            assert_int_equal(eytzinger_divide(&tree, multiple), any / k);
            assert_int_equal(eytzinger_divide(&tree, 0xFFFFFFFFu - j), (0xFFFFFFFFu - j) / k);
        }
    }
}

/* The slots of ranks: one is left free before binary trees. */
static void slots(void **state)
{
    const eytzinger_tree binary = eytzinger_tree_of(2, 6), ternary = eytzinger_tree_of(3, 6);
    static const uint32_t binary_slots[] = {4, 2, 5, 1, 6, 3}, ternary_slots[] = {2, 3, 0, 4, 5, 1};
    (void)state;
    for (uint32_t rank = 0; rank < 6; ++rank) {
        assert_int_equal(eytzinger_slot_of_rank(&binary, rank), binary_slots[rank]);
        assert_int_equal(eytzinger_slot_of_rank(&ternary, rank), ternary_slots[rank]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_count),
        cmocka_unit_test(around_powers),
        cmocka_unit_test(every_span_by_levels),
        cmocka_unit_test(some_spans_by_levels),
        cmocka_unit_test(strides_by_levels),
        cmocka_unit_test(largest_counts),
        cmocka_unit_test(division),
        cmocka_unit_test(slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
