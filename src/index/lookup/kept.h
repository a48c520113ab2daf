/* Lookups in a divided index (index/kept), whose entries lie in host memory: no program of its family can
 * search it as a whole. What the calls of query.h do there, kept.c makes of the two operations below. */
#ifndef KEYRAY_INDEX_LOOKUP_KEPT_H
#define KEYRAY_INDEX_LOOKUP_KEPT_H

#include "index/lookup/query.h"

/* Every result but ROWS. */
typedef struct kr_kept_answers {
    const kr_query *whole;          /* what sort of lookup; its arrays are not read */
    const kr_column *lower, *upper; /* wherever they lie; upper NULL: points, or nearest keys */
    const kr_sink *sinks;           /* their arrays and values wherever they lie */
    uint32_t n_sinks;
} kr_kept_answers;

/* Row ids of some probes of a query, those of one probe in the order of keys. */
typedef struct kr_kept_lists {
    const kr_query *query;
    uint64_t first, count;   /* probes */
    const uint64_t *offsets; /* of all probes: where their lists begin and end, in device memory */
    uint64_t from;           /* the offset of out[0]: in the list of probe `first` */
    uint64_t n_rows;         /* that out holds */
    uint32_t *out;           /* device memory */
} kr_kept_lists;

/* What index/kept does. */
typedef struct kr_kept_ops {
    /* How an index would be divided, a clause. */
    void (*explain)(const kr_shape *shape, char text[96]);
    /* Both block. */
    void (*answer)(kr_work *work, const kr_kept_answers *job);
    void (*list)(kr_work *work, const kr_kept_lists *job);
} kr_kept_ops;

/* 1: the index is divided. */
static inline int kr_query_is_kept(const kr_query *query)
{
    return query->index->ops->kept != NULL;
}

/* kr_query_answer, kr_query_locate, kr_matches_find. */
void kr_query_kept_answer(kr_work *work, const kr_query *query, const kr_sink *sink, const kr_column *values);
void kr_query_kept_locate(kr_work *work, const kr_query *query, uint32_t what, void *out);
kr_matches kr_matches_kept_find(kr_work *work, const kr_query *query);
/* kr_matches_read. */
kr_matches kr_matches_kept_read(kr_work *work, const kr_query *query);
/* The matches of some probes as kr_row_lists_copy reads them: their row ids are gathered, unless they are of
 * a copy before. `part` becomes the job of these matches. */
kr_matches kr_matches_kept_gather(kr_work *work, const kr_query *query, kr_matches *matches,
                                  kr_matches_copy_job *part);

#endif
