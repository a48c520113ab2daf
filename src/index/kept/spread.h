/* A batch spread over the parts of a divided index. A *stop* is a probe in a part: a point has one, a range
 * one in each part that it meets, a nearest key one in the part of the key that answers. Stops of a part lie
 * side by side, as a batch of codes that the part is asked. */
#ifndef KEYRAY_INDEX_KEPT_SPREAD_H
#define KEYRAY_INDEX_KEPT_SPREAD_H

#include "index/kept/divided.h"
#include "index/partition/partition.h"

typedef struct spread {
    const kr_divided *of;
    uint64_t n; /* stops, at most KR_NO_ROW - 1 */
    const uint64_t
        *offsets;     /* of each probe: its first stop, with the end of all; NULL: stop i is probe i's */
    uint32_t *probes; /* of each stop; NULL likewise */
    kr_partition partition; /* of the stops */
    uint32_t *order;        /* if asked for, or with offsets: the stop at each place */
    void *lower, *upper;    /* codes of the bounds, in the order of the parts; upper NULL: points */
    uint32_t *starts;       /* n_parts + 1, host memory: where the stops of a part begin */
} spread;

/* How stops come back. */
enum { SPREAD_TO_ANSWER /* by spread_back */, SPREAD_TO_LIST /* by `order` */ };

/* Spreads the first n probes of a query, or fewer, if their stops would be more than `most`, but at least
 * one; returns how many, 0 after a failure. What it makes is scratch memory of the work, but for `starts`,
 * which spread_end frees. Blocks. */
uint64_t spread_make(kr_work *work, const kr_divided *d, const kr_query *query, uint64_t n, uint64_t most,
                     int how, spread *s);
void spread_end(spread *s);

/* The stops of a part, as a query of the part's index. `sort` says what sort of lookup. */
kr_query spread_query(const spread *s, const kr_query *sort, const kr_index *index, uint32_t part);

/* 1: each probe has one stop, in the part that its code falls into. */
static inline int spread_is_direct(const kr_query *query)
{
    const kr_batch *batch = &query->batch;
    return !batch->upper && !batch->lower_validity && !batch->near.how;
}

/* Bytes of scratch memory for a probe, without its bounds and answers: one probe has one stop, but for
 * ranges, which may have more. */
uint64_t spread_nbytes(const kr_divided *d, const kr_query *query);

/* Puts answers, in the order of the parts, in the order of the stops. Enqueues. */
void spread_back(kr_work *work, const spread *s, const void *answers, uint32_t nbytes, void *out);

#endif
