/* kr_index_lookup, kr_index_range, kr_index_nearest, kr_index_lookup_chunks: check the arguments, then
 * dispatch on where the buffers are. */
#include "api/call.h"
#include "index/lookup/chunks.h"
#include "index/lookup/rows.h"

/* Every result but ROWS. */
static void answer(kr_work *w, const kr_call *c, const kr_sink *sink)
{
    const uint32_t mark = kr_work_mark(w);
    const int takes = kr_call_sink_needs_values(sink);
    kr_column values;
    if (c->index->ops->kept) { /* which brings values where they are read, if at all */
        kr_staged_answer(w, &c->query, c->lower, c->upper, sink, sink->values);
        return;
    }
    if (takes)
        values = kr_column_bring(w, sink->values, "a copy of the values");
    kr_work_lap(w, "copy");
    if (c->reaches) {
        kr_query_answer(w, &c->query, sink, takes ? &values : NULL);
    } else {
        kr_staged_answer(w, &c->query, c->lower, c->upper, sink, takes ? &values : NULL);
        kr_work_lap(w, "copy+search");
    }
    if (kr_work_mark(w) > mark) /* a host pointer: return when done */
        kr_work_finish(w);
}

static void answer_rows(kr_work *w, const kr_call *c, const kr_sink *sink)
{
    const kr_rows_job job = {&c->query, c->lower, c->upper, sink, c->reaches};
    kr_rows_answer(w, &job);
}

/* ---- Point and range lookups --------------------------------------------------------------- */

/* Of a checked batch, whose arrays the device reaches or not. */
static kr_status answer_batch(kr_index *index, const kr_wanted *wanted, int reaches, const kr_sink *sink,
                              kr_stream *stream, kr_error *err)
{
    kr_sink used;
    kr_stopwatch watch;
    kr_call c;
    const kr_status status = kr_call_read_sink(index, sink, wanted->lower->count, &used, &reaches, err);
    if (status != KR_OK)
        return status;
    kr_work w = kr_work_on(index->device, stream, err);
    c.index = index; /* kr_call_open fills the rest */
    c.reaches = reaches;
    kr_call_open(&w, &c, wanted, used.report ? &watch : NULL, (int)used.count_work);
    c.query.limit = used.limit;
    c.query.order = used.order;
    if (used.result == KR_RESULT_ROWS)
        answer_rows(&w, &c, &used);
    else
        answer(&w, &c, &used);
    if (used.report)
        kr_call_report(&w, &c, used.report);
    return kr_call_close(&w);
}

static kr_status look_up(kr_index *index, const kr_wanted *wanted, const kr_sink *sink, kr_stream *stream,
                         kr_error *err)
{
    int reaches = 1;
    const kr_status status = kr_call_check_batch(index, wanted, stream, &reaches, err);
    return status == KR_OK ? answer_batch(index, wanted, reaches, sink, stream, err) : status;
}

kr_status kr_index_lookup(kr_index *index, const kr_column *probes, const kr_sink *sink, kr_stream *stream,
                          kr_error *err)
{
    const kr_wanted points = {.lower = probes};
    return look_up(index, &points, sink, stream, err);
}

kr_status kr_index_range(kr_index *index, const kr_column *lower, const kr_column *upper, const kr_sink *sink,
                         kr_stream *stream, kr_error *err)
{
    const kr_wanted ranges = {.lower = lower, .upper = upper, .is_range = 1};
    return look_up(index, &ranges, sink, stream, err);
}

kr_status kr_index_nearest(kr_index *index, const kr_column *probes, const kr_nearest_options *options,
                           const kr_sink *sink, kr_stream *stream, kr_error *err)
{
    const kr_wanted nearest = {.lower = probes, .is_nearest = 1, .nearest = options};
    return look_up(index, &nearest, sink, stream, err);
}

/* Keys are made in device memory, wherever the columns are. */
kr_status kr_index_lookup_columns(kr_index *index, const kr_column_probes *probes, const kr_sink *sink,
                                  kr_stream *stream, kr_error *err)
{
    kr_composite_probes checked;
    const kr_wanted wanted = {.lower = &checked.columns[0], .probes = &checked};
    const kr_status status = kr_call_check_columns(index, probes, stream, NULL, &checked, err);
    return status == KR_OK ? answer_batch(index, &wanted, 1, sink, stream, err) : status;
}

kr_status kr_index_lookup_texts(kr_index *index, const kr_column *probes, kr_texts_bound how,
                                const kr_sink *sink, kr_stream *stream, kr_error *err)
{
    const kr_wanted wanted = {.lower = probes, .how = (uint32_t)how};
    const kr_status status = kr_call_check_how(index, probes, how, err);
    return status == KR_OK ? look_up(index, &wanted, sink, stream, err) : status;
}

kr_status kr_index_lookup_chunks(kr_index *index, const kr_column *lower, const kr_column *upper,
                                 uint32_t order, uint64_t cap_nbytes, kr_rows_chunk chunk, void *ctx,
                                 kr_error *err)
{
    const kr_wanted wanted = {.lower = lower, .upper = upper, .is_range = upper != NULL};
    kr_status status = kr_call_check_batch(index, &wanted, NULL, NULL, err);
    if (status == KR_OK && !chunk)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_index_lookup_chunks: the callback is NULL");
    if (status == KR_OK && order > KR_ORDER_KEY)
        status = kr_fail(err, KR_ERR_ARGUMENT, "%u is not an order; use KR_ORDER_ROW or KR_ORDER_KEY", order);
    if (status != KR_OK)
        return status;
    kr_call c = {.index = index};
    kr_work w = kr_work_on(index->device, NULL, err);
    KR_STEP(&w, kr_index_await(index, NULL, err));
    kr_call_make_query(&w, &c, &wanted);
    const kr_chunks job = {.whole = &c.query,
                           .lower = c.lower,
                           .upper = c.upper,
                           .order = order,
                           .cap_nbytes = cap_nbytes,
                           .chunk = chunk,
                           .ctx = ctx};
    kr_chunks_run(&w, &job);
    return kr_work_end(&w);
}
