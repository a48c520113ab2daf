/* Scenes: acceleration structures over one mesh, and over several scenes as instances. */
#include "base/tracers/optix/optix.h"

#include <stdlib.h>
#include <string.h>

static const char less[] = "cut the scene in more parts, release some or raise the cap";

static uint64_t address_of(kr_buffer buffer)
{
    return (uint64_t)(uintptr_t)buffer.data;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- What OptiX is given ------------------------------------------------------------------- */

/* Addresses that the build input points to. */
typedef struct input_places {
    uint64_t data, radius;
} input_places;

static void fill_input(uint32_t prim, uint64_t n, const input_places *places, kr_optix_input *input)
{
    static const uint32_t flags = KR_OPTIX_GEOMETRY_ONE_ANYHIT;
    *input = (kr_optix_input){0};
    if (prim == KR_PRIM_TRIANGLE) {
        input->type = KR_OPTIX_INPUT_TRIANGLES;
        input->of.triangles.vertices = &places->data;
        input->of.triangles.n_vertices = (uint32_t)(3 * n);
        input->of.triangles.vertex_format = KR_OPTIX_FLOAT3;
        input->of.triangles.vertex_stride = 3 * sizeof(float);
        input->of.triangles.flags = &flags;
        input->of.triangles.n_records = 1;
    } else if (prim == KR_PRIM_SPHERE) {
        input->type = KR_OPTIX_INPUT_SPHERES;
        input->of.spheres.centres = &places->data;
        input->of.spheres.centre_stride = 3 * sizeof(float);
        input->of.spheres.n = (uint32_t)n;
        input->of.spheres.radii = &places->radius;
        input->of.spheres.radius_stride = sizeof(float);
        input->of.spheres.one_radius = 1;
        input->of.spheres.flags = &flags;
        input->of.spheres.n_records = 1;
    } else {
        input->type = KR_OPTIX_INPUT_BOXES;
        input->of.boxes.boxes = &places->data;
        input->of.boxes.n = (uint32_t)n;
        input->of.boxes.stride = 6 * sizeof(float);
        input->of.boxes.flags = &flags;
        input->of.boxes.n_records = 1;
    }
}

static void fill_group_input(const kr_optix_scene *scene, kr_optix_input *input)
{
    *input = (kr_optix_input){0};
    input->type = KR_OPTIX_INPUT_INSTANCES;
    input->of.instances.instances = address_of(scene->instances);
    input->of.instances.n = (uint32_t)scene->n;
}

static uint32_t build_flags_of(uint32_t scene_flags)
{
    return (scene_flags & KR_SCENE_COMPACT ? KR_OPTIX_ALLOW_COMPACTION : 0u) |
           (scene_flags & KR_SCENE_REFIT ? KR_OPTIX_ALLOW_UPDATE : 0u) |
           (scene_flags & KR_SCENE_FAST_BUILD ? KR_OPTIX_PREFER_FAST_BUILD : 0u) |
           (scene_flags & KR_SCENE_FAST_TRACE ? KR_OPTIX_PREFER_FAST_TRACE : 0u);
}

static kr_status ask_sizes(const kr_optix *optix, const kr_optix_build_options *options,
                           const kr_optix_input *input, kr_optix_build_sizes *sizes, kr_error *err)
{
    return kr_optix_check(optix, optix->api->accel_sizes(optix->context, options, input, 1, sizes),
                          "optixAccelComputeMemoryUsage", "asking for the size of a scene", err);
}

/* Scratch memory of a build: OptiX's own, then a radius, then room for the compacted size. */
enum { TAIL_NBYTES = 16, RADIUS_AT = 0, EMIT_AT = 8 };

static uint64_t tail_of(uint64_t temp_nbytes)
{
    return (temp_nbytes + 127) / 128 * 128;
}

/* ---- Estimate ------------------------------------------------------------------------------ */

typedef struct estimating {
    kr_optix *optix;
    uint32_t prim, flags;
    uint64_t n;
    kr_scene_estimate *estimate;
} estimating;

static kr_status estimate_within(void *ctx, kr_error *err)
{
    const estimating *job = ctx;
    const kr_optix_build_options options = {build_flags_of(job->flags), KR_OPTIX_BUILD, {0, 0, 0, 0}};
    const input_places nowhere = {256, 256}; /* not looked at */
    kr_optix_build_sizes sizes;
    kr_optix_input input;
    fill_input(job->prim, job->n, &nowhere, &input);
    const kr_status status = ask_sizes(job->optix, &options, &input, &sizes, err);
    if (status)
        return status;
    uint64_t temp = tail_of(sizes.temp_nbytes) + TAIL_NBYTES;
    if (job->flags & KR_SCENE_REFIT)
        temp = most(temp, tail_of(sizes.update_temp_nbytes) + TAIL_NBYTES);
    /* The mesh is released before compacting. How much compacting saves depends on the primitives. */
    temp += kr_tracer_mesh_nbytes(job->prim, job->n);
    if (job->flags & KR_SCENE_COMPACT)
        temp = most(temp, sizes.output_nbytes);
    job->estimate->footprint_nbytes = sizes.output_nbytes;
    job->estimate->peak_nbytes = sizes.output_nbytes + temp;
    return KR_OK;
}

kr_status kr_optix_estimate(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags,
                            kr_scene_estimate *estimate, kr_error *err)
{
    estimating job = {kr_optix_of(tracer), prim, flags, n, estimate};
    return tracer->device->ops->within(tracer->device, estimate_within, &job, err);
}

/* ---- Building and refitting ---------------------------------------------------------------- */

typedef struct building {
    kr_optix *optix;
    kr_optix_scene *scene;
    kr_mesh *mesh;
    kr_stream *stream;
    uint32_t operation; /* KR_OPTIX_BUILD, KR_OPTIX_UPDATE */
    kr_optix_build_options options;
    kr_buffer temp;
} building;

/* Enqueues a build or an update of scene->bvh. */
static kr_status enqueue(building *job, const kr_optix_input *input, size_t temp_nbytes, int emits,
                         kr_error *err)
{
    kr_device *device = job->optix->head.device;
    kr_optix_scene *scene = job->scene;
    const uint64_t tail = address_of(job->temp) + tail_of(temp_nbytes);
    const kr_optix_emit emit = {tail + EMIT_AT, KR_OPTIX_COMPACTED_SIZE};
    uint64_t traversable = 0;
    kr_status status = kr_optix_check(
        job->optix,
        job->optix->api->accel_build(job->optix->context, kr_stream_native(device, job->stream),
                                     &job->options, input, 1, address_of(job->temp), temp_nbytes,
                                     address_of(scene->bvh), scene->bvh.nbytes, &traversable,
                                     emits ? &emit : NULL, emits ? 1 : 0),
        "optixAccelBuild", job->operation == KR_OPTIX_BUILD ? "building a scene" : "refitting a scene", err);
    if (status || !emits) {
        scene->head.view.handle = status ? scene->head.view.handle : traversable;
        return status;
    }
    status = kr_device_copy(device, &scene->head.compacted_nbytes, (void *)(uintptr_t)emit.to,
                            sizeof(uint64_t), job->stream, err);
    if (!status)
        status = kr_device_sync(device, job->stream, err);
    scene->head.view.handle = traversable;
    return status;
}

/* Allocates what the operation needs, and enqueues it. */
static kr_status build_mesh(building *job, kr_error *err)
{
    kr_device *device = job->optix->head.device;
    kr_optix_scene *scene = job->scene;
    const int builds = job->operation == KR_OPTIX_BUILD;
    const int emits = builds && (scene->head.flags & KR_SCENE_COMPACT);
    input_places places = {address_of(job->mesh->data), 256};
    /* The sizes of a build include those of an update. */
    const kr_optix_build_options asked = {job->options.flags, KR_OPTIX_BUILD, {0, 0, 0, 0}};
    kr_optix_build_sizes sizes;
    kr_optix_input input;
    fill_input(job->mesh->prim, job->mesh->n, &places, &input);
    kr_status status = ask_sizes(job->optix, &asked, &input, &sizes, err);
    if (status)
        return status;
    const size_t temp_nbytes = builds ? sizes.temp_nbytes : sizes.update_temp_nbytes;
    if (builds)
        status = kr_buffer_allocate(device, sizes.output_nbytes, job->stream, "the scene's BVH", less,
                                    &scene->bvh, err);
    if (!status)
        status = kr_buffer_allocate(device, tail_of(temp_nbytes) + TAIL_NBYTES, job->stream,
                                    builds ? "scratch memory of building the BVH"
                                           : "scratch memory of refitting the BVH",
                                    less, &job->temp, err);
    if (!status && job->mesh->prim == KR_PRIM_SPHERE) {
        places.radius = address_of(job->temp) + tail_of(temp_nbytes) + RADIUS_AT;
        scene->radius = job->mesh->radius;
        status = kr_device_copy(device, (void *)(uintptr_t)places.radius, &scene->radius,
                                sizeof scene->radius, job->stream, err);
    }
    if (!status)
        status = enqueue(job, &input, temp_nbytes, emits, err);
    kr_buffer_release(device, &job->temp, job->stream);
    return status;
}

static kr_status build_within(void *ctx, kr_error *err)
{
    building *job = ctx;
    const kr_status status = build_mesh(job, err);
    if (!status)
        kr_buffer_release(job->optix->head.device, &job->mesh->data, job->stream);
    return status;
}

static kr_optix_scene *scene_new(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags, kr_error *err)
{
    kr_optix_scene *scene = kr_host_calloc(1, sizeof *scene, "a scene", err);
    if (!scene)
        return NULL;
    scene->head.tracer = tracer;
    scene->head.view.host = scene;
    scene->head.view.prim = prim;
    scene->head.flags = flags;
    scene->n = n;
    scene->build_flags = build_flags_of(flags);
    return scene;
}

kr_status kr_optix_build(kr_tracer *tracer, kr_mesh *mesh, uint32_t flags, kr_stream *stream,
                         kr_scene **scene, kr_error *err)
{
    if (mesh->n > KR_MOST_PRIMITIVES)
        return kr_fail(err, KR_ERR_LIMIT, "a scene of %llu primitives: OptiX takes %llu; cut it in parts",
                       (unsigned long long)mesh->n, (unsigned long long)KR_MOST_PRIMITIVES);
    kr_optix_scene *made = scene_new(tracer, mesh->prim, mesh->n, flags, err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    building job = {.optix = kr_optix_of(tracer),
                    .scene = made,
                    .mesh = mesh,
                    .stream = stream,
                    .operation = KR_OPTIX_BUILD,
                    .options = {made->build_flags, KR_OPTIX_BUILD, {0, 0, 0, 0}}};
    const kr_status status = tracer->device->ops->within(tracer->device, build_within, &job, err);
    if (status) {
        kr_optix_destroy(&made->head, stream);
        return status;
    }
    made->head.footprint_nbytes = made->bvh.nbytes;
    *scene = &made->head;
    return KR_OK;
}

/* An update writes the structure in place, so whatever may fail comes first. */
kr_status kr_optix_refit(kr_scene *scene, kr_mesh *mesh, kr_stream *stream, kr_error *err)
{
    kr_optix_scene *refitted = (kr_optix_scene *)scene;
    kr_device *device = scene->tracer->device;
    if (!(scene->flags & KR_SCENE_REFIT) || mesh->n != refitted->n || mesh->prim != scene->view.prim)
        return kr_fail(err, KR_ERR_INTERNAL, "refitting %llu primitives with %llu others",
                       (unsigned long long)refitted->n, (unsigned long long)mesh->n);
    building job = {.optix = kr_optix_of(scene->tracer),
                    .scene = refitted,
                    .mesh = mesh,
                    .stream = stream,
                    .operation = KR_OPTIX_UPDATE,
                    .options = {refitted->build_flags, KR_OPTIX_UPDATE, {0, 0, 0, 0}}};
    return device->ops->within(device, build_within, &job, err);
}

/* ---- Compaction ---------------------------------------------------------------------------- */

typedef struct compacting {
    kr_optix *optix;
    kr_optix_scene *scene;
    kr_stream *stream;
} compacting;

static kr_status compact_within(void *ctx, kr_error *err)
{
    const compacting *job = ctx;
    kr_optix_scene *scene = job->scene;
    kr_device *device = job->optix->head.device;
    kr_buffer smaller = {0};
    uint64_t traversable = 0;
    kr_status status = kr_buffer_allocate(device, scene->head.compacted_nbytes, job->stream,
                                          "the compacted BVH beside the first", less, &smaller, err);
    if (status)
        return status;
    status = kr_optix_check(job->optix,
                            job->optix->api->accel_compact(
                                job->optix->context, kr_stream_native(device, job->stream),
                                scene->head.view.handle, address_of(smaller), smaller.nbytes, &traversable),
                            "optixAccelCompact", "compacting a scene", err);
    if (status) {
        kr_buffer_release(device, &smaller, job->stream);
        return status;
    }
    kr_buffer_release(device, &scene->bvh, job->stream);
    scene->bvh = smaller;
    scene->head.view.handle = traversable;
    scene->head.footprint_nbytes = smaller.nbytes;
    return KR_OK;
}

kr_status kr_optix_compact(kr_scene *scene, kr_stream *stream, kr_error *err)
{
    compacting job = {kr_optix_of(scene->tracer), (kr_optix_scene *)scene, stream};
    kr_device *device = scene->tracer->device;
    if (!(scene->flags & KR_SCENE_COMPACT))
        return kr_fail(err, KR_ERR_INTERNAL, "compacting a scene that was not built for it");
    if (job.scene->head.compacted_nbytes >= job.scene->bvh.nbytes)
        return KR_OK;
    return device->ops->within(device, compact_within, &job, err);
}

/* ---- Groups -------------------------------------------------------------------------------- */

/* Builds a group's structure over its list; the first time it allocates. */
static kr_status group_within(void *ctx, kr_error *err)
{
    building *job = ctx;
    kr_device *device = job->optix->head.device;
    kr_optix_scene *scene = job->scene;
    const uint64_t list_nbytes = scene->n * sizeof *scene->list;
    kr_optix_build_sizes sizes;
    kr_optix_input input;
    kr_status status = KR_OK;
    if (!scene->instances.data)
        status = kr_buffer_allocate(device, list_nbytes, job->stream, "a scene's list of parts", NULL,
                                    &scene->instances, err);
    if (!status)
        status = kr_device_copy(device, scene->instances.data, scene->list, list_nbytes, job->stream, err);
    fill_group_input(scene, &input);
    if (!status)
        status = ask_sizes(job->optix, &job->options, &input, &sizes, err);
    if (!status && !scene->bvh.data)
        status = kr_buffer_allocate(device, sizes.output_nbytes, job->stream, "a BVH over parts", NULL,
                                    &scene->bvh, err);
    if (!status)
        status = kr_buffer_allocate(device, tail_of(sizes.temp_nbytes) + TAIL_NBYTES, job->stream,
                                    "scratch memory of a BVH over parts", NULL, &job->temp, err);
    if (!status)
        status = enqueue(job, &input, sizes.temp_nbytes, 0, err);
    kr_buffer_release(device, &job->temp, job->stream);
    return status;
}

static kr_status build_group(kr_optix_scene *scene, kr_stream *stream, kr_error *err)
{
    kr_device *device = scene->head.tracer->device;
    building job = {.optix = kr_optix_of(scene->head.tracer),
                    .scene = scene,
                    .stream = stream,
                    .operation = KR_OPTIX_BUILD,
                    .options = {0, KR_OPTIX_BUILD, {0, 0, 0, 0}}};
    return device->ops->within(device, group_within, &job, err);
}

kr_status kr_optix_group_scenes(kr_tracer *tracer, kr_scene *const *scenes, uint32_t n, uint64_t part,
                                kr_stream *stream, kr_scene **scene, kr_error *err)
{
    kr_optix_scene *made = scene_new(tracer, scenes[0]->view.prim, n, 0, err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->head.view.part = (uint32_t)part;
    made->build_flags = ((const kr_optix_scene *)scenes[0])->build_flags;
    made->list = kr_host_calloc(n, sizeof *made->list, "a scene's list of parts", err);
    kr_status status = made->list ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; !status && i < n; ++i) {
        kr_optix_instance *instance = &made->list[i];
        instance->transform[0] = instance->transform[5] = instance->transform[10] = 1;
        instance->id = i;
        instance->visibility = 0xFF;
        instance->traversable = scenes[i]->view.handle;
    }
    if (!status)
        status = build_group(made, stream, err);
    if (status) {
        kr_optix_destroy(&made->head, stream);
        return status;
    }
    made->head.footprint_nbytes = made->bvh.nbytes + made->instances.nbytes;
    *scene = &made->head;
    return KR_OK;
}

/* Refitted scenes keep their addresses, so the list is as it was. The structure over it is built anew in
 * place. */
kr_status kr_optix_regroup(kr_scene *scene, kr_stream *stream, kr_error *err)
{
    return build_group((kr_optix_scene *)scene, stream, err);
}

void kr_optix_destroy(kr_scene *scene, kr_stream *stream)
{
    kr_optix_scene *gone = (kr_optix_scene *)scene;
    if (!scene)
        return;
    kr_buffer_release(scene->tracer->device, &gone->bvh, stream);
    kr_buffer_release(scene->tracer->device, &gone->instances, stream);
    free(gone->list);
    free(gone);
}
