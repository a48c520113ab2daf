/* Prepared lookups: the calls of lookup.c with their scratch memory kept. */
#include "api/call.h"
#include "devices/arena.h"
#include "lookup/limit.h"

#include <keyray/prepared.h>

#include <stdlib.h>

struct kr_prepared {
    kr_call call;
    kr_sink sink;
    kr_column lower, upper, values;
    kr_arena arena;
    uint64_t version; /* of the index */
    atomic_flag busy;
};

static kr_status check_memory(const kr_prepared *p, kr_error *err)
{
    kr_device *device = p->call.index->device;
    const int probes =
        kr_column_is_reached(device, p->call.lower) && kr_column_is_reached(device, p->call.upper);
    const int sink = kr_sink_is_reached(device, &p->sink) && kr_column_is_reached(device, p->sink.values);
    return probes && sink
               ? KR_OK
               : kr_fail(err, KR_ERR_ARGUMENT,
                         "a prepared lookup works on device memory: %s in host memory; copy there, or use "
                         "kr_index_lookup",
                         probes ? "an array of the sink is" : "the probes are");
}

/* What a run could not do without waiting. */
static kr_status check_limits(const kr_prepared *p, kr_error *err)
{
    if (p->sink.report)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "a prepared lookup makes no report, which waits; set sink->report to NULL");
    if (p->sink.result == KR_RESULT_ROWS && kr_limit_gathers(&p->call.query))
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "a prepared lookup has no limit by row id of ranges, which needs sizes on the host; use "
            "KR_ORDER_KEY");
    return KR_OK;
}

/* The columns as the caller gave them, kept here. */
static kr_wanted keep_columns(kr_prepared *p, const kr_wanted *w)
{
    kr_wanted kept = *w;
    p->lower = *w->lower;
    kept.lower = &p->lower;
    if (w->upper) {
        p->upper = *w->upper;
        kept.upper = &p->upper;
    }
    if (p->sink.values) {
        p->values = *p->sink.values;
        p->sink.values = &p->values;
    }
    return kept;
}

static kr_status enqueue(kr_prepared *p, kr_error *err)
{
    kr_arena_enter(&p->arena);
    const kr_status status = kr_call_enqueue(&p->call, &p->sink, err);
    kr_arena_leave();
    return status;
}

/* The first run shows what scratch memory there is. */
static kr_status record(kr_prepared *p, kr_error *err)
{
    kr_device *device = p->call.index->device;
    kr_status status = enqueue(p, err);
    const kr_status end = kr_device_sync(device, NULL, status == KR_OK ? err : NULL);
    status = status == KR_OK ? end : status;
    return status == KR_OK ? kr_arena_settle(&p->arena, err) : status;
}

static kr_status fill(kr_prepared *p, const kr_wanted *w, kr_error *err)
{
    const kr_wanted kept = keep_columns(p, w);
    kr_status status = kr_call_open(&p->call, &kept, NULL, 0, err);
    p->call.query.limit = p->sink.limit;
    p->call.query.order = p->sink.order;
    p->version = p->call.index->version;
    if (status == KR_OK)
        status = check_memory(p, err);
    if (status == KR_OK)
        status = check_limits(p, err);
    return status == KR_OK ? record(p, err) : status;
}

static kr_status prepare(kr_index *index, const kr_wanted *w, const kr_sink *sink, kr_prepared **prepared,
                         kr_error *err)
{
    kr_sink used = {0};
    kr_status status = kr_call_check_batch(index, w, NULL, err);
    if (status == KR_OK && !prepared)
        status = kr_fail(err, KR_ERR_ARGUMENT, "prepared is NULL");
    if (status == KR_OK)
        status = kr_call_read_sink(index, sink, w->lower->count, &used, err);
    if (status != KR_OK)
        return status;
    kr_prepared *made = kr_host_calloc(1, sizeof *made, "a prepared lookup", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->call.index = index;
    made->sink = used;
    made->arena.device = index->device;
    atomic_flag_clear(&made->busy);
    status = fill(made, w, err);
    if (status == KR_OK)
        *prepared = made;
    else
        kr_prepared_destroy(made);
    return status;
}

kr_status kr_prepare_lookup(kr_index *index, const kr_column *probes, const kr_sink *sink,
                            kr_prepared **prepared, kr_error *err)
{
    const kr_wanted points = {.lower = probes};
    return prepare(index, &points, sink, prepared, err);
}

kr_status kr_prepare_range(kr_index *index, const kr_column *lower, const kr_column *upper,
                           const kr_sink *sink, kr_prepared **prepared, kr_error *err)
{
    const kr_wanted ranges = {.lower = lower, .upper = upper, .is_range = 1};
    return prepare(index, &ranges, sink, prepared, err);
}

kr_status kr_prepare_nearest(kr_index *index, const kr_column *probes, const kr_nearest_options *options,
                             const kr_sink *sink, kr_prepared **prepared, kr_error *err)
{
    const kr_wanted nearest = {.lower = probes, .is_nearest = 1, .nearest = options};
    return prepare(index, &nearest, sink, prepared, err);
}

static kr_status check_run(const kr_prepared *p, kr_stream *stream, kr_error *err)
{
    const kr_index *index = p->call.index;
    if (stream && stream->device != index->device)
        return kr_fail(err, KR_ERR_ARGUMENT, "the stream belongs to another device than the index");
    if (p->version != index->version)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "the index has changed since the lookup was prepared; prepare it again");
    return index->ops->rays ? kr_stream_refuse_capture(index->device, stream, "a lookup that casts rays", err)
                            : KR_OK;
}

kr_status kr_prepared_run(kr_prepared *prepared, kr_stream *stream, kr_error *err)
{
    if (!prepared)
        return kr_fail(err, KR_ERR_ARGUMENT, "prepared is NULL");
    kr_status status = check_run(prepared, stream, err);
    if (status != KR_OK)
        return status;
    if (atomic_flag_test_and_set(&prepared->busy))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "another thread runs this prepared lookup; prepare one for each thread");
    prepared->call.stream = stream;
    prepared->call.query.stream = stream;
    status = enqueue(prepared, err);
    atomic_flag_clear(&prepared->busy);
    return status;
}

uint64_t kr_prepared_scratch_nbytes(const kr_prepared *prepared)
{
    return prepared && prepared->arena.n ? prepared->arena.memory.nbytes : 0;
}

void kr_prepared_destroy(kr_prepared *prepared)
{
    if (!prepared)
        return;
    kr_device_drain(prepared->arena.device);
    kr_call_close(&prepared->call);
    kr_arena_release(&prepared->arena);
    free(prepared);
}
