/* The back end: makes and describes the tracer of a CPU device. */
#include "base/tracers/embree/embree.h"

#include "base/tracers/backends.h"
#include "base/util/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void close_tracer(kr_tracer *tracer)
{
    kr_embree_tracer *own = (kr_embree_tracer *)tracer;
    own->rtc->ReleaseDevice(own->rtc_device);
    kr_embree_turn_close(own);
    free(own);
}

static void run(kr_work *work, kr_tracer *tracer, const kr_ray_program *program, const void *params,
                uint64_t n)
{
    (void)tracer;
    kr_work_run(work, &program->program, params, n);
}

static const kr_tracer_ops ops = {
    .close = close_tracer,
    .estimate = kr_embree_estimate,
    .build = kr_embree_build,
    .compact = kr_embree_compact,
    .refit = kr_embree_refit,
    .group = kr_embree_group,
    .regroup = kr_embree_regroup,
    .destroy = kr_embree_destroy,
    .run = run,
};

/* Embree takes coordinates up to 2^60. But it divides by 1e-18 where a ray does not move along an axis, which
 * limits boxes to 2^58. Gaps that shrink with the coordinates are still resolved at 2^50. */
#define FARTHEST_MET 0x1p50f

/* Embree's threads are one pool for the whole process, as large as the largest of its devices allows. */
static kr_status create(kr_device *device, kr_tracer **tracer, kr_error *err)
{
    char config[32] = "";
    const char *why;
    const kr_rtc *rtc = kr_embree_library(&why);
    if (!rtc)
        return kr_fail(err, KR_ERR_UNSUPPORTED, "nothing casts rays on %s: %s", device->name, why);
    /* Embree's task system ends the process if the system refuses it a thread, with one thread when it
     * closes. */
    const uint32_t cores = kr_pool_cores(), room = kr_pool_room(cores);
    if (room < cores)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "nothing casts rays on %s: Embree starts %u threads and the system allows %u; raise the limit "
            "of threads (ulimit -u, or the container's)",
            device->name, cores, room);
    kr_embree_tracer *made = kr_host_calloc(1, sizeof *made, "a tracer", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    if (device->options.threads)
        snprintf(config, sizeof config, "threads=%u", device->options.threads);
    made->rtc_device = rtc->NewDevice(config);
    if (!made->rtc_device) {
        const int code = (int)rtc->GetDeviceError(NULL);
        free(made);
        return kr_fail_call(err, KR_ERR_UNSUPPORTED, "rtcNewDevice", code,
                            "nothing casts rays on %s: Embree does not start on this machine", device->name);
    }
    made->head = (kr_tracer){
        &ops, device, {FARTHEST_MET, FARTHEST_MET, FARTHEST_MET}, {FARTHEST_MET, FARTHEST_MET, FARTHEST_MET}};
    made->rtc = rtc;
    kr_embree_turn_init(made);
    *tracer = &made->head;
    return KR_OK;
}

static void describe(const kr_device *device, kr_device_info *info)
{
    const char *why;
    (void)device;
    if (kr_embree_library(&why))
        snprintf(info->tracer, sizeof info->tracer, "Embree %s", kr_embree_version());
    else
        snprintf(info->tracer, sizeof info->tracer, "none: %.*s", (int)strcspn(why, ":"), why);
    info->rt_cores = 0;
}

const kr_tracer_backend kr_tracer_embree = {create, describe};
