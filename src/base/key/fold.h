/* Several columns become one key, the first in its highest bits, so that keys are in the order of the
 * columns.
 *
 * Each column gives a number: its code less the lowest one, or how many of a sorted list of codes are below
 * it. Either keeps the order of values. */
#ifndef KEYRAY_BASE_KEY_FOLD_H
#define KEYRAY_BASE_KEY_FOLD_H

#include "base/devices/work.h"
#include "base/key/fold_params.h"

/* The values of a column in device memory; the rest of the part is the caller's. */
static inline kr_fold_part kr_fold_part_of(const kr_column *column)
{
    return (kr_fold_part){.data = column->data,
                          .validity = column->validity,
                          .validity_offset = column->validity_offset,
                          .type = column->type};
}

/* Bits that hold 0 .. largest. */
static inline uint32_t kr_fold_bits(uint64_t largest)
{
    uint32_t bits = 0;
    for (; largest; largest >>= 1)
        ++bits;
    return bits;
}

/* ends[0], ends[1] := the complement of the lowest code, and the highest code, merged with what they were: of
 * counters that began at 0. NULLs have no code. Enqueues. */
void kr_fold_extent(kr_work *work, const kr_column *column, uint64_t *ends);

/* Makes the keys of n rows. Enqueues. */
void kr_fold_run(kr_work *work, const kr_fold_job *job, uint64_t n);

/* *falls becomes the position of a code that is less than the one before it, and 1; or stays 0. Enqueues. */
void kr_fold_check_ranks(kr_work *work, const uint64_t *ranks, uint64_t n, uint64_t *falls);

#endif
