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
kr_assert_size(btree_params, 232);

/* Of sums by groups. */
typedef struct btree_sum_params {
    kr_batch batch;
    btree_tree tree;
    reduce_params how; /* with `out` and `order` */
} btree_sum_params;
kr_assert_size(btree_sum_params, 360);

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

/* Whether the slot, whose key is at most `upper`, holds an entry: an empty one has the largest code. */
KR_BODY int btree_is_entry(const btree_tree *tree, uint32_t slot, kr_key key)
{
    return key != BTREE_LARGEST || kr_load(tree->rows + slot) != KR_NO_ROW;
}

#endif
