/* One scene over several: an instance of each, not moved. */
#include "base/tracers/embree/embree.h"

static void attach(kr_embree_scene *group, const kr_embree_scene *scene, uint32_t number)
{
    static const float identity[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    const kr_rtc *rtc = group->rtc;
    RTCGeometry instance =
        rtc->NewGeometry(((kr_embree_tracer *)group->head.tracer)->rtc_device, RTC_GEOMETRY_TYPE_INSTANCE);
    if (!instance)
        return;
    rtc->SetGeometryInstancedScene(instance, scene->rtc_scene);
    rtc->SetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, identity);
    rtc->CommitGeometry(instance);
    rtc->AttachGeometryByID(group->rtc_scene, instance, number);
    rtc->ReleaseGeometry(instance);
}

static void construct(kr_embree_scene *group, kr_scene *const *scenes)
{
    const kr_rtc *rtc = group->rtc;
    group->rtc_scene = rtc->NewScene(((kr_embree_tracer *)group->head.tracer)->rtc_device);
    if (!group->rtc_scene)
        return;
    rtc->SetSceneFlags(group->rtc_scene,
                       (enum RTCSceneFlags)(RTC_SCENE_FLAG_ROBUST | (unsigned)KR_RTC_SCENE_FLAG_FILTER));
    rtc->SetSceneBuildQuality(group->rtc_scene, RTC_BUILD_QUALITY_MEDIUM);
    for (uint32_t i = 0; i < group->n; ++i)
        attach(group, (const kr_embree_scene *)scenes[i], i);
    rtc->CommitScene(group->rtc_scene);
}

kr_status kr_embree_group(kr_tracer *tracer, kr_scene *const *scenes, uint32_t n, uint64_t part,
                          kr_stream *stream, kr_scene **scene, kr_error *err)
{
    kr_embree_tracer *own = (kr_embree_tracer *)tracer;
    kr_embree_scene *group = kr_host_calloc(1, sizeof *group, "a group of scenes", err);
    if (!group)
        return KR_ERR_HOST_MEMORY;
    group->head.tracer = tracer;
    group->head.flags = scenes[0]->flags;
    group->head.view =
        (kr_scene_view){.host = &group->host, .part = (uint32_t)part, .prim = scenes[0]->view.prim};
    group->host = kr_embree_host_scene;
    group->rtc = own->rtc;
    group->n = n;
    kr_embree_turn_begin(own, &group->account, stream, "instances", err);
    construct(group, scenes);
    const kr_status status = kr_embree_turn_status(own, "scenes", n);
    group->head.footprint_nbytes = group->account.charged;
    kr_embree_turn_end(own);
    if (status)
        kr_embree_destroy(&group->head, stream);
    else
        *scene = &group->head;
    return status;
}

/* Not refused by the cap: it takes no more than grouping did, a few hundred bytes per scene, and the scenes
 * have moved already. */
kr_status kr_embree_regroup(kr_scene *scene, kr_stream *stream, kr_error *err)
{
    kr_embree_scene *group = (kr_embree_scene *)scene;
    kr_embree_tracer *tracer = (kr_embree_tracer *)scene->tracer;
    kr_embree_turn_begin(tracer, &group->account, stream, "instances", err);
    tracer->turn.must = 1;
    for (uint32_t i = 0; i < group->n; ++i)
        group->rtc->CommitGeometry(group->rtc->GetGeometry(group->rtc_scene, i));
    group->rtc->CommitScene(group->rtc_scene);
    const kr_status status = kr_embree_turn_status(tracer, "scenes", group->n);
    scene->footprint_nbytes = group->account.charged;
    kr_embree_turn_end(tracer);
    return status;
}
