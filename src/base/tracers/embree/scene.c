/* Scenes of one mesh: built, refitted, released. */
#include "base/tracers/embree/embree.h"

#include <stdlib.h>

static const char *const plural[KR_PRIMS] = {
    [KR_PRIM_TRIANGLE] = "triangles", [KR_PRIM_SPHERE] = "spheres", [KR_PRIM_AABB] = "boxes"};

static kr_embree_tracer *tracer_of(const kr_embree_scene *scene)
{
    return (kr_embree_tracer *)scene->head.tracer;
}

/* A ray along an axis misses a tree's box that it only touches, and so every primitive without volume. Where
 * floats are coarse, a small box may have none. */
static float outward(float x)
{
    return (x < 0 ? -x : x) * 0x1p-23f;
}

static void bounds_of_box(const struct RTCBoundsFunctionArguments *args)
{
    const kr_embree_scene *scene = args->geometryUserPtr;
    const float *box = (const float *)scene->input.floats.data + (uint64_t)args->primID * 6;
    struct RTCBounds *bounds = args->bounds_o;
    bounds->lower_x = box[0] - outward(box[0]), bounds->upper_x = box[3] + outward(box[3]);
    bounds->lower_y = box[1] - outward(box[1]), bounds->upper_y = box[4] + outward(box[4]);
    bounds->lower_z = box[2] - outward(box[2]), bounds->upper_z = box[5] + outward(box[5]);
}

static void bounds_of_sphere(const struct RTCBoundsFunctionArguments *args)
{
    const kr_embree_scene *scene = args->geometryUserPtr;
    const float *at = (const float *)scene->input.floats.data + (uint64_t)args->primID * 4, radius = at[3];
    struct RTCBounds *bounds = args->bounds_o;
    bounds->lower_x = at[0] - radius - outward(at[0]), bounds->upper_x = at[0] + radius + outward(at[0]);
    bounds->lower_y = at[1] - radius - outward(at[1]), bounds->upper_y = at[1] + radius + outward(at[1]);
    bounds->lower_z = at[2] - radius - outward(at[2]), bounds->upper_z = at[2] + radius + outward(at[2]);
}

/* ---- Building ------------------------------------------------------------------------------ */

/* Tells Embree where the scene's input lies now. */
static void point_at(kr_embree_scene *scene)
{
    const kr_rtc *rtc = scene->rtc;
    const void *floats = scene->input.floats.data;
    if (scene->head.view.prim == KR_PRIM_TRIANGLE)
        rtc->SetSharedGeometryBuffer(scene->geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, floats, 0,
                                     12, 3 * scene->n);
    else
        rtc->SetGeometryBoundsFunction(
            scene->geometry, scene->head.view.prim == KR_PRIM_SPHERE ? bounds_of_sphere : bounds_of_box,
            NULL);
}

/* Embree refits a geometry only if it has its own tree below a tree over all geometries, which is what Embree
 * builds at low quality; the geometry's own tree is then built like any other. Spheres and
 * boxes are always compact: the memory of the other form varies so much with the number of primitives that
 * there is no useful bound. */
static void set_flags(kr_embree_scene *scene)
{
    const uint32_t flags = scene->head.flags, prim = scene->head.view.prim;
    const int refit = (flags & KR_SCENE_REFIT) != 0;
    const unsigned dynamic = refit ? RTC_SCENE_FLAG_DYNAMIC : 0;
    const int narrow = prim != KR_PRIM_TRIANGLE || (flags & KR_SCENE_COMPACT);
    const unsigned compact = narrow ? RTC_SCENE_FLAG_COMPACT : 0;
    scene->rtc->SetSceneFlags(scene->rtc_scene, (enum RTCSceneFlags)(RTC_SCENE_FLAG_ROBUST | dynamic |
                                                                     compact | KR_RTC_SCENE_FLAG_FILTER));
    scene->rtc->SetSceneBuildQuality(scene->rtc_scene,
                                     refit ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
    if (refit)
        scene->rtc->SetGeometryBuildQuality(scene->geometry, RTC_BUILD_QUALITY_REFIT);
}

/* Errors are kept for kr_embree_turn_status. */
static void construct(kr_embree_scene *scene)
{
    static const enum RTCGeometryType types[KR_PRIMS] = {[KR_PRIM_TRIANGLE] = RTC_GEOMETRY_TYPE_TRIANGLE,
                                                         [KR_PRIM_SPHERE] = RTC_GEOMETRY_TYPE_USER,
                                                         [KR_PRIM_AABB] = RTC_GEOMETRY_TYPE_USER};
    const kr_rtc *rtc = scene->rtc;
    const uint32_t prim = scene->head.view.prim;
    const RTCDevice device = tracer_of(scene)->rtc_device;
    scene->rtc_scene = rtc->NewScene(device);
    scene->geometry = rtc->NewGeometry(device, types[prim]);
    if (!scene->rtc_scene || !scene->geometry)
        return;
    set_flags(scene);
    if (prim == KR_PRIM_TRIANGLE)
        rtc->SetSharedGeometryBuffer(scene->geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                     scene->input.indices.data, 0, 12, scene->n);
    if (prim != KR_PRIM_TRIANGLE) {
        rtc->SetGeometryUserPrimitiveCount(scene->geometry, (unsigned)scene->n);
        rtc->SetGeometryUserData(scene->geometry, scene);
        rtc->SetGeometryIntersectFunction(scene->geometry, prim == KR_PRIM_SPHERE ? kr_embree_intersect_sphere
                                                                                  : kr_embree_intersect_box);
    }
    point_at(scene);
    rtc->CommitGeometry(scene->geometry);
    rtc->AttachGeometryByID(scene->rtc_scene, scene->geometry, 0);
    kr_embree_watch(tracer_of(scene), scene->rtc_scene);
    rtc->CommitScene(scene->rtc_scene);
}

/* Embree counts a block before it allocates it, and does not undo that if the system has no memory. Once the
 * scene is gone, nothing is held for it. */
static void settle(kr_embree_scene *scene)
{
    kr_embree_tracer *tracer = tracer_of(scene);
    kr_device_charge(tracer->head.device, tracer->turn.stream, -(int64_t)scene->account.charged);
    scene->account = (kr_embree_account){0};
}

static void deconstruct(kr_embree_scene *scene)
{
    if (scene->geometry)
        scene->rtc->ReleaseGeometry(scene->geometry);
    if (scene->rtc_scene)
        scene->rtc->ReleaseScene(scene->rtc_scene);
    settle(scene);
}

static void count(kr_embree_scene *scene)
{
    scene->head.footprint_nbytes =
        scene->account.charged + scene->input.floats.nbytes + scene->input.indices.nbytes;
    scene->head.compacted_nbytes = scene->head.footprint_nbytes; /* Embree compacts while it builds */
}

static kr_embree_scene *new_scene(kr_tracer *tracer, const kr_mesh *mesh, uint32_t flags, kr_error *err)
{
    kr_embree_scene *scene = kr_host_calloc(1, sizeof *scene, "a scene", err);
    if (!scene)
        return NULL;
    scene->head.tracer = tracer;
    scene->head.flags = flags;
    scene->head.view = (kr_scene_view){.host = &scene->host, .prim = mesh->prim};
    scene->host = kr_embree_host_scene;
    scene->rtc = ((kr_embree_tracer *)tracer)->rtc;
    scene->n = mesh->n;
    return scene;
}

kr_status kr_embree_build(kr_tracer *tracer, kr_mesh *mesh, uint32_t flags, kr_stream *stream,
                          kr_scene **scene, kr_error *err)
{
    kr_embree_tracer *own = (kr_embree_tracer *)tracer;
    kr_embree_scene *built = new_scene(tracer, mesh, flags, err);
    if (!built)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_embree_input_make(tracer->device, mesh, 1, stream, &built->input, err);
    if (!status) {
        kr_embree_turn_begin(own, &built->account, stream, "bvh", err);
        construct(built);
        status = kr_embree_turn_status(own, plural[mesh->prim], mesh->n);
        if (status)
            deconstruct(built);
        kr_embree_turn_end(own);
        if (status)
            kr_embree_input_release(tracer->device, mesh, &built->input, stream);
    }
    if (status) {
        free(built);
        return status;
    }
    kr_embree_input_take(tracer->device, mesh, &built->input, stream);
    /* Rays get the boxes from the program; only a failed refit needs the boxes from before it. */
    if (mesh->prim == KR_PRIM_AABB && !(flags & KR_SCENE_REFIT))
        kr_buffer_release(tracer->device, &built->input.floats, stream);
    count(built);
    *scene = &built->head;
    return KR_OK;
}

/* RTC_SCENE_FLAG_COMPACT made Embree build the compact form at once. */
kr_status kr_embree_compact(kr_scene *scene, kr_stream *stream, kr_error *err)
{
    (void)stream;
    if (!(scene->flags & KR_SCENE_COMPACT))
        return kr_fail(err, KR_ERR_INTERNAL, "compacting a scene that was not built for it");
    return KR_OK;
}

/* ---- Refitting ------------------------------------------------------------------------------- */

static void commit_again(kr_embree_scene *scene)
{
    point_at(scene);
    scene->rtc->CommitGeometry(scene->geometry);
    scene->rtc->CommitScene(scene->rtc_scene);
}

kr_status kr_embree_refit(kr_scene *scene, kr_mesh *mesh, kr_stream *stream, kr_error *err)
{
    kr_embree_scene *own = (kr_embree_scene *)scene;
    kr_embree_tracer *tracer = tracer_of(own);
    kr_device *device = scene->tracer->device;
    kr_embree_input input;
    if (!(scene->flags & KR_SCENE_REFIT) || mesh->n != own->n || mesh->prim != scene->view.prim)
        return kr_fail(err, KR_ERR_INTERNAL, "refitting a scene that was not built for it");
    kr_status status = kr_embree_input_make(device, mesh, 0, stream, &input, err);
    if (status)
        return status;
    const kr_buffer before = own->input.floats;
    kr_embree_turn_begin(tracer, &own->account, stream, "refit", err);
    own->input.floats = input.floats;
    commit_again(own);
    status = kr_embree_turn_status(tracer, plural[mesh->prim], mesh->n);
    if (status) { /* back to where it was, even above the cap */
        tracer->turn.must = 1;
        atomic_store(&tracer->turn.cancelled, 0);
        own->input.floats = before;
        tracer->turn.code = RTC_ERROR_NONE;
        commit_again(own);
        scene->is_broken = tracer->turn.code != RTC_ERROR_NONE;
    }
    kr_embree_turn_end(tracer);
    if (status) {
        kr_embree_input_release(device, mesh, &input, stream);
    } else {
        kr_embree_input_take(device, mesh, &input, stream);
        own->input.floats = input.floats;
        kr_buffer old = before;
        kr_buffer_release(device, &old, stream);
    }
    count(own);
    return status;
}

void kr_embree_destroy(kr_scene *scene, kr_stream *stream)
{
    kr_embree_scene *own = (kr_embree_scene *)scene;
    if (!scene)
        return;
    kr_embree_turn_begin(tracer_of(own), &own->account, stream, "release", NULL);
    deconstruct(own);
    kr_embree_turn_end(tracer_of(own));
    kr_embree_input_release(scene->tracer->device, NULL, &own->input, stream);
    free(own);
}
