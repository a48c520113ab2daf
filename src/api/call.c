/* Checks of lookups, and what every lookup does before and after its answers. */
#include "api/call.h"
#include "base/util/structs.h"
#include "index/lookup/rows.h"
#include "index/results/reduce.h"

#include <stdlib.h>

kr_status kr_call_check_keys(const kr_index *index, const kr_column *column, const char *what, int *reaches,
                             kr_error *err)
{
    const int are_texts = column && kr_strings_are(column->type);
    kr_status status = KR_OK;
    if (!are_texts)
        status = kr_column_check(index->device, column, what, reaches, err);
    else if (index->texts)
        return kr_strings_check(index->device, column, what, NULL, err); /* codes will be in device memory */
    if (status == KR_OK && index->texts && !column->dictionary)
        return kr_fail(err, KR_ERR_TYPE,
                       "%s are %s, but the index holds texts (%s): give texts, or their codes "
                       "(kr_texts_encode with kr_index_texts)",
                       what, kr_type_name(column->type), kr_type_name(index->text_type));
    if (status == KR_OK && column->type != index->info.type)
        return kr_fail(err, KR_ERR_TYPE,
                       "%s are %s, but the index holds %s: convert them to the type of the index", what,
                       kr_type_name(column->type), kr_type_name(kr_index_type(index)));
    return status == KR_OK
               ? kr_column_check_texts(what, column->dictionary, "the index", index->dictionary, err)
               : status;
}

kr_status kr_call_check_single(const kr_index *index, const char *instead, kr_error *err)
{
    return index->composite ? kr_fail(err, KR_ERR_ARGUMENT, "the index is one over %u columns: use %s",
                                      index->composite->n, instead)
                            : KR_OK;
}

static kr_status check_pair(const kr_wanted *w, kr_error *err)
{
    const int texts = kr_strings_are(w->lower->type);
    if (w->is_range && w->lower->count != w->upper->count)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%llu lower bounds and %llu upper bounds: give one of each per range",
                       (unsigned long long)w->lower->count, (unsigned long long)w->upper->count);
    if (w->is_range && texts != kr_strings_are(w->upper->type))
        return kr_fail(err, KR_ERR_TYPE,
                       "lower bounds are %s and upper bounds are %s: give texts or codes as both",
                       kr_type_name(w->lower->type), kr_type_name(w->upper->type));
    return KR_OK;
}

kr_status kr_call_check_batch(const kr_index *index, const kr_wanted *w, kr_stream *stream, int *reaches,
                              kr_error *err)
{
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "index is NULL");
    if (stream && stream->device != index->device)
        return kr_fail(err, KR_ERR_ARGUMENT, "the stream belongs to another device than the index");
    kr_status status = kr_call_check_single(index, "kr_index_lookup_columns", err);
    if (status == KR_OK)
        status = kr_call_check_keys(index, w->lower, w->is_range ? "lower bounds" : "probes", reaches, err);
    if (status == KR_OK && w->is_range)
        status = kr_call_check_keys(index, w->upper, "upper bounds", reaches, err);
    return status == KR_OK ? check_pair(w, err) : status;
}

kr_status kr_call_check_how(const kr_index *index, const kr_column *probes, kr_texts_bound how, kr_error *err)
{
    if (!index || !probes)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s is NULL", index ? "probes" : "index");
    if ((unsigned)how < KR_TEXTS_FROM || (unsigned)how > KR_TEXTS_PREFIX)
        return kr_fail(err, KR_ERR_ARGUMENT, "%d is none of kr_texts_bound", (int)how);
    if (!index->texts)
        return kr_fail(err, KR_ERR_TYPE, "the index holds %s, not texts: use kr_index_range",
                       kr_type_name(index->info.type));
    if (!kr_strings_are(probes->type))
        return kr_fail(err, KR_ERR_TYPE, "the probes are %s, but texts are wanted",
                       kr_type_name(probes->type) ? kr_type_name(probes->type) : "not a column type");
    return KR_OK;
}

int kr_call_sink_needs_values(const kr_sink *sink)
{
    return sink->result == KR_RESULT_SUM || sink->result == KR_RESULT_SUM_WIDE ||
           sink->result == KR_RESULT_MIN || sink->result == KR_RESULT_MAX;
}

static kr_status check_values(kr_device *device, uint64_t row_limit, const kr_sink *sink, kr_error *err)
{
    if (!kr_call_sink_needs_values(sink))
        return KR_OK;
    const kr_status status = kr_column_check(device, sink->values, "values", NULL, err);
    if (status == KR_OK && sink->values->count < row_limit)
        return kr_fail(err, KR_ERR_ARGUMENT, "%llu values, but row ids reach %llu: give one value per row id",
                       (unsigned long long)sink->values->count, (unsigned long long)row_limit - 1);
    return status == KR_OK && sink->result == KR_RESULT_SUM_WIDE
               ? kr_reduce_wide_sum_check(sink->values->type, "values", err)
               : status;
}

static kr_status check_sink(kr_device *device, uint64_t row_limit, const kr_sink *sink, uint64_t n,
                            int *reaches, kr_error *err)
{
    const int lists = sink->result == KR_RESULT_ROWS;
    if ((unsigned)sink->result < KR_RESULT_ROW || (unsigned)sink->result > KR_RESULT_SUM_WIDE)
        return kr_fail(err, KR_ERR_ARGUMENT, "%d is not a result; use one of kr_result", (int)sink->result);
    if (sink->order > KR_ORDER_KEY)
        return kr_fail(err, KR_ERR_ARGUMENT, "%u is not an order; use KR_ORDER_ROW or KR_ORDER_KEY",
                       sink->order);
    if (sink->count_work > 1 || sink->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "sink->%s must be 0%s; zero the struct first",
                       sink->reserved ? "reserved" : "count_work", sink->reserved ? "" : " or 1");
    if (sink->limit && sink->result != KR_RESULT_ROWS)
        return kr_fail(err, KR_ERR_ARGUMENT, "sink->limit is %llu, but only ROWS takes a limit; set it to 0",
                       (unsigned long long)sink->limit);
    const int bitmap = sink->result == KR_RESULT_MIN || sink->result == KR_RESULT_MAX;
    if ((!sink->out && (n || lists)) || (bitmap && n && !sink->valid))
        return kr_fail(err, KR_ERR_ARGUMENT, "sink->%s is NULL", sink->out ? "valid" : "out");
    kr_status status = check_values(device, row_limit, sink, err);
    if (status == KR_OK)
        status = kr_pointer_check(device, sink->out, "sink->out", reaches, err);
    if (status == KR_OK)
        status = kr_pointer_check(device, sink->valid, "sink->valid", bitmap ? reaches : NULL, err);
    if (status == KR_OK)
        status = kr_pointer_check(device, sink->rows, "sink->rows", lists ? reaches : NULL, err);
    if (status != KR_OK)
        return status;
    if ((uintptr_t)sink->out % kr_answer_alignment((kr_query_result_bits(sink) + 7) / 8) ||
        (uintptr_t)sink->rows % sizeof(uint32_t))
        return kr_fail(err, KR_ERR_ARGUMENT, "sink->%s is not aligned to its elements",
                       (uintptr_t)sink->rows % sizeof(uint32_t) ? "rows" : "out");
    return KR_OK;
}

kr_status kr_call_read_sink_of(kr_device *device, uint64_t row_limit, const kr_sink *sink, uint64_t n,
                               kr_sink *used, int *reaches, kr_error *err)
{
    kr_status status = sink ? kr_struct_read(&kr_struct_sink, sink, used, err)
                            : kr_fail(err, KR_ERR_ARGUMENT, "sink is NULL");
    if (status == KR_OK)
        status = check_sink(device, row_limit, used, n, reaches, err);
    if (status != KR_OK)
        return status;
    if (used->result != KR_RESULT_MIN && used->result != KR_RESULT_MAX)
        used->valid = NULL; /* so that nothing below can write to what is not asked for */
    if (used->result != KR_RESULT_ROWS)
        used->rows = NULL;
    if (!kr_call_sink_needs_values(used))
        used->values = NULL;
    return KR_OK;
}

kr_status kr_call_read_sink(const kr_index *index, const kr_sink *sink, uint64_t n, kr_sink *used,
                            int *reaches, kr_error *err)
{
    return kr_call_read_sink_of(index->device, index->row_limit, sink, n, used, reaches, err);
}

/* ---- A call ---------------------------------------------------------------------------------- */

enum { COUNTERS = KR_WORK_STRIPES * KR_WORK_COUNTS };

/* Sums of the stripes, of kinds that cast rays. Blocks. */
static void read_counters(kr_work *w, const kr_call *c, kr_report *report)
{
    if (!c->counters)
        return;
    uint64_t *counters = kr_work_array(w, COUNTERS, sizeof *counters, "counters");
    kr_work_read(w, counters, c->counters, COUNTERS * sizeof *counters);
    for (uint32_t i = 0; i < COUNTERS && kr_work_goes_on(w); ++i)
        report->counters[i % KR_WORK_COUNTS] += counters[i];
    report->n_counters = KR_WORKS;
    free(counters);
}

/* Of texts. */
static void make_texts_query(kr_work *w, kr_call *c, const kr_wanted *wanted, kr_nearby *near)
{
    const kr_texts *texts = c->index->texts;
    const int is_range = wanted->is_range || wanted->how;
    const kr_texts_probes probes = {wanted->lower, wanted->is_range ? wanted->upper : NULL, wanted->how,
                                    wanted->enqueues};
    KR_STEP(w, kr_texts_check_probes(texts, is_range || wanted->is_nearest, w->err));
    KR_STEP(w, wanted->is_nearest ? kr_kind_check(c->index->spec.kind, KR_CAN_NEAREST, w->err)
                                  : kr_query_check(c->index->spec.kind, is_range, w->err));
    if (!kr_work_goes_on(w))
        return;
    if (wanted->is_nearest)
        kr_texts_make_nearest(w, texts, &probes, near, &c->keys[0]);
    else
        kr_texts_make_keys(w, texts, &probes, c->keys);
    c->lower = &c->keys[0];
    c->upper = is_range ? &c->keys[1] : NULL;
}

void kr_call_make_query(kr_work *w, kr_call *c, const kr_wanted *wanted)
{
    kr_nearby near;
    c->lower = wanted->lower;
    c->upper = wanted->upper;
    if (wanted->probes) {
        kr_call_make_columns_query(w, c, wanted->probes);
        return;
    }
    if (wanted->is_nearest)
        KR_STEP(w, kr_nearby_make(c->index->info.type, c->index->dictionary != 0, wanted->nearest, &near,
                                  w->err));
    if (kr_work_goes_on(w) && kr_strings_are(wanted->lower->type))
        make_texts_query(w, c, wanted, &near);
    if (!kr_work_goes_on(w))
        return;
    if (wanted->is_nearest)
        kr_query_make_nearest(w, c->index, c->lower, &near, &c->query);
    else
        kr_query_make(w, c->index, c->lower, c->upper, &c->query);
}

void kr_call_open(kr_work *w, kr_call *c, const kr_wanted *wanted, kr_stopwatch *watch, int count_work)
{
    c->log = (kr_probe_log){0};
    c->counters = NULL;
    KR_STEP(w, kr_stream_refuse_capture(w->device, w->stream, "a lookup that is not prepared", w->err));
    KR_STEP(w, kr_index_await(c->index, w->stream, w->err));
    if (watch && kr_work_goes_on(w)) { /* the stream may be one that is captured */
        kr_stopwatch_start(watch, w->device, w->stream);
        w->watch = watch;
    }
    kr_call_make_query(w, c, wanted);
    if (watch && count_work && c->index->ops->rays)
        c->counters = kr_work_counters(w, COUNTERS);
    c->query.counters = c->counters;
    c->query.log = &c->log;
}

void kr_call_report(kr_work *w, const kr_call *c, kr_report *report)
{
    if (!kr_work_goes_on(w))
        return;
    kr_stopwatch_stop(w->watch); /* before that, a GPU's phases are not read */
    kr_report made = {.probes = c->lower->count,
                      .log = c->log,
                      .phases = w->watch->phases,
                      .has_kept = c->index->ops->kept != NULL};
    kr_work_sync(w);
    read_counters(w, c, &made);
    if (kr_work_goes_on(w)) {
        kr_report_clear(report);
        *report = made;
    }
}

kr_status kr_call_close(kr_work *w)
{
    kr_stopwatch_stop(w->watch);
    const kr_status status = kr_work_end(w);
    kr_users_mark(w->device, w->stream);
    return status;
}
