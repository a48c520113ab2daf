/* The programs of a reduction that read no rows. */
#ifndef KEYRAY_CORE_REDUCE_BODY_H
#define KEYRAY_CORE_REDUCE_BODY_H

#include "core/reduce_total.h"

/* The totals of a probe's slices, merged in order so that float sums come out the same in every run. */
KR_BODY void reduce_merge_all(const reduce_params *p, uint64_t i)
{
    const int op = (int)p->op;
    reduce_total total = reduce_start(op);
    for (uint64_t slice = i << p->spread.slice_bits; slice < (i + 1) << p->spread.slice_bits; ++slice)
        reduce_merge(op, &total, p->totals[slice]);
    reduce_store(p, op, i, total);
}
KR_MAP_PROGRAM(reduce_merge_slices, reduce_params, reduce_merge_all);

/* offsets[i] := rows of match i; the one past the end 0, so that the sum over all ends in the total. */
KR_BODY void rows_length(const rows_params *p, uint64_t i)
{
    p->offsets[i] = p->matches[i].count;
}
KR_MAP_PROGRAM(reduce_rows_length, rows_params, rows_length);

/* Flags of one byte to a bitmap. */
KR_BODY void pack_flags(const pack_params *p, uint64_t i)
{
    uint32_t bits = 0;
    for (uint32_t j = 0; j < 8 && i * 8 + j < p->n; ++j)
        bits |= (uint32_t)(p->flags[i * 8 + j] != 0) << j;
    p->bitmap[i] = (uint8_t)bits;
}
KR_MAP_PROGRAM(reduce_pack_flags, pack_params, pack_flags);

#endif
