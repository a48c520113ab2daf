/* The programs of kept.c: from how many rows each probe has to matches in the rows that were gathered. */
#ifndef KEYRAY_INDEX_LOOKUP_KEPT_BODY_H
#define KEYRAY_INDEX_LOOKUP_KEPT_BODY_H

#include "index/results/match.h"

typedef struct kept_counts_params {
    const uint64_t *counts;
    uint64_t *offsets; /* may be the counts */
    uint64_t limit;
} kept_counts_params;
kr_assert_size(kept_counts_params, 24);

KR_BODY void query_limit_count(const kept_counts_params *p, uint64_t i)
{
    const uint64_t count = p->counts[i];
    p->offsets[i] = count < p->limit ? count : p->limit;
}
KR_MAP_PROGRAM(query_limit_counts, kept_counts_params, query_limit_count);

/* Rows of lists that begin at `offsets` were gathered from offset `from` on. */
typedef struct kept_matches_params {
    const uint64_t *offsets;
    kr_match *matches;
    uint64_t from, skip;
} kept_matches_params;
kr_assert_size(kept_matches_params, 32);

KR_BODY void matches_of_list(const kept_matches_params *p, uint64_t i)
{
    const uint64_t begin = kr_load(p->offsets + i), end = kr_load(p->offsets + i + 1);
    p->matches[i] = (kr_match){(uint32_t)(begin + p->skip - p->from), (uint32_t)(end - begin)};
}
KR_MAP_PROGRAM(matches_of_lists, kept_matches_params, matches_of_list);

#endif
