/* The row ids of matches, one match after the other, like Arrow's lists: offsets and values. */
#ifndef KEYRAY_INDEX_RESULTS_ROW_LISTS_H
#define KEYRAY_INDEX_RESULTS_ROW_LISTS_H

#include "base/devices/work.h"
#include "index/results/params.h"

/* offsets[i] := rows of the matches before match i, for i up to n, at most `limit` of each. Enqueues. */
void kr_row_lists_offsets(kr_work *work, const kr_match *matches, uint64_t n, uint64_t limit,
                          uint64_t *offsets);

typedef struct kr_row_lists_job {
    const kr_rows *rows;
    const kr_match *matches; /* n of them */
    const uint64_t *offsets; /* n + 1: they say how many rows of each match are copied */
    uint64_t n;              /* 1 .. KR_NO_ROW - 1 */
    uint64_t base;           /* offsets[0]: the offset of out[0] */
    uint64_t capacity;       /* row ids that fit in out; the rest is left out */
    uint32_t *out;           /* unneeded room may be overwritten */
    uint32_t *probes;        /* NULL, or the number of each row id's match */
    uint64_t row_limit;      /* row ids are below it */
    uint32_t skip;           /* its rows before the first that is copied; offsets are as if there were none */
    uint32_t first_probe;    /* the number of match 0 in `probes` */
} kr_row_lists_job;

/* Rows of a match in the order of their numbers. Enqueues. */
void kr_row_lists_copy(kr_work *work, const kr_row_lists_job *job);
/* Row ids of a match ascending, whatever their numbers; `probes` is not written. Enqueues. */
void kr_row_lists_copy_ascending(kr_work *work, const kr_row_lists_job *job);

#endif
