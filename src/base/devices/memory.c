/* Device memory: counted against the cap; copied, filled, pinned; where it lies. */
#include "base/devices/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGNMENT = 256 };

/* ---- Holders -------------------------------------------------------------------------------- */

kr_status kr_holders_join(kr_holders **holders, kr_error *err)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER; /* two threads may make a version at once */
    kr_status status = KR_OK;
    pthread_mutex_lock(&first);
    if (!*holders) {
        *holders = kr_host_calloc(1, sizeof **holders, "a version", err);
        status = *holders ? KR_OK : KR_ERR_HOST_MEMORY;
        if (*holders)
            atomic_store(&(*holders)->n, 1);
    }
    if (*holders)
        atomic_fetch_add(&(*holders)->n, 1);
    pthread_mutex_unlock(&first);
    return status;
}

int kr_holders_leave(kr_holders **holders)
{
    kr_holders *left = *holders;
    *holders = NULL;
    if (left && atomic_fetch_sub(&left->n, 1) > 1)
        return 0;
    free(left);
    return 1;
}

kr_status kr_buffer_share(kr_buffer *buffer, uint64_t used, kr_buffer *shared, kr_error *err)
{
    const int is_shareable = buffer->data && !buffer->is_borrowed;
    const kr_status status = is_shareable ? kr_holders_join(&buffer->holders, err) : KR_OK;
    if (status != KR_OK)
        return status;
    uint64_t seen = is_shareable ? atomic_load(&buffer->holders->used) : UINT64_MAX;
    while (seen < used && !atomic_compare_exchange_weak(&buffer->holders->used, &seen, used))
        ;
    *shared = *buffer;
    return KR_OK;
}

int kr_buffer_extend(kr_buffer *buffer, uint64_t used, uint64_t end)
{
    uint64_t seen = used;
    if (buffer->is_borrowed)
        return 0;
    if (!kr_holders_are_many(buffer->holders)) {
        if (buffer->holders)
            atomic_store(&buffer->holders->used, end);
        return 1;
    }
    return atomic_compare_exchange_strong(&buffer->holders->used, &seen, end);
}

/* ---- Counting ------------------------------------------------------------------------------ */

/* Reserves before anything is allocated, so that two threads cannot pass the cap together. */
static int reserve(kr_device *device, uint64_t nbytes, uint64_t *in_use)
{
    const uint64_t cap = device->options.memory_cap_nbytes ? device->options.memory_cap_nbytes : UINT64_MAX;
    uint64_t used = atomic_load(&device->in_use_nbytes);
    do {
        *in_use = used;
        if (used > cap || nbytes > cap - used)
            return 0;
    } while (!atomic_compare_exchange_weak(&device->in_use_nbytes, &used, used + nbytes));
    return 1;
}

static void raise(_Atomic uint64_t *most, uint64_t held)
{
    uint64_t seen = atomic_load(most);
    while (seen < held && !atomic_compare_exchange_weak(most, &seen, held))
        ;
}

kr_stream *kr_peak_begin(kr_peak *peak, kr_device *device, kr_stream *stream)
{
    *peak = (kr_peak){
        .stream = {.device = device,
                   .native = kr_stream_native(device, stream),
                   .peak = peak,
                   .lane = stream ? stream->lane : device->own.lane},
        .callers = stream,
    };
    return &peak->stream;
}

uint64_t kr_peak_most(kr_peak *peak)
{
    return (uint64_t)atomic_load(&peak->most);
}

static void count(const kr_stream *stream, int64_t nbytes)
{
    for (; stream && stream->peak; stream = stream->peak->callers) {
        kr_peak *peak = stream->peak;
        const int64_t held = atomic_fetch_add(&peak->held, nbytes) + nbytes;
        int64_t seen = atomic_load(&peak->most);
        while (seen < held && !atomic_compare_exchange_weak(&peak->most, &seen, held))
            ;
    }
}

/* Memory that was reserved is there, `in_use` bytes before it. */
static void count_taken(kr_device *device, const kr_stream *stream, uint64_t in_use, uint64_t nbytes)
{
    raise(&device->peak_nbytes, in_use + nbytes);
    count(stream, (int64_t)nbytes);
}

static void count_given(kr_device *device, const kr_stream *stream, uint64_t nbytes)
{
    atomic_fetch_sub(&device->in_use_nbytes, nbytes);
    count(stream, -(int64_t)nbytes);
}

int kr_device_charge(kr_device *device, const kr_stream *stream, int64_t nbytes)
{
    uint64_t in_use;
    if (nbytes <= 0)
        count_given(device, stream, (uint64_t)-nbytes);
    else if (reserve(device, (uint64_t)nbytes, &in_use))
        count_taken(device, stream, in_use, (uint64_t)nbytes);
    else
        return 0;
    return 1;
}

uint64_t kr_device_left(kr_device *device)
{
    const uint64_t cap = device->options.memory_cap_nbytes, used = atomic_load(&device->in_use_nbytes);
    const uint64_t below = !cap ? UINT64_MAX : cap > used ? cap - used : 0;
    kr_device_info info = {0};
    uint64_t left = UINT64_MAX;
    if (device->ops->available)
        left = device->ops->available(device);
    else if (device->ops->query(device, &info, NULL) == KR_OK)
        left = info.memory_nbytes > used ? info.memory_nbytes - used : 0;
    return below < left ? below : left;
}

static kr_status no_memory(kr_device *device, uint64_t nbytes, uint64_t in_use, const char *what,
                           const char *help, const kr_error *cause, kr_error *err)
{
    const uint64_t cap = device->options.memory_cap_nbytes;
    kr_device_info info = {0};
    char limit[192] = "";
    if (cause)
        snprintf(limit, sizeof limit, "%.180s", cause->text);
    else if (cap)
        snprintf(limit, sizeof limit, "memory_cap_nbytes is %llu%s", (unsigned long long)cap,
                 device->has_default_cap ? ", what was available when the device opened" : "");
    else if (device->ops->query(device, &info, NULL) == KR_OK)
        snprintf(limit, sizeof limit, "the device has %llu in all", (unsigned long long)info.memory_nbytes);
    return kr_fail_call(err, KR_ERR_DEVICE_MEMORY, cause ? cause->vendor_call : "",
                        cause ? cause->vendor_code : 0,
                        "not enough memory on %s for %s: %llu bytes needed, %llu in use by keyray, %s; %s",
                        device->name, what, (unsigned long long)nbytes, (unsigned long long)in_use, limit,
                        help  ? help
                        : cap ? "release some or raise the cap"
                              : "release some or use a device with more");
}

/* ---- Allocation ---------------------------------------------------------------------------- */

static void *take(kr_device *device, uint64_t nbytes, void *native, kr_error *err)
{
    const kr_device_options *options = &device->options;
    if (!options->allocate)
        return device->ops->allocate(device, nbytes, native, err);
    void *memory = options->allocate(options->allocator_ctx, (size_t)nbytes, native);
    if (memory && (uintptr_t)memory % ALIGNMENT) {
        options->release(options->allocator_ctx, memory, (size_t)nbytes, native);
        kr_fail(err, KR_ERR_ARGUMENT, "the caller's allocator gave memory that is not aligned to %d bytes",
                ALIGNMENT);
        return NULL;
    }
    if (!memory)
        kr_fail_call(err, KR_ERR_DEVICE_MEMORY, "kr_device_options.allocate", 0,
                     "the caller's allocator returned NULL");
    return memory;
}

kr_status kr_buffer_allocate(kr_device *device, uint64_t nbytes, kr_stream *stream, const char *what,
                             const char *help, kr_buffer *buffer, kr_error *err)
{
    uint64_t in_use;
    kr_error cause = {0};
    if (nbytes == 0) {
        *buffer = (kr_buffer){0};
        return KR_OK;
    }
    if (nbytes > SIZE_MAX / 2 || !reserve(device, nbytes, &in_use))
        return no_memory(device, nbytes, atomic_load(&device->in_use_nbytes), what, help, NULL, err);
    void *memory = take(device, nbytes, kr_stream_native(device, stream), &cause);
    if (!memory) {
        atomic_fetch_sub(&device->in_use_nbytes, nbytes);
        if (cause.status == KR_ERR_DEVICE_MEMORY)
            return no_memory(device, nbytes, in_use, what, help, &cause, err);
        if (err)
            *err = cause;
        return cause.status;
    }
    count_taken(device, stream, in_use, nbytes);
    *buffer = (kr_buffer){memory, nbytes};
    return KR_OK;
}

void kr_buffer_give_back(kr_device *device, kr_buffer *buffer, kr_stream *stream)
{
    const kr_device_options *options = &device->options;
    void *native = kr_stream_native(device, stream);
    if (!kr_holders_leave(&buffer->holders)) {
        *buffer = (kr_buffer){0};
        return;
    }
    if (options->release)
        options->release(options->allocator_ctx, buffer->data, (size_t)buffer->nbytes, native);
    else
        device->ops->release(device, buffer->data, buffer->nbytes, native);
    count_given(device, stream, buffer->nbytes);
    *buffer = (kr_buffer){0};
}

kr_status kr_memory_allocate(kr_device *device, uint64_t nbytes, kr_stream *stream, void **memory,
                             kr_error *err)
{
    kr_buffer buffer;
    kr_status status = kr_stream_check(device, stream, "kr_memory_allocate", err);
    if (status)
        return status;
    if (!memory)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_memory_allocate: memory is NULL");
    status = kr_buffer_allocate(device, nbytes, stream, "kr_memory_allocate", NULL, &buffer, err);
    if (!status)
        *memory = buffer.data;
    return status;
}

void kr_memory_release(kr_device *device, void *memory, uint64_t nbytes, kr_stream *stream)
{
    kr_buffer buffer = {memory, nbytes};
    if (device)
        kr_buffer_release(device, &buffer, stream);
}

/* ---- Copies and places ---------------------------------------------------------------------- */

kr_status kr_device_copy(kr_device *device, void *to, const void *from, uint64_t nbytes, kr_stream *stream,
                         kr_error *err)
{
    if (nbytes == 0)
        return KR_OK;
    return device->ops->copy(device, to, from, nbytes, kr_stream_native(device, stream), err);
}

kr_status kr_memory_copy(kr_device *device, void *to, const void *from, uint64_t nbytes, kr_stream *stream,
                         kr_error *err)
{
    kr_status status = kr_stream_check_device(device, stream, "kr_memory_copy", err);
    if (status || nbytes == 0)
        return status;
    if (!to || !from)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_memory_copy: %s is NULL", to ? "from" : "to");
    status = kr_device_copy(device, to, from, nbytes, stream, err);
    if (!status && !(kr_device_reaches(device, to) && kr_device_reaches(device, from)))
        status = kr_device_sync(device, stream, err);
    return status;
}

kr_status kr_device_fill(kr_device *device, void *to, int byte, uint64_t nbytes, kr_stream *stream,
                         kr_error *err)
{
    if (nbytes == 0)
        return KR_OK;
    return device->ops->fill(device, to, byte, nbytes, kr_stream_native(device, stream), err);
}

int kr_device_reaches(kr_device *device, const void *pointer)
{
    return device->ops->is_host || device->ops->place(device, pointer) == KR_PLACE_HERE;
}

int kr_device_pins(kr_device *device, const void *memory, uint64_t nbytes)
{
    const char *last = (const char *)memory + (nbytes ? nbytes - 1 : 0);
    return !device->ops->is_host && device->ops->place(device, memory) == KR_PLACE_PINNED &&
           device->ops->place(device, last) == KR_PLACE_PINNED;
}

kr_status kr_memory_pin(kr_device *device, void *memory, uint64_t nbytes, kr_error *err)
{
    if (!device || (!memory && nbytes))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_memory_pin: %s is NULL", device ? "memory" : "device");
    if (!nbytes || !device->ops->pin || device->ops->place(device, memory) == KR_PLACE_PINNED)
        return KR_OK;
    if (device->ops->place(device, memory) != KR_PLACE_HOST)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_memory_pin: this is device memory; only host memory is pinned");
    return device->ops->pin(device, memory, nbytes, err);
}

void kr_memory_unpin(kr_device *device, void *memory)
{
    if (device && memory && device->ops->unpin)
        device->ops->unpin(device, memory);
}

kr_status kr_pointer_check(kr_device *device, const void *pointer, const char *what, int *reaches,
                           kr_error *err)
{
    const kr_place place =
        !pointer || device->ops->is_host ? KR_PLACE_HERE : device->ops->place(device, pointer);
    if (reaches && place != KR_PLACE_HERE)
        *reaches = 0;
    if (place != KR_PLACE_ELSEWHERE)
        return KR_OK;
    return kr_fail(err, KR_ERR_ARGUMENT,
                   "%s: memory of another device than %s; copy it there or to the host first", what,
                   device->name);
}
