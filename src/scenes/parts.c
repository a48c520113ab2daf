#include "scenes/parts.h"
#include "scenes/rays.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a group over several parts: instances, their tree, and scratch memory. */
enum { GROUP_PART_NBYTES = 1024, GROUP_NBYTES = 4096 };

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

uint64_t kr_parts_size(uint64_t n, uint64_t parts)
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
kr_status kr_parts_estimate(kr_device *device, uint32_t prim, uint64_t n, uint64_t parts, uint32_t flags,
                            kr_scene_estimate *estimate, kr_error *err)
{
    kr_tracer *tracer;
    kr_scene_estimate made = {0};
    *estimate = made;
    if (!n)
        return KR_OK;
    const uint64_t most_parts = larger(parts, ceil_div(n, KR_MOST_PRIMITIVES));
    const uint64_t part = kr_parts_size(n, most_parts);
    kr_status status = kr_tracer_of(device, &tracer, err);
    if (status == KR_OK)
        status = include(tracer, prim, part, ceil_div(n, part), flags, &made, err);
    if (status == KR_OK && part > 1)
        status = include(tracer, prim, part - 1, most_parts, flags, &made, err);
    if (status == KR_OK)
        *estimate = made;
    return status;
}

kr_status kr_parts_mesh(const kr_parts_job *job, uint32_t i, kr_mesh *mesh, kr_error *err)
{
    const uint64_t first = i * job->part, left = job->n - first;
    *mesh = (kr_mesh){.prim = job->prim, .radius = job->radius, .n = left < job->part ? left : job->part};
    kr_status status = kr_buffer_allocate(job->device, kr_mesh_nbytes(mesh->prim, mesh->n), job->stream,
                                          job->what, job->help, &mesh->data, err);
    if (status != KR_OK)
        return status;
    status = job->fill(job->source, i, first, mesh->n, mesh->data.data, err);
    if (status != KR_OK)
        kr_buffer_release(job->device, &mesh->data, job->stream);
    kr_stopwatch_lap(job->watch, job->what);
    return status;
}

static kr_status build_part(const kr_parts_job *job, kr_tracer *tracer, uint32_t i, kr_scene **part,
                            kr_error *err)
{
    kr_mesh mesh;
    kr_status status = kr_parts_mesh(job, i, &mesh, err);
    if (status != KR_OK)
        return status;
    status = tracer->ops->build(tracer, &mesh, job->flags, job->stream, part, err);
    kr_buffer_release(job->device, &mesh.data, job->stream);
    kr_stopwatch_lap(job->watch, "bvh");
    if (status == KR_OK && kr_rays_wants_compact(job->compact, *part)) {
        status = tracer->ops->compact(*part, job->stream, err);
        kr_stopwatch_lap(job->watch, "compact");
    }
    return status;
}

kr_status kr_parts_build(const kr_parts_job *job, kr_parts *parts, kr_error *err)
{
    kr_parts made = {
        .n = job->n, .part = job->part, .n_parts = (uint32_t)ceil_div(job->n, job->part), .name = "bvh"};
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(job->device, &tracer, err);
    if (status != KR_OK)
        return status;
    if (made.n_parts > 1)
        snprintf(made.name, sizeof made.name, "bvh, %u parts", made.n_parts % 10000);
    made.parts = kr_host_calloc(made.n_parts, sizeof *made.parts, "the parts of a scene", err);
    if (!made.parts)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i < made.n_parts && status == KR_OK; ++i)
        status = build_part(job, tracer, i, made.parts + i, err);
    if (status == KR_OK && made.n_parts > 1) {
        status =
            tracer->ops->group(tracer, made.parts, made.n_parts, made.part, job->stream, &made.group, err);
        kr_stopwatch_lap(job->watch, "bvh");
    }
    if (status == KR_OK)
        *parts = made;
    else
        kr_parts_release(&made, job->stream);
    return status;
}

void kr_parts_release(kr_parts *parts, kr_stream *stream)
{
    if (parts->group)
        parts->group->tracer->ops->destroy(parts->group, stream);
    for (uint32_t i = parts->parts ? parts->n_parts : 0; i-- > 0;)
        if (parts->parts[i])
            parts->parts[i]->tracer->ops->destroy(parts->parts[i], stream);
    free(parts->parts);
    *parts = (kr_parts){0};
}

kr_scene_view kr_parts_view(const kr_parts *parts)
{
    return parts->group ? parts->group->view : parts->parts[0]->view;
}

uint64_t kr_parts_nbytes(const kr_parts *parts)
{
    uint64_t nbytes = parts->group ? parts->group->footprint_nbytes : 0;
    for (uint32_t i = 0; i < parts->n_parts; ++i)
        nbytes += parts->parts[i]->footprint_nbytes;
    return nbytes;
}
