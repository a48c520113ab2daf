/* The body of limit.c. */
#ifndef KEYRAY_INDEX_LOOKUP_LIMIT_BODY_H
#define KEYRAY_INDEX_LOOKUP_LIMIT_BODY_H

#include "index/results/match.h"

typedef struct limit_params {
    const uint64_t *whole; /* of all rows */
    kr_match *matches;     /* in the rows that were gathered */
    uint64_t base, limit;
} limit_params;
kr_assert_size(limit_params, 32);

KR_BODY void limit_first(const limit_params *p, uint64_t i)
{
    const uint64_t from = kr_load(p->whole + i), count = kr_load(p->whole + i + 1) - from;
    p->matches[i] = (kr_match){(uint32_t)(from - p->base), (uint32_t)(count < p->limit ? count : p->limit)};
}
KR_MAP_PROGRAM(limit_firsts, limit_params, limit_first);

#endif
