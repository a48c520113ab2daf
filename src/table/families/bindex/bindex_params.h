/* What the programs of kind `bindex` see of a part of a table (bindex.h). */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_PARAMS_H

#include "base/program/block.h"
#include "table/condition/fold.h"

enum {
    BINDEX_TILE = 65536, /* rows; a row of a tile is named by 16 bits */
    BINDEX_WORDS = BINDEX_TILE / 32,
    BINDEX_CELLS = 4096,   /* at most, a power of two */
    BINDEX_VECTORS = 256,  /* at most; one of them says which rows are not NULL */
    BINDEX_LEAVES = 8,     /* answered in one pass */
    BINDEX_RUNS = 1024,    /* of all leaves of a pass */
    BINDEX_LEAF_RUNS = 256 /* of one leaf */
};

/* A column of a part. Vector v says which rows lie in cells before ends[v]. */
typedef struct bindex_view {
    const void *data; /* of the part's first row */
    const uint8_t *validity;
    const uint64_t *codes; /* of cells: the first that belongs to it; codes[0] is 0 */
    const uint32_t *ends;
    uint32_t *vectors;   /* [n_vectors][n_tiles][words] */
    uint32_t *starts;    /* [n_cells + 1][n_tiles]: rows of the tile in cells before it; then all of them */
    uint16_t *positions; /* [n_tiles][32 * words]: rows of the tile that are not NULL, by their cells */
    uint64_t validity_offset, n;
    uint32_t type, n_cells, n_vectors, words;
    uint64_t n_tiles;
} bindex_view;
kr_assert_size(bindex_view, 96);

/* ---- Selecting ------------------------------------------------------------------------------- */

/* The XOR of its vectors, turned over where `invert` is all ones, holds for the rows of a leaf but for those
 * that its runs turn over. */
typedef struct bindex_leaf {
    const uint32_t *vectors;
    const uint32_t *vector; /* the first of the leaf's, or NULL */
    const uint32_t *starts;
    const uint16_t *positions;
    const void *data;
    uint32_t type, invert;
    uint32_t first_more, end_more; /* in the list of vectors: the others */
    /* Instead of all that: `data` is compared with this column of the same type. */
    const void *other; /* or NULL */
    const uint8_t *validity, *other_validity;
    uint64_t validity_offset, other_offset;
    uint32_t compare, reserved;
} bindex_leaf;
kr_assert_size(bindex_leaf, 104);

/* Cells whose rows are turned over: all, or those for which the number of edges up to the code is odd; with
 * `even`, it is even. Edges first_edge .. end_edge - 1 are codes, ascending. */
typedef struct bindex_run {
    uint32_t first_cell, end_cell;
    uint32_t first_edge, end_edge;
    uint32_t leaf, even;
} bindex_run;
kr_assert_size(bindex_run, 24);

enum { BINDEX_INLINE = 32 };

typedef struct bindex_params {
    bindex_leaf leaves[BINDEX_LEAVES];
    /* Lists of more than BINDEX_INLINE elements are in device memory; NULL: here, below. */
    const bindex_run *more_runs;
    const uint64_t *more_edges;
    const uint32_t *more_vectors;
    const uint32_t *alive; /* or NULL; of the part's first word, as `bitmap` */
    uint32_t *bitmap;      /* NULL: rows are counted */
    uint64_t *count; /* or NULL: rows of the first `counted` words are added; others are of the next part */
    uint64_t counted;
    uint64_t n, n_tiles; /* rows of the part, tiles */
    uint64_t edges[BINDEX_INLINE];
    bindex_run runs[BINDEX_INLINE];
    uint32_t vectors[BINDEX_INLINE];
    uint32_t n_leaves, n_runs;
    uint32_t words; /* of a tile of a vector */
    uint32_t reserved;
    kr_blocks blocks;
} bindex_params;
kr_assert_size(bindex_params, 832 + 72 + 256 + 768 + 128 + 24);

/* One of the plans of a batch. Folds make of its planes one, in order: plane `to` becomes the AND or the OR
 * of `to` and `from`; `root` is then the result. Without folds it is the AND of all planes. */
typedef struct bindex_job {
    bindex_params params;
    uint32_t folds[BINDEX_LEAVES]; /* kr_plan_fold_of */
    uint32_t n_folds, root;
} bindex_job;
kr_assert_size(bindex_job, 2120);

/* A job in the shared memory of a block; planes behind it begin at 16 bytes. */
enum { BINDEX_JOB_NBYTES = 2128 };

typedef struct bindex_batch_params {
    const bindex_job *jobs; /* NULL: `only` */
    uint64_t n_jobs;
    bindex_job only;
    kr_blocks blocks;
} bindex_batch_params;
kr_assert_size(bindex_batch_params, 2144);

/* ---- Making and checking --------------------------------------------------------------------- */

typedef struct bindex_sample_params {
    const void *data;
    const uint8_t *validity;
    uint64_t *codes; /* of `count` rows; of a NULL the highest that there is */
    uint64_t *nulls; /* how many of them are NULL */
    uint64_t validity_offset, n, count;
    uint32_t type, reserved;
} bindex_sample_params;
kr_assert_size(bindex_sample_params, 64);

typedef struct bindex_pick_params {
    const uint64_t *codes; /* sorted; those of NULLs last */
    const uint64_t *nulls;
    uint64_t *picked;
    uint64_t count, n_picked;
} bindex_pick_params;
kr_assert_size(bindex_pick_params, 40);

enum { BINDEX_FILLED = 16 }; /* columns in one launch: a small part alone has too few tiles for a GPU */

/* Element i is tile i % n_tiles of column i / n_tiles; all columns have equally many. */
typedef struct bindex_fill_params {
    bindex_view views[BINDEX_FILLED];
    uint64_t n_tiles;
    kr_blocks blocks;
} bindex_fill_params;
kr_assert_size(bindex_fill_params, 96 * 16 + 16);

typedef struct bindex_count_params {
    const uint32_t *starts;
    uint64_t *counts; /* of cells */
    uint64_t n_tiles;
} bindex_count_params;
kr_assert_size(bindex_count_params, 24);

/* What a check finds wrong: 1 + the number of the tile in which it is. */
enum { BINDEX_BAD_STARTS, BINDEX_BAD_POSITIONS, BINDEX_BAD_VECTORS, BINDEX_BADS };

typedef struct bindex_check_params {
    bindex_view view;
    uint64_t *found; /* BINDEX_BADS */
    kr_blocks blocks;
} bindex_check_params;
kr_assert_size(bindex_check_params, 112);

#endif
