#include "index/families/rx/rx_scene.h"
#include "index/families/rx/rx_geometry.h"
#include "index/families/rx/rx_mesh.h"
#include "index/scenes/rays.h"

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
    const uint64_t parts = device->ops->is_host ? 1 : kr_scenes_size(n, KEYS_A_PART);
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
    kr_status status = kr_scenes_estimate(device, design->prim, n, parts, design->scene_flags, estimate, err);
    /* NULL rows and equal keys may leave a part less, each of which is then larger. */
    if (status == KR_OK && !design->parts && parts > 1 && full < n)
        status = kr_scenes_estimate(device, design->prim, full, parts - 1, design->scene_flags, &fewer, err);
    if (fewer.footprint_nbytes > estimate->footprint_nbytes)
        estimate->footprint_nbytes = fewer.footprint_nbytes;
    if (fewer.peak_nbytes > estimate->peak_nbytes)
        estimate->peak_nbytes = fewer.peak_nbytes;
    return status;
}

static void fill(kr_work *w, const void *from, uint32_t i, uint64_t first, uint64_t n, float *out)
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
    kr_work_run(w, source->mesh, &params, n);
}

static kr_parts_job job_of(const rx_source *source, uint64_t part)
{
    const rx_design *design = source->design;
    return (kr_parts_job){
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
static void make_doors(const rx_source *source, rx_scenes *scenes)
{
    kr_work *w = source->work;
    const kr_parts *parts = &scenes->parts;
    const uint64_t nbytes = parts->n_parts * sizeof(rx_door);
    rx_door *list = kr_work_object(w, nbytes, "the parts of a scene");
    for (uint32_t i = 0; list && i < parts->n_parts; ++i) {
        list[i].scene = parts->parts[i]->view;
        list[i].scene.first = (uint32_t)(i * parts->part);
    }
    void *doors = scenes->doors.data;
    if (!doors)
        doors = kr_work_take_or(w, nbytes, "the list of parts", "enter=top");
    const rx_doors_params params = {source->keys, source->positions, doors};
    kr_work_copy(w, doors, list, nbytes);
    kr_work_run(w, source->doors, &params, parts->n_parts);
    kr_work_sync(w); /* the list is freed now */
    if (!scenes->doors.data)
        scenes->doors = kr_work_keep(w, doors);
    free(list);
}

rx_scenes rx_scenes_build(const rx_source *source)
{
    kr_work *w = source->work;
    rx_scenes made = {{0}};
    if (!source->n || !kr_work_goes_on(w))
        return made;
    const kr_parts_job job =
        job_of(source, kr_scenes_size(source->n, parts_of(w->device, source->design, source->n)));
    if (job.part > KR_MOST_PRIMITIVES)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "kind 'rx': %llu primitives, but a scene holds %llu; give parts=%llu or more",
                           (unsigned long long)job.n, (unsigned long long)KR_MOST_PRIMITIVES,
                           (unsigned long long)kr_scenes_size(job.n, KR_MOST_PRIMITIVES)));
    if (kr_work_goes_on(w))
        made.parts = kr_scenes_build(w, &job);
    if (made.parts.group && source->design->enter) {
        make_doors(source, &made);
        kr_work_lap(w, "bvh");
    }
    if (!kr_work_goes_on(w))
        rx_scenes_release(&made, w->stream);
    return made;
}

/* Refits parts until one fails; returns how many were. Undoing cannot be cancelled. */
static uint32_t refit_parts(const rx_source *source, rx_scenes *scenes, uint32_t n, int undoes)
{
    kr_work *w = source->work;
    const kr_parts_job job = job_of(source, scenes->parts.part);
    for (uint32_t done = 0; done < n; ++done) {
        kr_scene *scene = scenes->parts.parts[done];
        if (!undoes)
            KR_STEP(w, kr_progress_report(&w->device->options.progress, "refit", (double)done / n, w->err));
        kr_mesh mesh = kr_scenes_mesh(w, &job, done);
        KR_STEP(w, scene->tracer->ops->refit(scene, &mesh, w->stream, w->err));
        kr_buffer_release(w->device, &mesh.data, w->stream);
        if (!kr_work_goes_on(w))
            return done;
        kr_work_lap(w, "refit");
    }
    return n;
}

/* Refits the group over the parts, once these have moved. */
static void refit_group(const rx_source *source, rx_scenes *scenes)
{
    kr_work *w = source->work;
    kr_scene *group = scenes->parts.group;
    if (!group)
        return;
    KR_STEP(w, group->tracer->ops->regroup(group, w->stream, w->err));
    kr_work_lap(w, "refit");
    if (scenes->doors.data)
        make_doors(source, scenes);
}

void rx_scenes_refit(const rx_source *source, const rx_source *old, rx_scenes *scenes)
{
    const uint32_t done = refit_parts(source, scenes, scenes->parts.n_parts, 0);
    refit_group(source, scenes);
    if (kr_work_goes_on(source->work)) {
        scenes->stale = 0;
        return;
    }
    const int is_broken = done < scenes->parts.n_parts && scenes->parts.parts[done]->is_broken;
    if (done && !is_broken) {
        refit_parts(old, scenes, done, 1);
        refit_group(old, scenes);
        kr_work_sync(old->work); /* lookups on other streams do not wait for undoing */
    }
    if (is_broken || !kr_work_goes_on(old->work))
        scenes->stale = 1;
}

void rx_scenes_release(rx_scenes *scenes, kr_stream *stream)
{
    if (scenes->parts.group)
        kr_buffer_release(scenes->parts.group->tracer->device, &scenes->doors, stream);
    kr_scenes_release(&scenes->parts, stream);
    *scenes = (rx_scenes){0};
}

uint64_t rx_scenes_nbytes(const rx_scenes *scenes)
{
    return kr_scenes_nbytes(&scenes->parts) + scenes->doors.nbytes;
}
