#include "indexes/rx/rx_scene.h"
#include "indexes/rx/rx_geometry.h"
#include "indexes/rx/rx_mesh.h"
#include "scenes/rays.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert(RX_TRIANGLE == (int)KR_PRIM_TRIANGLE && RX_SPHERE == (int)KR_PRIM_SPHERE &&
                   RX_AABB == (int)KR_PRIM_AABB,
               "both name the same primitives");

static const char *const mesh_name[] = {"triangles", "spheres", "boxes"};

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t part_size(const rx_scenes *scenes, uint32_t i)
{
    const uint64_t left = scenes->n - i * scenes->part;
    return left < scenes->part ? left : scenes->part;
}

/* How many primitives a part holds. At 2^26 keys, parts of 2^22 save rays a fifth of the way from the top;
 * smaller parts cost more to build than they save (docs/performance-rx.md). */
enum { KEYS_A_PART = 1 << 22, MOST_PARTS = 64 };

static uint64_t part_of(const kr_device *device, const rx_design *design, uint64_t n)
{
    uint64_t parts = design->parts;
    if (parts == 0)
        parts = device->ops->is_host ? 1 : ceil_div(n, KEYS_A_PART);
    if (design->parts == 0 && parts > MOST_PARTS)
        parts = MOST_PARTS;
    return ceil_div(n, parts);
}

/* Of a scene over several parts: instances, their tree, and scratch memory. */
enum { GROUP_PART_NBYTES = 1024, GROUP_NBYTES = 4096 };

/* Includes the bytes of all other scenes, which exist while the last is built. */
kr_status rx_scenes_estimate(kr_device *device, const rx_design *design, uint64_t n,
                             kr_scene_estimate *estimate, kr_error *err)
{
    kr_tracer *tracer;
    kr_scene_estimate one = {0};
    *estimate = (kr_scene_estimate){0};
    if (n == 0)
        return KR_OK;
    uint64_t part = part_of(device, design, n);
    if (part > KR_MOST_PRIMITIVES) /* equal keys may reduce it further */
        part = KR_MOST_PRIMITIVES;
    const uint64_t n_parts = ceil_div(n, part);
    kr_status status = kr_tracer_of(device, &tracer, err);
    if (status == KR_OK)
        status = tracer->ops->estimate(tracer, design->prim, part, design->scene_flags, &one, err);
    if (status != KR_OK)
        return status;
    const uint64_t group = n_parts > 1 ? n_parts * GROUP_PART_NBYTES + GROUP_NBYTES : 0;
    estimate->footprint_nbytes = n_parts * one.footprint_nbytes + group;
    estimate->peak_nbytes = (n_parts - 1) * one.footprint_nbytes + one.peak_nbytes + group;
    return KR_OK;
}

/* Generates the primitives of part i. */
static kr_status make_mesh(const rx_source *source, const rx_scenes *scenes, uint32_t i, kr_mesh *mesh,
                           kr_error *err)
{
    const rx_design *design = source->design;
    *mesh = (kr_mesh){
        .prim = design->prim,
        .radius = rx_radius(&design->map),
        .n = part_size(scenes, i),
    };
    kr_status status = kr_buffer_allocate(source->device, kr_mesh_nbytes(mesh->prim, mesh->n), source->stream,
                                          mesh_name[mesh->prim], "give a larger parts=...", &mesh->data, err);
    if (status != KR_OK)
        return status;
    const rx_mesh_params params = {
        .keys = source->keys,
        .positions = source->positions,
        .out = mesh->data.data,
        .first = i * scenes->part,
        .map = design->map,
        .prim = design->prim,
    };
    status = kr_device_run(source->device, source->mesh, &params, mesh->n, source->stream, err);
    if (status != KR_OK)
        kr_buffer_release(source->device, &mesh->data, source->stream);
    kr_stopwatch_lap(source->watch, mesh_name[mesh->prim]);
    return status;
}

/* Makes the list of parts that rays begin in, or rewrites the keys of an existing one. */
static kr_status make_doors(const rx_source *source, rx_scenes *scenes, kr_error *err)
{
    kr_device *device = source->device;
    const uint64_t nbytes = scenes->n_parts * sizeof(rx_door);
    rx_door *list = kr_host_calloc(scenes->n_parts, sizeof *list, "the parts of a scene", err);
    kr_status status = list ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; status == KR_OK && i < scenes->n_parts; ++i) {
        list[i].scene = scenes->parts[i]->view;
        list[i].scene.first = (uint32_t)(i * scenes->part);
    }
    if (status == KR_OK && !scenes->doors.data)
        status = kr_buffer_allocate(device, nbytes, source->stream, "the list of parts", "enter=top",
                                    &scenes->doors, err);
    if (status == KR_OK)
        status = kr_device_copy(device, scenes->doors.data, list, nbytes, source->stream, err);
    const rx_doors_params params = {source->keys, source->positions, scenes->doors.data};
    if (status == KR_OK)
        status = kr_device_run(device, source->doors, &params, scenes->n_parts, source->stream, err);
    if (status == KR_OK) /* the list is freed now */
        status = kr_device_sync(device, source->stream, err);
    free(list);
    return status;
}

static kr_status build_part(const rx_source *source, kr_tracer *tracer, rx_scenes *scenes, uint32_t i,
                            kr_error *err)
{
    const uint32_t flags = source->design->scene_flags;
    kr_mesh mesh;
    kr_status status = make_mesh(source, scenes, i, &mesh, err);
    if (status != KR_OK)
        return status;
    status = tracer->ops->build(tracer, &mesh, flags, source->stream, &scenes->parts[i], err);
    kr_buffer_release(source->device, &mesh.data, source->stream);
    kr_stopwatch_lap(source->watch, "bvh");
    if (status == KR_OK && kr_rays_wants_compact(source->design->compact, scenes->parts[i])) {
        status = tracer->ops->compact(scenes->parts[i], source->stream, err);
        kr_stopwatch_lap(source->watch, "compact");
    }
    return status;
}

static kr_status build_parts(const rx_source *source, kr_tracer *tracer, rx_scenes *scenes, kr_error *err)
{
    kr_status status = KR_OK;
    scenes->parts = kr_host_calloc(scenes->n_parts, sizeof *scenes->parts, "the parts of a scene", err);
    if (!scenes->parts)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; status == KR_OK && i < scenes->n_parts; ++i)
        status = build_part(source, tracer, scenes, i, err);
    if (status == KR_OK && scenes->n_parts > 1) {
        status = tracer->ops->group(tracer, scenes->parts, scenes->n_parts, scenes->part, source->stream,
                                    &scenes->group, err);
        if (status == KR_OK && source->design->enter)
            status = make_doors(source, scenes, err);
        kr_stopwatch_lap(source->watch, "bvh");
    }
    return status;
}

kr_status rx_scenes_build(const rx_source *source, rx_scenes *scenes, kr_error *err)
{
    rx_scenes made = {.n = source->n};
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(source->device, &tracer, err);
    snprintf(made.name, sizeof made.name, "bvh");
    if (status == KR_OK && made.n) {
        made.part = part_of(source->device, source->design, made.n);
        made.n_parts = (uint32_t)ceil_div(made.n, made.part);
        if (made.part > KR_MOST_PRIMITIVES)
            return kr_fail(err, KR_ERR_LIMIT,
                           "kind 'rx': %llu primitives, but a scene holds %llu; give parts=%llu or more",
                           (unsigned long long)made.n, (unsigned long long)KR_MOST_PRIMITIVES,
                           (unsigned long long)ceil_div(made.n, KR_MOST_PRIMITIVES));
        if (made.n_parts > 1)
            snprintf(made.name, sizeof made.name, "bvh, %u parts", made.n_parts % 10000);
        status = build_parts(source, tracer, &made, err);
    }
    if (status == KR_OK)
        *scenes = made;
    else
        rx_scenes_release(&made, source->stream);
    return status;
}

/* Refits parts until one fails. Undoing cannot be cancelled. */
static kr_status refit_parts(const rx_source *source, rx_scenes *scenes, uint32_t n, int undoes,
                             uint32_t *done, kr_error *err)
{
    kr_status status = KR_OK;
    for (*done = 0; *done < n; ++*done) {
        kr_scene *scene = scenes->parts[*done];
        kr_mesh mesh;
        if (!undoes)
            status = kr_progress_report(&source->device->options.progress, "refit", (double)*done / n, err);
        if (status != KR_OK)
            return status;
        status = make_mesh(source, scenes, *done, &mesh, err);
        if (status != KR_OK)
            return status;
        status = scene->tracer->ops->refit(scene, &mesh, source->stream, err);
        kr_buffer_release(source->device, &mesh.data, source->stream);
        if (status != KR_OK)
            return status;
        kr_stopwatch_lap(source->watch, "refit");
    }
    return status;
}

/* Refits the group over the parts, once these have moved. */
static kr_status refit_group(const rx_source *source, rx_scenes *scenes, kr_error *err)
{
    if (!scenes->group)
        return KR_OK;
    const kr_status status = scenes->group->tracer->ops->regroup(scenes->group, source->stream, err);
    return status == KR_OK && scenes->doors.data ? make_doors(source, scenes, err) : status;
}

kr_status rx_scenes_refit(const rx_source *source, const rx_source *old, rx_scenes *scenes, kr_error *err)
{
    uint32_t done = 0, undone = 0;
    kr_status status = refit_parts(source, scenes, scenes->n_parts, 0, &done, err);
    if (status == KR_OK)
        status = refit_group(source, scenes, err);
    if (status == KR_OK) {
        scenes->stale = 0;
        return KR_OK;
    }
    /* Lookups on other streams do not wait for undoing, so this function waits. */
    if ((done < scenes->n_parts && scenes->parts[done]->is_broken) ||
        (done && (refit_parts(old, scenes, done, 1, &undone, NULL) != KR_OK ||
                  refit_group(old, scenes, NULL) != KR_OK ||
                  kr_device_sync(source->device, source->stream, NULL) != KR_OK)))
        scenes->stale = 1;
    return status;
}

void rx_scenes_release(rx_scenes *scenes, kr_stream *stream)
{
    if (scenes->group) {
        kr_buffer_release(scenes->group->tracer->device, &scenes->doors, stream);
        scenes->group->tracer->ops->destroy(scenes->group, stream);
    }
    for (uint32_t i = scenes->parts ? scenes->n_parts : 0; i-- > 0;)
        if (scenes->parts[i])
            scenes->parts[i]->tracer->ops->destroy(scenes->parts[i], stream);
    free(scenes->parts);
    *scenes = (rx_scenes){0};
}

kr_scene_view rx_scenes_view(const rx_scenes *scenes)
{
    return scenes->group ? scenes->group->view : scenes->parts[0]->view;
}

uint64_t rx_scenes_nbytes(const rx_scenes *scenes)
{
    uint64_t nbytes = scenes->group ? scenes->group->footprint_nbytes + scenes->doors.nbytes : 0;
    for (uint32_t i = 0; i < scenes->n_parts; ++i)
        nbytes += scenes->parts[i]->footprint_nbytes;
    return nbytes;
}
