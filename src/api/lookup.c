/* kr_index_lookup, kr_index_range, kr_index_nearest, kr_index_lookup_chunks: check the arguments, then
 * dispatch on where the buffers are. */
#include "api/call.h"
#include "lookup/chunks.h"

#include <stdlib.h>
#include <string.h>

/* A checked call of one sink. */
typedef struct lookup {
    kr_call call;
    const kr_sink *sink;
} lookup;

/* ---- All but ROWS -------------------------------------------------------------------------- */

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

/* ---- ROWS ---------------------------------------------------------------------------------- */

/* With device memory on a GPU, and prepared on any device: nothing waits, what does not fit is left out, and
 * scratch memory depends on the room that there is, not on how many rows match. */
static kr_status rows_enqueued(lookup *c, kr_error *err)
{
    kr_device *device = c->call.index->device;
    const kr_query *query = &c->call.query;
    kr_matches matches = {0};
    kr_status status = kr_matches_find(query, &matches, err);
    if (status != KR_OK)
        return status;
    status = kr_device_copy(device, c->sink->out, matches.offsets.data, matches.offsets.nbytes,
                            c->call.stream, err);
    const kr_matches_copy_job part = {
        .count = query->n,
        .capacity = c->sink->rows ? c->sink->rows_capacity : 0,
        .out = c->sink->rows,
        .order = c->sink->order,
    };
    if (status == KR_OK)
        status = kr_matches_copy(query, &matches, &part, err);
    kr_matches_release(query, &matches);
    return status;
}

/* Where device memory is host memory, the size is known before anything is written. */
static kr_status rows_on_host_device(lookup *c, kr_error *err)
{
    const kr_query *query = &c->call.query;
    kr_matches matches = {0};
    kr_status status = kr_matches_find(query, &matches, err);
    if (status != KR_OK)
        return status;
    const uint64_t total = ((const uint64_t *)matches.offsets.data)[query->n];
    const kr_matches_copy_job part = {
        .count = query->n, .capacity = total, .out = c->sink->rows, .order = c->sink->order};
    if (c->sink->rows && total > c->sink->rows_capacity)
        status = kr_fail(err, KR_ERR_LIMIT, "%llu row ids match, but rows_capacity is %llu; raise it",
                         (unsigned long long)total, (unsigned long long)c->sink->rows_capacity);
    else if (c->sink->rows)
        status = kr_matches_copy(query, &matches, &part, err);
    if (status == KR_OK)
        memcpy(c->sink->out, matches.offsets.data, matches.offsets.nbytes);
    kr_matches_release(query, &matches);
    return status;
}

/* Host memory on a GPU: one pass counts; a second one copies the row ids, if all of them fit. */
typedef struct gather {
    kr_device *device;
    const kr_sink *sink;
    uint64_t *offsets; /* host, n + 1 */
    uint64_t total;    /* row ids so far */
    kr_error error;    /* of a failed copy within the callback */
} gather;

static int gather_offsets(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                          const uint32_t *rows)
{
    gather *g = ctx;
    (void)rows;
    for (uint64_t i = 0; i <= n_probes; ++i)
        g->offsets[first_probe + i] = g->total + offsets[i];
    g->total += offsets[n_probes];
    return 0;
}

static int gather_rows(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                       const uint32_t *rows)
{
    gather *g = ctx;
    return kr_memory_copy(g->device, g->sink->rows + g->offsets[first_probe], rows,
                          offsets[n_probes] * sizeof *rows, NULL, &g->error) != KR_OK;
}

static kr_status gather_all(lookup *c, gather *g, kr_error *err)
{
    kr_query again = c->call.query; /* the same probes: counted and logged once */
    kr_chunks job = {
        .whole = &c->call.query,
        .lower = c->call.lower,
        .upper = c->call.upper,
        .order = c->sink->order,
        .count_only = 1,
        .cap_nbytes = UINT64_MAX / 2,
        .chunk = gather_offsets,
        .ctx = g,
    };
    kr_status status = kr_chunks_run(&job, err);
    if (status != KR_OK)
        return status;
    if (c->sink->rows && g->total > c->sink->rows_capacity)
        return kr_fail(err, KR_ERR_LIMIT, "%llu row ids match, but rows_capacity is %llu; raise it",
                       (unsigned long long)g->total, (unsigned long long)c->sink->rows_capacity);
    job.count_only = 0;
    again.work = NULL;
    again.log = NULL;
    job.whole = &again;
    job.chunk = gather_rows;
    if (c->sink->rows)
        status = kr_chunks_run(&job, err);
    if (g->error.status != KR_OK) { /* it says more than that the callback stopped */
        if (err)
            *err = g->error;
        return g->error.status;
    }
    const uint64_t nbytes = (c->call.lower->count + 1) * sizeof(uint64_t);
    return status == KR_OK ? kr_memory_copy(g->device, c->sink->out, g->offsets, nbytes, NULL, err) : status;
}

static kr_status rows_staged(lookup *c, kr_error *err)
{
    gather g = {.device = c->call.index->device, .sink = c->sink};
    g.offsets = kr_host_calloc(c->call.lower->count + 1, sizeof(uint64_t), "offsets", err);
    if (!g.offsets)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = gather_all(c, &g, err);
    free(g.offsets);
    return status;
}

static kr_status answer_rows(lookup *c, kr_error *err)
{
    if (c->call.index->device->ops->is_host)
        return rows_on_host_device(c, err);
    return c->call.reaches ? rows_enqueued(c, err) : rows_staged(c, err);
}

kr_status kr_call_enqueue(kr_call *call, const kr_sink *sink, kr_error *err)
{
    lookup c = {*call, sink};
    if (sink->result != KR_RESULT_ROWS)
        return kr_query_answer(&c.call.query, sink, sink->values, err);
    return rows_enqueued(&c, err);
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
