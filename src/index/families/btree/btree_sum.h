/* Sums by groups of 16 threads, in the program that searches, as the papers changed the tree of Awad et al.:
 * a group reads the leaves of a range one after the other, until a key is above it. The rows of a point are
 * added up by the thread that has the probe: they begin in the leaf that is found or with the next. Only what
 * lies in further leaves is added up by the group. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_SUM_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_SUM_H

#include "index/families/btree/btree_group.h"
#include "index/results/totals.h"

/* What slots first, first + step, ... of a leaf add to the sum of lower to upper. */
KR_BODY uint64_t btree_sum_leaf(const btree_sum_params *p, uint32_t ordinal, kr_key lower, kr_key upper,
                                uint32_t first, uint32_t step)
{
    const uint32_t leaf = btree_slot(&p->tree, BTREE_GROUP_BITS, ordinal);
    uint64_t sum = 0;
    for (uint32_t s = first; s < 1u << BTREE_GROUP_BITS; s += step) {
        const kr_key key = kr_load(btree_keys(&p->tree, leaf + s));
        if (key > upper)
            break;
        if (key >= lower && btree_is_entry(&p->tree, leaf + s, key))
            sum += reduce_addend(&p->how, btree_row(&p->tree, leaf + s));
    }
    return sum;
}

/* Whether the leaf behind has entries up to `upper`. */
KR_BODY int btree_sum_goes_on(const btree_tree *tree, uint32_t ordinal, kr_key upper)
{
    return ordinal + 1 < tree->n_leaves && kr_load(btree_separator(tree, ordinal + 1)) <= upper;
}

/* The same of the leaf of a point, where so many keys are below it, and of the next; then *ordinal is that of
 * the last of them. */
KR_BODY uint64_t btree_sum_point(const btree_sum_params *p, kr_key key, uint32_t below, uint32_t *ordinal)
{
    uint64_t sum = btree_sum_leaf(p, *ordinal, key, key, below, 1);
    if (btree_sum_goes_on(&p->tree, *ordinal, key)) {
        ++*ordinal;
        sum += btree_sum_leaf(p, *ordinal, key, key, 0, 1);
    }
    return sum;
}

/* The sum over the leaves from an ordinal on, by all threads of the group. */
KR_BODY uint64_t btree_sum_leaves(kr_group group, const btree_sum_params *p, uint32_t ordinal, kr_key lower,
                                  kr_key upper)
{
    uint64_t sum = btree_sum_leaf(p, ordinal, lower, upper, group.rank, group.size);
    for (; btree_sum_goes_on(&p->tree, ordinal, upper); ++ordinal)
        sum += btree_sum_leaf(p, ordinal + 1, lower, upper, group.rank, group.size);
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        sum += kr_group_other(group, sum, distance);
    return sum;
}

KR_BODY void btree_sum_one(kr_group warp, const btree_sum_params *p, uint64_t i, uint64_t n)
{
    const btree_tree *tree = &p->tree;
    const kr_group group = btree_group_of(warp);
    btree_found found = {0, 0, 0};
    kr_key lower = 0, upper = 0;
    uint64_t sum = 0;
    const int searches = i < n && kr_batch_load(&p->batch, i, &lower, &upper) && tree->n;
    btree_group_turns(warp, tree, searches, lower, 0, 0, &found);
    int goes_on = searches;
    if (searches && !p->batch.upper) {
        sum = btree_sum_point(p, lower, found.below, &found.ordinal);
        goes_on = btree_sum_goes_on(tree, found.ordinal, upper);
        found.ordinal += goes_on != 0;
    }
    for (uint32_t waiting = kr_group_ballot(group, goes_on); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const uint64_t more = btree_sum_leaves(
            group, p, (uint32_t)kr_group_share(group, found.ordinal, owner),
            (kr_key)kr_group_share(group, lower, owner), (kr_key)kr_group_share(group, upper, owner));
        sum += group.rank == owner ? more : 0;
    }
    if (i < n)
        ((uint64_t *)p->how.out)[kr_answer_place(p->how.order, i)] = sum;
}
KR_GROUP_PROGRAM(btree_sum_group, btree_sum_params, btree_sum_one);

#endif
