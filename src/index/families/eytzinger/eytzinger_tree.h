/* Eytzinger order: a K-ary search tree written level by level, without pointers (Henneberg and Schuhknecht,
 * "Is Binary Search Really All You Need?", 3.2 and 3.5).
 *
 * Entry e of n stands in node e / (K - 1); the K children of node v are nodes K v + 1 .. K v + K. All levels
 * are full except the last, which may be cut off anywhere. The rank of an entry is its place in key order.
 * Ranks and entries are converted by arithmetic on n and K only: d levels are full, with K^d - 1 entries, and
 * b = n - (K^d - 1) entries lie below them. Entry i of that last level has rank i + floor(i / (K - 1)).
 * Within the full levels, entry i of the level t levels above the lowest has rank q = K^t (1 + i + floor(i /
 * (K - 1))) - 1; to get its rank in the tree, add the min(b, (K - 1)(q + 1)) smaller entries of the last
 * level. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_TREE_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_TREE_H

#include "base/program/lang.h"

typedef struct eytzinger_tree {
    uint64_t inverse; /* of k: 2^64 / k rounded up */
    uint32_t k;       /* fan-out; 0: no tree */
    uint32_t full;    /* entries of the full levels, K^d - 1 */
    uint32_t leaves;  /* entries below them */
    uint32_t bottom;  /* K^(d - 1): 1 + where the lowest full level begins; 1 if no level is full */
} eytzinger_tree;
kr_assert_size(eytzinger_tree, 24);

KR_BOTH eytzinger_tree eytzinger_tree_of(uint32_t k, uint32_t n)
{
    uint64_t full = 0, bottom = 1;
    while (full * k + k - 1 <= n) {
        bottom = full + 1;
        full = full * k + k - 1;
    }
    eytzinger_tree tree = {0, k, (uint32_t)full, (uint32_t)(n - full), (uint32_t)bottom};
    tree.inverse = ~(uint64_t)0 / k + 1;
    return tree;
}

/* The slot of entry 0. With binary nodes the slot before it stays empty, so that siblings always share a
 * cache line. */
KR_BOTH uint32_t eytzinger_first(uint32_t k)
{
    return k == 2;
}

/* x / k without a division, exact for every x: inverse is less than 1 above 2^64 / k. */
KR_BOTH uint32_t eytzinger_divide(const eytzinger_tree *tree, uint32_t x)
{
    const uint64_t high = x * (tree->inverse >> 32), low = x * (tree->inverse & 0xFFFFFFFFu);
    return (uint32_t)((high + (low >> 32)) >> 32);
}

/* The entry of a rank. */
KR_BODY uint32_t eytzinger_entry(const eytzinger_tree *tree, uint32_t rank)
{
    /* A run of K - 1 entries of the last level, then one from above, until the last level is used up. */
    const uint32_t run = eytzinger_divide(tree, rank), at = rank - run * tree->k;
    const uint32_t below = rank - run, last = tree->k - 1;
    if (at < last && below < tree->leaves)
        return tree->full + below;
    uint32_t number = (at == last && below <= tree->leaves ? run : rank - tree->leaves) + 1;
    uint32_t above = tree->bottom, quotient = eytzinger_divide(tree, number);
    if (tree->k == 2) { /* the loop below in one step: a warp would wait for the longest loop */
        const uint32_t up = kr_ctz32(number);
        return (above >> up) - 1 + (number >> up) - 1 - (number >> up >> 1);
    }
    while (quotient * tree->k == number) {
        number = quotient;
        above = eytzinger_divide(tree, above);
        quotient = eytzinger_divide(tree, number);
    }
    return above - 1 + number - 1 - quotient;
}

KR_BODY uint64_t eytzinger_slot_of_rank(const eytzinger_tree *tree, uint64_t rank)
{
    return (uint64_t)eytzinger_first(tree->k) + eytzinger_entry(tree, (uint32_t)rank);
}

/* The rank of an entry. k is tree->k, as a constant if known. */
KR_BOTH uint32_t eytzinger_rank(const eytzinger_tree *tree, uint32_t k, uint32_t entry)
{
    if (entry >= tree->full) {
        const uint32_t i = entry - tree->full;
        return i + i / (k - 1);
    }
    uint32_t above = tree->bottom, weight = 1;
    while (entry < above - 1) {
        above /= k;
        weight *= k;
    }
    const uint32_t i = entry - (above - 1), number = weight * (1 + i + i / (k - 1));
    const uint64_t smaller = (uint64_t)(k - 1) * number;
    return number - 1 + (smaller < tree->leaves ? (uint32_t)smaller : tree->leaves);
}

/* A match of ranks level by level, the last level first. The entries of a level that are in the match are one
 * run of neighbours (paper, Figure 5). Arithmetic gives its ends: r - floor(r / K) entries of the last level
 * have a rank below r, or all of them if there are fewer. Of the Q other entries below r, floor(Q / K^t) -
 * floor(Q / K^(t+1)) lie t levels above the lowest full one.
 *
 * The runs, one after another, are the places first .. last - 1: as many as there are ranks, in another
 * order. */
typedef struct eytzinger_levels {
    uint32_t end;      /* the place behind the run */
    uint32_t shift;    /* from a place of the run to its entry */
    uint32_t from, to; /* above the run's level: entries before the match, and up to its end */
    uint32_t above;    /* 1 + where the next level begins */
} eytzinger_levels;

/* Entries of the last level with a rank below r. */
KR_BOTH uint32_t eytzinger_leaves_below(const eytzinger_tree *tree, uint32_t r)
{
    const uint32_t below = r - eytzinger_divide(tree, r);
    return below < tree->leaves ? below : tree->leaves;
}

KR_BOTH eytzinger_levels eytzinger_levels_of(const eytzinger_tree *tree, uint32_t first, uint32_t last)
{
    const uint32_t from = eytzinger_leaves_below(tree, first), to = eytzinger_leaves_below(tree, last);
    const eytzinger_levels walk = {first + (to - from), tree->full + from - first, first - from, last - to,
                                   tree->bottom};
    return walk;
}

/* The entry of a place; places must come in ascending order. */
KR_BOTH uint32_t eytzinger_levels_to(const eytzinger_tree *tree, eytzinger_levels *walk, uint32_t place)
{
    while (place >= walk->end) {
        const uint32_t from = eytzinger_divide(tree, walk->from), to = eytzinger_divide(tree, walk->to);
        walk->shift = walk->above - 1 + (walk->from - from) - walk->end;
        walk->end += (walk->to - to) - (walk->from - from);
        walk->from = from;
        walk->to = to;
        walk->above = eytzinger_divide(tree, walk->above);
    }
    return place + walk->shift;
}

#endif
