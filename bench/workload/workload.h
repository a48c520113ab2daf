/* What the generators share. It uses only the public header, so that the command can use it beside a shared
 * library that hides the rest. */
#ifndef KEYRAY_BENCH_WORKLOAD_H
#define KEYRAY_BENCH_WORKLOAD_H

#include "bench/bench.h"
#include "bench/workload/random.h"

/* Writes one line to `err` when there is one, and returns `status`. */
kr_status kr_workload_fail(kr_error *err, kr_status status, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* n elements, not zeroed; never NULL for n = 0. `what` names the use. */
void *kr_workload_alloc(uint64_t n, uint64_t each, const char *what, kr_error *err);

/* ---- Integer columns ----------------------------------------------------------------------- */

/* How a column of integers or dates maps to unsigned numbers in the same order. */
typedef struct kr_ints {
    uint32_t nbytes;
    uint64_t flip; /* the sign bit of signed types */
    uint64_t last; /* the greatest number */
} kr_ints;

/* Refuses types that are not integers or dates, missing data and too many keys. */
kr_status kr_ints_open(kr_type type, uint64_t n_keys, const void *keys, kr_ints *ints, kr_error *err);

static inline uint64_t kr_ints_get(kr_ints ints, const void *data, uint64_t i)
{
    switch (ints.nbytes) {
    case 1: return ((const uint8_t *)data)[i] ^ ints.flip;
    case 2: return ((const uint16_t *)data)[i] ^ ints.flip;
    case 4: return ((const uint32_t *)data)[i] ^ ints.flip;
    default: return ((const uint64_t *)data)[i] ^ ints.flip;
    }
}

static inline void kr_ints_put(kr_ints ints, void *data, uint64_t i, uint64_t value)
{
    switch (ints.nbytes) {
    case 1: ((uint8_t *)data)[i] = (uint8_t)(value ^ ints.flip); break;
    case 2: ((uint16_t *)data)[i] = (uint16_t)(value ^ ints.flip); break;
    case 4: ((uint32_t *)data)[i] = (uint32_t)(value ^ ints.flip); break;
    default: ((uint64_t *)data)[i] = value ^ ints.flip;
    }
}

/* ---- Sorting ------------------------------------------------------------------------------- */

/* A stable radix sort of integers with optional row ids, its memory taken beforehand so that a
 * generator can no longer fail once it writes. */
typedef struct kr_sorter {
    kr_ints ints;
    uint64_t sorts; /* how many are put in order: half of them, or all */
    uint32_t order; /* kr_probe_order; RANDOM leaves everything as it is and takes no memory */
    uint32_t parts;
    void *data;
    uint32_t *rows;
    uint64_t (*digits)[256];
} kr_sorter;

kr_status kr_sorter_open(uint32_t order, kr_ints ints, uint64_t count, uint32_t with_rows, uint32_t threads,
                         kr_sorter *sorter, kr_error *err);
void kr_sorter_run(const kr_sorter *sorter, void *data, uint32_t *rows);
void kr_sorter_close(kr_sorter *sorter);

/* ---- Values that are not keys -------------------------------------------------------------- */

/* The values absent from a column, numbered from 0 in ascending order: those outside of the keys' value
 * range, or those in the gaps inside it. */
typedef struct kr_absent {
    uint64_t count;
    uint64_t low, high; /* least and greatest key */
    uint64_t n;         /* distinct keys; 0: outside */
    void *sorted;       /* distinct keys, ascending */
    uint32_t *start;    /* per bucket of absent values: the last key with no more absent values below */
    uint32_t shift;     /* number of an absent value to its bucket */
    kr_ints ints;
} kr_absent;

kr_status kr_absent_open(uint32_t outside, kr_ints ints, uint64_t n_keys, const void *keys, uint32_t threads,
                         kr_absent *absent, kr_error *err);
uint64_t kr_absent_value(const kr_absent *absent, uint64_t i);
void kr_absent_close(kr_absent *absent);

/* ---- Zipf ---------------------------------------------------------------------------------- */

/* The Zipf distribution over ranks 1 .. n. Ranks below 2^11 have a slot each; above, every octave has
 * 2^10 slots of equal width, and the ranks of one slot are equally likely. */
typedef struct kr_zipf {
    uint64_t n, total;
    uint32_t last_slot;
    uint64_t *below; /* per slot: the weight of it and of all before it, out of `total` */
} kr_zipf;

kr_status kr_zipf_open(uint32_t hundredths, uint64_t n, kr_zipf *zipf, kr_error *err);
/* The rank, from 0, that two random numbers name. */
uint64_t kr_zipf_rank(const kr_zipf *zipf, uint64_t random, uint64_t within);
void kr_zipf_close(kr_zipf *zipf);

#endif
