/* Files under construction: each is written to a temporary file beside its target. */
#ifndef KEYRAY_IO_OUTPUT_H
#define KEYRAY_IO_OUTPUT_H

#include "io/io.h"

struct kr_target {
    struct kr_target *next;
    int fd;          /* of the temporary file while it is written, else -1 */
    char *path;      /* of the target, links followed */
    char *temporary; /* beside it; NULL: not there, or renamed */
    char *backup;    /* while files are renamed: the old target under another name; NULL: there was none */
    int renamed;
    uint64_t nbytes, position; /* to be written in all, and so far */
    const kr_progress *progress;
    char name[KR_IO_SHOWN_NBYTES]; /* for errors */
};

/* Begins a file of nbytes. */
kr_status kr_target_begin(kr_output *output, const char *path, uint64_t nbytes, const kr_progress *progress,
                          struct kr_target **target, kr_error *err);
kr_status kr_target_put(struct kr_target *target, const void *data, uint64_t nbytes, kr_error *err);
/* All is put. */
kr_status kr_target_end(struct kr_target *target, kr_error *err);

/* What adding a file ended with; returns `status`. Once one failed, the output cannot be committed. */
kr_status kr_output_added(kr_output *output, const char *path, kr_status status);

#endif
