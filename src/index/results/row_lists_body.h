/* The body of row_lists.c. */
#ifndef KEYRAY_INDEX_RESULTS_ROW_LISTS_BODY_H
#define KEYRAY_INDEX_RESULTS_ROW_LISTS_BODY_H

#include "index/results/match.h"

typedef struct length_params {
    const kr_match *matches;
    uint64_t *offsets;
    uint64_t limit;
} length_params;

/* offsets[n] stays 0, so that the prefix sum puts the total there. */
KR_BODY void row_lists_length_of(const length_params *p, uint64_t i)
{
    const uint64_t count = p->matches[i].count;
    p->offsets[i] = count < p->limit ? count : p->limit;
}
KR_MAP_PROGRAM(row_lists_length, length_params, row_lists_length_of);

#endif
