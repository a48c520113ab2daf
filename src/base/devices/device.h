/* The device contract: what a back end (cpu/, cuda/) provides, and the calls that the rest of keyray uses.
 *
 * Back ends fill a kr_device_ops. The functions below it (device.c, memory.c) count memory against the cap,
 * find the device's own stream and call the table: use them to allocate, copy, sort and run. For events,
 * pinned memory and recordings, call the table directly. */
#ifndef KEYRAY_BASE_DEVICES_DEVICE_H
#define KEYRAY_BASE_DEVICES_DEVICE_H

#include "base/program/program.h"
#include "base/util/error.h"

#include <stdatomic.h>

/* Sorts n pairs by bits first_bit .. end_bit - 1 of the key, stably. Input is left as it is; outputs do not
 * overlap it. rows_in NULL means 0, 1, 2, ... */
typedef struct kr_sort {
    uint32_t key_bits; /* 32 or 64 */
    uint32_t first_bit, end_bit;
    uint64_t n;
    const void *keys_in;
    void *keys_out;
    const uint32_t *rows_in;
    uint32_t *rows_out;
} kr_sort;

/* Where a pointer points: programs on the device can use HERE, copies reach all but ELSEWHERE. PINNED is host
 * memory from which copies need no buffer. */
typedef enum kr_place { KR_PLACE_HOST, KR_PLACE_PINNED, KR_PLACE_HERE, KR_PLACE_ELSEWHERE } kr_place;

struct kr_stream {
    kr_device *device;
    void *native;         /* cudaStream_t; NULL on the CPU */
    uint32_t owned;       /* 1: native is destroyed with it */
    struct kr_peak *peak; /* where memory counts, too; NULL: only on the device */
    struct kr_lane *lane; /* by which objects know that it has work of theirs (users.h); or NULL */
};

typedef struct kr_device_ops {
    /* 1: device memory is host memory, every call is done when it returns, copies to it are never needed. */
    uint32_t is_host;
    /* Threads of a group (base/program/program.h): a warp's, or 1 where blocks are single threads, too. */
    uint32_t group_threads;

    void (*close)(kr_device *device);
    /* Runs `work` on this thread with the device current, for libraries that need that (OptiX). */
    kr_status (*within)(kr_device *device, kr_status (*work)(void *ctx, kr_error *err), void *ctx,
                        kr_error *err);
    /* Waits for all streams of the device. */
    void (*drain)(kr_device *device);
    kr_status (*query)(kr_device *device, kr_device_info *info, kr_error *err);

    /* Plain memory, 256-byte aligned; the caller counts. NULL when there is none (err is then filled). */
    void *(*allocate)(kr_device *device, uint64_t nbytes, void *stream, kr_error *err);
    void (*release)(kr_device *device, void *memory, uint64_t nbytes, void *stream);
    /* Pinned host memory, from which copies are fastest. */
    void *(*stage)(kr_device *device, uint64_t nbytes, kr_error *err);
    void (*unstage)(kr_device *device, void *memory);
    /* Optional: bytes that `allocate` can give now, those that it keeps for later included. */
    uint64_t (*available)(kr_device *device);
    /* Optional: pins memory of the caller, and ends that. */
    kr_status (*pin)(kr_device *device, void *memory, uint64_t nbytes, kr_error *err);
    void (*unpin)(kr_device *device, void *memory);
    kr_place (*place)(kr_device *device, const void *pointer);

    /* Enqueue; pinned host memory must stay valid until the stream is done, other host memory is read before
     * the call returns (CUDA stages it). */
    kr_status (*copy)(kr_device *device, void *to, const void *from, uint64_t nbytes, void *stream,
                      kr_error *err);
    kr_status (*fill)(kr_device *device, void *to, int byte, uint64_t nbytes, void *stream, kr_error *err);

    kr_status (*stream_create)(kr_device *device, void **stream, kr_error *err);
    void (*stream_destroy)(kr_device *device, void *stream);
    kr_status (*stream_sync)(kr_device *device, void *stream, kr_error *err);
    kr_status (*event_create)(kr_device *device, void **event, kr_error *err);
    void (*event_destroy)(kr_device *device, void *event);
    kr_status (*event_record)(kr_device *device, void *event, void *stream, kr_error *err);
    kr_status (*event_sync)(kr_device *device, void *event, kr_error *err);               /* the host waits */
    kr_status (*event_wait)(kr_device *device, void *event, void *stream, kr_error *err); /* stream waits */
    /* Optional: 1 if the work before the event is done; 1 if the stream is being captured in a graph. */
    int (*event_done)(kr_device *device, void *event);
    int (*is_capturing)(kr_device *device, void *stream);
    /* Optional, for devices that are not the host: an event that keeps its time, recorded; NULL if there is
     * none. Then the seconds between two of them, when both are done. event_destroy releases them. */
    void *(*stamp)(kr_device *device, void *stream);
    double (*stamp_seconds)(kr_device *device, void *from, void *to);

    /* Optional: work that is done often. From record_begin to record_end what this thread enqueues on the
     * stream is kept and not done; drains of other threads wait meanwhile, one of this thread never ends.
     * replay then enqueues all of it on any stream; a replay begins when the one before it has ended.
     * record_end is due after each record_begin that succeeded; recording NULL forgets what was kept. */
    kr_status (*record_begin)(kr_device *device, void *stream, kr_error *err);
    kr_status (*record_end)(kr_device *device, void *stream, void **recording, kr_error *err);
    kr_status (*replay)(kr_device *device, void *recording, void *stream, kr_error *err);
    void (*recording_destroy)(kr_device *device, void *recording);

    /* *_temp_nbytes: upper bounds of the scratch memory of sort_pairs and exclusive_sum. */
    uint64_t (*sort_temp_nbytes)(kr_device *device, const kr_sort *sort);
    kr_status (*sort_pairs)(kr_device *device, const kr_sort *sort, void *temp, uint64_t temp_nbytes,
                            void *stream, kr_error *err);
    uint64_t (*scan_temp_nbytes)(kr_device *device, uint64_t n);
    /* values[i] := sum of the values before i, in place */
    kr_status (*exclusive_sum)(kr_device *device, uint64_t *values, uint64_t n, void *temp,
                               uint64_t temp_nbytes, void *stream, kr_error *err);

    int (*can_run)(kr_device *device, const kr_program *program);
    kr_status (*run)(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                     void *stream, kr_error *err);
} kr_device_ops;

/* For tests of indexes of keep=host (index/kept). All 0 for programs. */
typedef struct kr_keeping {
    uint32_t divides;      /* 1: they are divided on this device, also if its memory is host memory */
    uint64_t part_rows;    /* rows of a part, about; 0: as the memory wants */
    uint64_t probe_nbytes; /* a probe that the CPU answers costs as much as the travel of so many bytes; 0: as
                              was measured */
} kr_keeping;

/* The common head of every back end's device structure. */
struct kr_device {
    const kr_device_ops *ops;
    char name[16];
    kr_device_options options; /* a full copy; memory_cap_nbytes 0: no cap */
    uint32_t has_default_cap;  /* 1: the caller named none */
    uint32_t block_nbytes;     /* shared memory that a block program may have (base/program/block.h) */
    kr_keeping keeping;
    kr_stream own; /* the device's own stream */
    _Atomic uint64_t in_use_nbytes, peak_nbytes;
    struct kr_tracer *_Atomic tracer; /* what casts rays here, made on first use: base/tracers/tracer.h */
    void (*tracer_close)(struct kr_tracer *tracer); /* called before the device closes */
};

/* One row per back end, in order of listing; `auto` takes the last one that has a device. */
typedef struct kr_backend {
    const char *name;                                   /* "cpu", "cuda": a device name is this, or this:N */
    uint32_t numbered;                                  /* 1: takes :N */
    kr_status (*count)(uint32_t *count, kr_error *err); /* devices there; err says why there are none */
    kr_status (*describe)(uint32_t number, kr_device_info *info, kr_error *err);
    kr_status (*open)(uint32_t number, const kr_device_options *options, kr_device **device, kr_error *err);
    uint64_t (*cap)(void); /* optional: memory_cap_nbytes where the caller names none */
} kr_backend;

extern const kr_backend kr_backend_cpu;
extern const kr_backend kr_backend_cuda;

/* ---- What the rest of keyray calls; `stream` NULL is the device's own ---------------------- */

void *kr_stream_native(kr_device *device, kr_stream *stream);

/* Memory with its size, so that releasing cannot get it wrong. All zero: no memory. */
typedef struct kr_buffer {
    void *data;
    uint64_t nbytes;
    uint32_t is_borrowed;       /* 1: memory of a mapped file, read-only: neither counted nor freed */
    struct kr_holders *holders; /* of memory that versions share; NULL: it was never shared */
} kr_buffer;

/* KR_ERR_ARGUMENT for no device or a stream of another; `call` names the function. */
kr_status kr_stream_check_device(kr_device *device, kr_stream *stream, const char *call, kr_error *err);
/* That, and KR_ERR_UNSUPPORTED as below. */
kr_status kr_stream_check(kr_device *device, kr_stream *stream, const char *call, kr_error *err);
/* KR_ERR_UNSUPPORTED if the stream is being captured in a graph, before that is broken. `what` cannot be. */
kr_status kr_stream_refuse_capture(kr_device *device, kr_stream *stream, const char *what, kr_error *err);

/* `what` names the use in the error; `help` says how to save memory here, or is NULL. */
kr_status kr_buffer_allocate(kr_device *device, uint64_t nbytes, kr_stream *stream, const char *what,
                             const char *help, kr_buffer *buffer, kr_error *err);
void kr_buffer_give_back(kr_device *device, kr_buffer *buffer, kr_stream *stream);
/* Also of no memory, which most calls that release have. */
static inline void kr_buffer_release(kr_device *owner, kr_buffer *buffer, kr_stream *stream)
{
    if (buffer->is_borrowed)
        *buffer = (kr_buffer){0};
    else if (buffer->data)
        kr_buffer_give_back(owner, buffer, stream);
}

/* Several objects may hold something together, which none of them changes: the last to let go releases it. */
typedef struct kr_holders {
    _Atomic uint32_t n;
    _Atomic uint32_t is_over; /* of the life of an object: 1 when it has ended */
    _Atomic uint64_t used;    /* of memory: bytes from its start that a holder has written, or is about to */
} kr_holders;
/* One more holder of what *holders counts, which is made with the first call. Threads may share at the same
 * time; who lets go has no other holder's object. */
kr_status kr_holders_join(kr_holders **holders, kr_error *err);
/* 1: it was the last one, which now has it alone and must release it; *holders becomes NULL. */
int kr_holders_leave(kr_holders **holders);
/* Of the life of an object, which what was made of it holds, too: it ends, it is over. */
static inline void kr_holders_end(kr_holders **life)
{
    if (*life)
        atomic_store(&(*life)->is_over, 1);
    (void)kr_holders_leave(life);
}
static inline int kr_holders_are_over(const kr_holders *life)
{
    return life && atomic_load(&((kr_holders *)life)->is_over);
}

/* 1: others hold it, too. */
static inline int kr_holders_are_many(const kr_holders *holders)
{
    return holders && atomic_load(&((kr_holders *)holders)->n) > 1;
}

/* *shared becomes another handle of the same memory; both are released. `used` bytes of it are written. */
kr_status kr_buffer_share(kr_buffer *buffer, uint64_t used, kr_buffer *shared, kr_error *err);
/* 1: the caller may write behind the first `used` bytes, up to `end`: no other holder has done so. */
int kr_buffer_extend(kr_buffer *buffer, uint64_t used, uint64_t end);

/* What one call takes of a device, so that a build can tell its own peak, whatever other calls do there
 * meanwhile. It has a second handle of the caller's stream, which the call hands on instead. What is taken
 * and given back through that handle counts here, and in the peak of the caller's handle if that has one.
 * Must not be moved while the call lasts. The fields belong to memory.c and work.c. */
typedef struct kr_peak {
    kr_stream stream;
    kr_stream *callers;         /* may be NULL: the device's own */
    _Atomic int64_t held, most; /* a library's threads count here, too */
} kr_peak;
/* Returns the handle that counts, of the same stream as `stream`. */
kr_stream *kr_peak_begin(kr_peak *peak, kr_device *device, kr_stream *stream);
/* The most bytes held at once since it began, more than then. */
uint64_t kr_peak_most(kr_peak *peak);

/* Counts memory that a library takes (nbytes > 0) or gives back (< 0) on the device's behalf, for a call on
 * that stream. Returns 0 if the cap does not allow it; giving back always succeeds. */
int kr_device_charge(kr_device *device, const kr_stream *stream, int64_t nbytes);

/* Bytes that the device can still give, below its cap and of its memory. Others take some, too. */
uint64_t kr_device_left(kr_device *device);

void kr_device_drain(kr_device *device);
kr_status kr_device_copy(kr_device *device, void *to, const void *from, uint64_t nbytes, kr_stream *stream,
                         kr_error *err);
kr_status kr_device_fill(kr_device *device, void *to, int byte, uint64_t nbytes, kr_stream *stream,
                         kr_error *err);
int kr_device_reaches(kr_device *device, const void *pointer); /* HERE */
/* Copies may read or write n bytes of host memory without a buffer of ours. */
int kr_device_pins(kr_device *device, const void *memory, uint64_t nbytes);
/* KR_ERR_ARGUMENT for memory of another device; `what` names the pointer. *reaches, unless NULL: stays as it
 * is if the pointer is NULL or the device reaches it, else becomes 0. */
kr_status kr_pointer_check(kr_device *device, const void *pointer, const char *what, int *reaches,
                           kr_error *err);
kr_status kr_device_run(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                        kr_stream *stream, kr_error *err);
/* The same, but no progress callback can cancel it: what it overwrites would be left half done. */
kr_status kr_device_run_whole(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                              kr_stream *stream, kr_error *err);
/* Before a step over n elements: calls the progress callback if there are 2^22 or more, where the step is
 * done and not only enqueued. `fraction` as in kr_progress. */
kr_status kr_device_report(const kr_device *device, const char *phase, uint64_t n, double fraction,
                           kr_error *err);
/* Scratch memory of kr_work_sort and kr_work_sum (base/devices/work.h), for estimates. */
uint64_t kr_device_sort_temp(kr_device *device, const kr_sort *sort);
uint64_t kr_device_scan_temp(kr_device *device, uint64_t n);
/* kr_device_query and kr_device_describe without what tracers add. */
kr_status kr_device_read(kr_device *device, kr_device_info *info, kr_error *err);
kr_status kr_device_read_listed(uint32_t ordinal, kr_device_info *info, kr_error *err);

#endif
