/* Prepared lookups: the calls of lookup.c, bound once. */
#include "api/call.h"
#include "api/prepared.h"
#include "base/util/structs.h"
#include "index/lookup/limit.h"
#include "index/lookup/rows.h"
#include "index/texts/columns.h"

#include <stdlib.h>

/* What an index must be like for what was prepared of another. */
typedef struct signature {
    const kr_kind *kind;
    kr_type type; /* of keys, as callers see them */
    uint32_t n_columns;
} signature;

typedef struct prepared_lookup {
    kr_call call;
    kr_sink sink;
    kr_column lower, upper, values;
    kr_composite_probes probes; /* of an index over several columns, instead of lower and upper */
    kr_wanted wanted;           /* of these */
    int has_texts;              /* 1: lower and upper are texts, which runs make codes of */
    kr_nearest_options nearest;
    kr_buffer buffers[KR_COMPOSITE_MOST + 1]; /* kr_texts_keep_probes; of upper bounds the last */
    kr_device *device;
    signature like;
    kr_holders *life; /* of the index, which may be gone */
    uint64_t version; /* likewise */
} prepared_lookup;

static kr_status check_memory(const kr_index *index, const kr_sink *sink, int probes, int out, kr_error *err)
{
    return probes && out && kr_column_is_reached(index->device, sink->values)
               ? KR_OK
               : kr_fail(err, KR_ERR_ARGUMENT,
                         "a prepared lookup works on device memory: %s in host memory; copy there, or use "
                         "kr_index_lookup",
                         probes ? "an array of the sink is" : "the probes are");
}

/* Parts of a divided index travel when the host knows which. */
static kr_status refuse_divided(const kr_index *index, kr_error *err)
{
    return index->ops->kept
               ? kr_fail(err, KR_ERR_UNSUPPORTED,
                         "an index of keep=host answers no prepared lookups, since each waits for "
                         "parts that travel; use kr_index_lookup, or an index of keep=device")
               : KR_OK;
}

/* What a run could not do without waiting. */
static kr_status check_limits(const prepared_lookup *p, kr_error *err)
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

static kr_status keep_probes(prepared_lookup *p, const kr_column *probes, kr_column *kept, kr_buffer *buffers,
                             kr_error *err)
{
    *kept = *probes;
    return kr_strings_are(probes->type) ? kr_texts_keep_probes(p->device, probes, kept, buffers, err) : KR_OK;
}

/* Those of an index over several columns. */
static kr_status keep_all(prepared_lookup *p, const kr_composite_probes *probes, kr_error *err)
{
    kr_status status = KR_OK;
    p->probes = *probes;
    for (uint32_t j = 0; j < probes->n && status == KR_OK; ++j)
        status = keep_probes(p, &probes->columns[j], &p->probes.columns[j], &p->buffers[j], err);
    if (probes->has_upper && status == KR_OK)
        status = keep_probes(p, &probes->upper, &p->probes.upper, &p->buffers[KR_COMPOSITE_MOST], err);
    return status;
}

/* The columns as the caller gave them, kept here. */
static kr_status keep_columns(prepared_lookup *p, const kr_wanted *w, kr_error *err)
{
    kr_wanted *kept = &p->wanted;
    *kept = *w;
    kept->enqueues = 1;
    kr_status status =
        w->probes ? keep_all(p, w->probes, err) : keep_probes(p, w->lower, &p->lower, &p->buffers[0], err);
    if (w->probes)
        p->lower = p->probes.columns[0];
    kept->lower = &p->lower;
    kept->probes = w->probes ? &p->probes : NULL;
    if (w->upper) {
        if (status == KR_OK)
            status = keep_probes(p, w->upper, &p->upper, &p->buffers[KR_COMPOSITE_MOST], err);
        kept->upper = &p->upper;
    }
    if (w->nearest && status == KR_OK) { /* runs over texts read it again */
        status = kr_struct_read(&kr_struct_nearest_options, w->nearest, &p->nearest, err);
        p->nearest.struct_size = sizeof p->nearest;
        kept->nearest = &p->nearest;
    }
    p->has_texts = kr_strings_are(w->lower->type) && !w->probes;
    if (p->sink.values) {
        p->values = *p->sink.values;
        p->sink.values = &p->values;
    }
    return status;
}

/* Columns are kept. */
static kr_status open_lookup(prepared_lookup *p, kr_index *index, kr_error *err)
{
    kr_work w = kr_work_on(index->device, NULL, err);
    p->call = (kr_call){.index = index};
    kr_call_open(&w, &p->call, &p->wanted, NULL, 0);
    p->call.query.limit = p->sink.limit;
    p->call.query.order = p->sink.order;
    KR_STEP(&w, check_limits(p, err));
    KR_STEP(&w, kr_index_await_here(index, err));
    KR_STEP(&w, kr_holders_join(&index->life, err));
    if (kr_work_goes_on(&w)) {
        p->life = index->life;
        p->version = index->version;
    }
    return kr_call_close(&w);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static kr_status check_run(const void *call, kr_stream *stream, kr_error *err)
{
    const prepared_lookup *p = call;
    kr_index *index = p->call.index;
    if (kr_holders_are_over(p->life))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "the index of the prepared lookup was destroyed; bind it to another version "
                       "(kr_prepared_rebind), or destroy it");
    if (p->version != index->version)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "the index has changed since the lookup was prepared; prepare it again, or bind it anew "
            "(kr_prepared_rebind)");
    const kr_status status =
        index->ops->rays ? kr_stream_refuse_capture(index->device, stream, "a lookup that casts rays", err)
                         : KR_OK;
    if (status == KR_OK)
        kr_users_note(index->device, &index->users, stream);
    return status;
}

static void enqueue(kr_work *work, void *call)
{
    const prepared_lookup *p = call;
    kr_call c = p->call;
    kr_composite_probes codes;
    if (p->call.index->composite) {
        kr_texts_make_columns(work, p->call.index, &p->probes, 1, &codes);
        kr_query_make_composite(work, p->call.index, &codes, c.keys, &c.query);
    }
    if (p->has_texts) /* the bytes may have changed */
        kr_call_make_query(work, &c, &p->wanted);
    c.query.limit = p->sink.limit;
    c.query.order = p->sink.order;
    if (!kr_work_goes_on(work))
        return;
    if (p->sink.result == KR_RESULT_ROWS)
        kr_rows_enqueue(work, &c.query, &p->sink);
    else
        kr_query_answer(work, &c.query, &p->sink, p->sink.values);
}

/* Launches of rays take their parameters from memory that others use later. */
static int is_recordable(const void *call)
{
    return !((const prepared_lookup *)call)->call.index->ops->rays;
}

/* The call has neither a watch nor counters. The index may be gone. */
static void close_lookup(void *call)
{
    prepared_lookup *p = call;
    for (uint32_t j = KR_COMPOSITE_MOST + 1; j-- > 0;)
        kr_buffer_release(p->device, &p->buffers[j], NULL);
    (void)kr_holders_leave(&p->life);
    free(p);
}

/* ---- Another index ---------------------------------------------------------------------------- */

static signature signature_of(const kr_index *index)
{
    return (signature){index->spec.kind, kr_index_type(index), index->info.n_columns};
}

static kr_status check_like(const prepared_lookup *p, const kr_index *next, kr_error *err)
{
    static const char call[] = "kr_prepared_rebind";
    const signature has = signature_of(next), *like = &p->like;
    if (next->device != p->device)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: next is on another device than the lookup, '%s'", call,
                       p->device->name);
    if (has.kind != like->kind)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: next is of kind '%s', the lookup was prepared for '%s'",
                       call, has.kind->name, like->kind->name);
    if (has.n_columns != like->n_columns)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%s: next has %u columns, the lookup was prepared for %u (0: an index of one column)",
                       call, has.n_columns, like->n_columns);
    if (has.type != like->type)
        return kr_fail(err, KR_ERR_TYPE, "%s: next has keys of %s, the lookup was prepared for %s", call,
                       kr_type_name(has.type), kr_type_name(like->type));
    return KR_OK;
}

static kr_status rebind(void *call, void *target, kr_error *err)
{
    prepared_lookup *p = call;
    kr_index *next = target;
    kr_sink used = {0};
    int reaches = 1;
    kr_status status = check_like(p, next, err);
    if (status == KR_OK)
        status = refuse_divided(next, err);
    if (status == KR_OK)
        status = p->wanted.probes ? kr_call_check_kept(next, &p->probes, err)
                                  : kr_call_check_batch(next, &p->wanted, NULL, &reaches, err);
    if (status == KR_OK)
        status = kr_call_read_sink(next, &p->sink, p->lower.count, &used, &reaches, err);
    if (status != KR_OK)
        return status;
    const prepared_lookup before = *p;
    status = open_lookup(p, next, err);
    if (status != KR_OK)
        *p = before;
    return status;
}

static void let_go(const void *call)
{
    kr_holders *life = ((const prepared_lookup *)call)->life;
    (void)kr_holders_leave(&life);
}

static const kr_prepared_ops lookup_ops = {.check = check_run,
                                           .enqueue = enqueue,
                                           .is_recordable = is_recordable,
                                           .close = close_lookup,
                                           .rebind = rebind,
                                           .let_go = let_go,
                                           .nbytes = sizeof(prepared_lookup),
                                           .what = "a lookup",
                                           .call = "kr_prepared_rebind"};

kr_status kr_prepared_rebind(kr_prepared *prepared, kr_index *next, kr_error *err)
{
    return kr_prepared_bind(prepared, &lookup_ops, next, err);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

/* Of a checked batch; `probes`: the device reaches its columns. */
static kr_status prepare_batch(kr_index *index, const kr_wanted *w, int probes, const kr_sink *sink,
                               kr_prepared **prepared, kr_error *err)
{
    kr_sink used = {0};
    int out = 1;
    kr_status status = refuse_divided(index, err);
    if (status == KR_OK && !prepared)
        status = kr_fail(err, KR_ERR_ARGUMENT, "prepared is NULL");
    if (status == KR_OK)
        status = kr_call_read_sink(index, sink, w->lower->count, &used, &out, err);
    if (status == KR_OK)
        status = check_memory(index, &used, probes, out, err);
    if (status != KR_OK)
        return status;
    prepared_lookup *made = kr_host_calloc(1, sizeof *made, "a prepared lookup", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->device = index->device;
    made->like = signature_of(index);
    made->sink = used;
    status = keep_columns(made, w, err);
    if (status == KR_OK)
        status = open_lookup(made, index, err);
    if (status == KR_OK)
        return kr_prepared_make(index->device, &lookup_ops, made, prepared, err);
    close_lookup(made);
    return status;
}

static kr_status prepare(kr_index *index, const kr_wanted *w, const kr_sink *sink, kr_prepared **prepared,
                         kr_error *err)
{
    int probes = 1;
    const kr_status status = kr_call_check_batch(index, w, NULL, &probes, err);
    return status == KR_OK ? prepare_batch(index, w, probes, sink, prepared, err) : status;
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

kr_status kr_prepare_lookup_columns(kr_index *index, const kr_column_probes *probes, const kr_sink *sink,
                                    kr_prepared **prepared, kr_error *err)
{
    kr_composite_probes checked;
    int reaches = 1;
    const kr_wanted wanted = {.lower = &checked.columns[0], .probes = &checked};
    const kr_status status = kr_call_check_columns(index, probes, NULL, &reaches, &checked, err);
    return status == KR_OK ? prepare_batch(index, &wanted, reaches, sink, prepared, err) : status;
}

kr_status kr_prepare_texts(kr_index *index, const kr_column *probes, kr_texts_bound how, const kr_sink *sink,
                           kr_prepared **prepared, kr_error *err)
{
    const kr_wanted wanted = {.lower = probes, .how = (uint32_t)how};
    const kr_status status = kr_call_check_how(index, probes, how, err);
    return status == KR_OK ? prepare(index, &wanted, sink, prepared, err) : status;
}
