/* The walk over lists of nodes: it finds the first position by hints, the next ones by links. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_WALK_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_WALK_BODY_H

#include "index/families/cgrx/cgrx_walk.h"
#include "index/results/match.h"

typedef cgrx_walk_view walk_view;

/* A node of a list, and the position of its first entry. */
typedef struct walk_state {
    uint32_t where, at;      /* the match's first position; the last position read */
    uint32_t list, list_end; /* positions below it are the list's; others may be, until `starts` was asked */
    uint32_t node, first;
} walk_state;

KR_BODY void cgrx_walk_enter(const walk_view *view, walk_state *state, uint32_t list)
{
    state->list = state->node = list;
    state->first = state->list_end = kr_load(view->lists.starts + list);
}

/* Whether the list goes on to this position. */
KR_BODY int cgrx_walk_reaches(const walk_view *view, walk_state *state, uint32_t position)
{
    if (position >= state->list_end)
        state->list_end = kr_load(view->lists.starts + state->list + 1);
    return position < state->list_end;
}

/* To the list of a position. A near one is most often in this list or the next. A far one is found by its
 * hints alone: then a GPU's loads for it do not wait for those for the position before. */
KR_BODY void cgrx_walk_to(const walk_view *view, walk_state *state, uint32_t position)
{
    const int is_near = position - state->at < CGRX_LISTS_STRIDE;
    state->at = position;
    if (is_near && cgrx_walk_reaches(view, state, position))
        return;
    if (is_near)
        cgrx_walk_enter(view, state, state->list + 1);
    if (!is_near || !cgrx_walk_reaches(view, state, position))
        cgrx_walk_enter(view, state, cgrx_list_of(&view->lists, position));
}

KR_BODY uint64_t walk_slot(const walk_view *view, walk_state *state, uint32_t j)
{
    const cgrx_lists *lists = &view->lists;
    const uint32_t position = state->where + j;
    cgrx_walk_to(view, state, position);
    for (uint32_t fill; position - state->first >= (fill = cgrx_node_fill(lists, state->node));
         state->first += fill)
        state->node = kr_load(lists->next + state->node);
    return (uint64_t)state->node * lists->node + (position - state->first);
}

KR_BODY void walk_open(const walk_view *view, kr_match match, uint32_t from, uint32_t n, walk_state *state)
{
    (void)n;
    state->where = match.where;
    state->at = match.where + from;
    cgrx_walk_enter(view, state, cgrx_list_of(&view->lists, (uint64_t)match.where + from));
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
#include "index/results/walk_programs.h"

#endif
