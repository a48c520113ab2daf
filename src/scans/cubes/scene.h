/* The scene of a group of columns: one, or parts of consecutive primitives under a group. */
#ifndef KEYRAY_SCANS_CUBES_SCENE_H
#define KEYRAY_SCANS_CUBES_SCENE_H

#include "devices/stopwatch.h"
#include "scans/cubes/cubes_params.h"
#include "tracers/tracer.h"

typedef struct cubes_scene {
    kr_scene **parts;
    kr_scene *group; /* NULL with one part */
    uint32_t n_parts;
} cubes_scene;

typedef struct cubes_scene_job {
    kr_device *device;
    kr_stream *stream;
    kr_stopwatch *watch;
    const uint64_t *records; /* as in cubes_ray_params */
    uint64_t n;              /* rows, at least 1 */
    uint32_t pack;           /* rows of a primitive; of triangles 1 */
    uint32_t half;
    uint32_t prim;  /* KR_PRIM_AABB, KR_PRIM_TRIANGLE */
    uint32_t parts; /* 0: as few as hold them */
    uint32_t flags; /* KR_SCENE_* */
    int64_t compact;
    const char *saves_memory; /* as in cubes_design */
} cubes_scene_job;

kr_status cubes_scene_estimate(const cubes_scene_job *job, kr_scene_estimate *estimate, kr_error *err);
/* On failure nothing is left. */
kr_status cubes_scene_build(const cubes_scene_job *job, cubes_scene *scene, kr_error *err);
void cubes_scene_release(cubes_scene *scene, kr_stream *stream);
uint64_t cubes_scene_nbytes(const cubes_scene *scene);

static inline kr_scene_view cubes_scene_view(const cubes_scene *scene)
{
    return scene->group ? scene->group->view : scene->parts[0]->view;
}

#endif
