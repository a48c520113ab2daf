/* Prepared work: runs that own their scratch memory, of lookups and scans alike. */
#include "api/prepared.h"
#include "base/devices/users.h"

#include <stdlib.h>
#include <string.h>

struct kr_prepared {
    kr_device *device;
    const kr_prepared_ops *ops;
    void *call;
    kr_stream
        *stream;    /* while it prepares: of its own, for what that runs; NULL on devices that are the host */
    kr_users users; /* streams with runs of it */
    kr_arena arena;
    void *recording; /* of a run; NULL: each run enqueues anew */
    atomic_flag busy;
};

static kr_status enqueue(kr_prepared *p, kr_stream *stream, kr_error *err)
{
    kr_work run = kr_work_on(p->device, stream, err);
    run.arena = &p->arena;
    kr_arena_begin(&p->arena);
    p->ops->enqueue(&run, p->call);
    return kr_work_end(&run);
}

static kr_status run_and_wait(kr_prepared *p, kr_error *err)
{
    const kr_status status = enqueue(p, p->stream, err);
    const kr_status end = kr_device_sync(p->device, p->stream, status == KR_OK ? err : NULL);
    return status == KR_OK ? end : status;
}

/* The first run shows what scratch memory there is, the second fills constants. `spare`: memory that may do;
 * or NULL. */
static kr_status settle(kr_prepared *p, kr_arena *spare, kr_error *err)
{
    kr_status status = run_and_wait(p, err);
    if (status == KR_OK)
        status = kr_arena_settle(&p->arena, spare, err);
    if (status == KR_OK) /* runs on other streams use the memory */
        status = kr_device_sync(p->device, p->stream, err);
    if (status == KR_OK && kr_arena_has_constants(&p->arena))
        status = run_and_wait(p, err);
    kr_arena_filled(&p->arena);
    return status;
}

/* A replay costs the host half of a launch, however many launches there are: docs/performance.md,
 * "GPU: every size of a batch". Where it fails, as another library may wait for the whole GPU meanwhile,
 * which ends a recording, runs are enqueued anew, which kr_prepared_is_recorded tells. */
static void record(kr_prepared *p)
{
    const kr_device_ops *ops = p->device->ops;
    if (!ops->record_begin || !p->stream || !p->ops->is_recordable(p->call) ||
        ops->record_begin(p->device, p->stream->native, NULL) != KR_OK)
        return;
    const kr_status status = enqueue(p, p->stream, NULL);
    ops->record_end(p->device, p->stream->native, status == KR_OK ? &p->recording : NULL, NULL);
    kr_device_sync(p->device, p->stream, NULL); /* the recording is uploaded there */
}

/* What was enqueued on the device's own stream comes first: arrays of the caller's may come from there. */
static kr_status follow_own_stream(kr_prepared *p, kr_error *err)
{
    kr_device *device = p->device;
    const kr_device_ops *ops = device->ops;
    void *event = NULL;
    kr_status status = kr_stream_refuse_capture(device, NULL, "preparing", err);
    if (status == KR_OK)
        status = ops->event_create(device, &event, err);
    if (status == KR_OK)
        status = ops->event_record(device, event, device->own.native, err);
    if (status == KR_OK)
        status = ops->event_wait(device, event, p->stream->native, err);
    if (event)
        ops->event_destroy(device, event);
    return status;
}

/* A stream for what preparing runs, until close_stream, which waits for it. */
static kr_status open_stream(kr_prepared *p, kr_error *err)
{
    const kr_status status = p->device->ops->is_host ? KR_OK : kr_stream_create(p->device, &p->stream, err);
    p->arena.stream = p->stream;
    return status;
}

static void close_stream(kr_prepared *p)
{
    kr_stream_destroy(p->stream);
    p->stream = p->arena.stream = NULL;
}

kr_status kr_prepared_make(kr_device *device, const kr_prepared_ops *ops, void *call, kr_prepared **prepared,
                           kr_error *err)
{
    kr_prepared *made = kr_host_calloc(1, sizeof *made, "prepared work", err);
    if (!made) {
        ops->close(call);
        return KR_ERR_HOST_MEMORY;
    }
    made->device = device;
    made->ops = ops;
    made->call = call;
    atomic_flag_clear(&made->busy);
    made->arena = (kr_arena){.device = device};
    kr_status status = open_stream(made, err);
    if (status == KR_OK && made->stream)
        status = follow_own_stream(made, err);
    if (status == KR_OK)
        status = settle(made, NULL, err);
    if (status == KR_OK)
        record(made);
    close_stream(made);
    if (status == KR_OK)
        *prepared = made;
    else
        kr_prepared_destroy(made);
    return status;
}

/* A capture of the caller's gets the launches themselves. */
static kr_status run(kr_prepared *p, kr_stream *stream, kr_error *err)
{
    const kr_device_ops *ops = p->device->ops;
    void *native = kr_stream_native(p->device, stream);
    return p->recording && !ops->is_capturing(p->device, native)
               ? ops->replay(p->device, p->recording, native, err)
               : enqueue(p, stream, err);
}

kr_status kr_prepared_run(kr_prepared *prepared, kr_stream *stream, kr_error *err)
{
    if (!prepared)
        return kr_fail(err, KR_ERR_ARGUMENT, "prepared is NULL");
    if (stream && stream->device != prepared->device)
        return kr_fail(err, KR_ERR_ARGUMENT, "the stream belongs to another device than what was prepared");
    kr_status status = prepared->ops->check(prepared->call, stream, err);
    if (status != KR_OK)
        return status;
    if (atomic_flag_test_and_set(&prepared->busy))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "another thread runs what was prepared; prepare one for each thread");
    kr_users_note(prepared->device, &prepared->users, stream);
    status = run(prepared, stream, err);
    kr_users_mark(prepared->device, stream);
    atomic_flag_clear(&prepared->busy);
    return status;
}

/* ---- Another target ----------------------------------------------------------------------------- */

/* A run in the scratch memory that there is, and in other memory where that does not do. Constants may be
 * others, and if this fails those that there are must stay. */
static kr_status settle_again(kr_prepared *p, kr_error *err)
{
    kr_arena before = p->arena;
    if (!kr_arena_has_constants(&before)) {
        kr_error misfit = {0};
        const kr_status status = run_and_wait(p, &misfit);
        if (status != KR_OK && !p->arena.misfits && err)
            *err = misfit;
        if (status == KR_OK || !p->arena.misfits)
            return status;
        p->arena.misfits = 0;
        before = p->arena;
    }
    p->arena = (kr_arena){.device = p->device, .stream = p->stream};
    const kr_status status = settle(p, &before, err);
    if (status == KR_OK) {
        kr_arena_release(&before);
        return KR_OK;
    }
    kr_arena_release(&p->arena);
    p->arena = before;
    return status;
}

/* The call is bound; runs that still use the scratch memory are waited for. */
static kr_status prepare_again(kr_prepared *p, kr_error *err)
{
    kr_users_wait(p->device, &p->users);
    kr_status status = open_stream(p, err);
    if (status == KR_OK)
        status = settle_again(p, err);
    if (status == KR_OK) {
        if (p->recording)
            p->device->ops->recording_destroy(p->device, p->recording);
        p->recording = NULL;
        record(p);
    }
    close_stream(p);
    return status;
}

static kr_status bind(kr_prepared *p, void *target, void *before, kr_error *err)
{
    memcpy(before, p->call, p->ops->nbytes);
    kr_status status = p->ops->rebind(p->call, target, err);
    if (status != KR_OK)
        return status;
    status = prepare_again(p, err);
    if (status == KR_OK) {
        p->ops->let_go(before);
    } else {
        p->ops->let_go(p->call);
        memcpy(p->call, before, p->ops->nbytes);
    }
    return status;
}

kr_status kr_prepared_bind(kr_prepared *prepared, const kr_prepared_ops *ops, void *target, kr_error *err)
{
    if (!prepared || !target)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %s is NULL", ops->call, prepared ? "next" : "prepared");
    if (prepared->ops != ops)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %s was prepared; use %s", ops->call, prepared->ops->what,
                       prepared->ops->call);
    if (atomic_flag_test_and_set(&prepared->busy))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: another thread runs what was prepared", ops->call);
    void *before = kr_host_calloc(1, ops->nbytes, "prepared work", err);
    const kr_status status = before ? bind(prepared, target, before, err) : KR_ERR_HOST_MEMORY;
    free(before);
    atomic_flag_clear(&prepared->busy);
    return status;
}

uint64_t kr_prepared_scratch_nbytes(const kr_prepared *prepared)
{
    return prepared && prepared->arena.n ? prepared->arena.memory.nbytes : 0;
}

int kr_prepared_is_recorded(const kr_prepared *prepared)
{
    return prepared && prepared->recording;
}

void kr_prepared_destroy(kr_prepared *prepared)
{
    if (!prepared)
        return;
    kr_users_wait(prepared->device, &prepared->users);
    if (prepared->recording)
        prepared->device->ops->recording_destroy(prepared->device, prepared->recording);
    prepared->ops->close(prepared->call);
    kr_arena_release(&prepared->arena);
    free(prepared);
}
