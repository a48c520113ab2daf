#include "scans/cubes/scene.h"
#include "scans/cubes/scene_body.h"
#include "scenes/parts.h"
#include "scenes/rays.h"

#include <stdlib.h>

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t primitives_of(const cubes_scene_job *job)
{
    return ceil_div(job->n, job->pack);
}

/* Primitives of every part but the last. */
static uint64_t part_of(const cubes_scene_job *job)
{
    const uint64_t n = primitives_of(job), least = ceil_div(n, KR_MOST_PRIMITIVES);
    return ceil_div(n, job->parts > least ? job->parts : least);
}

kr_status cubes_scene_estimate(const cubes_scene_job *job, kr_scene_estimate *estimate, kr_error *err)
{
    return kr_parts_estimate(job->device, job->prim, primitives_of(job), job->parts, job->flags, estimate,
                             err);
}

static kr_status build_part(const cubes_scene_job *job, kr_tracer *tracer, uint64_t first, uint64_t n,
                            kr_scene **part, kr_error *err)
{
    const char *what = job->prim == KR_PRIM_AABB ? "boxes" : "triangles";
    kr_mesh mesh = {.prim = job->prim, .n = n};
    kr_status status = kr_buffer_allocate(job->device, kr_mesh_nbytes(mesh.prim, n), job->stream, what,
                                          job->saves_memory, &mesh.data, err);
    if (status != KR_OK)
        return status;
    const cubes_mesh_params params = {job->records, mesh.data.data, first, job->half,
                                      job->prim,    job->pack,      0};
    status = kr_device_run(job->device, &cubes_mesh, &params, n, job->stream, err);
    kr_stopwatch_lap(job->watch, what);
    if (status == KR_OK)
        status = tracer->ops->build(tracer, &mesh, job->flags, job->stream, part, err);
    kr_buffer_release(job->device, &mesh.data, job->stream);
    kr_stopwatch_lap(job->watch, "bvh");
    if (status == KR_OK && kr_rays_wants_compact(job->compact, *part)) {
        status = tracer->ops->compact(*part, job->stream, err);
        kr_stopwatch_lap(job->watch, "compact");
    }
    return status;
}

kr_status cubes_scene_build(const cubes_scene_job *job, cubes_scene *scene, kr_error *err)
{
    const uint64_t n = primitives_of(job), part = part_of(job);
    cubes_scene made = {.n_parts = (uint32_t)ceil_div(n, part)};
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(job->device, &tracer, err);
    if (status != KR_OK)
        return status;
    made.parts = kr_host_calloc(made.n_parts, sizeof *made.parts, "the parts of a scene", err);
    if (!made.parts)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i < made.n_parts && status == KR_OK; ++i) {
        const uint64_t left = n - i * part;
        status = build_part(job, tracer, i * part, left < part ? left : part, made.parts + i, err);
    }
    if (status == KR_OK && made.n_parts > 1)
        status = tracer->ops->group(tracer, made.parts, made.n_parts, part, job->stream, &made.group, err);
    if (status == KR_OK)
        *scene = made;
    else
        cubes_scene_release(&made, job->stream);
    return status;
}

void cubes_scene_release(cubes_scene *scene, kr_stream *stream)
{
    if (scene->group)
        scene->group->tracer->ops->destroy(scene->group, stream);
    for (uint32_t i = scene->parts ? scene->n_parts : 0; i-- > 0;)
        if (scene->parts[i])
            scene->parts[i]->tracer->ops->destroy(scene->parts[i], stream);
    free(scene->parts);
    *scene = (cubes_scene){0};
}

uint64_t cubes_scene_nbytes(const cubes_scene *scene)
{
    uint64_t nbytes = scene->group ? scene->group->footprint_nbytes : 0;
    for (uint32_t i = 0; i < scene->n_parts; ++i)
        nbytes += scene->parts[i]->footprint_nbytes;
    return nbytes;
}
