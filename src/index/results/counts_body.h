/* The bodies of counts.c. */
#ifndef KEYRAY_INDEX_RESULTS_COUNTS_BODY_H
#define KEYRAY_INDEX_RESULTS_COUNTS_BODY_H

#include "index/results/match.h"

typedef struct counts_params {
    const kr_match *matches;
    void *out; /* uint64_t or uint8_t for each */
} counts_params;

KR_BODY void counts_of_match(const counts_params *p, uint64_t i)
{
    ((uint64_t *)p->out)[i] = p->matches[i].count;
}
KR_MAP_PROGRAM(counts_of_matches, counts_params, counts_of_match);

KR_BODY void counts_flag_match(const counts_params *p, uint64_t i)
{
    ((uint8_t *)p->out)[i] = p->matches[i].count != 0;
}
KR_MAP_PROGRAM(counts_flag_matches, counts_params, counts_flag_match);

#endif
