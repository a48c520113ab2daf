/* What the calls that look up share: their checks, and one call from its query to its report. */
#ifndef KEYRAY_API_CALL_H
#define KEYRAY_API_CALL_H

#include "api/report.h"
#include "index/lookup/composite.h"
#include "index/lookup/nearest.h"
#include "index/texts/probes.h"

/* What is looked up. */
typedef struct kr_wanted {
    const kr_column *lower, *upper;
    int is_range, is_nearest;
    const kr_nearest_options *nearest;
    /* Of an index over several columns, or NULL. Then `lower` is the first of its columns, and the others are
     * not read. */
    const kr_composite_probes *probes;
    uint32_t how;      /* of texts that have one bound, or a prefix, in `lower`: kr_texts_bound; else 0 */
    uint32_t enqueues; /* as of kr_texts_probes */
} kr_wanted;

/* A checked call. */
typedef struct kr_call {
    kr_index *index;
    const kr_column *lower, *upper; /* upper NULL: points */
    kr_column keys[2];              /* of several columns, or of texts: what these two point to */
    int reaches;                    /* the device reaches the arrays of the columns and of the sinks */
    kr_query query;                 /* over both columns, wherever they lie */
    kr_probe_log log;
    uint64_t *counters; /* of kr_put_work_add; NULL: nothing is counted */
} kr_call;

/* *reaches: becomes 0 if the device does not reach an array; NULL: nobody asks. A GPU takes its time to say
 * where a pointer points, so probes and answers are asked about once. */
kr_status kr_call_check_batch(const kr_index *index, const kr_wanted *w, kr_stream *stream, int *reaches,
                              kr_error *err);
/* The same of probes for an index over several columns, which become *probes. */
kr_status kr_call_check_columns(const kr_index *index, const kr_column_probes *given, kr_stream *stream,
                                int *reaches, kr_composite_probes *probes, kr_error *err);
/* The same of columns that were checked for another such index. */
kr_status kr_call_check_kept(const kr_index *index, const kr_composite_probes *probes, kr_error *err);
/* KR_ERR_ARGUMENT for an index over several columns; `instead` is the call for it. */
kr_status kr_call_check_single(const kr_index *index, const char *instead, kr_error *err);
/* What does not depend on the keys that are inserted and deleted, but for their numbers. `call` names it. */
kr_status kr_call_check_update(const kr_index *index, const kr_update *wanted, kr_stream *stream,
                               const char *call, kr_error *err);
/* kr_texts_bound of texts. */
kr_status kr_call_check_how(const kr_index *index, const kr_column *probes, kr_texts_bound how,
                            kr_error *err);
/* Reads the sink of a batch of n probes; arrays that its result does not use become NULL in *used. *reaches
 * as above, but for the values. */
/* `row_limit`: row ids are below it. */
kr_status kr_call_read_sink_of(kr_device *device, uint64_t row_limit, const kr_sink *sink, uint64_t n,
                               kr_sink *used, int *reaches, kr_error *err);
kr_status kr_call_read_sink(const kr_index *index, const kr_sink *sink, uint64_t n, kr_sink *used,
                            int *reaches, kr_error *err);
/* A column of keys of the index, or of texts that have codes there. */
kr_status kr_call_check_keys(const kr_index *index, const kr_column *column, const char *what, int *reaches,
                             kr_error *err);
int kr_call_sink_needs_values(const kr_sink *sink);

/* Of kr_call_open: copies of columns in host memory become keys. */
void kr_call_make_columns_query(kr_work *work, kr_call *c, const kr_composite_probes *probes);
/* Part of kr_call_open. Index is set. Texts become codes, in scratch memory; then c->lower and c->upper are
 * these. */
void kr_call_make_query(kr_work *work, kr_call *c, const kr_wanted *wanted);
/* Index and reaches are set. Waits for the index on the stream of the work, which ends after the call.
 * `watch` is for the report; NULL: none is wanted. kr_call_close is due in any case. */
void kr_call_open(kr_work *work, kr_call *c, const kr_wanted *wanted, kr_stopwatch *watch, int count_work);
/* Waits for the end of the call and overwrites the report. */
void kr_call_report(kr_work *work, const kr_call *c, kr_report *report);
/* Ends the work. */
kr_status kr_call_close(kr_work *work);

#endif
