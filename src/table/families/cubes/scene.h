/* The scene of a group of columns: its rows as primitives, in parts of consecutive ones
 * (index/scenes/parts.h). */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_SCENE_H
#define KEYRAY_TABLE_FAMILIES_CUBES_SCENE_H

#include "table/families/cubes/cubes.h"

/* Upper bounds for one scene of so many rows. */
kr_status cubes_scene_estimate(kr_device *device, const cubes_design *design, uint64_t n_rows,
                               kr_scene_estimate *estimate, kr_error *err);
/* The group has its records and its matrix. On failure nothing is left. */
void cubes_scene_build(kr_work *work, const cubes_table *table, cubes_group *group);
/* Builds the scene of the group unless it is there, which waits for the stream; any thread may ask. */
void cubes_scene_open(kr_work *work, const cubes_table *table, cubes_group *group);

#endif
