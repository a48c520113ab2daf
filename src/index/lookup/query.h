/* One lookup: matches are located, then answers made of them. */
#ifndef KEYRAY_INDEX_LOOKUP_QUERY_H
#define KEYRAY_INDEX_LOOKUP_QUERY_H

#include "index/lookup/plan.h"

/* A checked batch. A query that is run has its arrays in device memory; one that others are made from
 * (kr_query_over) may have them anywhere. */
typedef struct kr_query {
    const kr_index *index;
    kr_batch batch; /* upper NULL: point lookups */
    uint64_t n;
    kr_probe_plan plan;
    uint64_t *counters; /* of kr_put_work_add, or NULL */
    kr_probe_log *log;  /* what was done with the probes, or NULL */
    uint32_t *stay;     /* NULL, or as in kr_partition_job; kr_query_locate_rows sets it */
    uint64_t limit;     /* ROWS: most rows of a probe; 0: all */
    uint32_t order;     /* the order in which those within the limit are the first: KR_ORDER_* */
} kr_query;

/* KR_ERR_UNSUPPORTED where the kind does not answer such lookups. */
kr_status kr_query_check(const kr_kind *kind, int is_range, kr_error *err);

/* Checks that the kind answers such lookups, and makes a query over all of `lower`. `upper` NULL: points.
 * Counts and logs nothing. */
void kr_query_make(kr_work *work, const kr_index *index, const kr_column *lower, const kr_column *upper,
                   kr_query *query);

/* The same for nearest keys (index/lookup/nearest.h). */
void kr_query_make_nearest(kr_work *work, const kr_index *index, const kr_column *probes,
                           const kr_nearby *near, kr_query *query);

/* The same lookup over other columns: some probes of the whole query, copied to the device. It gets a plan of
 * its own. */
kr_query kr_query_over(const kr_query *whole, const kr_column *lower, const kr_column *upper);

/* Writes KR_PUT_* `what` for every probe; enqueues. */
void kr_query_locate(kr_work *work, const kr_query *query, uint32_t what, void *out);

/* Whether answers can stay in the order of the search, which spares putting them back. */
int kr_query_can_stay(const kr_query *query);
/* rows[i] := the ROW of probe probes[i], in the order of the search; only if kr_query_can_stay. Enqueues. */
void kr_query_locate_rows(kr_work *work, const kr_query *query, uint32_t *rows, uint32_t *probes);

/* Every result but ROWS. sink->out, valid and `values` are device memory; enqueues, but for divided indexes
 * (index/lookup/kept.h). */
void kr_query_answer(kr_work *work, const kr_query *query, const kr_sink *sink, const kr_column *values);
/* The same with a byte for each probe, 1 or 0, in the place of a bitmap. Not of a divided index. */
void kr_query_answer_flags(kr_work *work, const kr_query *query, const kr_sink *sink, const kr_column *values,
                           uint8_t *flags);

/* ---- ROWS: matches found once, copied as often as there are chunks --------------------------- */

/* Row ids that were gathered of a divided index (index/lookup/kept.h): those from offset `from` on. */
typedef struct kr_gathered {
    uint32_t *rows;
    uint64_t from, n;
    uint64_t total; /* rows of all lists; 0: not known */
} kr_gathered;

typedef struct kr_matches {
    kr_match *matches; /* n; NULL of a divided index */
    uint64_t *offsets; /* n + 1: of the rows that are wanted */
    uint64_t *whole;   /* n + 1: of all rows, where those within a limit are found by gathering all
                          (index/lookup/limit.h); else NULL */
    kr_rows rows;      /* how the rows of matches are read */
    /* Copies search a divided index again: arrays of the query must stay as they are until then. */
    kr_gathered gathered;
} kr_matches;

/* Scratch memory of the work. */
kr_matches kr_matches_find(kr_work *work, const kr_query *query);
/* The same without offsets, and with the rows of a divided index gathered: for programs that read them. */
kr_matches kr_matches_read(kr_work *work, const kr_query *query);
void kr_matches_give(kr_work *work, const kr_matches *matches);

/* Which matches to copy, and where to. */
typedef struct kr_matches_copy_job {
    uint64_t first, count; /* probes */
    uint64_t base;         /* offset of the first */
    uint64_t capacity;     /* row ids that fit in out; others are left out */
    uint32_t *out;         /* device memory; unneeded room may be overwritten */
    uint32_t *probes;      /* NULL, or the probe of each row id; not with a limit */
    uint32_t first_probe;  /* what the first one is called there; 0 for ranges in KR_ORDER_ROW */
    uint32_t skip;         /* of one match: its rows before the first that is copied; only for KR_ORDER_KEY */
    uint32_t order;        /* KR_ORDER_* */
} kr_matches_copy_job;
void kr_matches_copy(kr_work *work, const kr_query *query, kr_matches *matches,
                     const kr_matches_copy_job *part);

/* Probes of a batch in host memory that a caller brings to the device and asks at a time: `usual`, but of a
 * divided index as many as there is room for, since its parts travel for each piece. */
uint64_t kr_query_piece(const kr_index *index, uint64_t usual);

/* ---- The same for host memory -------------------------------------------------------------- */

/* Every result but ROWS of a query over `lower` and `upper`. Any array of the columns and the sink may be in
 * host memory. Blocks, at first until the work's stream is done, since pieces run on other streams. */
void kr_staged_answer(kr_work *work, const kr_query *whole, const kr_column *lower, const kr_column *upper,
                      const kr_sink *sink, const kr_column *values);

/* The bits of the answer to one probe in sink->out: 1 in the bitmap of EXISTS. */
uint32_t kr_query_result_bits(const kr_sink *sink);

#endif
