/* ROWS of a whole batch: the offsets of all probes, and their row ids in one array. */
#ifndef KEYRAY_INDEX_LOOKUP_ROWS_H
#define KEYRAY_INDEX_LOOKUP_ROWS_H

#include "index/lookup/query.h"

typedef struct kr_rows_job {
    const kr_query *query;
    const kr_column *lower, *upper; /* of the query; upper NULL: points, or nearest keys */
    const kr_sink *sink;
    int reaches; /* the device reaches the arrays of both columns and of the sink */
} kr_rows_job;

/* Where the device reaches every array and is not the host, this enqueues; else it blocks, and row ids that
 * do not fit are KR_ERR_LIMIT. */
void kr_rows_answer(kr_work *work, const kr_rows_job *job);

/* On any device that reaches every array. Nothing waits, what does not fit is left out, and scratch memory
 * depends on the room that there is, not on how many rows match. */
void kr_rows_enqueue(kr_work *work, const kr_query *query, const kr_sink *sink);

#endif
