/* The walk of kr_numbered_walk (index/results/dense.h). */
#ifndef KEYRAY_INDEX_RESULTS_NUMBERED_BODY_H
#define KEYRAY_INDEX_RESULTS_NUMBERED_BODY_H

#include "index/results/match.h"

typedef struct walk_view {
    uint64_t first;
} walk_view;

typedef struct walk_state {
    uint32_t where;
} walk_state;

KR_BODY void walk_open(const walk_view *view, kr_match match, uint32_t from, uint32_t n, walk_state *state)
{
    (void)view, (void)from, (void)n;
    state->where = match.where;
}

KR_BODY uint64_t walk_slot(const walk_view *view, walk_state *state, uint32_t j)
{
    (void)view;
    return (uint64_t)state->where + j;
}

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return (uint32_t)(view->first + slot);
}

KR_BODY uint32_t walk_held(const walk_view *view, uint64_t i)
{
    return walk_row(view, i);
}

#define KR_WALK_JUMPS
#define KR_WALK kr_numbered_walk
#include "index/results/walk_programs.h"

#endif
