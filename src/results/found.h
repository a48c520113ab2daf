/* Answers of a ROW lookup, as lists of those probes that found a row, or of those that did not. */
#ifndef KEYRAY_RESULTS_FOUND_H
#define KEYRAY_RESULTS_FOUND_H

#include "devices/device.h"

typedef struct kr_found {
    kr_buffer probes; /* uint32_t[n], ascending, or in the order of `names` */
    kr_buffer rows;   /* uint32_t[n]: their answers; empty where they are not asked for */
    uint64_t n;
} kr_found;

typedef struct kr_found_job {
    kr_device *device;
    kr_stream *stream;
    kr_buffer *answers; /* uint32_t[n]; moved to `rows` if all probes are listed, so that nothing is copied */
    kr_buffer *names; /* NULL: answer i is of probe i; or uint32_t[n], which probe it is of; moved likewise */
    uint64_t n;       /* below KR_NO_ROW */
    uint32_t wanted;  /* 1: probes whose answer is a row; 0: those whose answer is KR_NO_ROW */
    uint32_t with_rows;
    const char *help; /* what saves memory */
} kr_found_job;

/* Blocks. On failure nothing is left but the answers. */
kr_status kr_found_list(const kr_found_job *job, kr_found *found, kr_error *err);
/* numbers[i] := i for i < n; enqueues. */
kr_status kr_number(kr_device *device, uint32_t *numbers, uint64_t n, kr_stream *stream, kr_error *err);

#endif
