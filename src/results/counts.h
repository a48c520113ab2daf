/* How many rows matches have. */
#ifndef KEYRAY_RESULTS_COUNTS_H
#define KEYRAY_RESULTS_COUNTS_H

#include "devices/device.h"
#include "results/match.h"

/* out[i] := the rows of match i. Enqueues. */
kr_status kr_counts_of(kr_device *device, const kr_match *matches, uint64_t n, uint64_t *out,
                       kr_stream *stream, kr_error *err);
/* flags[i] := 1 if match i has rows, else 0. Enqueues. */
kr_status kr_counts_flag(kr_device *device, const kr_match *matches, uint64_t n, uint8_t *flags,
                         kr_stream *stream, kr_error *err);

#endif
