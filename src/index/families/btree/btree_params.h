/* The parameters of a lookup, and the tree at one key width. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_PARAMS_H

#include "index/families/btree/btree_tree.h"
#include "index/kinds/batch.h"
#include "index/results/params.h"

typedef struct btree_params {
    kr_batch batch;
    kr_put put;
    btree_tree tree;
} btree_params;
kr_assert_size(btree_params, 240);

/* Of sums by groups. */
typedef struct btree_sum_params {
    kr_batch batch;
    btree_tree tree;
    reduce_params how; /* with `out` and `order` */
} btree_sum_params;
kr_assert_size(btree_sum_params, 368);

/* Of filling the levels above the separators. */
typedef struct btree_levels_params {
    btree_tree tree;
    uint64_t *ends; /* receives the smallest and the largest key */
} btree_levels_params;

/* Of copying all entries to sorted columns. */
typedef struct btree_flatten_params {
    btree_tree tree;
    void *keys;
    uint32_t *rows;
} btree_flatten_params;

#define BTREE_LARGEST ((kr_key) ~(kr_key)0)

KR_BODY const kr_key *btree_keys(const btree_tree *tree, uint32_t slot)
{
    return (const kr_key *)tree->keys + slot;
}

KR_BODY const kr_key *btree_separator(const btree_tree *tree, uint32_t ordinal)
{
    return (const kr_key *)tree->separators + ordinal;
}

/* The row id in a slot of the leaves; KR_NO_ROW: it is empty. */
KR_BODY uint32_t btree_row(const btree_tree *tree, uint32_t slot)
{
    if (tree->rows)
        return kr_load(tree->rows + slot);
    const uint32_t s = slot & ((1u << tree->node_bits) - 1);
    const uint32_t position = (slot >> tree->node_bits) * tree->filled + s;
    return s < tree->filled && position < tree->n ? tree->first_row + position : KR_NO_ROW;
}

KR_BODY void btree_row_prefetch(const btree_tree *tree, uint32_t slot)
{
    if (tree->rows)
        kr_prefetch(tree->rows + slot);
}

/* What a match has as `where`: as btree_walk wants it, or kr_numbered_walk where no row ids are kept. */
KR_BODY uint32_t btree_where(const btree_tree *tree, uint32_t where, uint32_t position)
{
    return tree->rows ? where : position;
}

/* Whether the slot, whose key is at most `upper`, holds an entry: an empty one has the largest code. */
KR_BODY int btree_is_entry(const btree_tree *tree, uint32_t slot, kr_key key)
{
    return key != BTREE_LARGEST || btree_row(tree, slot) != KR_NO_ROW;
}

#endif
