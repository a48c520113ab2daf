/* Kind `bindex`: filter vectors, and rows by the order of their values to put right what they leave open.
 *
 * A table is made of parts, ranges of its rows, each with cells and vectors of its own. See README.md. */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_H

#include "table/families/bindex/bindex_params.h"
#include "table/family.h"

enum { BINDEX_OPTION_VECTORS, BINDEX_OPTION_REFINE, BINDEX_OPTIONS };

/* Values of `refine`: here, and scatter.h. */
enum { BINDEX_TILES, BINDEX_SCATTER };

/* A column of a part. */
typedef struct bindex_column {
    kr_buffer memory;  /* vectors, starts, positions */
    kr_buffer borders; /* `codes` and `ends` in device memory */
    bindex_view view;  /* of these; its pointers `codes` and `ends` are the device's */
    /* In host memory. */
    uint64_t *codes;  /* of cells */
    uint64_t *counts; /* rows of cells */
    uint32_t *ends;   /* of vectors */
    /* The cells between two vectors' ends. There is a vector behind each section but the last; behind that
     * only if the column has validity: it says which rows are not NULL. */
    uint32_t n_sections;
} bindex_column;

typedef struct bindex_part {
    uint64_t first, n; /* rows; first is a multiple of 32 */
    bindex_column *columns;
} bindex_part;

/* At most one part for each power of BINDEX_GROWTH. */
enum { BINDEX_GROWTH = 8, BINDEX_PARTS = 12 };

typedef struct bindex_table {
    kr_device *device;
    uint64_t n_rows;
    uint32_t n_columns, vectors;
    kr_column *columns;
    const char *const *names;
    uint32_t n_parts;
    /* In the order of their rows. A part may begin with up to 31 rows that end the one before it. */
    bindex_part parts[BINDEX_PARTS];
} bindex_table;

/* ---- Parts (bindex_part.c) ------------------------------------------------------------------- */

typedef struct bindex_part_job {
    const kr_column *columns;
    uint32_t n_columns, vectors;
    uint64_t first, end; /* rows */
} bindex_part_job;

/* Waits for the stream. On failure nothing is left. */
void bindex_part_make(kr_work *work, const bindex_part_job *job, bindex_part *part);
void bindex_part_release(kr_device *device, uint32_t n_columns, bindex_part *part, kr_stream *stream);
/* The columns have moved. */
void bindex_part_move(bindex_part *part, const kr_column *columns, uint32_t n_columns);
/* kr_scan_ops.image, of a part whose rows are known. */
void bindex_part_image(kr_image *image, const bindex_table *table, bindex_part *part);
/* What a table of one part needs. */
void bindex_part_need(kr_device *device, const kr_column *columns, uint32_t n_columns, uint32_t vectors,
                      kr_need *need);
/* kr_scan_ops.check and validate, of a part. */
void bindex_part_check(kr_work *work, const bindex_table *table, const bindex_part *part);
void bindex_part_validate(kr_work *work, const bindex_table *table, const bindex_part *part);

/* ---- Borders (bindex_borders.c) -------------------------------------------------------------- */

/* Codes of a column, evenly spaced among those of all its rows, ascending. */
typedef struct bindex_picked {
    const uint64_t *codes;
    uint32_t n, has_validity;
    uint64_t most; /* no code of the type is above it */
} bindex_picked;

/* Makes cells and sections. Equal values stay in one cell; one that fills a cell has a cell of its own.
 * Allocates codes, counts and ends, which bindex_borders_release frees, also after a failure. */
kr_status bindex_borders_make(const bindex_picked *from, uint32_t vectors, bindex_column *column,
                              kr_error *err);
void bindex_borders_release(bindex_column *column);
/* The cell of a code. */
uint32_t bindex_borders_cell(const bindex_column *column, uint64_t code);

/* ---- Leaves as the program takes them (bindex_leaf.c) ---------------------------------------- */

/* Of all leaves of a pass. */
typedef struct bindex_lists {
    bindex_run *runs;
    uint64_t *edges;
    uint32_t *vectors;
    uint64_t n_runs, n_edges, n_vectors;
    uint64_t room_runs, room_edges, room_vectors;
} bindex_lists;

/* What answering a leaf takes. */
typedef struct bindex_cost {
    uint64_t vectors;
    uint64_t refined;  /* rows checked: those of its runs */
    uint64_t compared; /* of these, rows whose codes are read */
} bindex_cost;

/* Appends to the lists; adds to `cost`. */
kr_status bindex_leaf_add(const bindex_part *part, const kr_leaf *leaf, uint32_t number, bindex_lists *lists,
                          bindex_leaf *made, bindex_cost *cost, kr_error *err);
void bindex_lists_release(bindex_lists *lists);

/* ---- Passes (bindex_pass.c) ------------------------------------------------------------------ */

/* Leaves that one launch answers, of one part. */
typedef struct bindex_pass {
    bindex_lists lists;
    bindex_params params; /* complete but for `blocks` when the pass is finished */
} bindex_pass;

/* The most leaves whose bits fit in a block of the device. */
uint32_t bindex_leaves_most(const kr_device *device);
int bindex_pass_has_room(const bindex_pass *pass, const kr_device *device);
/* The next leaf of the pass; `cost` may be NULL. */
kr_status bindex_pass_add(bindex_pass *pass, const bindex_part *part, const kr_leaf *leaf, bindex_cost *cost,
                          kr_error *err);
/* Bytes of the lists in device memory: 0 if the parameters have room for them. */
uint64_t bindex_lists_nbytes(const bindex_lists *lists);
void bindex_lists_write(const bindex_lists *lists, char *to);
/* Of the whole table, as in kr_select. */
typedef struct bindex_target {
    const uint32_t *alive;
    uint32_t *bitmap;
    uint64_t *count;
} bindex_target;

/* `lists`: where in device memory they are, or will be. */
void bindex_pass_finish(bindex_pass *pass, const bindex_table *table, const bindex_part *part,
                        const bindex_target *to, const char *lists);
void bindex_pass_clear(bindex_pass *pass);
/* Shared memory of a block. */
uint32_t bindex_pass_shared(uint32_t n_leaves, uint32_t n_runs);

/* ---- Answers (bindex_select.c), and what is said of them (bindex_explain.c) ------------------ */

void bindex_select_rows(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes);
void bindex_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                         const uint32_t *alive, const kr_scan_notes *notes);
void bindex_explain(const void *self, const kr_select *job, char *text, size_t nbytes);
int bindex_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES]);
/* A step for each leaf. */
void bindex_log(const bindex_table *table, const kr_leaf *const *leaves, uint64_t n, const bindex_cost *costs,
                kr_scan_log *log);

extern const kr_program bindex_sample, bindex_pick, bindex_fill, bindex_count, bindex_check_starts,
    bindex_check_last, bindex_check, bindex_select, bindex_batch;

#endif
