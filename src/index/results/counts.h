/* How many rows matches have. */
#ifndef KEYRAY_INDEX_RESULTS_COUNTS_H
#define KEYRAY_INDEX_RESULTS_COUNTS_H

#include "base/devices/work.h"
#include "index/results/match.h"

/* out[i] := the rows of match i. Enqueues. */
void kr_counts_of(kr_work *work, const kr_match *matches, uint64_t n, uint64_t *out);
/* flags[i] := 1 if match i has rows, else 0. Enqueues. */
void kr_counts_flag(kr_work *work, const kr_match *matches, uint64_t n, uint8_t *flags);

#endif
