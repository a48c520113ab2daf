/* What the programs of a merge see (index/sorted/merge_programs.h). */
#ifndef KEYRAY_INDEX_SORTED_MERGE_PARAMS_H
#define KEYRAY_INDEX_SORTED_MERGE_PARAMS_H

#include "base/program/block.h"
#include "index/sorted/entries.h"

enum {
    KR_MERGE_TILE = 8192, /* places merged by a block at a time; below 2^16 */
    KR_MERGE_WORDS = KR_MERGE_TILE / 32 + 1,
    KR_MERGE_STRIDE = 64, /* neighbours in the batch that share bounds */
    KR_MERGE_SHARED = 3 * KR_MERGE_WORDS * 4
};

/* A key among the deletes that the entries have. */
typedef struct kr_merge_hit {
    uint32_t at;      /* position of its first entry */
    uint32_t removed; /* entries deleted before */
} kr_merge_hit;

/* The place where a tile begins: what lies before it. */
typedef struct kr_merge_split {
    uint32_t inserts, removed;
    uint32_t hits; /* whose last entry lies before it */
} kr_merge_split;

/* What the host reads: the smallest and the largest key of the result, and the last of `removed`. */
enum { KR_MERGE_FOUND_LOWEST, KR_MERGE_FOUND_HIGHEST, KR_MERGE_FOUND_REMOVED, KR_MERGE_FOUND };

/* Positions count old entries in key order. Places count old entries and inserts, merged, the deleted ones
 * included: insert j has place insert_at[j] + j. */
typedef struct kr_merge_params {
    kr_entries old, merged; /* each in slots as its family wants them */
    const kr_key *deletes, *inserts;
    const uint32_t *insert_rows;
    uint32_t *delete_at; /* position of the first entry whose key is not below that of delete i */
    uint64_t *removed;   /* of delete i: entries, and << 32 whether any; then sums of the deletes before */
    kr_merge_hit *hits;  /* and one behind the last */
    uint32_t *insert_at; /* old entries before insert j */
    uint32_t *bounds;    /* kr_merge_bounds of the deletes, then of the inserts; NULL: none */
    kr_merge_split *splits;
    uint64_t *found; /* KR_MERGE_FOUND */
    uint32_t n_deletes, n_inserts;
    uint32_t n_tiles;
    uint32_t run;     /* neighbours in the batch that one thread searches for, each from the one before */
    uint32_t by_bits; /* 1, for tests: a CPU merges as a GPU does */
    uint32_t reserved;
} kr_merge_params;
kr_assert_size(kr_merge_params, 168);

typedef struct kr_sorted_merge_params {
    kr_merge_params merge;
    kr_blocks blocks;
} kr_sorted_merge_params;
kr_assert_size(kr_sorted_merge_params, 176);

/* Bounds of n deletes or inserts. */
KR_BOTH uint64_t kr_merge_bounds(uint64_t n)
{
    return (n + KR_MERGE_STRIDE - 1) / KR_MERGE_STRIDE + 1;
}

KR_BOTH uint64_t kr_merge_places(const kr_merge_params *p)
{
    return (uint64_t)p->old.n + p->n_inserts;
}

#endif
