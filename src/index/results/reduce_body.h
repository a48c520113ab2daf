/* The program of a reduction that reads no rows. */
#ifndef KEYRAY_INDEX_RESULTS_REDUCE_BODY_H
#define KEYRAY_INDEX_RESULTS_REDUCE_BODY_H

#include "index/results/totals.h"

/* The totals of a match's slices, merged in order so that float sums come out the same in every run. */
KR_BODY void reduce_merge_all(const reduce_params *p, uint64_t i)
{
    const int op = (int)p->op;
    reduce_total total = reduce_start(op);
    for (uint64_t slice = i << p->spread.slice_bits; slice < (i + 1) << p->spread.slice_bits; ++slice)
        reduce_merge(op, &total, p->totals[slice]);
    reduce_store(p, op, i, total);
}
KR_MAP_PROGRAM(reduce_merge_slices, reduce_params, reduce_merge_all);

#endif
