/* The second program of a lookup: what to do with the positions a family located. Written once for all
 * families. Short spans are walked by the thread that owns the probe, the rest of long ones by its whole
 * group (Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 5.7: 32 probes,
 * 32 threads, a threshold of 32). */
#ifndef KEYRAY_CORE_REDUCE_BODY_H
#define KEYRAY_CORE_REDUCE_BODY_H

#include "core/reduce.h"

enum { REDUCE_ALONE = 32 };

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

KR_BODY void reduce_add(const reduce_params *p, int op, reduce_total *total, uint64_t position)
{
    const uint32_t row = kr_row_at(&p->rows, position);
    reduce_total one = {row, 1};
    if (op != REDUCE_MIN_ROW && op != REDUCE_SUM_ROWS) {
        if (row >= p->n_values || !kr_is_valid(p->validity, p->validity_offset, row))
            return;
        one.bits = kr_load_code(p->type, p->values, row);
        if (op == REDUCE_SUM_INTEGERS)
            one.bits = kr_code_integer(p->type, one.bits);
        if (op == REDUCE_SUM_FLOATS)
            one.bits = kr_f64_bits(kr_code_float(p->type, one.bits));
    }
    reduce_merge(op, total, one);
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

KR_BODY void reduce(kr_group group, const reduce_params *p, uint64_t i, uint64_t n, int op)
{
    const int owns = reduce_owns(i, n, p->spread);
    const uint64_t mine = i / p->spread;
    const kr_span span = owns ? p->spans[mine] : (kr_span){0, 0};
    const uint32_t length = span.last - span.first;
    const uint32_t by_me = length < REDUCE_ALONE ? length : REDUCE_ALONE;
    reduce_total total = reduce_start(op);
    for (uint64_t at = span.first; at < (uint64_t)span.first + by_me; ++at)
        reduce_add(p, op, &total, at);
    for (uint32_t waiting = kr_group_ballot(group, by_me < length); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const uint64_t first = kr_group_share(group, (uint64_t)span.first + by_me, owner);
        const uint64_t last = kr_group_share(group, span.last, owner);
        reduce_total part = reduce_start(op);
        for (uint64_t at = first + group.rank; at < last; at += group.size)
            reduce_add(p, op, &part, at);
        for (uint32_t distance = group.size / 2; distance; distance /= 2) {
            const uint64_t bits = kr_group_other(group, part.bits, distance);
            const uint64_t any = kr_group_other(group, part.any, distance);
            reduce_merge(op, &part, (reduce_total){bits, any});
        }
        if (group.rank == owner)
            reduce_merge(op, &total, part);
    }
    if (owns && p->totals)
        p->totals[mine] = total;
    else if (owns)
        reduce_store(p, op, mine, total);
}

#define REDUCE_PROGRAM(name, op)                                                             \
    KR_BODY void name##_body(kr_group group, const reduce_params *p, uint64_t i, uint64_t n) \
    {                                                                                        \
        reduce(group, p, i, n, op);                                                          \
    }                                                                                        \
    KR_GROUP_PROGRAM(name, reduce_params, name##_body)

REDUCE_PROGRAM(reduce_min_row, REDUCE_MIN_ROW);
REDUCE_PROGRAM(reduce_sum_rows, REDUCE_SUM_ROWS);
REDUCE_PROGRAM(reduce_sum_integers, REDUCE_SUM_INTEGERS);
REDUCE_PROGRAM(reduce_sum_floats, REDUCE_SUM_FLOATS);
REDUCE_PROGRAM(reduce_min, REDUCE_MIN);
REDUCE_PROGRAM(reduce_max, REDUCE_MAX);

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
    const uint64_t mine = i / p->spread, probe_of_mine = mine / p->slices;
    const kr_span span = owns ? p->spans[mine] : (kr_span){0, 0};
    const uint64_t base = owns ? p->offsets[mine] - p->base : 0;
    const uint32_t length = span.last - span.first;
    const uint32_t by_me = length < REDUCE_ALONE ? length : REDUCE_ALONE;
    for (uint32_t j = 0; j < by_me; ++j)
        rows_copy_one(p, (uint64_t)span.first + j, base + j, probe_of_mine);
    for (uint32_t waiting = kr_group_ballot(group, by_me < length); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const uint64_t first = kr_group_share(group, span.first, owner);
        const uint64_t to = kr_group_share(group, base, owner);
        const uint64_t count = kr_group_share(group, length, owner);
        const uint64_t probe = kr_group_share(group, probe_of_mine, owner);
        for (uint64_t j = REDUCE_ALONE + group.rank; j < count; j += group.size)
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
