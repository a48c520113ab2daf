/* The programs of reduce.c and their parameters, for the files that run them. */
#ifndef KEYRAY_CORE_REDUCE_H
#define KEYRAY_CORE_REDUCE_H

#include "core/batch.h"
#include "program/program.h"

/* Sums start at 0, minima and maxima of codes at the other end. Float sums keep a double's bits. */
typedef struct reduce_total {
    uint64_t bits;
    uint64_t any;
} reduce_total;

enum {
    REDUCE_MIN_ROW,
    REDUCE_SUM_ROWS,
    REDUCE_SUM_INTEGERS,
    REDUCE_SUM_FLOATS,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_OPS
};

enum { REDUCE_ALONE = 16 };
#define REDUCE_ALL_ALONE 0xFFFFFFFFu

/* Where the entries of a span are. Each way has programs of its own, so that no kind pays for another's. */
enum {
    REDUCE_PLAIN,  /* position p is slot p */
    REDUCE_PLACED, /* kr_lists_slot says which */
    REDUCE_LEVELS, /* in a search tree, whose levels are read one after another (core/eytzinger.h) */
    REDUCE_WALKS
};

typedef struct reduce_params {
    const kr_span *spans;
    const uint32_t *order; /* NULL, or where the answer to span i goes */
    kr_rows_view rows;
    const void *values;
    const uint8_t *validity; /* of the values */
    uint64_t validity_offset;
    uint64_t n_values; /* row ids past it have no value */
    void *out;
    uint8_t *any;         /* MIN, MAX: one byte a probe */
    reduce_total *totals; /* one a span, to be merged; NULL: answers are stored at once */
    uint32_t type;
    uint32_t op;     /* for the merge */
    uint32_t slices; /* spans of one probe, for the merge */
    uint32_t spread; /* threads per span: a power of two, 1 where groups are single threads */
    uint32_t alone;  /* spans of at most so many entries are walked by the thread that owns them */
    uint32_t reserved;
} reduce_params;
kr_assert_size(reduce_params, 168);

/* Cuts each span in `slices` of about the same length, so that few long ones keep all threads busy. */
typedef struct slice_params {
    const kr_span *spans;
    const uint64_t *offsets; /* ROWS: of the spans, or NULL */
    kr_span *slice_spans;
    uint64_t *slice_offsets;
    uint32_t slices, reserved;
} slice_params;
kr_assert_size(slice_params, 40);

typedef struct rows_params {
    const kr_span *spans;
    uint64_t *offsets;
    kr_rows_view rows;
    uint32_t *out;
    uint32_t *probes;  /* NULL, or the probe of each row id, for ordering them */
    uint64_t base;     /* the offset that out[0] stands for */
    uint64_t capacity; /* of out: what lies past it is not written */
    uint32_t slices;   /* spans of one probe */
    uint32_t spread;   /* as above */
} rows_params;
kr_assert_size(rows_params, 128);

typedef struct pack_params {
    const uint8_t *flags;
    uint8_t *bitmap;
    uint64_t n;
} pack_params;

/* name, name_placed, name_levels: in the order of the walks. */
#define REDUCE_PROGRAMS_DECLARE(name)  \
    KR_PROGRAM_DECLARE(name);          \
    KR_PROGRAM_DECLARE(name##_placed); \
    KR_PROGRAM_DECLARE(name##_levels)

REDUCE_PROGRAMS_DECLARE(reduce_min_row);
REDUCE_PROGRAMS_DECLARE(reduce_sum_rows);
REDUCE_PROGRAMS_DECLARE(reduce_sum_integers);
REDUCE_PROGRAMS_DECLARE(reduce_sum_floats);
REDUCE_PROGRAMS_DECLARE(reduce_min);
REDUCE_PROGRAMS_DECLARE(reduce_max);
KR_PROGRAM_DECLARE(reduce_merge_slices);
KR_PROGRAM_DECLARE(reduce_slice);
KR_PROGRAM_DECLARE(reduce_rows_length);
KR_PROGRAM_DECLARE(reduce_rows_copy);
KR_PROGRAM_DECLARE(reduce_pack_flags);

#endif
