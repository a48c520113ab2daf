/* A group's part of a conjunction: what the sieve knows of its leaves, and the regions that are left. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_PARTS_H
#define KEYRAY_TABLE_FAMILIES_CUBES_PARTS_H

#include "table/families/cubes/cubes.h"
#include "table/families/cubes/cubes_params.h"

typedef struct cubes_part {
    const cubes_table *table;
    cubes_group *group;
    const kr_leaf *leaves[CUBES_AXES]; /* NULL: every row */
    cubes_sieved sieved[CUBES_AXES];
    uint32_t order[CUBES_AXES]; /* of axes: where least is in both, first */
    cubes_region *regions;
    uint64_t n_regions, room_regions;
    uint64_t n_rays;
} cubes_part;

/* Gives each leaf to a group: the group that has columns for most of the open ones is next; then sieves and
 * finds regions. */
kr_status cubes_parts_make(const cubes_table *table, const kr_select *job, cubes_part **parts,
                           uint32_t *n_parts, kr_error *err);
void cubes_parts_release(cubes_part *parts, uint32_t n);
/* Sieves the leaves, and finds the regions that are left; table, group and leaves are set. */
kr_status cubes_part_plan(cubes_part *p, kr_error *err);
void cubes_part_release(cubes_part *p);
kr_status cubes_part_add(cubes_part *p, const cubes_region *region, kr_error *err);
void cubes_part_describe(const cubes_part *p, char *text, size_t nbytes);

/* ---- Programs (programs.c) ------------------------------------------------------------------- */

/* The first bitmap of one part: rows of `alive` that are in the kept bins of all of its leaves. Enqueues. */
void cubes_part_sieve(kr_work *work, const cubes_part *p, const uint32_t *alive, uint32_t *bitmap,
                      const kr_scan_notes *notes);
/* The test of a leaf; `ends`, and `lows` and `highs` of more than one interval, are left to the caller. */
cubes_test cubes_test_of(const cubes_part *p, uint32_t axis);
/* The intervals' ends, lows before highs. */
void cubes_write_ends(const kr_leaf *leaf, uint64_t *ends);
cubes_ray_params cubes_ray_params_of(const cubes_group *group, uint32_t pack, uint64_t *counters);
const kr_ray_program *cubes_program_of(const cubes_group *group);

#endif
