#include "indexes/rx/rx_scene.h"
#include "indexes/rx/rx_geometry.h"
#include "indexes/rx/rx_mesh.h"
#include "scenes/rays.h"

#include <stdlib.h>

_Static_assert(RX_TRIANGLE == (int)KR_PRIM_TRIANGLE && RX_SPHERE == (int)KR_PRIM_SPHERE &&
                   RX_AABB == (int)KR_PRIM_AABB,
               "both name the same primitives");

static const char *const mesh_name[] = {"triangles", "spheres", "boxes"};

/* How many primitives a part holds. At 2^26 keys, parts of 2^22 save rays a fifth of the way from the top;
 * smaller parts cost more to build than they save (docs/performance-rx.md). */
enum { KEYS_A_PART = 1 << 22, MOST_PARTS = 64 };

static uint64_t parts_of(const kr_device *device, const rx_design *design, uint64_t n)
{
    if (design->parts)
        return design->parts;
    const uint64_t parts = device->ops->is_host ? 1 : kr_parts_size(n, KEYS_A_PART);
    return parts > MOST_PARTS ? MOST_PARTS : parts;
}

kr_status rx_scenes_estimate(kr_device *device, const rx_design *design, uint64_t n,
                             kr_scene_estimate *estimate, kr_error *err)
{
    const uint64_t parts = parts_of(device, design, n), full = (parts - 1) * KEYS_A_PART;
    kr_scene_estimate fewer = {0};
    *estimate = fewer;
    if (n == 0)
        return KR_OK;
    kr_status status = kr_parts_estimate(device, design->prim, n, parts, design->scene_flags, estimate, err);
    /* NULL rows and equal keys may leave a part less, each of which is then larger. */
    if (status == KR_OK && !design->parts && parts > 1 && full < n)
        status = kr_parts_estimate(device, design->prim, full, parts - 1, design->scene_flags, &fewer, err);
    if (fewer.footprint_nbytes > estimate->footprint_nbytes)
        estimate->footprint_nbytes = fewer.footprint_nbytes;
    if (fewer.peak_nbytes > estimate->peak_nbytes)
        estimate->peak_nbytes = fewer.peak_nbytes;
    return status;
}

static kr_status fill(const void *from, uint32_t i, uint64_t first, uint64_t n, float *out, kr_error *err)
{
    const rx_source *source = from;
    const rx_mesh_params params = {
        .keys = source->keys,
        .positions = source->positions,
        .out = out,
        .first = first,
        .map = source->design->map,
        .prim = source->design->prim,
    };
    (void)i;
    return kr_device_run(source->device, source->mesh, &params, n, source->stream, err);
}

static kr_parts_job job_of(const rx_source *source, uint64_t part)
{
    const rx_design *design = source->design;
    return (kr_parts_job){
        .device = source->device,
        .stream = source->stream,
        .watch = source->watch,
        .what = mesh_name[design->prim],
        .help = "give a larger parts=...",
        .prim = design->prim,
        .flags = design->scene_flags,
        .compact = design->compact,
        .radius = rx_radius(&design->map),
        .n = source->n,
        .part = part,
        .fill = fill,
        .source = source,
    };
}

/* Makes the list of parts that rays begin in, or rewrites the keys of an existing one. */
static kr_status make_doors(const rx_source *source, rx_scenes *scenes, kr_error *err)
{
    kr_device *device = source->device;
    const kr_parts *parts = &scenes->parts;
    const uint64_t nbytes = parts->n_parts * sizeof(rx_door);
    rx_door *list = kr_host_calloc(parts->n_parts, sizeof *list, "the parts of a scene", err);
    kr_status status = list ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; status == KR_OK && i < parts->n_parts; ++i) {
        list[i].scene = parts->parts[i]->view;
        list[i].scene.first = (uint32_t)(i * parts->part);
    }
    if (status == KR_OK && !scenes->doors.data)
        status = kr_buffer_allocate(device, nbytes, source->stream, "the list of parts", "enter=top",
                                    &scenes->doors, err);
    if (status == KR_OK)
        status = kr_device_copy(device, scenes->doors.data, list, nbytes, source->stream, err);
    const rx_doors_params params = {source->keys, source->positions, scenes->doors.data};
    if (status == KR_OK)
        status = kr_device_run(device, source->doors, &params, parts->n_parts, source->stream, err);
    if (status == KR_OK) /* the list is freed now */
        status = kr_device_sync(device, source->stream, err);
    free(list);
    return status;
}

kr_status rx_scenes_build(const rx_source *source, rx_scenes *scenes, kr_error *err)
{
    rx_scenes made = {{0}};
    kr_status status = KR_OK;
    if (source->n) {
        const kr_parts_job job =
            job_of(source, kr_parts_size(source->n, parts_of(source->device, source->design, source->n)));
        if (job.part > KR_MOST_PRIMITIVES)
            return kr_fail(err, KR_ERR_LIMIT,
                           "kind 'rx': %llu primitives, but a scene holds %llu; give parts=%llu or more",
                           (unsigned long long)job.n, (unsigned long long)KR_MOST_PRIMITIVES,
                           (unsigned long long)kr_parts_size(job.n, KR_MOST_PRIMITIVES));
        status = kr_parts_build(&job, &made.parts, err);
    }
    if (status == KR_OK && made.parts.group && source->design->enter) {
        status = make_doors(source, &made, err);
        kr_stopwatch_lap(source->watch, "bvh");
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
    const kr_parts_job job = job_of(source, scenes->parts.part);
    kr_status status = KR_OK;
    for (*done = 0; *done < n; ++*done) {
        kr_scene *scene = scenes->parts.parts[*done];
        kr_mesh mesh;
        if (!undoes)
            status = kr_progress_report(&source->device->options.progress, "refit", (double)*done / n, err);
        if (status != KR_OK)
            return status;
        status = kr_parts_mesh(&job, *done, &mesh, err);
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
    kr_scene *group = scenes->parts.group;
    if (!group)
        return KR_OK;
    const kr_status status = group->tracer->ops->regroup(group, source->stream, err);
    return status == KR_OK && scenes->doors.data ? make_doors(source, scenes, err) : status;
}

kr_status rx_scenes_refit(const rx_source *source, const rx_source *old, rx_scenes *scenes, kr_error *err)
{
    uint32_t done = 0, undone = 0;
    kr_status status = refit_parts(source, scenes, scenes->parts.n_parts, 0, &done, err);
    if (status == KR_OK)
        status = refit_group(source, scenes, err);
    if (status == KR_OK) {
        scenes->stale = 0;
        return KR_OK;
    }
    /* Lookups on other streams do not wait for undoing, so this function waits. */
    if ((done < scenes->parts.n_parts && scenes->parts.parts[done]->is_broken) ||
        (done && (refit_parts(old, scenes, done, 1, &undone, NULL) != KR_OK ||
                  refit_group(old, scenes, NULL) != KR_OK ||
                  kr_device_sync(source->device, source->stream, NULL) != KR_OK)))
        scenes->stale = 1;
    return status;
}

void rx_scenes_release(rx_scenes *scenes, kr_stream *stream)
{
    if (scenes->parts.group)
        kr_buffer_release(scenes->parts.group->tracer->device, &scenes->doors, stream);
    kr_parts_release(&scenes->parts, stream);
    *scenes = (rx_scenes){0};
}

uint64_t rx_scenes_nbytes(const rx_scenes *scenes)
{
    return kr_parts_nbytes(&scenes->parts) + scenes->doors.nbytes;
}
