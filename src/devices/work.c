#include "devices/work.h"

/* The list needs no values: n_taken says how much of it there is. */
kr_work kr_work_on(kr_device *device, kr_stream *stream, kr_error *err)
{
    kr_work work;
    work.device = device;
    work.stream = stream;
    work.watch = NULL;
    work.err = err;
    work.status = KR_OK;
    work.n_taken = 0;
    return work;
}

/* ---- Memory -------------------------------------------------------------------------------- */

/* Where the next piece goes; NULL: a step has failed, or there is nothing to take. */
static kr_buffer *next_taken(kr_work *work, uint64_t nbytes)
{
    if (work->n_taken == KR_WORK_TAKEN_MOST)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_INTERNAL, "work takes %d pieces of memory at most; report this",
                        (int)KR_WORK_TAKEN_MOST));
    return work->status == KR_OK && nbytes ? work->taken + work->n_taken : NULL;
}

/* What was taken, if it was. */
static void *count_taken(kr_work *work)
{
    return work->status == KR_OK ? work->taken[work->n_taken++].data : NULL;
}

void *kr_work_take_or(kr_work *work, uint64_t nbytes, const char *what, const char *help)
{
    kr_buffer *taken = next_taken(work, nbytes);
    if (!taken)
        return NULL;
    work->status = kr_buffer_allocate(work->device, nbytes, work->stream, what, help, taken, work->err);
    return count_taken(work);
}

void *kr_work_take_constants(kr_work *work, uint64_t nbytes, const char *what, const char *help)
{
    kr_buffer *taken = next_taken(work, nbytes);
    if (!taken)
        return NULL;
    work->status = kr_constants_allocate(work->device, nbytes, work->stream, what, help, taken, work->err);
    return count_taken(work);
}

void kr_work_write_constants(kr_work *work, void *constants, const void *host, uint64_t nbytes)
{
    const kr_buffer to = {constants, nbytes};
    KR_STEP(work, kr_constants_copy(work->device, &to, host, work->stream, work->err));
}

void *kr_work_take(kr_work *work, uint64_t nbytes, const char *what)
{
    return kr_work_take_or(work, nbytes, what, NULL);
}

kr_buffer kr_work_buffer(kr_work *work, uint64_t nbytes, const char *what, const char *help)
{
    void *memory = kr_work_take_or(work, nbytes, what, help);
    return (kr_buffer){memory, memory ? nbytes : 0};
}

uint64_t *kr_work_counters(kr_work *work, uint32_t n)
{
    uint64_t *counters = kr_work_take(work, n * sizeof *counters, "counters");
    kr_work_fill(work, counters, 0, n * sizeof *counters);
    return counters;
}

/* Takes it out of the list; no memory if it is not there. */
static kr_buffer remove_taken(kr_work *work, const void *memory)
{
    uint32_t i = work->n_taken;
    while (i > 0 && work->taken[i - 1].data != memory)
        --i;
    if (i == 0)
        return (kr_buffer){0};
    const kr_buffer found = work->taken[i - 1];
    for (; i < work->n_taken; ++i)
        work->taken[i - 1] = work->taken[i];
    --work->n_taken;
    return found;
}

void kr_work_give(kr_work *work, const void *memory)
{
    kr_buffer given = remove_taken(work, memory);
    kr_buffer_release(work->device, &given, work->stream);
}

kr_buffer kr_work_keep(kr_work *work, const void *memory)
{
    return work->status == KR_OK ? remove_taken(work, memory) : (kr_buffer){0};
}

void *kr_work_object(kr_work *work, size_t nbytes, const char *what)
{
    void *object = work->status == KR_OK ? kr_host_calloc(1, nbytes, what, work->err) : NULL;
    if (!object)
        KR_STEP(work, KR_ERR_HOST_MEMORY);
    return object;
}

kr_status kr_work_end(kr_work *work)
{
    while (work->n_taken > 0)
        kr_buffer_release(work->device, &work->taken[--work->n_taken], work->stream);
    return work->status;
}

/* ---- Steps --------------------------------------------------------------------------------- */

void kr_work_run(kr_work *work, const kr_program *program, const void *params, uint64_t n)
{
    KR_STEP(work, kr_device_run(work->device, program, params, n, work->stream, work->err));
}

void kr_work_run_whole(kr_work *work, const kr_program *program, const void *params, uint64_t n)
{
    KR_STEP(work, kr_device_run_whole(work->device, program, params, n, work->stream, work->err));
}

void kr_work_sort(kr_work *work, const kr_sort *sort)
{
    KR_STEP(work, kr_device_sort(work->device, sort, work->stream, work->err));
}

void kr_work_sum(kr_work *work, uint64_t *values, uint64_t n)
{
    KR_STEP(work, kr_device_exclusive_sum(work->device, values, n, work->stream, work->err));
}

void kr_work_copy(kr_work *work, void *to, const void *from, uint64_t nbytes)
{
    KR_STEP(work, kr_device_copy(work->device, to, from, nbytes, work->stream, work->err));
}

void kr_work_fill(kr_work *work, void *to, int byte, uint64_t nbytes)
{
    KR_STEP(work, kr_device_fill(work->device, to, byte, nbytes, work->stream, work->err));
}

void kr_work_sync(kr_work *work)
{
    KR_STEP(work, kr_device_sync(work->device, work->stream, work->err));
}

void kr_work_read(kr_work *work, void *to, const void *from, uint64_t nbytes)
{
    kr_work_copy(work, to, from, nbytes);
    kr_work_sync(work);
}

void kr_work_lap(kr_work *work, const char *name)
{
    kr_stopwatch_lap(work->watch, name);
}

kr_stopwatch *kr_work_unwatch(kr_work *work)
{
    kr_stopwatch *watch = work->watch;
    work->watch = NULL;
    return watch;
}
