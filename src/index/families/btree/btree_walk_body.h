/* The walk over leaves. `where` of a match is the ordinal of the first row's leaf and the row's slot there,
 * ordinal << node_bits | slot. So row 0 needs no position, which makes a match of one row cheap. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_WALK_BODY_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_WALK_BODY_H

#include "index/families/btree/btree_walk.h"

typedef btree_walk_view walk_view;

/* A leaf, and the positions of its entries. */
typedef struct walk_state {
    uint32_t base; /* the position of row 0 */
    uint32_t ordinal;
    uint32_t begin, end;
    uint32_t first; /* the slot of position `begin` */
} walk_state;

/* Leaves that are tried one after the other before a search. */
enum { WALK_NEAR = 4 };

KR_BODY uint32_t btree_walk_first(const walk_view *view, uint32_t ordinal)
{
    return (view->order ? kr_load(view->order + ordinal) : ordinal) << view->node_bits;
}

KR_BODY void btree_walk_enter(const walk_view *view, walk_state *state, uint32_t ordinal)
{
    state->ordinal = ordinal;
    state->begin = kr_load(view->starts + ordinal);
    state->end = kr_load(view->starts + ordinal + 1);
    state->first = btree_walk_first(view, ordinal);
}

/* To the leaf of a position behind this one's. */
KR_BODY void btree_walk_on(const walk_view *view, walk_state *state, uint32_t position)
{
    uint32_t ordinal = state->ordinal + 1, begin = state->end, near = WALK_NEAR;
    uint32_t end = kr_load(view->starts + ordinal + 1);
    for (; position >= end && near; --near) {
        begin = end;
        ++ordinal;
        end = kr_load(view->starts + ordinal + 1);
    }
    if (position >= end) {
        btree_walk_enter(view, state, btree_ordinal(view->starts, view->n_leaves, view->per_row, position));
        return;
    }
    state->ordinal = ordinal;
    state->begin = begin;
    state->end = end;
    state->first = btree_walk_first(view, ordinal);
}

KR_BODY void walk_open(const walk_view *view, kr_match match, uint32_t from, uint32_t n, walk_state *state)
{
    const uint32_t ordinal = match.where >> view->node_bits;
    const uint32_t slot = match.where & ((1u << view->node_bits) - 1);
    if (from == 0 && n == 1) {
        *state = (walk_state){0, ordinal, 0, 1, btree_walk_first(view, ordinal) + slot};
        return;
    }
    btree_walk_enter(view, state, ordinal);
    state->base = state->begin + slot;
    if (from && state->base + from >= state->end)
        btree_walk_on(view, state, state->base + from);
}

KR_BODY uint64_t walk_slot(const walk_view *view, walk_state *state, uint32_t j)
{
    const uint32_t position = state->base + j;
    if (position >= state->end)
        btree_walk_on(view, state, position);
    return state->first + (position - state->begin);
}

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return kr_load(view->rows + slot);
}

/* By ordinals: free leaves hold anything. */
KR_BODY uint32_t walk_held(const walk_view *view, uint64_t i)
{
    const uint32_t slot = (uint32_t)i & ((1u << view->node_bits) - 1);
    return walk_row(view, btree_walk_first(view, (uint32_t)(i >> view->node_bits)) + slot);
}

#define KR_WALK btree_walk
#include "index/results/walk_programs.h"

#endif
