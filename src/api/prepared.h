/* What prepared lookups and scans share: scratch memory, one run at a time, captures. */
#ifndef KEYRAY_API_PREPARED_H
#define KEYRAY_API_PREPARED_H

#include "devices/arena.h"

#include <keyray/prepared.h>

/* `work` is the prepared call; its first member is what is run. */
typedef struct kr_prepared_ops {
    /* Before a run: what it was prepared for is still there, and the stream suits. */
    kr_status (*check)(const void *work, kr_stream *stream, kr_error *err);
    /* Enqueues; waits for nothing. */
    kr_status (*enqueue)(void *work, kr_stream *stream, kr_error *err);
    /* 1: every run enqueues the same, so it can be recorded. */
    int (*is_recordable)(const void *work);
    /* All work of the device is done. Frees `work`, too. */
    void (*close)(void *work);
} kr_prepared_ops;

/* Runs `work` once to see what scratch memory it takes, and once more if there are constants to copy. Where
 * the device records, runs then replay a recording. Takes `work`, also when it fails. Blocks. */
kr_status kr_prepared_make(kr_device *device, const kr_prepared_ops *ops, void *work, kr_prepared **prepared,
                           kr_error *err);

#endif
