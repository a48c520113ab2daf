/* Data sieving (RTScan, section 4.3): what filter vectors know of a leaf, and which cells are left.
 *
 * Limits cut the codes of a column in bins. The kept bins are those that lie in the leaf, and with selection
 * both also those of which more than half does. Their rows are the exclusive or of vectors, as each vector
 * includes the one before. What is left are the cells by which the leaf and the kept bins differ. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_SIEVE_H
#define KEYRAY_TABLE_FAMILIES_CUBES_SIEVE_H

#include "table/condition/plan.h"
#include "table/families/cubes/cells.h"

enum { CUBES_BINS_MOST = 254 };

/* A column, and what was built of it. */
typedef struct cubes_column {
    kr_column column;
    cubes_cells cells;
    kr_vectors vectors; /* one for each limit; and one of all values if there are NULLs */
    uint64_t *limits;   /* bin b holds the codes above limits[b - 1] and up to limits[b] */
    uint32_t n_limits;
    cubes_span *bins; /* the cells of each */
} cubes_column;

/* Cells by which the leaf and the kept bins differ. */
typedef struct cubes_rest {
    cubes_span span;
    uint32_t is_kept; /* 1: in a kept bin, but not in the leaf */
} cubes_rest;

typedef struct cubes_sieved {
    /* Rows of kept bins: those where an odd number of these vectors, and of `inverts`, has a 1. */
    uint16_t vectors[CUBES_BINS_MOST + 2];
    uint32_t n_vectors, inverts;
    /* The cells between the first and the last of the leaf, of the kept bins, and of what is in both. */
    cubes_span leaf, kept, both;
    cubes_rest *rests;
    uint64_t n_rests, room_rests;
} cubes_sieved;

/* Fills `bins`, which the caller frees. */
kr_status cubes_find_bins(cubes_column *column, kr_error *err);
/* Rests that are at most `gap` cells apart become one. `selects_both`: selection=both. */
kr_status cubes_sieve(const cubes_column *column, const kr_leaf *leaf, int selects_both, uint32_t gap,
                      cubes_sieved *sieved, kr_error *err);
void cubes_sieved_release(cubes_sieved *sieved);

#endif
