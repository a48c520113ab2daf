/* Sorted keys in a block's shared memory, and the search among them.
 *
 * Key i lies at place kr_sorted_pivot_at(i): one place is left out behind every row of the memory's banks. So
 * the keys that a block's threads compare in the same step of a search, 2^s keys apart, lie in different
 * banks. A step of the search is the same distance from every place that it can begin at. */
#ifndef KEYRAY_INDEX_SORTED_PIVOTS_H
#define KEYRAY_INDEX_SORTED_PIVOTS_H

#include "base/key/key.h"

enum {
    KR_PIVOTS_ROW = 128 / sizeof(kr_key),
    KR_PIVOTS_LEAST = 256, /* places that every search looks at: its last steps are unrolled */
};

KR_BODY uint32_t kr_sorted_pivot_at(uint32_t i)
{
    return i + i / KR_PIVOTS_ROW;
}

KR_BODY uint32_t kr_sorted_pivot_of(uint32_t at)
{
    return at - at / (KR_PIVOTS_ROW + 1);
}

/* Keys in shared memory for pivots 0 .. n: a power of two of them, and one. The last are the largest key. */
KR_BODY uint32_t kr_sorted_pivots_room(uint32_t n)
{
    return n < KR_PIVOTS_LEAST ? KR_PIVOTS_LEAST : 2 * (0x80000000u >> kr_clz32(n));
}

/* One step for each of `count` bounds: at[v] is the place of the last pivot that is known to be < bounds[v],
 * or of pivot 0. */
KR_BODY void kr_sorted_pivots_step(const kr_key *pivots, uint32_t step, int count, const kr_key *bounds,
                                   uint32_t *at)
{
    const uint32_t distance = step + step / KR_PIVOTS_ROW;
    KR_UNROLL
    for (int v = 0; v < count; ++v)
        at[v] += pivots[at[v] + distance] < bounds[v] ? distance : 0;
}

/* Searches among `room` places for `count` bounds, all at 0: at[v] becomes the place of the last pivot <
 * bounds[v], or of pivot 0, which is not looked at. */
KR_BODY void kr_sorted_pivots_search(const kr_key *pivots, uint32_t room, int count, const kr_key *bounds,
                                     uint32_t *at)
{
    for (uint32_t step = room / 2; step >= KR_PIVOTS_LEAST; step /= 2)
        kr_sorted_pivots_step(pivots, step, count, bounds, at);
    KR_UNROLL
    for (uint32_t step = KR_PIVOTS_LEAST / 2; step; step /= 2)
        kr_sorted_pivots_step(pivots, step, count, bounds, at);
}

#endif
