/* How bounds are found: layers of slices, as in a Masstree.
 *
 * A run is a range of codes whose texts all begin with the same `depth` bytes and are longer than `skip`
 * bytes, up to which those who come here have compared. Its slices are the eight bytes from `depth` on. Where
 * more than LAYERS_FEW texts of a run have the same slice, those of them that end within it come first, in
 * the order of their lengths; the others are a run of their own, whose `depth` may lie far behind. So a
 * search reads each byte that texts share once, and what texts do not share in steps of eight. */
#ifndef KEYRAY_INDEX_TEXTS_LAYERS_H
#define KEYRAY_INDEX_TEXTS_LAYERS_H

#include "index/texts/strings.h"

/* Nodes of the levels above slices have so many of them: a cache line. */
enum { KR_TEXTS_LEVEL_BITS = 3, KR_TEXTS_LEVELS = 11 };

/* Which codes a bound counts: of the texts below the probe, of those and the probe, of those and all that
 * begin with it; none, all. */
enum { KR_COUNT_BELOW, KR_COUNT_UP_TO, KR_COUNT_PREFIXED, KR_COUNT_NONE, KR_COUNT_ALL };

/* So many texts with the same slice are compared one after the other. */
enum { LAYERS_FEW = 4 };

typedef struct texts_run {
    uint64_t depth, skip;
    uint64_t slices;     /* the place of its first slice */
    uint64_t parent;     /* the place of the first slice that led here; of the first run UINT64_MAX */
    uint32_t first, end; /* its codes */
} texts_run;
kr_assert_size(texts_run, 40);

/* Of 64 slices: which of them have a run, and how many of the slices before them. The run of the r-th slice
 * that has one is r + 1. */
typedef struct texts_mark {
    uint64_t bits, before;
} texts_mark;
kr_assert_size(texts_mark, 16);

#endif
