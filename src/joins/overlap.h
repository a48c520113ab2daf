/* Joins of intervals that overlap. */
#ifndef KEYRAY_JOINS_OVERLAP_H
#define KEYRAY_JOINS_OVERLAP_H

#include "joins/pairs.h"

/* A checked join. */
typedef struct kr_overlap_job {
    kr_device *device;
    const char *spec;
    const kr_column *left[2], *right[2]; /* starts and ends */
    int open;                            /* 1: intervals that only touch do not overlap */
    kr_join_type type;
    int unordered;
} kr_overlap_job;

/* Fills join->left, right and info. Blocks. */
kr_status kr_overlap_run(const kr_overlap_job *job, kr_join *join, kr_error *err);

/* Hands over all pairs in chunks of at most cap_nbytes, 8 per pair; `chunk` NULL: only counts. Blocks. */
kr_status kr_overlap_chunks(const kr_overlap_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx,
                            uint64_t *pairs, kr_error *err);

/* ---- What overlap.c and overlap_chunks.c share --------------------------------------------------- */

/* One side in device memory, as codes of u32 or u64: closed intervals, whatever the caller's are. */
typedef struct overlap_side {
    uint64_t n;
    kr_type type;
    kr_buffer starts,
        bounds[2];      /* those that are indexed; the ranges of starts that the other side is asked for */
    kr_buffer ends;     /* of the right side, if they are asked for */
    kr_buffer validity; /* of starts and ends: rows whose interval is not empty */
    kr_column bound[2], start, end;
} overlap_side;

/* Pairs of an overlap have a left start in the right interval (0), or a right start in the left interval, but
 * not at its start (1). So each pair is found once, by one of two lookups of ranges. */
typedef struct overlap {
    const kr_overlap_job *job;
    kr_device *device;
    kr_spec spec;
    overlap_side sides[2]; /* left, right */
    kr_index *indexes[2];  /* of the starts of the left side (0), of the right side (1) */
    kr_query queries[2];   /* ranges of the other side */
    kr_matches matches[2];
    uint64_t found[2]; /* pairs of each */
    kr_stopwatch watch;
} overlap;

/* Makes codes of both sides; overlap_close is due in any case. */
kr_status overlap_open(overlap *o, const kr_overlap_job *job, int with_ends, kr_error *err);
/* Finds the matches of both queries. Blocks. */
kr_status overlap_find(overlap *o, kr_error *err);
void overlap_close(overlap *o);
#endif
