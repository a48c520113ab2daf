/* The programs of reduce.c and their parameters, for the files that run them. */
#ifndef KEYRAY_CORE_REDUCE_H
#define KEYRAY_CORE_REDUCE_H

#include "core/batch.h"
#include "program/program.h"

typedef struct reduce_params {
    const kr_span *spans;
    kr_rows_view rows;
    const void *values;
    const uint8_t *validity; /* of the values */
    uint64_t validity_offset;
    uint64_t n_values; /* row ids past it have no value */
    void *out;
    uint8_t *any; /* MIN, MAX: one byte a probe */
    uint32_t type, reserved;
} reduce_params;
kr_assert_size(reduce_params, 80);

typedef struct rows_params {
    const kr_span *spans;
    uint64_t *offsets;
    kr_rows_view rows;
    uint32_t *out;
    uint32_t *probes;  /* NULL, or the probe of each row id, for ordering them */
    uint64_t base;     /* the offset that out[0] stands for */
    uint64_t capacity; /* of out: what lies past it is not written */
} rows_params;
kr_assert_size(rows_params, 64);

typedef struct pack_params {
    const uint8_t *flags;
    uint8_t *bitmap;
    uint64_t n;
} pack_params;

KR_PROGRAM_DECLARE(reduce_min_row);
KR_PROGRAM_DECLARE(reduce_sum_rows);
KR_PROGRAM_DECLARE(reduce_sum_integers);
KR_PROGRAM_DECLARE(reduce_sum_floats);
KR_PROGRAM_DECLARE(reduce_min);
KR_PROGRAM_DECLARE(reduce_max);
KR_PROGRAM_DECLARE(reduce_rows_length);
KR_PROGRAM_DECLARE(reduce_rows_copy);
KR_PROGRAM_DECLARE(reduce_pack_flags);

#endif
