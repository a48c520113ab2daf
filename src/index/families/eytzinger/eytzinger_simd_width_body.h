/* The programs of the searches that go on to a leaf, and of those for the nearest keys. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_SIMD_WIDTH_BODY_H

#include "index/families/eytzinger/eytzinger_search.h"
#include "index/kinds/nearest.h"

EYTZINGER_PROGRAMS(eytzinger, 0);

/* ---- Nearest keys: entries by their ranks --------------------------------------------------- */

KR_BODY uint64_t eytzinger_key_of_rank(const eytzinger_params *p, uint32_t rank)
{
    return kr_entry_key(&p->entries, (int)p->entries.layout, eytzinger_slot_of_rank(&p->tree, rank));
}

KR_BODY uint32_t eytzinger_row_of_rank(const eytzinger_params *p, uint32_t rank)
{
    return kr_entry_row(&p->entries, (int)p->entries.layout, eytzinger_slot_of_rank(&p->tree, rank));
}

KR_BODY uint32_t eytzinger_where_of_rank(const eytzinger_params *p, uint32_t rank)
{
    (void)p;
    return rank;
}

KR_NEAREST(eytzinger_nearest, eytzinger_params, eytzinger_key_of_rank, eytzinger_row_of_rank,
           eytzinger_where_of_rank);

KR_BODY void eytzinger_end_nearest(const eytzinger_params *p, const kr_put *put, uint64_t i,
                                   eytzinger_state *s)
{
    const kr_span span = {s->upper, s->first, s->at, s->phase != EYTZINGER_NOTHING};
    eytzinger_nearest(p, &p->batch.near, put, i, p->entries.n, &span);
}

/* 9 is the default k. */
EYTZINGER_PROGRAM(eytzinger_nearest_any, 0, 0, eytzinger_end_nearest);
EYTZINGER_PROGRAM(eytzinger_nearest_9, 9, 0, eytzinger_end_nearest);

#endif
