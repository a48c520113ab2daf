/* What the walks of rows that lie side by side share: row j of a match is in slot where + j. Before a body
 * includes it, it defines walk_view and walk_row. */
#ifndef KEYRAY_INDEX_RESULTS_WALK_BESIDE_H
#define KEYRAY_INDEX_RESULTS_WALK_BESIDE_H

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

KR_BODY uint32_t walk_held(const walk_view *view, uint64_t i)
{
    return walk_row(view, i);
}

#define KR_WALK_JUMPS

#endif
