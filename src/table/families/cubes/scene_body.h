/* The body of scene.c. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_SCENE_BODY_H
#define KEYRAY_TABLE_FAMILIES_CUBES_SCENE_BODY_H

#include "table/families/cubes/cubes_params.h"

typedef struct cubes_mesh_params {
    const uint64_t *records;
    float *out;
    uint64_t first;       /* primitive */
    uint32_t half, shape; /* CUBES_BOX ... */
    uint32_t pack, reserved;
} cubes_mesh_params;
kr_assert_size(cubes_mesh_params, 40);

KR_BODY void cubes_make(const cubes_mesh_params *p, uint64_t i)
{
    const uint64_t *records = p->records + (p->first + i) * p->pack;
    if (p->shape == CUBES_LINE)
        cubes_triangle_of(kr_load(records), p->half, p->out + 9 * i);
    else if (p->shape == CUBES_TRIANGLE)
        cubes_triangle3_of(kr_load(records), p->half, p->out + 9 * i);
    else if (p->shape == CUBES_SPHERE)
        cubes_sphere_of(kr_load(records), p->out + 3 * i);
    else
        cubes_box_of(records, p->pack, p->half, p->out + 6 * i);
}
KR_MAP_PROGRAM(cubes_mesh, cubes_mesh_params, cubes_make);

#endif
