/* The bodies of kind `array`: back-to-front binary search (Henneberg and Schuhknecht, "Is Binary Search
 * Really All You Need?", Listing 1, but started one past the end: else keys above the largest would find the
 * largest) and the K-ary search over the same array that the paper rejects (AO+KS).
 *
 * Invariant of the search: every entry at `at` or later has key >= lower. It ends at the first such entry.
 * A match's end is then found by galloping from there, so that the cost follows the number of matches. */
#ifndef KEYRAY_INDEX_FAMILIES_ARRAY_ARRAY_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_ARRAY_ARRAY_WIDTH_BODY_H

#include "index/kinds/lookup_program.h"
#include "index/lightweight/nearest.h"
#include "index/lightweight/range.h"
#include "index/sorted/entries.h"
#include "index/sorted/gallop.h"

typedef struct array_params {
    kr_batch batch;
    kr_put put;
    kr_launch launch;
    kr_entries entries;
    uint32_t top; /* the largest power of two <= entries.n, 0 when that is 0 */
    uint32_t k;   /* fan-out of the K-ary search */
} array_params;
kr_assert_size(array_params, 184);

typedef struct array_sum_params {
    array_params search; /* its put.what is KR_PUT_ROW: searches end at the first entry */
    reduce_params how;
} array_sum_params;
kr_assert_size(array_sum_params, 344);

typedef struct array_state {
    kr_key lower, upper;
    uint32_t at; /* the search's bound, then the end of the match found so far */
    uint32_t step;
    uint32_t first; /* of the match; before: the tree node, or (K-ary) keys before it are < lower */
    uint32_t phase; /* ARRAY_* */
} array_state;

enum { ARRAY_SEARCH, ARRAY_GALLOP, ARRAY_DESCEND, ARRAY_NOTHING };

/* ---- The end of a match ---------------------------------------------------------------------- */

/* One step towards the first entry > upper, from s->first on. */
KR_BODY int array_extend(const array_params *p, int aos, array_state *s)
{
    const int within = s->step <= p->entries.n - s->at &&
                       kr_entry_key(&p->entries, aos, (uint64_t)s->at + s->step - 1) <= s->upper;
    uint32_t grows = s->phase == ARRAY_GALLOP;
    if (within)
        s->at += s->step;
    const int more = kr_gallop(&s->step, &grows, within);
    s->phase = grows ? ARRAY_GALLOP : ARRAY_DESCEND;
    return more;
}

/* The first entry is known; 0 if no more is wanted. */
KR_BODY int array_found(const array_params *p, array_state *s)
{
    s->first = s->at;
    s->phase = ARRAY_GALLOP;
    s->step = 1;
    return p->put.what == KR_PUT_COUNT || p->put.what == KR_PUT_MATCH;
}

KR_BODY void array_end(const array_params *p, int aos, const kr_put *put, uint64_t i, const array_state *s)
{
    if (put->what == KR_PUT_COUNT || put->what == KR_PUT_MATCH) {
        kr_put_match(put, i, s->first, s->at - s->first);
    } else {
        const int found = s->phase != ARRAY_NOTHING && s->at < p->entries.n &&
                          kr_entry_key(&p->entries, aos, s->at) <= s->upper;
        kr_put_first(put, i, found,
                     found && put->what == KR_PUT_ROW ? kr_entry_row(&p->entries, aos, s->at) : 0);
    }
}

KR_BODY void array_end_nearest(const array_params *p, const kr_put *put, uint64_t i, const array_state *s)
{
    const kr_span span = {s->upper, s->first, s->at, s->phase != ARRAY_NOTHING};
    kr_entries_nearest(&p->entries, &p->batch.near, put, i, p->entries.n, &span);
}

/* ---- Binary search -------------------------------------------------------------------------- */

/* The steps form a path in a tree: its root is node 1, and node x leads to 2 x, or to 2 x + 1 if its entry's
 * key was >= lower. Pinned word j is the key that node j + 1 compares. Before node 2^d + i, the search has
 * moved by i times twice the node's step. Nodes before the first entry are never reached. */
KR_BODY kr_key array_pinned(const array_params *p, uint32_t j)
{
    const uint32_t depth = 31 - kr_clz32(j + 1), taken = j + 1 - (1u << depth), step = p->top >> depth;
    const uint64_t back = (2 * (uint64_t)taken + 1) * step;
    return back <= p->entries.n ? kr_entry_key(&p->entries, (int)p->entries.layout, p->entries.n - back) : 0;
}

KR_BODY int array_begin(const array_params *p, uint64_t i, kr_key lower, array_state *s)
{
    const int any = kr_batch_load_upper(&p->batch, i, &lower, &s->upper) && p->entries.n;
    s->lower = lower;
    s->at = p->entries.n;
    s->step = p->top;
    s->first = any ? 1 : p->entries.n; /* the root, or an empty match */
    s->phase = any ? ARRAY_SEARCH : ARRAY_NOTHING;
    return any;
}

/* One halving; 0 when the first entry >= lower is known. The comparison becomes a mask: a branch would be
 * mispredicted half of the time. */
KR_BODY int array_halve(const array_params *p, int aos, kr_pin pin, array_state *s)
{
    uint32_t taken = 0;
    if (s->step <= s->at) {
        const kr_key key = s->first - 1 < pin.n ? ((const kr_key *)pin.words)[s->first - 1]
                                                : kr_entry_key(&p->entries, aos, s->at - s->step);
        taken = key >= s->lower;
        s->at -= s->step & (0u - taken);
    }
    if (pin.n)
        s->first = 2 * s->first + taken;
    s->step >>= 1;
    if (s->step <= s->at)
        kr_prefetch(kr_entry(&p->entries, aos, s->at - s->step));
    return s->step != 0;
}

/* `aos` is a compile-time constant of these programs, so it costs nothing. */
#define ARRAY_LAYOUT(name, aos)                                                                         \
    KR_BODY int name##_step(const array_params *p, kr_pin pin, kr_group group, array_state *s)          \
    {                                                                                                   \
        (void)group;                                                                                    \
        if (s->phase != ARRAY_SEARCH)                                                                   \
            return array_extend(p, aos, s);                                                             \
        return array_halve(p, aos, pin, s) || array_found(p, s);                                        \
    }                                                                                                   \
    KR_BODY void name##_end(const array_params *p, const kr_put *put, uint64_t i, const array_state *s) \
    {                                                                                                   \
        array_end(p, aos, put, i, s);                                                                   \
    }
ARRAY_LAYOUT(array_soa, 0)
ARRAY_LAYOUT(array_aos, 1)

/* ---- K-ary: the entries first .. at - 1 are cut into k pieces, by k - 1 pivots --------------- */

KR_BODY int array_begin_kary(const array_params *p, uint64_t i, kr_key lower, array_state *s)
{
    const int any = array_begin(p, i, lower, s);
    s->first = any ? 0 : p->entries.n; /* keys before it are < lower */
    return any;
}

/* The number of pivots, one per piece, before the first whose key is >= lower. Each thread of the group reads
 * one at a time. */
KR_BODY uint32_t array_pieces(const array_params *p, kr_group group, const array_state *s, uint32_t piece,
                              uint32_t pivots)
{
    for (uint32_t before = 0; before < pivots; before += group.size) {
        const uint32_t j = before + group.rank;
        const uint64_t pivot = (uint64_t)s->first + ((uint64_t)j + 1) * piece - 1;
        const uint32_t hits = kr_group_ballot(
            group, j < pivots && kr_entry_key(&p->entries, (int)p->entries.layout, pivot) >= s->lower);
        if (hits)
            return before + kr_ctz32(hits);
    }
    return pivots;
}

KR_BODY int array_step_kary(const array_params *p, kr_pin pin, kr_group group, array_state *s)
{
    (void)pin;
    if (s->phase != ARRAY_SEARCH)
        return array_extend(p, (int)p->entries.layout, s);
    const uint32_t left = s->at - s->first;
    if (left == 0)
        return array_found(p, s);
    if (left == 1) { /* one candidate */
        const uint32_t below = kr_entry_key(&p->entries, (int)p->entries.layout, s->first) < s->lower;
        s->at = s->first += below;
        return 1;
    }
    const uint32_t piece = left / p->k + (left % p->k != 0), pivots = (left - 1) / piece;
    const uint32_t j = array_pieces(p, group, s, piece, pivots);
    s->first += j * piece;
    if (j < pivots)
        s->at = s->first + piece - 1;
    return 1;
}

KR_BODY void array_end_kary(const array_params *p, const kr_put *put, uint64_t i, const array_state *s)
{
    array_end(p, (int)p->entries.layout, put, i, s);
}

KR_LOOKUP_PROGRAM(array_soa, array_params, array_state, array_pinned, array_begin, array_soa_step,
                  array_soa_end, 1u);
KR_LOOKUP_PROGRAM(array_aos, array_params, array_state, array_pinned, array_begin, array_aos_step,
                  array_aos_end, 1u);
KR_LOOKUP_PROGRAM(array_kary, array_params, array_state, array_pinned, array_begin_kary, array_step_kary,
                  array_end_kary, KR_LANES_OF_LAUNCH);

/* ---- The same searches for the nearest keys -------------------------------------------------- */

KR_LOOKUP_PROGRAM(array_soa_nearest, array_params, array_state, array_pinned, array_begin, array_soa_step,
                  array_end_nearest, 1u);
KR_LOOKUP_PROGRAM(array_aos_nearest, array_params, array_state, array_pinned, array_begin, array_aos_step,
                  array_end_nearest, 1u);
KR_LOOKUP_PROGRAM(array_kary_nearest, array_params, array_state, array_pinned, array_begin_kary,
                  array_step_kary, array_end_nearest, KR_LANES_OF_LAUNCH);

/* ---- Ranges added up key by key --------------------------------------------------------------- */

KR_BODY kr_range_run array_run(const array_sum_params *p, kr_group tile, uint64_t i)
{
    const array_params *search = &p->search;
    const kr_key lower = kr_batch_lower(&search->batch, i);
    const kr_pin none = {NULL, 0, 0};
    const int is_kary = search->k > 2;
    array_state s;
    if (is_kary ? array_begin_kary(search, i, lower, &s) : array_begin(search, i, lower, &s))
        while (is_kary ? array_step_kary(search, none, tile, &s)
                       : array_halve(search, (int)search->entries.layout, none, &s))
            ;
    const kr_range_run run = {s.at, search->entries.n, s.upper};
    return run;
}
KR_RANGE_PROGRAM(array_sum, array_sum_params, array_run);

#endif
