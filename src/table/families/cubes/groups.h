/* Which columns share a scene. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_GROUPS_H
#define KEYRAY_TABLE_FAMILIES_CUBES_GROUPS_H

#include "table/families/cubes/cubes.h"

/* Groups as "a+b+c,d+e" names them, each of at most CUBES_AXES columns; then the columns that it does not
 * name, in their order, split evenly into as few groups of at most `together` as there can be: 4 as 2+2, 5 as
 * 3+2, 7 as 3+2+2. A column may be in up to CUBES_PLACES_MOST groups. */
uint32_t cubes_groups_count(const char *text, uint32_t together, uint32_t n_columns);
/* Fills the groups' columns; there is room for all. KR_ERR_SPEC for a text that is not like that. */
kr_status cubes_groups_fill(const char *text, uint32_t together, uint32_t n_columns, const char *const *names,
                            cubes_group *groups, kr_error *err);
/* Appends groups in the form of the text. */
void cubes_groups_describe(const cubes_group *groups, uint32_t n, const char *const *names, char *text,
                           size_t nbytes);

#endif
