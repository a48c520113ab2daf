/* Making leaves of sorted entries and the other way round, the levels, the keys that cut an index into parts.
 */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_BUILD_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_BUILD_H

#include "index/families/btree/btree_params.h"

/* ---- Spreading ------------------------------------------------------------------------------- */

/* Leaf i gets the entries from i * filled on, so leaves are in order. */
typedef struct btree_spread_params {
    btree_tree tree;
    const void *keys;          /* sorted */
    const uint32_t *rows;      /* NULL: the tree keeps none */
    uint32_t filled, reserved; /* entries of each leaf but the last */
} btree_spread_params;

/* Element i is slot i of all leaves, with those that are free. */
KR_BODY void btree_spread_slot(const btree_spread_params *p, uint64_t i)
{
    const btree_tree *tree = &p->tree;
    const uint32_t leaf = (uint32_t)(i >> tree->node_bits),
                   slot = (uint32_t)i & ((1u << tree->node_bits) - 1);
    const uint64_t position = (uint64_t)leaf * p->filled + slot;
    const int here = slot < p->filled && position < tree->n;
    const kr_key key = here ? kr_load((const kr_key *)p->keys + position) : BTREE_LARGEST;
    ((kr_key *)tree->keys)[i] = key;
    if (tree->rows)
        tree->rows[i] = here ? kr_load(p->rows + position) : KR_NO_ROW;
    if (slot)
        return;
    tree->order[leaf] = leaf;
    if (here) {
        tree->starts[leaf] = (uint32_t)position;
        ((kr_key *)tree->separators)[leaf] = key;
    }
    if (leaf == 0)
        tree->starts[tree->n_leaves] = tree->n;
}
KR_MAP_PROGRAM(btree_spread, btree_spread_params, btree_spread_slot);

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The level of a slot. Most slots that ask belong to low levels. */
KR_BODY uint32_t btree_level_of(const btree_tree *tree, uint32_t slot)
{
    uint32_t level = 0;
    while (level + 1 < tree->n_levels && slot >= tree->levels[level + 1])
        ++level;
    return level;
}

/* What a slot of the levels holds, from the separators. */
KR_BODY kr_key btree_slot_key(const btree_tree *tree, uint32_t slot)
{
    const uint32_t level = btree_level_of(tree, slot);
    const uint64_t ordinal = (uint64_t)(slot - tree->levels[level]) << (level * tree->fan_bits);
    return ordinal < tree->n_leaves ? kr_load(btree_separator(tree, (uint32_t)ordinal)) : BTREE_LARGEST;
}

KR_BODY kr_key btree_last_key(const btree_tree *tree)
{
    const uint32_t last = tree->n_leaves - 1, count = tree->n - kr_load(tree->starts + last);
    return kr_load(btree_keys(tree, btree_slot(tree, tree->node_bits, last) + count - 1));
}

/* All slots behind the separators, then the ends of the keys. */
KR_BODY void btree_fill_slot(const btree_levels_params *p, uint64_t i)
{
    const btree_tree *tree = &p->tree;
    const uint32_t slot = tree->n_leaves + (uint32_t)i;
    if (slot < tree->n_slots) {
        ((kr_key *)tree->separators)[slot] = btree_slot_key(tree, slot);
        return;
    }
    p->ends[0] = kr_load(btree_separator(tree, 0));
    p->ends[1] = btree_last_key(tree);
}
KR_MAP_PROGRAM(btree_fill, btree_levels_params, btree_fill_slot);

/* ---- Flattening ------------------------------------------------------------------------------ */

/* Element i is a slot, by ordinals. */
KR_BODY void btree_flatten_slot(const btree_flatten_params *p, uint64_t i)
{
    const btree_tree *tree = &p->tree;
    const uint32_t ordinal = (uint32_t)(i >> tree->node_bits),
                   s = (uint32_t)i & ((1u << tree->node_bits) - 1);
    const uint32_t position = kr_load(tree->starts + ordinal) + s;
    if (position >= kr_load(tree->starts + ordinal + 1))
        return;
    const uint32_t slot = btree_slot(tree, tree->node_bits, ordinal) + s;
    ((kr_key *)p->keys)[position] = kr_load(btree_keys(tree, slot));
    p->rows[position] = btree_row(tree, slot);
}
KR_MAP_PROGRAM(btree_flatten, btree_flatten_params, btree_flatten_slot);

/* Row ids of a tree that keeps none, for its slots; `keys` is not used. */
KR_BODY void btree_number_slot(const btree_flatten_params *p, uint64_t i)
{
    p->rows[i] = btree_row(&p->tree, (uint32_t)i);
}
KR_MAP_PROGRAM(btree_number, btree_flatten_params, btree_number_slot);

/* ---- Cuts ------------------------------------------------------------------------------------ */

typedef struct btree_cut_params {
    btree_tree tree;
    kr_key *keys;
    uint32_t bits, reserved;
} btree_cut_params;

KR_BODY uint32_t btree_slot_at(const btree_tree *tree, uint32_t position)
{
    const uint32_t ordinal = btree_ordinal(tree->starts, tree->n_leaves, tree->per_row, position);
    return btree_slot(tree, tree->node_bits, ordinal) + (position - kr_load(tree->starts + ordinal));
}

KR_BODY void btree_cut(const btree_cut_params *p, uint64_t i)
{
    const uint32_t position = (uint32_t)kr_batch_cut_at(p->tree.n, p->bits, i);
    p->keys[i] = kr_load(btree_keys(&p->tree, btree_slot_at(&p->tree, position)));
}
KR_MAP_PROGRAM(btree_cuts, btree_cut_params, btree_cut);

#endif
