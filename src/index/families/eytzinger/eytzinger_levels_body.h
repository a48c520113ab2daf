/* The walk level by level, for reductions: neighbours of a level lie side by side (Henneberg and Schuhknecht,
 * "Is Binary Search Really All You Need?", 5.7). */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_LEVELS_BODY_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_LEVELS_BODY_H

#include "index/families/eytzinger/eytzinger_walk.h"

typedef eytzinger_walk_view walk_view;

typedef struct walk_state {
    eytzinger_levels levels; /* of the ranks that were opened */
    uint32_t where;
} walk_state;

KR_BODY void walk_open(const walk_view *view, kr_match match, uint32_t from, uint32_t n, walk_state *state)
{
    const uint32_t first = match.where + from;
    state->levels = eytzinger_levels_of(&view->tree, first, first + n);
    state->where = match.where;
}

KR_BODY uint64_t walk_slot(const walk_view *view, walk_state *state, uint32_t j)
{
    return eytzinger_levels_to(&view->tree, &state->levels, state->where + j);
}

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return kr_load((const uint32_t *)(view->rows + slot * view->stride));
}

#define KR_WALK eytzinger_by_level
#define KR_WALK_REDUCES
#include "index/results/walk_programs.h"

#endif
