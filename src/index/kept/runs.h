/* A column as sorted runs in host memory: what a divided index is made of. Each run has the entries (code,
 * row id) of a chunk of the column, which the device has sorted; so a column may be larger than the device.
 * Parts take them in the order of keys, and memory that all parts have taken is given back. */
#ifndef KEYRAY_INDEX_KEPT_RUNS_H
#define KEYRAY_INDEX_KEPT_RUNS_H

#include "index/kinds/family.h"

/* Entries of a block of memory: their codes, then their row ids. */
enum { RUNS_BLOCK = 1 << 20 };

typedef struct runs_one {
    uint64_t n, next; /* entries; the first that no part has taken */
    kr_buffer *blocks;
} runs_one;

typedef struct runs {
    kr_device *host; /* has the memory */
    uint32_t key_nbytes;
    uint32_t n_runs, room;
    runs_one *all;
    uint64_t n;        /* entries of all */
    uint32_t is_given; /* 1: row ids are the caller's */
    kr_row_ends ends;  /* then */
} runs;

/* Sorts the column of a build, which may lie anywhere. runs_release is due in any case. */
void runs_make(kr_work *work, const kr_build *build, kr_device *host, runs *r);
void runs_release(runs *r);

/* Upper bound of the device memory that runs_make takes. */
uint64_t runs_need(const kr_shape *shape);

/* Entry i of a run. */
uint64_t runs_code(const runs *r, const runs_one *run, uint64_t i);
/* The first entry of the run from `next` on with a code of at least `code`. */
uint64_t runs_find(const runs *r, const runs_one *run, uint64_t code);

/* Copies the entries of all runs from `next` up to ends[run] to device memory, one run after the other. Until
 * runs_forget the copies may be on their way. */
void runs_copy(kr_work *work, const runs *r, const uint64_t *ends, void *codes, uint32_t *rows);
/* These entries are taken: gives back blocks that nobody needs any more. */
void runs_forget(runs *r, const uint64_t *ends);

#endif
