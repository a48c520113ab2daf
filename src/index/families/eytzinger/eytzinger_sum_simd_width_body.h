/* Ranges added up key by key, level by level (Henneberg and Schuhknecht, "Is Binary Search Really All You
 * Need?", 3.2, Figure 5, and 5.7): in each level the entries of a range are neighbours, and they begin where
 * the search path of the lower bound crosses the level. The levels come from the last one up, as the path
 * leads back to the root by arithmetic; a sum of integers does not depend on the order. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_SUM_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_SUM_SIMD_WIDTH_BODY_H

#include "index/families/eytzinger/eytzinger_search.h"
#include "index/lightweight/range.h"

/* Where a path crosses a level, whose entries are first .. end - 1: those from place c of the node on are not
 * below the lower bound. */
typedef struct eytzinger_cross {
    uint32_t node, c;
    uint32_t first, end;
} eytzinger_cross;

KR_BODY uint32_t eytzinger_cross_at(const eytzinger_params *p, kr_group tile, uint32_t k, uint32_t node,
                                    kr_key lower)
{
    const kr_pin none = {NULL, 0, 0};
    const uint64_t from = (uint64_t)node * (k - 1), n = p->entries.n;
    uint32_t c = 0;
    if (tile.size == 1)
        return n - from >= k - 1 ? eytzinger_node_rank(p, none, from, k - 1, lower)
                                 : eytzinger_cut_rank(p, from, n - from, lower);
    for (uint32_t j = tile.rank; j < k - 1; j += tile.size)
        c += kr_popcount32(kr_group_ballot(tile, from + j < n && eytzinger_key(p, from + j) < lower));
    return c;
}

/* Down to the last level that the path reaches. */
KR_BODY eytzinger_cross eytzinger_cross_last(const eytzinger_params *p, kr_group tile, uint32_t k,
                                             kr_key lower)
{
    const uint64_t n = p->entries.n;
    eytzinger_cross cross = {0, 0, 0, n < k - 1 ? (uint32_t)n : k - 1};
    for (;;) {
        cross.c = eytzinger_cross_at(p, tile, k, cross.node, lower);
        const uint64_t child = (uint64_t)cross.node * k + 1 + cross.c;
        const uint64_t end = (uint64_t)cross.end * k + k - 1; /* of the next level, if it is full */
        if (child * (k - 1) >= n)
            return cross;
        cross.node = (uint32_t)child;
        cross.first = cross.end;
        cross.end = (uint32_t)(end < n ? end : n);
    }
}

/* To the level above; 0: there is none. */
KR_BODY int eytzinger_cross_up(const eytzinger_tree *tree, eytzinger_cross *cross)
{
    if (!cross->first)
        return 0;
    const uint32_t parent = eytzinger_divide(tree, cross->node - 1);
    cross->c = cross->node - 1 - parent * tree->k;
    cross->node = parent;
    cross->end = cross->first;
    cross->first = eytzinger_divide(tree, cross->first + 1) - 1;
    return 1;
}

KR_BODY kr_range_run eytzinger_run(uint32_t k, const eytzinger_cross *cross, kr_key upper)
{
    const uint32_t hidden = eytzinger_first(k);
    const kr_range_run run = {hidden + cross->node * (k - 1) + cross->c, hidden + cross->end, upper};
    return run;
}

/* This thread's part of the levels from `cross` up, which all threads of the group read together. */
KR_BODY uint64_t eytzinger_sum_part(kr_group group, const eytzinger_sum_params *p, uint32_t k,
                                    eytzinger_cross cross, kr_key upper)
{
    uint64_t sum = 0;
    do
        sum += kr_range_part(group, &p->search.entries, &p->how, eytzinger_run(k, &cross, upper));
    while (eytzinger_cross_up(&p->search.tree, &cross));
    return sum;
}

/* By one thread, level by level until one has more than it reads alone; 1: *cross is where others go on. */
KR_BODY int eytzinger_sum_alone(const eytzinger_sum_params *p, uint32_t k, uint32_t most, kr_key upper,
                                eytzinger_cross *cross, uint64_t *sum)
{
    do {
        kr_range_run run = eytzinger_run(k, cross, upper);
        *sum += kr_range_alone(&p->search.entries, &p->how, most, &run);
        if (run.at < run.end) {
            cross->c += most;
            return 1;
        }
    } while (eytzinger_cross_up(&p->search.tree, cross));
    return 0;
}

/* What is left of the ranges of a warp, one after the other; returns what belongs to this thread. */
KR_BODY uint64_t eytzinger_sum_rest(kr_group warp, const eytzinger_sum_params *p, uint32_t k, int goes_on,
                                    eytzinger_cross cross, kr_key upper)
{
    uint64_t own = 0;
    for (uint32_t left = kr_group_ballot(warp, goes_on); left; left &= left - 1) {
        const uint32_t owner = kr_ctz32(left);
        const uint64_t at = kr_group_share(warp, (uint64_t)cross.c << 32 | cross.node, owner);
        const uint64_t level = kr_group_share(warp, (uint64_t)cross.end << 32 | cross.first, owner);
        const eytzinger_cross its = {(uint32_t)at, (uint32_t)(at >> 32), (uint32_t)level,
                                     (uint32_t)(level >> 32)};
        const kr_key to = (kr_key)kr_group_share(warp, upper, owner);
        const uint64_t sum = kr_range_total(warp, eytzinger_sum_part(warp, p, k, its, to));
        own += warp.rank == owner ? sum : 0;
    }
    return own;
}

KR_BODY void eytzinger_sum_one(kr_group warp, const eytzinger_sum_params *p, uint32_t k, uint64_t i,
                               uint64_t n)
{
    const kr_group tile = kr_range_tile(warp, &p->search.launch);
    for (uint32_t turn = 0; turn < tile.size; ++turn) {
        const uint64_t probe = i - tile.rank + turn;
        eytzinger_cross cross = {0, 0, 0, 0};
        kr_key lower = 0, upper = 0;
        uint64_t sum = 0;
        int goes_on =
            probe < n && kr_batch_load(&p->search.batch, probe, &lower, &upper) && p->search.entries.n;
        if (goes_on)
            cross = eytzinger_cross_last(&p->search, tile, k, lower);
        if (goes_on && tile.size > 1)
            sum = kr_range_total(tile, eytzinger_sum_part(tile, p, k, cross, upper));
        else if (goes_on)
            goes_on = eytzinger_sum_alone(p, k, kr_range_most(warp, &p->how), upper, &cross, &sum);
        if (tile.size == 1)
            sum += eytzinger_sum_rest(warp, p, k, goes_on, cross, upper);
        if (tile.rank == 0 && probe < n)
            kr_range_store(&p->how, probe, sum);
    }
}

#define EYTZINGER_SUM_PROGRAM(name, k)                                                            \
    KR_BODY void name##_one(kr_group warp, const eytzinger_sum_params *p, uint64_t i, uint64_t n) \
    {                                                                                             \
        eytzinger_sum_one(warp, p, k, i, n);                                                      \
    }                                                                                             \
    KR_GROUP_PROGRAM(name, eytzinger_sum_params, name##_one)
EYTZINGER_SUM_PROGRAM(eytzinger_sum_any, p->search.tree.k);
EYTZINGER_SUM_PROGRAM(eytzinger_sum_2, 2);
EYTZINGER_SUM_PROGRAM(eytzinger_sum_9, 9);

#endif
