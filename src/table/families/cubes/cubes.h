/* Tables whose rows are cubes in scenes of up to three columns each, or triangles in scenes of one: what
 * kinds rtscan, rtc3 and rtc1 share.
 *
 * A condition is answered group by group. Filter vectors give rows that nearly match; rays then visit the
 * regions by which these and the condition differ, and write the truth of each row there. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_CUBES_H
#define KEYRAY_TABLE_FAMILIES_CUBES_CUBES_H

#include "index/scenes/parts.h"
#include "table/families/cubes/rays.h"
#include "table/families/cubes/sieve.h"
#include "table/family.h"

#include <pthread.h>

/* What options decide. */
typedef struct cubes_design {
    uint32_t encode;        /* 1: cells hold equally many rows */
    uint32_t shuffles_ties; /* 1: ranks of equal values are in another order on each axis but the first */
    uint32_t bins;          /* of each column; filter vectors are between them */
    uint32_t by_values;     /* 1: bins are equal ranges of values, unless encoded; 0: of about as many rows */
    uint32_t selects_both;  /* 1: bins are kept of which more than half is in the leaf */
    uint32_t along;         /* as in cubes_matrix */
    uint32_t parts;
    uint32_t pack;     /* rows of a primitive; 1 unless it is a box */
    uint32_t together; /* columns of a scene, where no text says so (cubes/groups.h) */
    uint32_t is_lazy;  /* 1: scenes are built when they are first used */
    uint32_t shape;    /* CUBES_BOX ...; CUBES_LINE: scenes of one column that is not encoded */
    uint32_t scene_flags;
    int64_t compact;
    uint32_t across;          /* cubes as wide as the longest axis divided by this; 0: `width` says it */
    double width;             /* of a cube, in mean distances of rows; below 0: by a rule */
    double interval, spacing; /* in widths */
    double length; /* of pieces of rays, in widths; below 0: such that a piece meets about one row */
    const char *saves_memory, *saves_rays; /* for errors: the options of the kind that help */
} cubes_design;

typedef struct cubes_group {
    uint32_t n_columns, columns[CUBES_AXES];
    uint32_t extents[CUBES_AXES]; /* cells */
    uint32_t is_wide;             /* 1: codes of 64 bits */
    kr_buffer records, rows;      /* of slots (cubes/order.h): uint64_t, uint32_t */
    cubes_matrix matrix;
    kr_parts scene;
} cubes_group;

typedef struct cubes_table {
    kr_device *device;
    cubes_design design;
    uint64_t n_rows;
    uint32_t n_columns, n_groups;
    cubes_column *columns;
    cubes_group *groups;
    const char **names;
    pthread_mutex_t lock; /* of scenes that are built later */
} cubes_table;

/* The kr_scan_family of such a kind: cubes_ops, and what its options mean. */
typedef struct cubes_family {
    kr_scan_family family; /* first */
    cubes_design (*design_of)(const kr_spec *spec);
} cubes_family;
extern const kr_scan_ops cubes_ops;

void cubes_select(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes);
void cubes_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                        const uint32_t *alive, const kr_scan_notes *notes);
int cubes_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES]);
void cubes_explain(const void *self, const kr_select *job, char *text, size_t nbytes);
/* Writes 1 for every row that rays meet which visit the whole scene. Enqueues. */
void cubes_visit_all(kr_work *work, const cubes_table *table, cubes_group *group, uint32_t *bitmap);

extern const kr_ray_program cubes_visit_u32, cubes_visit_u64;

#endif
