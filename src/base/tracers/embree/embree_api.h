/* Everything that differs between Embree 3 and Embree 4, and the functions that are called. The headers are
 * needed to build only: the library is opened when a tracer is made, so that keyray runs without it. */
#ifndef KEYRAY_BASE_TRACERS_EMBREE_EMBREE_API_H
#define KEYRAY_BASE_TRACERS_EMBREE_EMBREE_API_H

#if KR_EMBREE_MAJOR == 4
#include <embree4/rtcore.h>

#define KR_RTC_LIBRARY "libembree4.so.4"
#define KR_RTC_SCENE_FLAG_FILTER RTC_SCENE_FLAG_FILTER_FUNCTION_IN_ARGUMENTS
typedef struct RTCRayQueryContext kr_rtc_context;
#else
#include <embree3/rtcore.h>

#define KR_RTC_LIBRARY "libembree3.so.3"
#define KR_RTC_SCENE_FLAG_FILTER RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION
typedef struct RTCIntersectContext kr_rtc_context;
#endif

#define KR_RTC_CALLS(X)                \
    X(NewDevice)                       \
    X(ReleaseDevice)                   \
    X(GetDeviceError)                  \
    X(GetDeviceProperty)               \
    X(SetDeviceErrorFunction)          \
    X(SetDeviceMemoryMonitorFunction)  \
    X(NewScene)                        \
    X(ReleaseScene)                    \
    X(SetSceneFlags)                   \
    X(SetSceneBuildQuality)            \
    X(SetSceneProgressMonitorFunction) \
    X(CommitScene)                     \
    X(AttachGeometryByID)              \
    X(GetGeometry)                     \
    X(NewGeometry)                     \
    X(ReleaseGeometry)                 \
    X(CommitGeometry)                  \
    X(SetGeometryBuildQuality)         \
    X(SetSharedGeometryBuffer)         \
    X(SetGeometryUserData)             \
    X(SetGeometryUserPrimitiveCount)   \
    X(SetGeometryBoundsFunction)       \
    X(SetGeometryIntersectFunction)    \
    X(SetGeometryInstancedScene)       \
    X(SetGeometryTransform)            \
    X(Intersect1)

typedef struct kr_rtc {
#define KR_RTC_MEMBER(name) __typeof__(rtc##name) *name;
    KR_RTC_CALLS(KR_RTC_MEMBER)
#undef KR_RTC_MEMBER
} kr_rtc;

/* `context` reaches the filter and the functions of user geometry. `filter` is called for every hit, unless
 * it is NULL. */
static inline void kr_embree_rtc_cast(const kr_rtc *rtc, RTCScene scene, kr_rtc_context *context,
                                      RTCFilterFunctionN filter, struct RTCRayHit *ray)
{
#if KR_EMBREE_MAJOR == 4
    struct RTCIntersectArguments arguments;
    rtcInitRayQueryContext(context);
    rtcInitIntersectArguments(&arguments);
    arguments.context = context;
    arguments.filter = filter;
    if (filter)
        arguments.flags = RTC_RAY_QUERY_FLAG_INVOKE_ARGUMENT_FILTER;
    rtc->Intersect1(scene, ray, &arguments);
#else
    rtcInitIntersectContext(context);
    context->filter = filter;
    rtc->Intersect1(scene, context, ray);
#endif
}

#endif
