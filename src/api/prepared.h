/* What prepared lookups and scans share: scratch memory, one run at a time, captures. */
#ifndef KEYRAY_API_PREPARED_H
#define KEYRAY_API_PREPARED_H

#include "base/devices/arena.h"
#include "base/devices/work.h"

#include <keyray/prepared.h>

/* Of `call`, what was prepared. */
typedef struct kr_prepared_ops {
    /* Before a run: what it was prepared for is still there, and the stream suits. */
    kr_status (*check)(const void *call, kr_stream *stream, kr_error *err);
    /* Enqueues; waits for nothing. */
    void (*enqueue)(kr_work *work, void *call);
    /* 1: every run enqueues the same, so it can be recorded. */
    int (*is_recordable)(const void *call);
    /* All runs are done. Frees `call`, too. */
    void (*close)(void *call);
    /* Binds the call to an index or a table that is like its own, or changes nothing. Blocks. */
    kr_status (*rebind)(void *call, void *target, kr_error *err);
    /* Of a call that is bound to another target now, or will be again: lets go of the one it has. */
    void (*let_go)(const void *call);
    size_t nbytes;    /* of a call, which may be put aside byte by byte */
    const char *what; /* "a lookup": what is prepared */
    const char *call; /* that binds it anew */
} kr_prepared_ops;

/* Runs `call` once to see what scratch memory it takes, and once more if there are constants to copy. Where
 * the device records, runs then replay a recording. Takes `call`, also when it fails. Blocks. */
kr_status kr_prepared_make(kr_device *device, const kr_prepared_ops *ops, void *call, kr_prepared **prepared,
                           kr_error *err);
/* Binds such work to another target, or changes nothing. Blocks. */
kr_status kr_prepared_bind(kr_prepared *prepared, const kr_prepared_ops *ops, void *target, kr_error *err);

#endif
