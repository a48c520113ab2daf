/* The searches of btree_search.h, btree_group.h and btree_sum.h, and another for the first match on a CPU,
 * level by level: every probe goes down through the same number of nodes, so a flight of probes needs no list
 * of those that are not done, and what depends on the level is computed once for all of them. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_SIMD_WIDTH_BODY_H

#include "index/families/btree/btree_sum.h"

#if !KR_ON_CUDA

typedef struct btree_descent {
    kr_key lower, upper;
    uint32_t at; /* a node of its level; a leaf's ordinal; the slot of the first row */
    uint32_t any;
} btree_descent;

KR_BODY void btree_round(const btree_tree *tree, uint32_t bits, uint32_t level, btree_descent *states,
                         uint32_t count)
{
    for (uint32_t j = 0; j < count; ++j) {
        states[j].at = btree_child(tree, bits, level, states[j].at, states[j].lower);
        if (level)
            btree_prefetch_node(tree, bits, level - 1, states[j].at);
        else if (tree->in_order)
            btree_prefetch_leaf(tree, bits, states[j].at);
        else
            kr_prefetch(tree->order + states[j].at);
    }
}

KR_BODY void btree_flight(const btree_params *p, uint32_t bits, uint64_t base, uint32_t count)
{
    const btree_tree *tree = &p->tree;
    const uint32_t *rows = tree->rows;
    btree_descent states[KR_MANY_IN_FLIGHT];
    for (uint32_t j = 0; j < count; ++j) {
        states[j].at = 0;
        states[j].any = (uint32_t)kr_batch_load(&p->batch, base + j, &states[j].lower, &states[j].upper);
    }
    for (uint32_t level = tree->n_levels; level-- > 0;)
        btree_round(tree, bits, level, states, count);
    for (uint32_t j = 0; j < count && !tree->in_order; ++j)
        btree_prefetch_leaf(tree, bits, states[j].at);
    for (uint32_t j = 0; j < count; ++j) {
        states[j].at = btree_first(tree, bits, states[j].at, states[j].lower, states[j].upper);
        if (states[j].at != BTREE_NO_SLOT && rows)
            kr_prefetch(rows + states[j].at);
    }
    for (uint32_t j = 0; j < count && rows; ++j) {
        const int found = states[j].any && states[j].at != BTREE_NO_SLOT;
        kr_put_first(&p->put, base + j, found, found ? kr_load(rows + states[j].at) : 0);
    }
    for (uint32_t j = 0; j < count && !rows; ++j) {
        const int found = states[j].any && states[j].at != BTREE_NO_SLOT;
        kr_put_first(&p->put, base + j, found, found ? btree_row(tree, states[j].at) : 0);
    }
}

/* For trees that are not empty. */
#define BTREE_ROUNDS(name, bits)                                                                       \
    KR_BODY void name##_run(const btree_params *p, uint64_t first, uint64_t end)                       \
    {                                                                                                  \
        for (uint64_t base = first; base < end; base += KR_MANY_IN_FLIGHT)                             \
            btree_flight(p, bits, base,                                                                \
                         end - base < KR_MANY_IN_FLIGHT ? (uint32_t)(end - base) : KR_MANY_IN_FLIGHT); \
    }                                                                                                  \
    KR_CPU_PROGRAM(name, btree_params, name##_run)
BTREE_ROUNDS(btree_first_8, 3);
BTREE_ROUNDS(btree_first_16, 4);
BTREE_ROUNDS(btree_first_32, 5);
BTREE_ROUNDS(btree_first_64, 6);

#endif

#endif
