/* The nearest entries of a tree, by their positions. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_NEAREST_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_NEAREST_H

#include "index/families/btree/btree_params.h"
#include "index/kinds/nearest.h"

/* The leaf of an existing position by its ordinal, and the slot within it: ordinal << node_bits | slot. */
KR_BODY uint32_t btree_nearest_place(const btree_tree *tree, uint32_t position)
{
    const uint32_t ordinal = btree_ordinal(tree->starts, tree->n_leaves, tree->per_row, position);
    return (ordinal << tree->node_bits) + (position - kr_load(tree->starts + ordinal));
}

KR_BODY uint32_t btree_nearest_slot(const btree_tree *tree, uint32_t position)
{
    const uint32_t where = btree_nearest_place(tree, position);
    return btree_slot(tree, tree->node_bits, where >> tree->node_bits) +
           (where & ((1u << tree->node_bits) - 1));
}

KR_BODY uint64_t btree_nearest_key(const btree_tree *tree, uint32_t position)
{
    return kr_load(btree_keys(tree, btree_nearest_slot(tree, position)));
}

KR_BODY uint32_t btree_nearest_row(const btree_tree *tree, uint32_t position)
{
    return btree_row(tree, btree_nearest_slot(tree, position));
}

KR_BODY uint32_t btree_nearest_where(const btree_tree *tree, uint32_t position)
{
    return tree->rows ? btree_nearest_place(tree, position) : position;
}

KR_NEAREST(btree_nearest, btree_tree, btree_nearest_key, btree_nearest_row, btree_nearest_where);

#endif
