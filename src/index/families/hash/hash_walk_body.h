#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_WALK_BODY_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_WALK_BODY_H

#include "base/program/program.h"
#include "index/families/hash/hash_walk.h"

typedef hash_walk_view walk_view;

typedef struct walk_state {
    uint64_t where; /* in `aside`; of a single row WALK_IS_ROW and the row */
} walk_state;

#define WALK_IS_ROW ((uint64_t)1 << 32)

KR_BODY void walk_open(const walk_view *view, kr_match match, uint32_t from, uint32_t n, walk_state *state)
{
    (void)view, (void)from, (void)n;
    state->where = match.count == 1 ? WALK_IS_ROW | match.where : match.where;
}

KR_BODY uint64_t walk_slot(const walk_view *view, walk_state *state, uint32_t j)
{
    (void)view;
    return state->where + j;
}

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return slot & WALK_IS_ROW ? (uint32_t)slot : kr_load(view->aside + slot);
}

KR_BODY uint32_t walk_held(const walk_view *view, uint64_t i)
{
    if (i >= view->n_table)
        return kr_load(view->aside + (i - view->n_table));
    const uint64_t node = i / view->slots;
    const uint32_t j = (uint32_t)(i % view->slots);
    const char *at = node < view->n_heads ? view->heads + node * view->node_nbytes
                                          : view->more + (node - view->n_heads) * view->node_nbytes;
    const uint32_t meta = kr_load((const uint32_t *)(at + view->meta));
    const int single = (meta >> j & 1) && !(meta >> (view->several + j) & 1);
    return single ? kr_load((const uint32_t *)(at + view->words) + j) : 0xFFFFFFFFu;
}

#define KR_WALK_JUMPS
#define KR_WALK hash_walk
#include "index/results/walk_programs.h"

#endif
