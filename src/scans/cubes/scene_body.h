/* The body of scene.c. */
#ifndef KEYRAY_SCANS_CUBES_SCENE_BODY_H
#define KEYRAY_SCANS_CUBES_SCENE_BODY_H

#include "scans/cubes/cubes_params.h"

typedef struct cubes_mesh_params {
    const uint64_t *records;
    float *out;
    uint64_t first;      /* row */
    uint32_t half, prim; /* KR_PRIM_* */
} cubes_mesh_params;
kr_assert_size(cubes_mesh_params, 32);

KR_BODY void cubes_make(const cubes_mesh_params *p, uint64_t i)
{
    const uint64_t record = kr_load(p->records + p->first + i);
    if (p->prim == KR_PRIM_TRIANGLE)
        cubes_triangle_of(record, p->half, p->out + 9 * i);
    else
        cubes_box_of(record, p->half, p->out + 6 * i);
}
KR_MAP_PROGRAM(cubes_mesh, cubes_mesh_params, cubes_make);

#endif
