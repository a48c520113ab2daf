/* How rows in leaves are read. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_WALK_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_WALK_H

#include "index/families/btree/btree_tree.h"
#include "index/results/match.h"

typedef struct btree_walk_view {
    const uint32_t *rows, *starts;
    const uint32_t *order; /* NULL: leaf i has ordinal i */
    uint32_t n_leaves, node_bits;
    float per_row;
    uint32_t reserved;
} btree_walk_view;

extern const kr_walk btree_walk;

#endif
