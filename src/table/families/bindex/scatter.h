/* `refine=scatter`: BinDex as RTScan's authors built it for GPUs (RTScan, section 5.1).
 *
 * The rows of a whole column are kept in the order of their values, their positions. A vector says which rows
 * have values up to a limit. A leaf takes the vector whose limit is nearer to its constant; the positions
 * between the two name the rows that this leaves wrong. Their values are compared, and their bits written
 * wherever in the bitmap they are. See README.md. */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_SCATTER_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_SCATTER_H

#include "table/families/bindex/scatter_params.h"
#include "table/families/vectors/vectors.h"
#include "table/family.h"

typedef struct bindex_scatter_column {
    kr_column column;
    kr_vectors vectors; /* one for each limit; and one of all values if there are NULLs */
    kr_buffer rows;     /* uint32_t: those that are not NULL, in the order of their values */
    uint64_t n_valid;
    uint64_t lowest, highest; /* codes; of no value: 1 and 0 */
    uint64_t *limits;         /* bin b holds the codes above limits[b - 1] and up to limits[b] */
    uint32_t n_limits, has_nulls;
    uint64_t *firsts; /* the code at the first position of each block */
    uint64_t n_blocks;
} bindex_scatter_column;

typedef struct bindex_scatter_table {
    uint64_t n_rows;
    uint32_t n_columns;
    bindex_scatter_column *columns;
    const char *const *names;
} bindex_scatter_table;

extern const kr_scan_ops bindex_scatter_ops;

/* ---- Leaves (scatter_leaf.c) ----------------------------------------------------------------- */

/* Codes low .. high, by which a leaf and its vectors differ, and the blocks that hold them. */
typedef struct bindex_rest {
    uint64_t low, high;
    uint64_t first_block, end_block;
} bindex_rest;

typedef struct bindex_scattered {
    /* Rows for which an odd number of these vectors, and of `inverts`, has a 1. */
    uint32_t vectors[BINDEX_SCATTER_VECTORS];
    uint32_t n_vectors, inverts;
    bindex_rest *rests;
    uint64_t n_rests, room_rests;
    uint64_t n_positions, n_launches; /* of all rests */
} bindex_scattered;

/* A leaf that compares two columns has no vectors and no rests: all rows are left to compare. */
kr_status bindex_scatter_leaf(const bindex_scatter_column *column, const kr_leaf *leaf,
                              bindex_scattered *made, kr_error *err);
void bindex_scattered_release(bindex_scattered *made);
/* The rows of a block. */
static inline uint64_t bindex_block_rows(const bindex_scatter_column *column, uint64_t block)
{
    const uint64_t left = column->n_valid - block * BINDEX_SCATTER_BLOCK;
    return left < BINDEX_SCATTER_BLOCK ? left : BINDEX_SCATTER_BLOCK;
}

/* ---- Answers (scatter_select.c) -------------------------------------------------------------- */

void bindex_scatter_select(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes);
void bindex_scatter_explain(const void *self, const kr_select *job, char *text, size_t nbytes);

extern const kr_program bindex_scatter_firsts, bindex_scatter_check_rows, bindex_scatter_check,
    bindex_scatter_words, bindex_scatter_refine, bindex_scatter_compare;

#endif
