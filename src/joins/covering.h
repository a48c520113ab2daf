/* Range joins of which the ranges are indexed: for each left key, the right ranges that hold it. The inverse
 * mapping of ranges, which the thesis on joins by ray tracing leaves open (section 6).
 *
 * Ranges are sorted by their lower bounds, and an index of these says how many are not above a key. Those
 * ranges are read downwards. `reach`, the largest upper bound up to each, says when to stop: ranges that do
 * not overlap take two reads. `largest`, a tree of 32 children per node over the upper bounds, skips ranges
 * that end below the key, so that one range that holds all others costs O(log n) reads per key, not n. Where
 * many ranges lie under a key, the rest of them is read in slices, each by another thread. */
#ifndef KEYRAY_JOINS_COVERING_H
#define KEYRAY_JOINS_COVERING_H

#include "joins/covering_view.h"
#include "lookup/query.h"
#include "sorted/sorted.h"

typedef struct kr_covering {
    kr_device *device;
    kr_stream *stream; /* of the build */
    kr_type type;      /* KR_U32 or KR_U64: of all codes */
    kr_sorted sorted;
    kr_buffer largest, reach;
    kr_covering_view view;
    kr_index *index;                /* of the sorted lower bounds */
    kr_buffer keys, ranks;          /* of the left side: codes; how many lower bounds are not above each */
    kr_buffer rests, slices, found; /* ranges of a key that slices read; its first slice; pairs before each */
    uint64_t n_slices;
    uint64_t n_right; /* ranges as they were given */
    int several;      /* some key lies in several ranges */
} kr_covering;

/* Indexes the ranges `lower` to `upper`, both in device memory. kr_covering_release is due in any case. */
kr_status kr_covering_build(kr_covering *c, const kr_spec *spec, const kr_column *lower,
                            const kr_column *upper, kr_stopwatch *watch, kr_error *err);
/* A query over the left side, in device memory, for kr_covering_find. */
kr_status kr_covering_query(kr_covering *c, const kr_column *left, kr_stopwatch *watch, kr_query *query,
                            kr_error *err);
/* offsets: n + 1, how many ranges hold the keys before each; with `first` at most one per key. Blocks. */
kr_status kr_covering_find(kr_covering *c, const kr_query *query, int first, kr_buffer *offsets,
                           kr_error *err);
/* All pairs: left rows ascend, and right rows do within each if `ordered`. Allocates both. */
kr_status kr_covering_list(const kr_covering *c, const kr_query *query, const kr_buffer *offsets, uint64_t n,
                           int ordered, kr_buffer *left, kr_buffer *right, kr_error *err);
void kr_covering_release(kr_covering *c);

/* Ranges that hold the same values as `low` to `high`, but no value twice: what of each is left beyond those
 * that begin before it. They take the place of the columns, which are in device memory. For lookups that only
 * ask which rows some range holds: they find no row twice. May block. */
kr_status kr_ranges_part(kr_device *device, const kr_spec *spec, kr_stream *stream, kr_resident *low,
                         kr_resident *high, kr_error *err);

#endif
