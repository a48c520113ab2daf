/* Kind `full`: no index, columns are read. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_H

#include "table/families/full/full_narrow.h"
#include "table/families/full/full_params.h"

enum { FULL_OPTION_LOGIC, FULL_OPTION_ZONES, FULL_OPTION_NARROW, FULL_OPTIONS };
enum { FULL_ZONES_ON, FULL_ZONES_OFF };
enum { FULL_LOGIC_AND, FULL_LOGIC_BRANCHING, FULL_LOGIC_AUTO };

extern const kr_program full_select_u32, full_select_u64, full_batch_u32, full_batch_u64;

/* Codes of rows of a column, sorted, from which selectivities are estimated: so many of each, or of all rows.
 */
enum { FULL_SAMPLES = 1024 };

/* What decides whether zones are used, of some tiles: the lowest and the highest code, how wide zones are in
 * all, and how many of them hold values. */
typedef struct full_spread {
    uint64_t lowest, highest, counted;
    double widths;
} full_spread;

/* The lowest code of each tile of a column, then the highest of each, of the column's key width. */
typedef struct full_zones {
    kr_buffer buffer;
    uint64_t n;
    full_spread spread;       /* of the tiles that have all of their rows: appended rows change no other */
    uint64_t lowest, highest; /* codes of all rows; lowest > highest: they are all NULL */
    uint32_t are_used;        /* 1: the column is clustered, so that zones spare reading */
} full_zones;

/* `before`: NULL, or the zones of the first n_rows_before rows, to go on from. */
void full_zones_make_u32(kr_work *work, const kr_column *column, const full_zones *before,
                         uint64_t n_rows_before, full_zones *zones);
void full_zones_make_u64(kr_work *work, const kr_column *column, const full_zones *before,
                         uint64_t n_rows_before, full_zones *zones);
static inline uint64_t full_zones_count(uint64_t n_rows)
{
    return (n_rows + FULL_TILE - 1) / FULL_TILE;
}
void full_zones_validate_u32(kr_work *work, const kr_column *column, const full_zones *zones);
void full_zones_validate_u64(kr_work *work, const kr_column *column, const full_zones *zones);

typedef struct full_table {
    uint64_t n_rows;
    uint32_t n_columns;
    uint32_t logic, has_zones, narrow_option;
    kr_column *columns;       /* as they are: what is compared with another column is read here */
    kr_column *reads;         /* what all else reads: narrow copies in the place of columns that have one */
    const char *const *names; /* of columns */
    full_narrow *narrow;      /* of each column; NULL: narrow=off */
    uint32_t n_samples;       /* of a column */
    uint64_t *samples;        /* of all columns; codes of what is read */
    full_zones *zones;        /* of each column, of what is read; NULL: zones=off, or no rows */
} full_table;

/* 1: column c of the longer table is read as it was before: values are what they were. */
static inline int full_reads_alike(const full_table *before, const full_table *table, uint32_t c)
{
    const full_narrow *a = before->narrow ? before->narrow + c : NULL, *b = a ? table->narrow + c : NULL;
    return !a || (a->nbytes == b->nbytes && (!a->nbytes || a->lowest == b->lowest));
}

static inline int full_is_narrow(const full_table *table, uint32_t column)
{
    return table->narrow && table->narrow[column].nbytes;
}

/* What a step of a report has behind it, of n columns or predicates: "" for 0. */
enum { FULL_NOTE_NBYTES = 48 };
const char *full_narrow_note(uint32_t n, char text[FULL_NOTE_NBYTES]);

/* What is read for a leaf. */
static inline const kr_column *full_read_of(const full_table *table, const kr_leaf *leaf)
{
    return (leaf->other == KR_NO_COLUMN ? table->reads : table->columns) + leaf->column;
}
/* The leaf's codes there. */
static inline full_codes full_codes_in(const full_table *table, const kr_leaf *leaf)
{
    return full_codes_of(table->narrow ? table->narrow + leaf->column : NULL,
                         table->columns[leaf->column].type, leaf);
}

static inline uint64_t *full_sample_of(const full_table *table, uint32_t column)
{
    return table->samples + (uint64_t)column * table->n_samples;
}

/* The share of rows for which a leaf holds, as far as samples tell. */
double full_selectivity(const full_table *table, const kr_leaf *leaf);

/* kr_scan_ops.select, select_batch and explain_plan. */
void full_select_rows(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes);
void full_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n, const uint32_t *alive,
                       const kr_scan_notes *notes);
int full_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES]);
/* A plan with an OR, alone. 0: it is too large. */
int full_select_plan(kr_work *work, const full_table *table, const kr_plan *plan, const uint32_t *alive,
                     uint32_t *bitmap, const kr_scan_notes *notes);

/* Whether these codes, of a column of the type that is read, are one interval of values, or all others
 * (*negate): values low .. low + span, modulo the width of codes. */
int full_as_interval(const full_codes *codes, uint32_t type, uint64_t *base, uint64_t *span,
                     uint32_t *negate);
/* FULL_LOAD_*: how a GPU loads the column; is_wide: codes of 64 bits. */
uint32_t full_load_of(const kr_column *column, uint32_t is_wide);

#endif
