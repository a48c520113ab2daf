/* The programs of answer.c: from the answers of stops to those of probes. */
#ifndef KEYRAY_INDEX_KEPT_COMBINE_BODY_H
#define KEYRAY_INDEX_KEPT_COMBINE_BODY_H

#include "index/kept/combine_params.h"
#include "index/results/totals.h"

/* The answer to a stop as a total. */
KR_BODY reduce_total combine_load(const combine_params *p, uint64_t stop)
{
    const uint32_t op = p->into.op;
    reduce_total total = reduce_start((int)op);
    if (op == KR_REDUCE_MIN_ROW) {
        total.bits = kr_load((const uint32_t *)p->answers + stop);
    } else if (op == KR_REDUCE_MIN || op == KR_REDUCE_MAX) {
        total.any = kr_load(p->flags + stop);
        if (total.any)
            total.bits = kr_code_load(p->into.type, p->answers, stop);
    } else if (op == KR_REDUCE_SUM_WIDE) {
        total.bits = kr_load((const uint64_t *)p->answers + 2 * stop);
        total.any = kr_load((const uint64_t *)p->answers + 2 * stop + 1) << 1 | 1;
    } else {
        total.bits = kr_load((const uint64_t *)p->answers + stop);
    }
    return total;
}

/* Stops of a probe are merged in the order of keys. */
KR_BODY void combine_probe(const combine_params *p, uint64_t i)
{
    const uint64_t end = p->offsets[i + 1];
    reduce_total total = reduce_start((int)p->into.op);
    for (uint64_t stop = p->offsets[i]; stop < end; ++stop)
        reduce_merge((int)p->into.op, &total, combine_load(p, stop));
    reduce_store(&p->into, (int)p->into.op, i, total);
}
KR_MAP_PROGRAM(combine_totals, combine_params, combine_probe);

/* EXISTS. */
KR_BODY void combine_probe_flag(const combine_params *p, uint64_t i)
{
    const uint64_t end = p->offsets[i + 1];
    uint8_t flag = 0;
    for (uint64_t stop = p->offsets[i]; stop < end; ++stop)
        flag |= kr_load(p->flags + stop);
    p->into.any[i] = flag;
}
KR_MAP_PROGRAM(combine_flags, combine_params, combine_probe_flag);

/* Ranks in a part become ranks in the index. */
KR_BODY void combine_shift(const shift_params *p, uint64_t i)
{
    if (p->rows[i] != KR_NO_ROW)
        p->rows[i] += (uint32_t)p->first;
}
KR_MAP_PROGRAM(combine_ranks, shift_params, combine_shift);

#endif
