/* Work on a device, step by step: where it runs, what it has taken, and whether a step has failed. Steps
 * after one that failed do nothing, so a function reads as if none did; its caller asks for the status once,
 * at the end.
 *
 *     kr_work work = kr_work_on(device, stream, err);
 *     uint32_t *order = kr_work_take(&work, n * sizeof *order, "the order of rows");
 *     kr_work_run(&work, &sort_of_rows, &(sort_params){order, rows}, n);
 *     return kr_work_end(&work);
 *
 * What a step gives back after a failure is NULL or 0, or its memory is NULL; it must only be handed to
 * further steps. Memory that is taken is scratch memory: the end gives it back, the last first, unless it was
 * kept. Of one thread. */
#ifndef KEYRAY_BASE_DEVICES_WORK_H
#define KEYRAY_BASE_DEVICES_WORK_H

#include "base/devices/device.h"
#include "base/devices/stopwatch.h"

enum { KR_WORK_TAKEN_MOST = 32 };

typedef struct kr_work {
    kr_device *device;
    kr_stream *stream;      /* NULL: the device's own */
    kr_stopwatch *watch;    /* NULL: phases are not timed */
    struct kr_arena *arena; /* where scratch memory comes from; NULL: the device */
    kr_error *err;          /* NULL: the text is not wanted */
    kr_status status;       /* of the first step that failed */
    uint32_t n_taken;
    kr_buffer taken[KR_WORK_TAKEN_MOST];
} kr_work;

kr_work kr_work_on(kr_device *device, kr_stream *stream, kr_error *err);
/* Another in the same place, whose failures are its own: for what may fail, or has to undo what did. */
kr_work kr_work_beside(const kr_work *work, kr_error *err);
/* A new stream, for other work at the same time; its memory counts where this work's does. The caller
 * destroys it before a peak of this work ends. NULL after a failure. */
kr_stream *kr_work_fork(kr_work *work);

static inline int kr_work_goes_on(const kr_work *work)
{
    return work->status == KR_OK;
}

/* A step that is a call of another function: it is made only if no step has failed. */
#define KR_STEP(work, call)          \
    do {                             \
        if ((work)->status == KR_OK) \
            (work)->status = (call); \
    } while (0)

/* Gives back all that is still taken. */
kr_status kr_work_end(kr_work *work);

/* Memory; `what` names its use in the error, and `help` says how the caller can save it. NULL also for 0
 * bytes. */
void *kr_work_take(kr_work *work, uint64_t nbytes, const char *what);
void *kr_work_take_or(kr_work *work, uint64_t nbytes, const char *what, const char *help);
/* The same with its size; `help` may be NULL. */
kr_buffer kr_work_buffer(kr_work *work, uint64_t nbytes, const char *what, const char *help);
/* For a copy of constants that lie in host memory: of what the call was given, not of what columns hold. They
 * are written once, and prepared work keeps them (base/devices/arena.h). */
void *kr_work_take_constants(kr_work *work, uint64_t nbytes, const char *what, const char *help);
/* Enqueues the copy; the caller may free `host` afterwards. */
void kr_work_write_constants(kr_work *work, void *constants, const void *host, uint64_t nbytes);
/* n counters that programs add to, all 0. */
uint64_t *kr_work_counters(kr_work *work, uint32_t n);
/* A place in memory that a step took: NULL if it took none. */
#define KR_PLACE_IN(memory, i) ((memory) ? (memory) + (i) : NULL)
/* Memory that is no longer needed; NULL does nothing. */
void kr_work_give(kr_work *work, const void *memory);
/* For a function that takes scratch memory of its caller's work: what was taken since the mark, and not kept,
 * is given back. In between it gives back nothing that is older. */
uint32_t kr_work_mark(const kr_work *work);
void kr_work_give_since(kr_work *work, uint32_t mark);
/* Memory that outlives the work, if no step has failed; else none, and the end gives it back. So what a
 * function makes is scratch memory until the function that began the work keeps it. */
kr_buffer kr_work_keep(kr_work *work, const void *memory);

/* Zeroed host memory that the caller frees, also after a failure; NULL if there was none, or one before. */
void *kr_work_object(kr_work *work, size_t nbytes, const char *what);
/* The same for n elements, which the error counts. */
void *kr_work_array(kr_work *work, uint64_t n, size_t each, const char *what);

/* Enqueue. */
void kr_work_run(kr_work *work, const kr_program *program, const void *params, uint64_t n);
/* No progress callback can cancel it: what it overwrites would be left half done. */
void kr_work_run_whole(kr_work *work, const kr_program *program, const void *params, uint64_t n);
void kr_work_sort(kr_work *work, const kr_sort *sort);
/* With scratch memory for `most` pairs (n or more), for work that takes the same each time. */
void kr_work_sort_some(kr_work *work, const kr_sort *sort, uint64_t most);
/* values[i] := sum of the values before i. */
void kr_work_sum(kr_work *work, uint64_t *values, uint64_t n);
/* The same in scratch memory of kr_device_scan_temp bytes, so that it cannot run out of memory. */
void kr_work_sum_in(kr_work *work, uint64_t *values, uint64_t n, void *temp);
void kr_work_copy(kr_work *work, void *to, const void *from, uint64_t nbytes);
void kr_work_fill(kr_work *work, void *to, int byte, uint64_t nbytes);

/* Block. */
void kr_work_sync(kr_work *work);
/* Also after a failure: for memory of the caller's that nothing may use any more. */
void kr_work_finish(kr_work *work);
void kr_work_read(kr_work *work, void *to, const void *from, uint64_t nbytes);

/* What the work takes in between counts in the peak; the end returns the most bytes that it held at once. */
void kr_work_peak_begin(kr_work *work, kr_peak *peak);
uint64_t kr_work_peak_end(kr_work *work, kr_peak *peak);

/* The time since the last lap belongs to phase `name`. A step: on a stream that was refused, since it is
 * being captured, a lap would break the capture. */
void kr_work_lap(kr_work *work, const char *name);
/* Laps do nothing until the watch, which it returns, is set again: for steps whose phases are part of the
 * caller's. */
kr_stopwatch *kr_work_unwatch(kr_work *work);

#endif
