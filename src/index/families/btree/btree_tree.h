/* The tree as host code and bodies see it.
 *
 * A leaf is 2^node_bits adjacent slots of keys and row ids: its entries, then empty slots, which hold the
 * largest code and KR_NO_ROW. The directory names the leaves in key order, by ordinals: leaf order[i] holds
 * the entries at positions starts[i] to starts[i + 1] - 1, at least one. separators[i] is its first key.
 * Above the separators lie the levels of a tree: slot j of level l is separator j << (l * fan_bits), and a
 * node is 2^fan_bits neighbouring slots, so the children of slot j are the slots of node j one level below.
 * Slots behind the last of a level hold the largest code: searches count keys below a bound, so they never
 * count these. Nor do they count the slots of the next node: the first of them is not below the bound. So a
 * search may read 2^node_bits slots of a node, even if it has fewer, and a level has that many behind its
 * last node's first. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_TREE_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_TREE_H

#include "base/program/lang.h"

enum {
    BTREE_NODE_BITS = 3, /* of the smallest node */
    BTREE_LEVELS =
        10 /* enough for it, and for half of the next: leaves have fewer than 2^32 slots together */
};

typedef struct btree_tree {
    void *keys;       /* kr_key[room << node_bits] */
    uint32_t *rows;   /* NULL: none are kept */
    void *separators; /* kr_key[n_slots]: all levels, the lowest first */
    uint32_t *starts; /* n_leaves + 1 */
    uint32_t *order;  /* room; from n_leaves on: leaves that are free */
    uint32_t n;       /* entries */
    uint32_t n_leaves, room;
    uint32_t node_bits;
    uint32_t in_order; /* 1: order[i] is i for all leaves that are not free */
    float per_row;     /* leaves per row, on average */
    uint32_t n_slots, n_levels;
    uint32_t levels[BTREE_LEVELS]; /* the first slot of each */
    uint32_t fan_bits;             /* children of an inner node: node_bits, or one less */
    /* Where rows is NULL, as row ids are consecutive: entries of each leaf but the last, the row id at
     * position 0. Leaves are in order then. */
    uint32_t filled, first_row;
    uint32_t reserved;
} btree_tree;
kr_assert_size(btree_tree, 128);

/* The ordinal of an existing position, from a guess that counts on leaves of one size: by doubling steps,
 * then by halves. Invariant: starts[low] <= position < starts[high]. */
KR_BODY uint32_t btree_ordinal(const uint32_t *starts, uint32_t n_leaves, float per_row, uint32_t position)
{
    const uint32_t guess = (uint32_t)((float)position * per_row);
    uint32_t low = guess < n_leaves ? guess : n_leaves - 1, high = low + 1, step = 1;
    if (kr_load(starts + low) <= position) {
        for (; high < n_leaves && kr_load(starts + high) <= position; step *= 2) {
            low = high;
            high = n_leaves - low > step ? low + step : n_leaves;
        }
    } else {
        do {
            high = low;
            low = high > step ? high - step : 0;
            step *= 2;
        } while (kr_load(starts + low) > position);
    }
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(starts + middle) <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The leaf of an ordinal. */
KR_BODY uint32_t btree_leaf(const btree_tree *tree, uint32_t ordinal)
{
    return tree->in_order ? ordinal : kr_load(tree->order + ordinal);
}

/* The first slot of the leaf of an ordinal. */
KR_BODY uint32_t btree_slot(const btree_tree *tree, uint32_t node_bits, uint32_t ordinal)
{
    return btree_leaf(tree, ordinal) << node_bits;
}

#endif
