/* kr_index_lookup, kr_index_range, kr_index_nearest, kr_index_lookup_chunks: check the arguments, then
 * dispatch on where the buffers are. */
#include "api/report.h"
#include "lookup/chunks.h"
#include "lookup/nearest.h"
#include "util/structs.h"

#include <stdlib.h>
#include <string.h>

/* A checked call. */
typedef struct call {
    kr_index *index;
    const kr_column *lower, *upper; /* upper NULL: points */
    const kr_sink *sink;
    kr_stream *stream;
    kr_query query; /* over both columns, wherever they lie */
    kr_stopwatch watch;
    kr_probe_log log;
    kr_buffer work; /* counters of kr_work_add; none: nothing is counted */
} call;

static kr_status check_probes(const kr_index *index, const kr_column *column, const char *what, kr_error *err)
{
    const kr_status status = kr_column_check(index->device, column, what, err);
    if (status == KR_OK && column->type != index->info.type)
        return kr_fail(err, KR_ERR_TYPE,
                       "%s are %s, but the index holds %s: convert one to the type of the other", what,
                       kr_type_name(column->type), kr_type_name(index->info.type));
    return status;
}

static kr_status check_batch(const kr_index *index, const kr_column *lower, const kr_column *upper,
                             int is_range, kr_stream *stream, kr_error *err)
{
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "index is NULL");
    if (stream && stream->device != index->device)
        return kr_fail(err, KR_ERR_ARGUMENT, "the stream belongs to another device than the index");
    kr_status status = check_probes(index, lower, is_range ? "lower bounds" : "probes", err);
    if (status == KR_OK && is_range)
        status = check_probes(index, upper, "upper bounds", err);
    if (status == KR_OK && is_range && lower->count != upper->count)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%llu lower bounds and %llu upper bounds: give one of each per range",
                       (unsigned long long)lower->count, (unsigned long long)upper->count);
    return status;
}

static int needs_values(const kr_sink *sink)
{
    return sink->result == KR_RESULT_SUM || sink->result == KR_RESULT_MIN || sink->result == KR_RESULT_MAX;
}

static kr_status check_values(const kr_index *index, const kr_sink *sink, kr_error *err)
{
    if (!needs_values(sink))
        return KR_OK;
    const kr_status status = kr_column_check(index->device, sink->values, "values", err);
    if (status == KR_OK && sink->values->count < index->row_limit)
        return kr_fail(err, KR_ERR_ARGUMENT, "%llu values, but row ids reach %llu: give one value per row id",
                       (unsigned long long)sink->values->count, (unsigned long long)index->row_limit - 1);
    return status;
}

static kr_status check_sink(const kr_index *index, const kr_sink *sink, uint64_t n, kr_error *err)
{
    if ((unsigned)sink->result < KR_RESULT_ROW || (unsigned)sink->result > KR_RESULT_EXISTS)
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
    if ((!sink->out && (n || sink->result == KR_RESULT_ROWS)) || (bitmap && n && !sink->valid))
        return kr_fail(err, KR_ERR_ARGUMENT, "sink->%s is NULL", sink->out ? "valid" : "out");
    kr_status status = check_values(index, sink, err);
    if (status == KR_OK)
        status = kr_pointer_check(index->device, sink->out, "sink->out", NULL, err);
    if (status == KR_OK)
        status = kr_pointer_check(index->device, sink->valid, "sink->valid", NULL, err);
    if (status == KR_OK)
        status = kr_pointer_check(index->device, sink->rows, "sink->rows", NULL, err);
    if (status != KR_OK)
        return status;
    if ((uintptr_t)sink->out % ((kr_result_bits(sink) + 7) / 8) || (uintptr_t)sink->rows % sizeof(uint32_t))
        return kr_fail(err, KR_ERR_ARGUMENT, "sink->%s is not aligned to its elements",
                       (uintptr_t)sink->rows % sizeof(uint32_t) ? "rows" : "out");
    return KR_OK;
}

/* ---- All but ROWS -------------------------------------------------------------------------- */

static int reaches_column(kr_device *device, const kr_column *column)
{
    return !column || ((!column->data || kr_device_reaches(device, column->data)) &&
                       (!column->validity || kr_device_reaches(device, column->validity)));
}

static int reaches_sink(kr_device *device, const kr_sink *sink)
{
    return (!sink->out || kr_device_reaches(device, sink->out)) &&
           (!sink->valid || kr_device_reaches(device, sink->valid)) &&
           (!sink->rows || kr_device_reaches(device, sink->rows));
}

static kr_status answer(call *c, kr_error *err)
{
    kr_device *device = c->index->device;
    kr_resident values = {0};
    kr_status status = KR_OK;
    if (needs_values(c->sink))
        status = kr_resident_make(device, c->sink->values, "a copy of the values", c->stream, &values, err);
    const kr_column *resident = needs_values(c->sink) ? &values.column : NULL;
    if (status != KR_OK)
        return status;
    kr_stopwatch_lap(&c->watch, "copy");
    if (reaches_column(device, c->lower) && reaches_column(device, c->upper) &&
        reaches_sink(device, c->sink)) {
        status = kr_query_answer(&c->query, c->sink, resident, err);
    } else {
        status = kr_staged_answer(&c->query, c->lower, c->upper, c->sink, resident, err);
        kr_stopwatch_lap(&c->watch, "copy+search");
    }
    if (values.data.data || values.validity.data) { /* a host pointer: return when done */
        const kr_status end = kr_device_sync(device, c->stream, status == KR_OK ? err : NULL);
        status = status == KR_OK ? end : status;
    }
    kr_resident_release(device, &values, c->stream);
    return status;
}

/* ---- ROWS ---------------------------------------------------------------------------------- */

/* With device memory on a GPU: nothing waits, and what does not fit is left out. */
static kr_status rows_enqueued(call *c, kr_error *err)
{
    kr_device *device = c->index->device;
    const kr_query *query = &c->query;
    kr_matches matches = {0};
    kr_status status = kr_matches_find(query, &matches, err);
    if (status != KR_OK)
        return status;
    status =
        kr_device_copy(device, c->sink->out, matches.offsets.data, matches.offsets.nbytes, c->stream, err);
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
static kr_status rows_on_host_device(call *c, kr_error *err)
{
    const kr_query *query = &c->query;
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

static kr_status gather_all(call *c, gather *g, kr_error *err)
{
    kr_query again = c->query; /* the same probes: counted and logged once */
    kr_chunks job = {
        .whole = &c->query,
        .lower = c->lower,
        .upper = c->upper,
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
    const uint64_t nbytes = (c->lower->count + 1) * sizeof(uint64_t);
    return status == KR_OK ? kr_memory_copy(g->device, c->sink->out, g->offsets, nbytes, NULL, err) : status;
}

static kr_status rows_staged(call *c, kr_error *err)
{
    gather g = {.device = c->index->device, .sink = c->sink};
    g.offsets = kr_host_calloc(c->lower->count + 1, sizeof(uint64_t), "offsets", err);
    if (!g.offsets)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = gather_all(c, &g, err);
    free(g.offsets);
    return status;
}

static kr_status answer_rows(call *c, kr_error *err)
{
    kr_device *device = c->index->device;
    if (device->ops->is_host)
        return rows_on_host_device(c, err);
    if (reaches_column(device, c->lower) && reaches_column(device, c->upper) && reaches_sink(device, c->sink))
        return rows_enqueued(c, err);
    return rows_staged(c, err);
}

/* ---- Point and range lookups --------------------------------------------------------------- */

/* Counters for the report, of kinds that cast rays. */
static kr_status open_work(call *c, kr_error *err)
{
    if (!c->sink->report || !c->sink->count_work || !c->index->ops->rays)
        return KR_OK;
    return kr_counters_make(c->index->device, c->stream, KR_WORK_STRIPES * KR_WORK_COUNTS, &c->work, err);
}

/* Sums of the stripes. Blocks. */
static kr_status read_work(const call *c, kr_report *report, kr_error *err)
{
    enum { N = KR_WORK_STRIPES * KR_WORK_COUNTS };
    if (!c->work.data)
        return KR_OK;
    uint64_t *counters = kr_host_calloc(N, sizeof *counters, "counters", err);
    if (!counters)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = kr_counters_read(c->index->device, c->stream, &c->work, counters, N, err);
    for (uint32_t i = 0; i < N && status == KR_OK; ++i)
        report->counters[i % KR_WORK_COUNTS] += counters[i];
    report->n_counters = KR_WORKS;
    free(counters);
    return status;
}

/* Waits for the end of the lookup. */
static kr_status fill_report(const call *c, kr_report *report, kr_error *err)
{
    kr_report made = {.probes = c->lower->count, .log = c->log, .phases = c->watch.phases};
    kr_status status = kr_device_sync(c->index->device, c->stream, err);
    if (status == KR_OK)
        status = read_work(c, &made, err);
    if (status == KR_OK) {
        kr_report_clear(report);
        *report = made;
    }
    return status;
}

/* The sink without arrays that its result does not use, so that nothing below can write to them. */
static kr_sink used_part(const kr_sink *sink)
{
    kr_sink used = *sink;
    if (sink->result != KR_RESULT_MIN && sink->result != KR_RESULT_MAX)
        used.valid = NULL;
    if (sink->result != KR_RESULT_ROWS)
        used.rows = NULL;
    return used;
}

/* What is looked up. */
typedef struct wanted {
    const kr_column *lower, *upper;
    int is_range, is_nearest;
    const kr_nearest_options *nearest;
} wanted;

static kr_status make_query(call *c, const wanted *w, kr_error *err)
{
    kr_nearby near;
    if (!w->is_nearest)
        return kr_query_make(c->index, w->lower, w->upper, c->stream, &c->watch, &c->query, err);
    const kr_status status = kr_nearby_make(c->index->info.type, w->nearest, &near, err);
    return status == KR_OK
               ? kr_query_make_nearest(c->index, w->lower, &near, c->stream, &c->watch, &c->query, err)
               : status;
}

static kr_status look_up(kr_index *index, const wanted *w, const kr_sink *sink, kr_stream *stream,
                         kr_error *err)
{
    kr_sink given;
    kr_status status = check_batch(index, w->lower, w->upper, w->is_range, stream, err);
    if (status == KR_OK)
        status = sink ? kr_struct_read(&kr_struct_sink, sink, &given, err)
                      : kr_fail(err, KR_ERR_ARGUMENT, "sink is NULL");
    if (status == KR_OK)
        status = check_sink(index, &given, w->lower->count, err);
    if (status == KR_OK)
        status = kr_index_await(index, stream, err);
    if (status != KR_OK)
        return status;
    const kr_sink used = used_part(&given);
    call c = {.index = index, .lower = w->lower, .upper = w->upper, .sink = &used, .stream = stream};
    status = make_query(&c, w, err);
    if (status == KR_OK)
        status = open_work(&c, err);
    c.query.work = c.work.data;
    c.query.log = &c.log;
    c.query.limit = used.limit;
    c.query.order = used.order;
    if (used.report)
        kr_stopwatch_start(&c.watch, index->device, stream);
    if (status == KR_OK)
        status = used.result == KR_RESULT_ROWS ? answer_rows(&c, err) : answer(&c, err);
    kr_stopwatch_stop(&c.watch);
    if (status == KR_OK && used.report)
        status = fill_report(&c, used.report, err);
    kr_buffer_release(index->device, &c.work, stream);
    return status;
}

kr_status kr_index_lookup(kr_index *index, const kr_column *probes, const kr_sink *sink, kr_stream *stream,
                          kr_error *err)
{
    const wanted points = {.lower = probes};
    return look_up(index, &points, sink, stream, err);
}

kr_status kr_index_range(kr_index *index, const kr_column *lower, const kr_column *upper, const kr_sink *sink,
                         kr_stream *stream, kr_error *err)
{
    const wanted ranges = {.lower = lower, .upper = upper, .is_range = 1};
    return look_up(index, &ranges, sink, stream, err);
}

kr_status kr_index_nearest(kr_index *index, const kr_column *probes, const kr_nearest_options *options,
                           const kr_sink *sink, kr_stream *stream, kr_error *err)
{
    const wanted nearest = {.lower = probes, .is_nearest = 1, .nearest = options};
    return look_up(index, &nearest, sink, stream, err);
}

kr_status kr_index_lookup_chunks(kr_index *index, const kr_column *lower, const kr_column *upper,
                                 uint32_t order, uint64_t cap_nbytes, kr_rows_chunk chunk, void *ctx,
                                 kr_error *err)
{
    kr_status status = check_batch(index, lower, upper, upper != NULL, NULL, err);
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
