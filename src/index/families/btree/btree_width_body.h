/* Checking the invariants of btree_tree.h. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_WIDTH_BODY_H

#include "index/families/btree/btree_build.h"
#include "index/sorted/order_check.h"

/* One more than the largest number where something is wrong. */
enum { BTREE_WRONG_ORDER, BTREE_WRONG_START, BTREE_WRONG_SLOT, BTREE_WRONG_SEPARATOR, BTREE_WRONGS };

typedef struct btree_check_params {
    btree_tree tree;
    uint64_t *found;
    uint32_t *seen; /* room zeros: whether a leaf was met */
} btree_check_params;

/* Element i of `order` and `starts`. */
KR_BODY void btree_check_ordinal(const btree_check_params *p, uint64_t i)
{
    const btree_tree *tree = &p->tree;
    const uint32_t leaf = kr_load(tree->order + i);
    if (leaf >= tree->room || (tree->in_order && i < tree->n_leaves && leaf != i) ||
        kr_atomic_swap32(p->seen + leaf, 1))
        kr_atomic_max64(p->found + BTREE_WRONG_ORDER, i + 1);
    if (i >= tree->n_leaves)
        return;
    const uint32_t begin = kr_load(tree->starts + i), end = kr_load(tree->starts + i + 1);
    if (end <= begin || end - begin > 1u << tree->node_bits || (i == 0 && begin) ||
        (i + 1 == tree->n_leaves && end != tree->n))
        kr_atomic_max64(p->found + BTREE_WRONG_START, i + 1);
}
KR_MAP_PROGRAM(btree_check_directory, btree_check_params, btree_check_ordinal);

/* Element i is a slot of the leaves, by ordinals: empty slots, and separators. */
KR_BODY void btree_check_leaf(const btree_check_params *p, uint64_t i)
{
    const btree_tree *tree = &p->tree;
    const uint32_t ordinal = (uint32_t)(i >> tree->node_bits),
                   s = (uint32_t)i & ((1u << tree->node_bits) - 1);
    const uint32_t count = kr_load(tree->starts + ordinal + 1) - kr_load(tree->starts + ordinal);
    const uint32_t slot = btree_slot(tree, tree->node_bits, ordinal) + s;
    const kr_key key = kr_load(btree_keys(tree, slot));
    const int is_empty = btree_row(tree, slot) == KR_NO_ROW;
    if (is_empty != (s >= count) || (is_empty && key != BTREE_LARGEST))
        kr_atomic_max64(p->found + BTREE_WRONG_SLOT, i + 1);
    if (s == 0 && key != kr_load(btree_separator(tree, ordinal)))
        kr_atomic_max64(p->found + BTREE_WRONG_SEPARATOR, (uint64_t)ordinal + 1);
}
KR_MAP_PROGRAM(btree_check_leaves, btree_check_params, btree_check_leaf);

KR_BODY void btree_check_slot(const btree_check_params *p, uint64_t i)
{
    if (kr_load(btree_separator(&p->tree, (uint32_t)i)) != btree_slot_key(&p->tree, (uint32_t)i))
        kr_atomic_max64(p->found + BTREE_WRONG_SEPARATOR, i + 1);
}
KR_MAP_PROGRAM(btree_check_levels, btree_check_params, btree_check_slot);

KR_BODY uint64_t btree_key_at(const btree_check_params *p, uint64_t position)
{
    return kr_load(btree_keys(&p->tree, btree_slot_at(&p->tree, (uint32_t)position)));
}

KR_BODY uint32_t btree_row_at(const btree_check_params *p, uint64_t position)
{
    return btree_row(&p->tree, btree_slot_at(&p->tree, (uint32_t)position));
}
KR_ORDER_CHECK_PROGRAM(btree_check_entries, btree_check_params, tree.n, btree_key_at, btree_row_at);

#endif
