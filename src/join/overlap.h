/* Joins of intervals that overlap. */
#ifndef KEYRAY_JOIN_OVERLAP_H
#define KEYRAY_JOIN_OVERLAP_H

#include "join/groups.h"

/* A checked join. */
typedef struct kr_overlap_job {
    const char *spec;
    const kr_column *left[2], *right[2]; /* starts and ends */
    int open;                            /* 1: intervals that only touch do not overlap */
    kr_join_type type;
    int unordered;
} kr_overlap_job;

/* Fills join->left, right and info. Blocks. */
void kr_overlap_run(kr_work *work, const kr_overlap_job *job, kr_join *join);

/* The same of rows that must be equal in groups, too. */
void kr_overlap_grouped_run(kr_work *work, const kr_overlap_job *job, const kr_join_groups *groups,
                            kr_join *join);

/* Hands over all pairs in chunks of at most cap_nbytes, 8 per pair; `chunk` NULL: only counts. Returns how
 * many there are. Blocks. */
uint64_t kr_overlap_chunks(kr_work *work, const kr_overlap_job *job, uint64_t cap_nbytes,
                           kr_pairs_chunk chunk, void *ctx);

/* ---- What overlap.c and overlap_chunks.c share --------------------------------------------------- */

/* One side in device memory, as codes of u32 or u64: closed intervals, whatever the caller's are. */
typedef struct overlap_side {
    uint64_t n;
    kr_type type;
    void *starts,
        *bounds[2];    /* those that are indexed; the ranges of starts that the other side is asked for */
    void *ends;        /* of the right side, if they are asked for */
    uint8_t *validity; /* of starts and ends: rows whose interval is not empty */
    kr_column bound[2], start, end;
} overlap_side;

/* Pairs of an overlap have a left start in the right interval (0), or a right start in the left interval, but
 * not at its start (1). So each pair is found once, by one of two lookups of ranges. */
typedef struct overlap {
    kr_work *work;
    const kr_overlap_job *job;
    kr_spec spec;
    overlap_side sides[2]; /* left, right */
    kr_index *indexes[2];  /* of the starts of the left side (0), of the right side (1) */
    kr_query queries[2];   /* ranges of the other side */
    kr_matches matches[2];
    uint64_t found[2]; /* pairs of each */
} overlap;

/* Makes codes of both sides, in scratch memory; overlap_close is due in any case. */
overlap overlap_open(kr_work *work, const kr_overlap_job *job, int with_ends);
/* Finds the matches of both queries. Blocks. */
void overlap_find(overlap *o);
void overlap_close(overlap *o);
#endif
