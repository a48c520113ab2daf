/* Conditions that share one pass: which, their lanes and their tables. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_H

#include "table/families/full/full.h"
#include "table/families/full/full_batch_params.h"

/* Edges of a column, at most: more would make tables that no cache holds. */
enum { FULL_EDGES_MOST = 1 << 16 };

/* A leaf of a lane. Under an OR, lanes are the complement of what the leaves say. */
typedef struct full_lane_leaf {
    const kr_leaf *leaf;
    uint32_t lane, column; /* column: of the batch */
    uint32_t is_or;
} full_lane_leaf;

typedef struct full_batch_source {
    uint32_t column, other; /* of the table; other: or KR_NO_COLUMN */
    uint64_t n_edges;       /* of all leaves, equal ones counted again */
} full_batch_source;

typedef struct full_batch {
    const full_table *table;
    full_batch_source sources[FULL_BATCH_COLUMNS];
    uint32_t n_columns, n_lanes, n_jobs, is_wide;
    full_lane_leaf *leaves;
    uint64_t n_leaves, room_leaves;
    uint32_t *results[FULL_LANES];
    uint32_t inverts[FULL_HALVES];
    uint32_t folds[FULL_BATCH_TEAMS][FULL_LANES], n_folds[FULL_BATCH_TEAMS];
    uint64_t members; /* bit i: job i is in it */
    uint64_t n_edges; /* of all columns, when tables are made */
} full_batch;

void full_batch_begin(full_batch *batch, const full_table *table);
void full_batch_release(full_batch *batch);
/* Adds job i if it finds room; an error only where there is no memory. */
kr_status full_batch_add(full_batch *batch, const kr_batch_job *job, uint32_t i, kr_error *err);

/* Whether a batch of this plan alone has room. */
int full_batch_holds(const full_table *table, const kr_plan *plan);

/* Makes the tables in host memory, which the caller frees, and fills the parameters' columns. */
kr_status full_tables_make(full_batch *batch, full_batch_params *params, char **tables, uint64_t *nbytes,
                           kr_error *err);

#endif
