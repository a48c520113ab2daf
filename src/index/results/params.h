/* Parameters of programs that read rows of matches, for index/results/walk_programs.h and what runs them. */
#ifndef KEYRAY_INDEX_RESULTS_PARAMS_H
#define KEYRAY_INDEX_RESULTS_PARAMS_H

#include "index/results/match.h"

/* How matches are divided among threads that reduce them. A few long ones are cut in slices of about the same
 * length, so that all threads are busy. */
typedef struct kr_spread {
    uint32_t slice_bits; /* a match is cut in 2^slice_bits slices */
    uint32_t threads;    /* per slice: a power of two, 1 where groups are single threads */
} kr_spread;

/* Sums and maxima start at 0, minima at the largest value. A sum of 128 bits has its upper word in the upper
 * 63 bits of `any`: 2^32 values of one word do not fill them, and the total of any other reduction stays
 * small. */
typedef struct reduce_total {
    uint64_t bits;
    uint64_t any; /* bit 0: there was a value */
} reduce_total;

enum { REDUCE_ALONE = 16 };
#define REDUCE_ALL_ALONE 0xFFFFFFFFu

typedef struct reduce_params {
    const kr_match *matches;
    const uint32_t *order; /* NULL, or where the answer to match i goes */
    kr_view view;
    const void *values;
    const uint8_t *validity; /* of the values */
    uint64_t validity_offset;
    uint64_t n_values; /* row ids past it have no value */
    void *out;
    uint8_t *any;         /* MIN, MAX: one byte per match */
    reduce_total *totals; /* one for each slice, to be merged; NULL: answers are stored directly */
    kr_spread spread;
    uint32_t type;
    uint32_t op;    /* KR_REDUCE_*, for the merge */
    uint32_t alone; /* slices of at most so many rows are read by their owner alone */
    uint32_t reserved;
} reduce_params;
kr_assert_size(reduce_params, 160);

typedef struct copy_params {
    const kr_match *matches;
    const uint64_t *offsets;
    kr_view view;
    uint32_t *out;
    uint32_t *probes;     /* NULL, or the probe of each row id, for ordering them */
    uint64_t base;        /* the offset of out[0] */
    uint64_t capacity;    /* of out: rows past it are not written */
    uint64_t n;           /* matches, at least 1; there are n + 1 offsets, the first of which is `base` */
    uint32_t skip;        /* rows of each match before the first that is copied */
    uint32_t first_probe; /* the number of match 0, in `probes` */
    uint32_t groups;      /* of threads: each takes an equal part of the matches and rows together, */
    uint32_t least;       /* but at least so many */
} copy_params;
kr_assert_size(copy_params, 136);

/* Entries (key, row) in the order of keys, and the match of each entry's key in an index. */
typedef struct runs_params {
    reduce_params of;     /* matches, view, op, values; `out` has one answer for each row of the index */
    const void *keys;     /* n */
    const uint32_t *rows; /* n: what is added up */
    uint64_t n;
    uint32_t key_bits; /* 32 or 64 */
    uint32_t counts;   /* 1: entries are counted instead */
} runs_params;
kr_assert_size(runs_params, 192);

/* For the programs over all slots. */
typedef struct held_params {
    kr_view view;
    uint64_t *counters; /* KR_HELD_*: raised by `most` */
    uint32_t *bitmap;   /* `mark` sets bit `row id` */
    uint32_t *ids;      /* `list` writes the row ids of all slots side by side */
    uint64_t n;         /* slots; `most` goes over them in runs */
} held_params;
kr_assert_size(held_params, 96);

enum {
    KR_HELD_MOST,  /* one more than the largest row id, 0 when there is none */
    KR_HELD_COUNT, /* slots that hold a row */
    KR_HELD_COUNTERS
};

#endif
