/* kr_index_lookup, kr_index_range, kr_index_nearest, kr_index_lookup_chunks: check the arguments, then
 * dispatch on where the buffers are. */
#include "api/call.h"
#include "lookup/chunks.h"
#include "lookup/rows.h"

/* A checked call of one sink. */
typedef struct lookup {
    kr_call call;
    const kr_sink *sink;
} lookup;

/* Every result but ROWS. */
static kr_status answer(lookup *c, kr_error *err)
{
    kr_device *device = c->call.index->device;
    kr_resident values = {0};
    kr_status status = KR_OK;
    if (kr_sink_needs_values(c->sink))
        status =
            kr_resident_make(device, c->sink->values, "a copy of the values", c->call.stream, &values, err);
    const kr_column *resident = kr_sink_needs_values(c->sink) ? &values.column : NULL;
    if (status != KR_OK)
        return status;
    kr_stopwatch_lap(c->call.watch, "copy");
    if (c->call.reaches) {
        status = kr_query_answer(&c->call.query, c->sink, resident, err);
    } else {
        status = kr_staged_answer(&c->call.query, c->call.lower, c->call.upper, c->sink, resident, err);
        kr_stopwatch_lap(c->call.watch, "copy+search");
    }
    if (values.data.data || values.validity.data) { /* a host pointer: return when done */
        const kr_status end = kr_device_sync(device, c->call.stream, status == KR_OK ? err : NULL);
        status = status == KR_OK ? end : status;
    }
    kr_resident_release(device, &values, c->call.stream);
    return status;
}

static kr_status answer_rows(lookup *c, kr_error *err)
{
    const kr_rows_job job = {&c->call.query, c->call.lower, c->call.upper, c->sink, c->call.reaches};
    return kr_rows_answer(&job, err);
}

/* ---- Point and range lookups --------------------------------------------------------------- */

static kr_status look_up(kr_index *index, const kr_wanted *w, const kr_sink *sink, kr_stream *stream,
                         kr_error *err)
{
    kr_sink used;
    kr_stopwatch watch;
    lookup c;
    int reaches = 1;
    kr_status status = kr_call_check_batch(index, w, stream, &reaches, err);
    if (status == KR_OK)
        status = kr_call_read_sink(index, sink, w->lower->count, &used, &reaches, err);
    if (status != KR_OK)
        return status;
    c.call.index = index; /* kr_call_open fills the rest */
    c.call.stream = stream;
    c.call.reaches = reaches;
    c.sink = &used;
    status = kr_call_open(&c.call, w, used.report ? &watch : NULL, (int)used.count_work, err);
    c.call.query.limit = used.limit;
    c.call.query.order = used.order;
    if (status == KR_OK)
        status = used.result == KR_RESULT_ROWS ? answer_rows(&c, err) : answer(&c, err);
    if (status == KR_OK && used.report)
        status = kr_call_report(&c.call, used.report, err);
    kr_call_close(&c.call);
    return status;
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

kr_status kr_index_lookup_chunks(kr_index *index, const kr_column *lower, const kr_column *upper,
                                 uint32_t order, uint64_t cap_nbytes, kr_rows_chunk chunk, void *ctx,
                                 kr_error *err)
{
    const kr_wanted w = {.lower = lower, .upper = upper, .is_range = upper != NULL};
    kr_status status = kr_call_check_batch(index, &w, NULL, NULL, err);
    if (status == KR_OK && !chunk)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_index_lookup_chunks: the callback is NULL");
    if (status == KR_OK && order > KR_ORDER_KEY)
        status = kr_fail(err, KR_ERR_ARGUMENT, "%u is not an order; use KR_ORDER_ROW or KR_ORDER_KEY", order);
    if (status != KR_OK)
        return status;
    kr_query query;
    status = kr_query_make(index, lower, upper, NULL, NULL, &query, err);
    const kr_chunks job = {.whole = &query,
                           .lower = lower,
                           .upper = upper,
                           .order = order,
                           .cap_nbytes = cap_nbytes,
                           .chunk = chunk,
                           .ctx = ctx};
    return status == KR_OK ? kr_chunks_run(&job, err) : status;
}
