/* The walk over lists of nodes: positions are found by hints once, and then by links. */
#ifndef KEYRAY_INDEXES_CGRX_CGRX_WALK_BODY_H
#define KEYRAY_INDEXES_CGRX_CGRX_WALK_BODY_H

#include "indexes/cgrx/cgrx_walk.h"
#include "results/match.h"

typedef cgrx_walk_view walk_view;

/* A node, and the positions of its entries: first .. end - 1. */
typedef struct walk_state {
    uint32_t where, at;      /* the position asked for last */
    uint32_t list, list_end; /* and the position behind the list's last */
    uint32_t node, first, end;
} walk_state;

KR_BODY void walk_enter(const walk_view *view, walk_state *state, uint32_t list)
{
    const cgrx_lists *lists = &view->lists;
    state->list = state->node = list;
    state->first = kr_load(lists->starts + list);
    state->list_end = kr_load(lists->starts + list + 1);
    state->end = state->list_end - state->first < lists->node ? state->list_end : state->first + lists->node;
}

/* To the list of a position. A far one is found by its hints alone: then a GPU's loads for it wait for none
 * of those for the position before. */
KR_BODY void walk_to(const walk_view *view, walk_state *state, uint32_t position)
{
    const int is_far = position - state->at >= CGRX_LISTS_STRIDE;
    state->at = position;
    if (!is_far && position >= state->list_end)
        walk_enter(view, state, state->list + 1);
    if (is_far || position >= state->list_end)
        walk_enter(view, state, cgrx_list_of(&view->lists, position));
}

KR_BODY uint64_t walk_slot(const walk_view *view, walk_state *state, uint32_t j)
{
    const cgrx_lists *lists = &view->lists;
    const uint32_t position = state->where + j;
    walk_to(view, state, position);
    while (position >= state->end) {
        state->node = kr_load(lists->next + state->node);
        state->first = state->end;
        state->end =
            state->list_end - state->first < lists->node ? state->list_end : state->first + lists->node;
    }
    return (uint64_t)state->node * lists->node + (position - state->first);
}

KR_BODY void walk_open(const walk_view *view, kr_match match, uint32_t from, uint32_t n, walk_state *state)
{
    (void)n;
    state->where = match.where;
    state->at = match.where + from;
    walk_enter(view, state, cgrx_list_of(&view->lists, (uint64_t)match.where + from));
}

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return kr_load((const uint32_t *)(view->rows + slot * view->row_stride));
}

KR_BODY uint32_t walk_held(const walk_view *view, uint64_t i)
{
    return walk_row(view, cgrx_lists_slot(&view->lists, i));
}

#define KR_WALK cgrx_walk
#include "results/walk_body.h"

#endif
