/* The second program of a lookup: what to do with the positions a family located. Written once for all
 * families. Short spans are walked by the thread that owns the probe, longer ones by eight threads, long ones
 * by its whole group (after Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 5.7: 32
 * probes, 32 threads, a threshold of 32). How a span is walked depends on the span alone, so that float sums
 * come out the same in every run, whichever spans are its neighbours. */
#ifndef KEYRAY_CORE_REDUCE_BODY_H
#define KEYRAY_CORE_REDUCE_BODY_H

#include "core/reduce.h"

enum { REDUCE_BY_EIGHT = 1024, REDUCE_AHEAD = 4, ROWS_ALONE = 32 };

KR_BODY reduce_total reduce_start(int op)
{
    const int is_min = op == REDUCE_MIN_ROW || op == REDUCE_MIN;
    return (reduce_total){is_min ? ~(uint64_t)0 : 0, 0};
}

KR_BODY void reduce_merge(int op, reduce_total *total, reduce_total more)
{
    if (op == REDUCE_MIN_ROW || op == REDUCE_MIN)
        total->bits = more.bits < total->bits ? more.bits : total->bits;
    else if (op == REDUCE_MAX)
        total->bits = more.bits > total->bits ? more.bits : total->bits;
    else if (op == REDUCE_SUM_FLOATS)
        total->bits = kr_f64_bits(kr_bits_f64(total->bits) + kr_bits_f64(more.bits));
    else
        total->bits += more.bits;
    total->any |= more.any;
}

/* What a program does, constants of it: REDUCE_<op> of entries that lie as REDUCE_<walk> says. */
typedef struct reduce_how {
    int op, walk;
} reduce_how;

KR_BODY reduce_total reduce_one(const reduce_params *p, int op, uint64_t slot)
{
    const uint32_t row = kr_load((const uint32_t *)(p->rows.rows + slot * p->rows.stride));
    reduce_total one = {row, 1};
    if (op != REDUCE_MIN_ROW && op != REDUCE_SUM_ROWS) {
        if (row >= p->n_values || !kr_is_valid(p->validity, p->validity_offset, row))
            return reduce_start(op);
        one.bits = kr_load_code(p->type, p->values, row);
        if (op == REDUCE_SUM_INTEGERS)
            one.bits = kr_code_integer(p->type, one.bits);
        if (op == REDUCE_SUM_FLOATS)
            one.bits = kr_f64_bits(kr_code_float(p->type, one.bits));
    }
    return one;
}

/* The slot of a place in the span: places are positions, or those of the walk over levels. */
KR_BODY uint64_t reduce_slot(const reduce_params *p, int walk, kr_eytzinger_walk *levels, uint32_t place)
{
    const kr_lists *lists = &p->rows.lists;
    if (walk == REDUCE_LEVELS)
        return (uint64_t)kr_eytzinger_first(lists->tree.k) +
               kr_eytzinger_walk_to(&lists->tree, levels, place);
    return walk == REDUCE_PLACED ? kr_lists_slot(lists, place) : place;
}

/* Places first + rank, first + rank + stride, ... of a span: a few are read ahead of their sums. */
KR_BODY reduce_total reduce_run(const reduce_params *p, reduce_how how, kr_span span, uint32_t rank,
                                uint32_t stride)
{
    const uint32_t length = span.last - span.first;
    uint32_t left = length > rank ? (length - rank - 1) / stride + 1 : 0, at = span.first + rank;
    reduce_total total = reduce_start(how.op);
    kr_eytzinger_walk levels = {0, 0, 0, 0, 0};
    if (how.walk == REDUCE_LEVELS)
        levels = kr_eytzinger_walk_of(&p->rows.lists.tree, span.first, span.last);
    for (; left >= REDUCE_AHEAD; left -= REDUCE_AHEAD) {
        uint64_t slots[REDUCE_AHEAD];
        reduce_total ahead[REDUCE_AHEAD];
        KR_UNROLL
        for (uint32_t j = 0; j < REDUCE_AHEAD; ++j, at += stride)
            slots[j] = reduce_slot(p, how.walk, &levels, at);
        KR_UNROLL
        for (uint32_t j = 0; j < REDUCE_AHEAD; ++j)
            ahead[j] = reduce_one(p, how.op, slots[j]);
        KR_UNROLL
        for (uint32_t j = 0; j < REDUCE_AHEAD; ++j)
            reduce_merge(how.op, &total, ahead[j]);
    }
    for (; left; --left, at += stride)
        reduce_merge(how.op, &total, reduce_one(p, how.op, reduce_slot(p, how.walk, &levels, at)));
    return total;
}

/* By all threads of a group, each of which gets the total. */
KR_BODY reduce_total reduce_together(kr_group group, const reduce_params *p, reduce_how how, kr_span span)
{
    reduce_total total = reduce_run(p, how, span, group.rank, group.size);
    for (uint32_t distance = group.size / 2; distance; distance /= 2) {
        const uint64_t bits = kr_group_other(group, total.bits, distance);
        const uint64_t any = kr_group_other(group, total.any, distance);
        reduce_merge(how.op, &total, (reduce_total){bits, any});
    }
    return total;
}

KR_BODY kr_span reduce_share(kr_group group, kr_span span, uint32_t owner)
{
    const uint32_t first = (uint32_t)kr_group_share(group, span.first, owner);
    const uint32_t last = (uint32_t)kr_group_share(group, span.last, owner);
    return (kr_span){first, last};
}

KR_BODY void reduce_store(const reduce_params *p, int op, uint64_t i, reduce_total total)
{
    const uint64_t slot = kr_slot(p->order, i);
    if (op == REDUCE_MIN_ROW) {
        ((uint32_t *)p->out)[slot] = (uint32_t)total.bits; /* ~0 is KR_NO_ROW */
    } else if (op == REDUCE_MIN || op == REDUCE_MAX) {
        kr_store_code(p->type, p->out, slot, total.any ? total.bits : kr_zero_code(p->type));
        p->any[slot] = (uint8_t)total.any;
    } else {
        ((uint64_t *)p->out)[slot] = total.bits;
    }
}

/* Thread i owns span i / spread when it is the first of its `spread`. */
KR_BODY int reduce_owns(uint64_t i, uint64_t n, uint32_t spread)
{
    return i < n && (i & (spread - 1)) == 0;
}

/* The spans of the waiting threads, by eight threads each; who waited gets its total. */
KR_BODY void reduce_by_eight(kr_group group, const reduce_params *p, reduce_how how, kr_span span,
                             uint32_t waiting, reduce_total *total)
{
    const kr_group eight = {group.rank % 8, 8};
    const uint32_t number = group.rank / 8, before = (1u << group.rank) - 1;
    while (waiting) {
        uint32_t mine = waiting; /* its lowest bit is the thread that this eight works for */
        for (uint32_t k = 0; k < number; ++k)
            mine &= mine - 1;
        const uint32_t owner = mine ? kr_ctz32(mine) : 0;
        const kr_span theirs = reduce_share(group, span, owner);
        const reduce_total part = mine ? reduce_together(eight, p, how, theirs) : reduce_start(how.op);
        const uint32_t turn = kr_popcount32(waiting & before), source = turn * 8 % group.size;
        const uint64_t bits = kr_group_share(group, part.bits, source);
        const uint64_t any = kr_group_share(group, part.any, source);
        if (waiting >> group.rank & 1 && turn < group.size / 8)
            *total = (reduce_total){bits, any};
        for (uint32_t k = 0; k < group.size / 8; ++k)
            waiting &= waiting - 1;
    }
}

KR_BODY void reduce(kr_group group, const reduce_params *p, uint64_t i, uint64_t n, reduce_how how)
{
    const int owns = reduce_owns(i, n, p->spread);
    const uint64_t mine = i >> kr_ctz32(p->spread);
    const kr_span span = owns ? p->spans[mine] : (kr_span){0, 0};
    const uint32_t length = span.last - span.first;
    reduce_total total = reduce_start(how.op);
    if (length <= p->alone || group.size == 1)
        total = reduce_run(p, how, span, 0, 1);
    if (group.size > 1) {
        /* with a span for the whole group there is nothing else for the other eights to do */
        const uint32_t most = p->spread == 1 ? REDUCE_BY_EIGHT : p->alone;
        reduce_by_eight(group, p, how, span, kr_group_ballot(group, length > p->alone && length <= most),
                        &total);
        for (uint32_t waiting = kr_group_ballot(group, length > p->alone && length > most); waiting;
             waiting &= waiting - 1) {
            const uint32_t owner = kr_ctz32(waiting);
            const reduce_total all = reduce_together(group, p, how, reduce_share(group, span, owner));
            if (group.rank == owner)
                total = all;
        }
    }
    if (owns && p->totals)
        p->totals[mine] = total;
    else if (owns)
        reduce_store(p, how.op, mine, total);
}

#define REDUCE_PROGRAM(name, op, walk)                                                       \
    KR_BODY void name##_body(kr_group group, const reduce_params *p, uint64_t i, uint64_t n) \
    {                                                                                        \
        reduce(group, p, i, n, (reduce_how){op, walk});                                      \
    }                                                                                        \
    KR_GROUP_PROGRAM(name, reduce_params, name##_body)
#define REDUCE_PROGRAMS(name, op)                     \
    REDUCE_PROGRAM(name, op, REDUCE_PLAIN);           \
    REDUCE_PROGRAM(name##_placed, op, REDUCE_PLACED); \
    REDUCE_PROGRAM(name##_levels, op, REDUCE_LEVELS)

REDUCE_PROGRAMS(reduce_min_row, REDUCE_MIN_ROW);
REDUCE_PROGRAMS(reduce_sum_rows, REDUCE_SUM_ROWS);
REDUCE_PROGRAMS(reduce_sum_integers, REDUCE_SUM_INTEGERS);
REDUCE_PROGRAMS(reduce_sum_floats, REDUCE_SUM_FLOATS);
REDUCE_PROGRAMS(reduce_min, REDUCE_MIN);
REDUCE_PROGRAMS(reduce_max, REDUCE_MAX);

/* ---- Slices of long spans ------------------------------------------------------------------- */

/* The totals of a probe's slices, merged in order so that float sums come out the same in every run. */
KR_BODY void reduce_merge_all(const reduce_params *p, uint64_t i)
{
    const int op = (int)p->op;
    reduce_total total = reduce_start(op);
    for (uint64_t slice = i * p->slices; slice < (i + 1) * p->slices; ++slice)
        reduce_merge(op, &total, p->totals[slice]);
    reduce_store(p, op, i, total);
}
KR_MAP_PROGRAM(reduce_merge_slices, reduce_params, reduce_merge_all);

KR_BODY void reduce_cut(const slice_params *p, uint64_t i)
{
    const uint64_t probe = i / p->slices, slice = i % p->slices;
    const kr_span span = p->spans[probe];
    const uint64_t length = span.last - span.first;
    const uint32_t from = (uint32_t)(length * slice / p->slices);
    const uint32_t to = (uint32_t)(length * (slice + 1) / p->slices);
    p->slice_spans[i] = (kr_span){span.first + from, span.first + to};
    if (p->offsets)
        p->slice_offsets[i] = p->offsets[probe] + from;
}
KR_MAP_PROGRAM(reduce_slice, slice_params, reduce_cut);

/* ---- ROWS: lengths, then copies ------------------------------------------------------------ */

/* offsets[i] := length of span i; the one past the end 0, so that the sum over all ends in the total. */
KR_BODY void rows_length(const rows_params *p, uint64_t i)
{
    p->offsets[i] = p->spans[i].last - p->spans[i].first;
}
KR_MAP_PROGRAM(reduce_rows_length, rows_params, rows_length);

KR_BODY void rows_copy_one(const rows_params *p, uint64_t position, uint64_t to, uint64_t probe)
{
    if (to >= p->capacity)
        return;
    p->out[to] = kr_row_at(&p->rows, position);
    if (p->probes)
        p->probes[to] = (uint32_t)probe;
}

KR_BODY void rows_copy(kr_group group, const rows_params *p, uint64_t i, uint64_t n)
{
    const int owns = reduce_owns(i, n, p->spread);
    const uint64_t mine = i >> kr_ctz32(p->spread), probe_of_mine = mine / p->slices;
    const kr_span span = owns ? p->spans[mine] : (kr_span){0, 0};
    const uint64_t base = owns ? p->offsets[mine] - p->base : 0;
    const uint32_t length = span.last - span.first;
    const uint32_t by_me = length < ROWS_ALONE ? length : ROWS_ALONE;
    for (uint32_t j = 0; j < by_me; ++j)
        rows_copy_one(p, (uint64_t)span.first + j, base + j, probe_of_mine);
    for (uint32_t waiting = kr_group_ballot(group, by_me < length); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const uint64_t first = kr_group_share(group, span.first, owner);
        const uint64_t to = kr_group_share(group, base, owner);
        const uint64_t count = kr_group_share(group, length, owner);
        const uint64_t probe = kr_group_share(group, probe_of_mine, owner);
        for (uint64_t j = ROWS_ALONE + group.rank; j < count; j += group.size)
            rows_copy_one(p, first + j, to + j, probe);
    }
}
KR_GROUP_PROGRAM(reduce_rows_copy, rows_params, rows_copy);

/* ---- Flags of one byte to a bitmap --------------------------------------------------------- */

KR_BODY void pack_flags(const pack_params *p, uint64_t i)
{
    uint32_t bits = 0;
    for (uint32_t j = 0; j < 8 && i * 8 + j < p->n; ++j)
        bits |= (uint32_t)(p->flags[i * 8 + j] != 0) << j;
    p->bitmap[i] = (uint8_t)bits;
}
KR_MAP_PROGRAM(reduce_pack_flags, pack_params, pack_flags);

#endif
