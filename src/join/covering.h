/* Range joins of which the ranges are indexed: for each left key, the right ranges that hold it. The inverse
 * mapping of ranges, which the thesis on joins by ray tracing leaves open (section 6).
 *
 * Ranges are sorted by their lower bounds, and an index of these says how many are not above a key. Those
 * ranges are read downwards. `reach`, the largest upper bound up to each, says when to stop: ranges that do
 * not overlap take two reads. `largest`, a tree of 32 children per node over the upper bounds, skips ranges
 * that end below the key, so that one range that holds all others costs O(log n) reads per key, not n. Where
 * many ranges lie under a key, the rest of them is read in slices, each by another thread. */
#ifndef KEYRAY_JOIN_COVERING_H
#define KEYRAY_JOIN_COVERING_H

#include "index/lookup/query.h"
#include "index/sorted/sorted.h"
#include "join/covering_view.h"

typedef struct kr_covering {
    kr_type type; /* KR_U32 or KR_U64: of all codes */
    kr_sorted sorted;
    kr_covering_view view;
    kr_index *index;          /* of the sorted lower bounds */
    void *keys;               /* of the left side: codes */
    uint32_t *ranks;          /* how many lower bounds are not above each */
    uint64_t *offsets;        /* n_left + 1: how many ranges hold the keys before each */
    uint32_t *rests;          /* ranges of a key that slices read */
    uint64_t *slices, *found; /* the first slice of a key; pairs before each slice */
    uint64_t n_left, n_right; /* keys; ranges as they were given */
    uint64_t n_slices;
    int several; /* some key lies in several ranges */
} kr_covering;

/* Indexes the ranges `lower` to `upper`, both in device memory. What is made is scratch memory of the work,
 * but for c->index: destroy it in any case. */
void kr_covering_build(kr_work *work, const kr_spec *spec, const kr_column *lower, const kr_column *upper,
                       kr_covering *c);
/* A query over the left side, in device memory, for kr_covering_find. */
void kr_covering_query(kr_work *work, kr_covering *c, const kr_column *left, kr_query *query);
/* Fills c->offsets; with `first` at most one range of a key counts. Returns how many pairs there are. Blocks.
 */
uint64_t kr_covering_find(kr_work *work, kr_covering *c, const kr_query *query, int first);
/* All pairs, n of them: left rows ascend, and right rows do within each if `ordered`. */
void kr_covering_list(kr_work *work, const kr_covering *c, uint64_t n, int ordered, uint32_t **left,
                      uint32_t **right);

/* Ranges that hold the same values as `low` to `high`, but no value twice: what of each is left beyond those
 * that begin before it. They take the place of the columns, which are in device memory. For lookups that only
 * ask which rows some range holds: they find no row twice. May block. */
void kr_covering_ranges_part(kr_work *work, const kr_spec *spec, kr_column *low, kr_column *high);

#endif
