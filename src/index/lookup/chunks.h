/* All matches of a batch, handed over in host memory chunk by chunk. */
#ifndef KEYRAY_INDEX_LOOKUP_CHUNKS_H
#define KEYRAY_INDEX_LOOKUP_CHUNKS_H

#include "index/lookup/query.h"

typedef struct kr_chunks {
    const kr_query *whole;
    const kr_column *lower, *upper; /* of `whole`; upper NULL: points */
    uint32_t order;                 /* KR_ORDER_* */
    uint32_t count_only;            /* 1: chunks come without row ids */
    uint64_t cap_nbytes;            /* of row ids in one chunk */
    kr_rows_chunk chunk;
    void *ctx;
} kr_chunks;

void kr_chunks_run(kr_work *work, const kr_chunks *job);

#endif
