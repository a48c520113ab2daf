#include "index/scenes/parts.h"
#include "index/scenes/rays.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a group over several parts: instances, their tree, and scratch memory. */
enum { GROUP_PART_NBYTES = 1024, GROUP_NBYTES = 4096 };

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

uint64_t kr_scenes_size(uint64_t n, uint64_t parts)
{
    return ceil_div(n, parts);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Raises *most to what n_parts scenes of `part` primitives take. All others exist while the last is built. */
static kr_status include(kr_tracer *tracer, uint32_t prim, uint64_t part, uint64_t n_parts, uint32_t flags,
                         kr_scene_estimate *most, kr_error *err)
{
    const uint64_t group = n_parts > 1 ? n_parts * GROUP_PART_NBYTES + GROUP_NBYTES : 0;
    kr_scene_estimate one = {0};
    const kr_status status = tracer->ops->estimate(tracer, prim, part, flags, &one, err);
    if (status != KR_OK)
        return status;
    most->footprint_nbytes = larger(most->footprint_nbytes, n_parts * one.footprint_nbytes + group);
    most->peak_nbytes =
        larger(most->peak_nbytes, (n_parts - 1) * one.footprint_nbytes + one.peak_nbytes + group);
    return KR_OK;
}

/* Fewer primitives can make more parts: 4,609 in at most 4,096 parts are 2,305 pairs, but 4,092 are 4,092
 * single ones. A scene of half as many primitives takes more than half of the memory, so the worst cases are
 * all primitives, and as many parts as there may be of one primitive less. */
kr_status kr_scenes_estimate(kr_device *device, uint32_t prim, uint64_t n, uint64_t parts, uint32_t flags,
                             kr_scene_estimate *estimate, kr_error *err)
{
    kr_tracer *tracer;
    kr_scene_estimate made = {0};
    *estimate = made;
    if (!n)
        return KR_OK;
    const uint64_t most_parts = larger(parts, ceil_div(n, KR_MOST_PRIMITIVES));
    const uint64_t part = kr_scenes_size(n, most_parts);
    kr_status status = kr_tracer_of(device, &tracer, err);
    if (status == KR_OK)
        status = include(tracer, prim, part, ceil_div(n, part), flags, &made, err);
    if (status == KR_OK && part > 1)
        status = include(tracer, prim, part - 1, most_parts, flags, &made, err);
    if (status == KR_OK)
        *estimate = made;
    return status;
}

kr_mesh kr_scenes_mesh(kr_work *w, const kr_parts_job *job, uint32_t i)
{
    const uint64_t first = i * job->part, left = job->n - first;
    kr_mesh mesh = {.prim = job->prim, .radius = job->radius, .n = left < job->part ? left : job->part};
    float *data = kr_work_take_or(w, kr_tracer_mesh_nbytes(mesh.prim, mesh.n), job->what, job->help);
    if (kr_work_goes_on(w))
        job->fill(w, job->source, i, first, mesh.n, data);
    mesh.data = kr_work_keep(w, data);
    kr_work_give(w, data); /* after a failure it is still scratch memory */
    kr_work_lap(w, job->what);
    return mesh;
}

static kr_scene *build_part(kr_work *w, const kr_parts_job *job, kr_tracer *tracer, uint32_t i)
{
    kr_scene *part = NULL;
    kr_mesh mesh = kr_scenes_mesh(w, job, i);
    KR_STEP(w, tracer->ops->build(tracer, &mesh, job->flags, w->stream, &part, w->err));
    kr_buffer_release(w->device, &mesh.data, w->stream);
    kr_work_lap(w, "bvh");
    if (part && kr_rays_wants_compact(job->compact, part)) {
        KR_STEP(w, tracer->ops->compact(part, w->stream, w->err));
        kr_work_lap(w, "compact");
    }
    return part;
}

kr_parts kr_scenes_build(kr_work *w, const kr_parts_job *job)
{
    kr_parts made = {
        .n = job->n, .part = job->part, .n_parts = (uint32_t)ceil_div(job->n, job->part), .name = "bvh"};
    kr_tracer *tracer;
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    if (made.n_parts > 1)
        snprintf(made.name, sizeof made.name, "bvh, %u parts", made.n_parts % 10000);
    made.parts = kr_work_array(w, made.n_parts, sizeof *made.parts, "the parts of a scene");
    for (uint32_t i = 0; i < made.n_parts && kr_work_goes_on(w); ++i)
        made.parts[i] = build_part(w, job, tracer, i);
    if (kr_work_goes_on(w) && made.n_parts > 1) {
        KR_STEP(w, tracer->ops->group(tracer, made.parts, made.n_parts, made.part, w->stream, &made.group,
                                      w->err));
        kr_work_lap(w, "bvh");
    }
    if (!kr_work_goes_on(w))
        kr_scenes_release(&made, w->stream);
    return made;
}

void kr_scenes_release(kr_parts *parts, kr_stream *stream)
{
    if (parts->group)
        parts->group->tracer->ops->destroy(parts->group, stream);
    for (uint32_t i = parts->parts ? parts->n_parts : 0; i-- > 0;)
        if (parts->parts[i])
            parts->parts[i]->tracer->ops->destroy(parts->parts[i], stream);
    free(parts->parts);
    *parts = (kr_parts){0};
}

kr_scene_view kr_scenes_view(const kr_parts *parts)
{
    return parts->group ? parts->group->view : parts->parts[0]->view;
}

uint64_t kr_scenes_nbytes(const kr_parts *parts)
{
    uint64_t nbytes = parts->group ? parts->group->footprint_nbytes : 0;
    for (uint32_t i = 0; i < parts->n_parts; ++i)
        nbytes += parts->parts[i]->footprint_nbytes;
    return nbytes;
}
