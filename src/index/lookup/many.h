/* Several results of one batch: its matches are found once. */
#ifndef KEYRAY_INDEX_LOOKUP_MANY_H
#define KEYRAY_INDEX_LOOKUP_MANY_H

#include "index/lookup/query.h"

enum { KR_SINKS_MOST = 64 };

typedef struct kr_many {
    const kr_query *whole;
    const kr_column *lower, *upper; /* of `whole`; upper NULL: points, or nearest keys */
    const kr_sink *sinks;           /* every result but ROWS */
    const kr_column *values;        /* of each sink that takes some, in device memory */
    int reaches;                    /* the device reaches the arrays of both columns and of the sinks */
    uint32_t n_sinks;
} kr_many;

/* Where the device reaches every array this enqueues; else it blocks. */
void kr_many_answer(kr_work *work, const kr_many *job);

#endif
