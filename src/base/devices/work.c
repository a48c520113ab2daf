#include "base/devices/work.h"
#include "base/devices/arena.h"
#include "base/devices/users.h"

/* The list needs no values: n_taken says how much of it there is. */
kr_work kr_work_on(kr_device *device, kr_stream *stream, kr_error *err)
{
    kr_work work;
    work.device = device;
    work.stream = stream;
    work.watch = NULL;
    work.arena = NULL;
    work.err = err;
    work.status = KR_OK;
    work.n_taken = 0;
    return work;
}

kr_work kr_work_beside(const kr_work *work, kr_error *err)
{
    kr_work beside = kr_work_on(work->device, work->stream, err);
    beside.watch = work->watch;
    beside.arena = work->arena;
    return beside;
}

kr_stream *kr_work_fork(kr_work *work)
{
    kr_stream *made = NULL;
    KR_STEP(work, kr_stream_create(work->device, &made, work->err));
    if (made && work->stream)
        made->peak = work->stream->peak;
    return made;
}

/* ---- Memory -------------------------------------------------------------------------------- */

static kr_status allocate(kr_work *work, uint64_t nbytes, const char *what, const char *help,
                          kr_buffer *buffer)
{
    kr_arena *arena = work->arena;
    if (arena && kr_arena_serves(arena))
        return kr_arena_serve(arena, nbytes, what, buffer, work->err);
    const kr_status status =
        kr_buffer_allocate(work->device, nbytes, work->stream, what, help, buffer, work->err);
    if (arena && status == KR_OK)
        kr_arena_note(arena, buffer->data, nbytes);
    return status;
}

static void release(kr_work *work, kr_buffer *buffer)
{
    kr_arena *arena = work->arena;
    if (arena && kr_arena_owns(arena, buffer->data))
        return;
    if (arena && !kr_arena_serves(arena))
        kr_arena_forget(arena, buffer->data);
    kr_buffer_release(work->device, buffer, work->stream);
}

void *kr_work_take_or(kr_work *work, uint64_t nbytes, const char *what, const char *help)
{
    if (work->n_taken == KR_WORK_TAKEN_MOST && nbytes)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_INTERNAL, "work takes %d pieces of memory at most; report this",
                        (int)KR_WORK_TAKEN_MOST));
    if (work->status != KR_OK || !nbytes)
        return NULL;
    kr_buffer *taken = work->taken + work->n_taken;
    work->status = allocate(work, nbytes, what, help, taken);
    return work->status == KR_OK ? work->taken[work->n_taken++].data : NULL;
}

void *kr_work_take_constants(kr_work *work, uint64_t nbytes, const char *what, const char *help)
{
    kr_arena *arena = work->arena;
    if (arena)
        arena->notes_constant = 1;
    void *constants = kr_work_take_or(work, nbytes, what, help);
    if (arena)
        arena->notes_constant = 0;
    return constants;
}

void kr_work_write_constants(kr_work *work, void *constants, const void *host, uint64_t nbytes)
{
    const kr_arena *arena = work->arena;
    if (!arena || !arena->is_filled)
        kr_work_copy(work, constants, host, nbytes);
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
    release(work, &given);
}

uint32_t kr_work_mark(const kr_work *work)
{
    return work->n_taken;
}

void kr_work_give_since(kr_work *work, uint32_t mark)
{
    while (work->n_taken > mark)
        release(work, &work->taken[--work->n_taken]);
}

kr_buffer kr_work_keep(kr_work *work, const void *memory)
{
    return work->status == KR_OK ? remove_taken(work, memory) : (kr_buffer){0};
}

void *kr_work_array(kr_work *work, uint64_t n, size_t each, const char *what)
{
    void *array = work->status == KR_OK ? kr_host_calloc(n, each, what, work->err) : NULL;
    if (!array)
        KR_STEP(work, KR_ERR_HOST_MEMORY);
    return array;
}

void *kr_work_object(kr_work *work, size_t nbytes, const char *what)
{
    return kr_work_array(work, 1, nbytes, what);
}

kr_status kr_work_end(kr_work *work)
{
    kr_work_give_since(work, 0);
    if (work->status != KR_OK)
        kr_users_mark(work->device, work->stream); /* what was enqueued before the failure */
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

static void sort_in(kr_work *work, const kr_sort *sort, const kr_sort *largest)
{
    kr_device *device = work->device;
    const uint64_t nbytes = kr_device_sort_temp(device, largest);
    void *temp = kr_work_take(work, nbytes, "scratch memory of a sort");
    if (sort->n)
        KR_STEP(work, device->ops->sort_pairs(device, sort, temp, nbytes,
                                              kr_stream_native(device, work->stream), work->err));
    kr_work_give(work, temp);
}

void kr_work_sort_some(kr_work *work, const kr_sort *sort, uint64_t most)
{
    kr_sort largest = *sort;
    largest.n = most;
    /* Of few bits a larger number may take less than a smaller one, which is moved more often. */
    largest.first_bit = 0;
    largest.end_bit = sort->key_bits;
    sort_in(work, sort, &largest);
}

void kr_work_sort(kr_work *work, const kr_sort *sort)
{
    sort_in(work, sort, sort);
}

void kr_work_sum_in(kr_work *work, uint64_t *values, uint64_t n, void *temp)
{
    kr_device *device = work->device;
    if (n)
        KR_STEP(work, device->ops->exclusive_sum(device, values, n, temp, kr_device_scan_temp(device, n),
                                                 kr_stream_native(device, work->stream), work->err));
}

void kr_work_sum(kr_work *work, uint64_t *values, uint64_t n)
{
    void *temp = kr_work_take(work, kr_device_scan_temp(work->device, n), "scratch memory of a prefix sum");
    kr_work_sum_in(work, values, n, temp);
    kr_work_give(work, temp);
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

void kr_work_finish(kr_work *work)
{
    const kr_status status =
        kr_device_sync(work->device, work->stream, work->status == KR_OK ? work->err : NULL);
    KR_STEP(work, status);
}

void kr_work_read(kr_work *work, void *to, const void *from, uint64_t nbytes)
{
    kr_work_copy(work, to, from, nbytes);
    kr_work_sync(work);
}

void kr_work_peak_begin(kr_work *work, kr_peak *peak)
{
    work->stream = kr_peak_begin(peak, work->device, work->stream);
}

uint64_t kr_work_peak_end(kr_work *work, kr_peak *peak)
{
    work->stream = peak->callers;
    return kr_peak_most(peak);
}

void kr_work_lap(kr_work *work, const char *name)
{
    if (work->status == KR_OK)
        kr_stopwatch_lap(work->watch, name);
}

kr_stopwatch *kr_work_unwatch(kr_work *work)
{
    kr_stopwatch *watch = work->watch;
    work->watch = NULL;
    return watch;
}
