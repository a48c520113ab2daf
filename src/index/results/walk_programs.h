/* The programs of a walk, which reduce and copy the rows of matches, written once for all walks.
 *
 * A family that brings a walk has a header NAME_body.h for it, of which CMake makes a .c and a .cu file.
 * Before that header includes this one, it defines
 *
 *   KR_WALK      the name of the kr_walk
 *   walk_view    a type of at most 64 bytes: what the functions below are given; the family's kr_rows.view
 *                holds its bytes (kr_match_view_of)
 *   walk_state   a type of at most 32 bytes: a place in a match
 *   void     walk_open(const walk_view *, kr_match, uint32_t from, uint32_t n, walk_state *)
 *                The rows from .. from + n - 1 of the match will be read. At most logarithmic time.
 *   uint64_t walk_slot(const walk_view *, walk_state *, uint32_t j)
 *                The slot of row j; calls come with ascending j, in steps of any size.
 *   uint32_t walk_row(const walk_view *, uint64_t slot)
 *                The row id in the slot of a row.
 *   uint32_t walk_held(const walk_view *, uint64_t i)
 *                The row id in slot i < kr_rows.n_slots, or KR_NO_ROW: all slots together hold every row of
 *                the index once. These slots may be numbered otherwise than those of walk_slot.
 *
 * It defines KR_WALK_ROWS(view) if slots may hold row ids side by side: the row id in slot 0, NULL where they
 * do not.
 *
 * It defines KR_WALK_JUMPS if walk_open takes the same short time for any row.
 *
 * A walk for reductions (kr_rows.any_order) may read rows from .. from + n - 1 in any order: then walk_slot
 * gives each of them once. It defines KR_WALK_REDUCES, and no walk_held.
 *
 * Short slices are read by the thread that owns the probe, longer ones by eight threads, long ones by its
 * whole group (after Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 5.7: 32 probes, 32
 * threads, a threshold of 32). How a match is read depends on the match alone, so that float sums come out
 * the same in every run, whichever matches are its neighbours. */
#ifndef KEYRAY_INDEX_RESULTS_WALK_PROGRAMS_H
#define KEYRAY_INDEX_RESULTS_WALK_PROGRAMS_H

#include "index/results/totals.h"

#define WALK_NAME(program) KR_PASTE(KR_PASTE(KR_WALK, _), program)

enum { WALK_BY_EIGHT = 1024, WALK_AHEAD = 4 };

kr_assert_fits(walk_view, sizeof(kr_view));
kr_assert_fits(walk_state, 32);

KR_BODY walk_view walk_view_of(const kr_view *words)
{
    walk_view view;
    kr_copy_bytes(&view, words, sizeof view);
    return view;
}

/* ---- Sharing out ----------------------------------------------------------------------------- */

/* Rows from .. from + n - 1 of a match. */
typedef struct walk_slice {
    kr_match match;
    uint32_t from, n;
} walk_slice;

/* Thread i owns slice i / threads if i is a multiple of `threads`, which is 1 in groups of one thread. */
KR_BODY uint32_t walk_threads(kr_group group, const kr_spread *spread)
{
    return group.size == 1 ? 1 : spread->threads;
}

KR_BODY int walk_owns(kr_group group, const kr_spread *spread, uint64_t i, uint64_t n)
{
    return i < n && (i & (walk_threads(group, spread) - 1)) == 0;
}

KR_BODY uint64_t walk_number(kr_group group, const kr_spread *spread, uint64_t i)
{
    return i >> kr_ctz32(walk_threads(group, spread));
}

KR_BODY walk_slice walk_slice_of(const kr_match *matches, const kr_spread *spread, uint64_t number)
{
    const kr_match match = matches[number >> spread->slice_bits];
    walk_slice slice = {match, 0, match.count};
    if (spread->slice_bits) {
        const uint64_t part = number & ((1u << spread->slice_bits) - 1), count = slice.n;
        const uint32_t from = (uint32_t)(count * part >> spread->slice_bits);
        slice.from = from;
        slice.n = (uint32_t)(count * (part + 1) >> spread->slice_bits) - from;
    }
    return slice;
}

KR_BODY walk_slice walk_share(kr_group group, walk_slice slice, uint32_t owner)
{
    const uint64_t match =
        kr_group_share(group, slice.match.where | (uint64_t)slice.match.count << 32, owner);
    const uint64_t rows = kr_group_share(group, slice.from | (uint64_t)slice.n << 32, owner);
    return (walk_slice){{(uint32_t)match, (uint32_t)(match >> 32)}, (uint32_t)rows, (uint32_t)(rows >> 32)};
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Rows rank, rank + stride, ... of a slice: a few are read ahead of their sums. */
KR_BODY reduce_total walk_run(const reduce_params *p, int op, walk_slice slice, uint32_t rank,
                              uint32_t stride)
{
    const walk_view view = walk_view_of(&p->view);
    uint32_t left = slice.n > rank ? (slice.n - rank - 1) / stride + 1 : 0, at = slice.from + rank;
    reduce_total total = reduce_start(op);
    walk_state state;
    if (!left)
        return total;
    walk_open(&view, slice.match, slice.from, slice.n, &state);
    for (; left >= WALK_AHEAD; left -= WALK_AHEAD) {
        uint64_t slots[WALK_AHEAD];
        uint32_t rows[WALK_AHEAD];
        reduce_total ahead[WALK_AHEAD];
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j, at += stride)
            slots[j] = walk_slot(&view, &state, at);
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j)
            rows[j] = walk_row(&view, slots[j]);
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j)
            ahead[j] = reduce_one(p, op, rows[j]);
        KR_UNROLL
        for (uint32_t j = 0; j < WALK_AHEAD; ++j)
            reduce_merge(op, &total, ahead[j]);
    }
    for (; left; --left, at += stride)
        reduce_merge(op, &total, reduce_one(p, op, walk_row(&view, walk_slot(&view, &state, at))));
    return total;
}

/* Reduces a slice by all threads of a group; each gets the total. */
KR_BODY reduce_total walk_together(kr_group group, const reduce_params *p, int op, walk_slice slice)
{
    reduce_total total = walk_run(p, op, slice, group.rank, group.size);
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        reduce_merge(op, &total, reduce_other(group, total, distance));
    return total;
}

/* `waiting` has a bit for each waiting thread: clears the lowest n. */
KR_BODY uint32_t walk_skip(uint32_t waiting, uint32_t n)
{
    for (uint32_t k = 0; k < n; ++k)
        waiting &= waiting - 1;
    return waiting;
}

/* Reduces the slices of the waiting threads, by eight threads each; each waiting thread gets its total. */
KR_BODY void walk_by_eight(kr_group group, const reduce_params *p, int op, walk_slice slice, uint32_t waiting,
                           reduce_total *total)
{
    const kr_group eight = {group.rank % 8, 8};
    const uint32_t number = group.rank / 8, before = (1u << group.rank) - 1;
    while (waiting) {
        const uint32_t mine =
            walk_skip(waiting, number); /* its lowest bit: the thread that this eight works for */
        const uint32_t owner = mine ? kr_ctz32(mine) : 0;
        const walk_slice theirs = walk_share(group, slice, owner);
        const reduce_total part = mine ? walk_together(eight, p, op, theirs) : reduce_start(op);
        const uint32_t turn = kr_popcount32(waiting & before), source = turn * 8 % group.size;
        const uint64_t bits = kr_group_share(group, part.bits, source);
        const uint64_t any = kr_group_share(group, part.any, source);
        if (waiting >> group.rank & 1 && turn < group.size / 8)
            *total = (reduce_total){bits, any};
        waiting = walk_skip(waiting, group.size / 8);
    }
}

KR_BODY void walk_reduce(kr_group group, const reduce_params *p, uint64_t i, uint64_t n, int op)
{
    const int owns = walk_owns(group, &p->spread, i, n);
    const uint64_t mine = walk_number(group, &p->spread, i);
    const walk_slice slice = owns ? walk_slice_of(p->matches, &p->spread, mine) : (walk_slice){{0, 0}, 0, 0};
    reduce_total total = reduce_start(op);
    if (slice.n <= p->alone || group.size == 1)
        total = walk_run(p, op, slice, 0, 1);
    if (group.size > 1) {
        /* if the group has one slice in all, its other eights would have nothing to do */
        const uint32_t most = walk_threads(group, &p->spread) == 1 ? WALK_BY_EIGHT : p->alone;
        walk_by_eight(group, p, op, slice, kr_group_ballot(group, slice.n > p->alone && slice.n <= most),
                      &total);
        for (uint32_t waiting = kr_group_ballot(group, slice.n > p->alone && slice.n > most); waiting;
             waiting &= waiting - 1) {
            const uint32_t owner = kr_ctz32(waiting);
            const reduce_total all = walk_together(group, p, op, walk_share(group, slice, owner));
            if (group.rank == owner)
                total = all;
        }
    }
    if (owns && p->totals)
        p->totals[mine] = total;
    else if (owns)
        reduce_store(p, op, mine, total);
}

#define WALK_REDUCTION(program, op)                                                                        \
    KR_BODY void WALK_NAME(program##_body)(kr_group group, const reduce_params *p, uint64_t i, uint64_t n) \
    {                                                                                                      \
        walk_reduce(group, p, i, n, op);                                                                   \
    }                                                                                                      \
    KR_GROUP_PROGRAM(WALK_NAME(program), reduce_params, WALK_NAME(program##_body))

WALK_REDUCTION(min_row, KR_REDUCE_MIN_ROW);
WALK_REDUCTION(sum_rows, KR_REDUCE_SUM_ROWS);
WALK_REDUCTION(sum_integers, KR_REDUCE_SUM_INTEGERS);
WALK_REDUCTION(sum_wide, KR_REDUCE_SUM_WIDE);
WALK_REDUCTION(sum_floats, KR_REDUCE_SUM_FLOATS);
WALK_REDUCTION(min, KR_REDUCE_MIN);
WALK_REDUCTION(max, KR_REDUCE_MAX);

#if !defined(KR_WALK_REDUCES)

/* ---- ROWS ------------------------------------------------------------------------------------ */

#include "index/results/walk_copy.h"

/* ---- Runs of a sorted column ------------------------------------------------------------------ */

#include "index/results/walk_runs.h"

/* ---- All slots ------------------------------------------------------------------------------- */

KR_BODY uint32_t walk_held_of(const held_params *p, uint64_t i)
{
    const walk_view view = walk_view_of(&p->view);
    return walk_held(&view, i);
}

KR_BODY void walk_note_row(uint32_t row, uint32_t *end, uint32_t *held)
{
    *end = row + 1 > *end ? row + 1 : *end; /* KR_NO_ROW + 1 is 0 */
    *held += row != KR_NO_ROW;
}

KR_BODY void walk_most(kr_group group, const held_params *p, uint64_t i, uint64_t n)
{
    const walk_view view = walk_view_of(&p->view);
    const uint64_t first = kr_group_run_at(group, i, 0);
    const uint32_t *rows = NULL;
    uint32_t end = 0, held = 0;
    (void)n;
#ifdef KR_WALK_ROWS
    rows = KR_WALK_ROWS(&view);
#endif
    if (rows && first + KR_RUN * group.size <= p->n) /* a CPU takes several at once */
        for (uint32_t round = 0; round < KR_RUN; ++round)
            walk_note_row(kr_load(rows + first + round * group.size), &end, &held);
    else
        for (uint64_t slot = first; slot < p->n && slot < first + KR_RUN * group.size; slot += group.size)
            walk_note_row(walk_held(&view, slot), &end, &held);
    kr_group_max64(group, end, p->counters + KR_HELD_MOST);
    kr_group_add64(group, held, p->counters + KR_HELD_COUNT);
}
KR_GROUP_PROGRAM(WALK_NAME(most), held_params, walk_most);

KR_BODY void walk_mark(const held_params *p, uint64_t i)
{
    const uint32_t row = walk_held_of(p, i);
    if (row != KR_NO_ROW)
        kr_atomic_or32(p->bitmap + row / 32, (uint32_t)1 << row % 32);
}
KR_MAP_PROGRAM(WALK_NAME(mark), held_params, walk_mark);

KR_BODY void walk_list(const held_params *p, uint64_t i)
{
    p->ids[i] = walk_held_of(p, i);
}
KR_MAP_PROGRAM(WALK_NAME(list), held_params, walk_list);

#define WALK_ALL_PROGRAMS                                                                 \
    .copy = &WALK_NAME(copy), .sum_runs = &WALK_NAME(sum_runs), .most = &WALK_NAME(most), \
    .mark = &WALK_NAME(mark), .list = &WALK_NAME(list)
#else
#define WALK_ALL_PROGRAMS .copy = NULL
#endif

#if !KR_ON_CUDA
#define WALK_TITLE_(name) #name
#define WALK_TITLE(name) WALK_TITLE_(name)
extern const kr_walk KR_WALK;
const kr_walk KR_WALK = {
    .name = WALK_TITLE(KR_WALK),
    .reduce =
        {
            [KR_REDUCE_MIN_ROW] = &WALK_NAME(min_row),
            [KR_REDUCE_SUM_ROWS] = &WALK_NAME(sum_rows),
            [KR_REDUCE_SUM_INTEGERS] = &WALK_NAME(sum_integers),
            [KR_REDUCE_SUM_WIDE] = &WALK_NAME(sum_wide),
            [KR_REDUCE_SUM_FLOATS] = &WALK_NAME(sum_floats),
            [KR_REDUCE_MIN] = &WALK_NAME(min),
            [KR_REDUCE_MAX] = &WALK_NAME(max),
        },
    WALK_ALL_PROGRAMS,
};
#endif

#endif
