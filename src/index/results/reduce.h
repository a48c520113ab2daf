/* Sums, minima, maxima and smallest rows of matches. */
#ifndef KEYRAY_INDEX_RESULTS_REDUCE_H
#define KEYRAY_INDEX_RESULTS_REDUCE_H

#include "base/devices/work.h"
#include "index/results/params.h"

/* Many matches: one thread for each. Few: whole groups, and several slices for each. */
kr_spread kr_reduce_spread_of(const kr_device *device, uint64_t n_matches);

/* Floats have no wide sum; `what` names the values in the error. */
kr_status kr_reduce_wide_sum_check(kr_type type, const char *what, kr_error *err);

/* What an answer of so many bytes is aligned to: a wide sum is two words. */
static inline uint64_t kr_answer_alignment(uint64_t nbytes)
{
    return nbytes < sizeof(uint64_t) ? nbytes : sizeof(uint64_t);
}

typedef struct kr_reduction {
    reduce_params params;
    const kr_program *program;
} kr_reduction;

/* The reduction of rows to `result` (ROW, SUM_ROWS, SUM, SUM_WIDE, MIN or MAX). `values`, where the result
 * needs them, are in device memory. */
kr_reduction kr_reduce_of(const kr_rows *rows, kr_result result, const kr_column *values);

/* out[order[i]] (order NULL: out[i]) := the answer to match i. For MIN and MAX, the same place of `any` is 1
 * where there was a value, else 0. Enqueues. */
void kr_reduce(kr_work *work, const kr_reduction *reduction, const kr_match *matches, const uint32_t *order,
               uint64_t n, void *out, uint8_t *any);

#endif
