/* The OptiX tracer: starting, closing and describing it. */
#include "base/tracers/optix/optix.h"

#include "base/tracers/backends.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Closing ------------------------------------------------------------------------------- */

static kr_status close_within(void *ctx, kr_error *err)
{
    kr_optix *optix = ctx;
    (void)err;
    kr_optix_programs_destroy(optix);
    if (optix->context)
        (void)optix->api->context_destroy(optix->context);
    return KR_OK;
}

/* Also closes a tracer that did not start. */
static void close_tracer(kr_tracer *tracer)
{
    kr_optix *optix = kr_optix_of(tracer);
    kr_device_drain(tracer->device);
    (void)tracer->device->ops->within(tracer->device, close_within, optix, NULL);
    pthread_mutex_destroy(&optix->lock);
    free(optix);
}

static const kr_tracer_ops ops = {
    .close = close_tracer,
    .estimate = kr_optix_estimate,
    .build = kr_optix_build,
    .compact = kr_optix_compact,
    .refit = kr_optix_refit,
    .group = kr_optix_group_scenes,
    .regroup = kr_optix_regroup,
    .destroy = kr_optix_destroy,
    .run = kr_optix_run,
};

/* ---- Starting ------------------------------------------------------------------------------ */

static kr_status start_within(void *ctx, kr_error *err)
{
    kr_optix *optix = ctx;
    const kr_optix_context_options options = {0};
    kr_status status = kr_optix_check(optix, optix->api->context_create(NULL, &options, &optix->context),
                                      "optixDeviceContextCreate", "starting OptiX", err);
    if (!status)
        status = kr_optix_check(optix,
                                optix->api->context_property(optix->context, KR_OPTIX_RTCORE_VERSION,
                                                             &optix->rt_cores, sizeof optix->rt_cores),
                                "optixDeviceContextGetProperty", "asking OptiX for RT cores", err);
    return status;
}

static kr_status create(kr_device *device, kr_tracer **tracer, kr_error *err)
{
    const kr_optix_api *api;
    const char *why;
    kr_status status = kr_optix_load(&api, &why, err);
    if (status)
        return status;
    kr_optix *optix = kr_host_calloc(1, sizeof *optix, "OptiX", err);
    if (!optix)
        return KR_ERR_HOST_MEMORY;
    /* In software, rays meet no box from 2^40 on (README.md). RT cores were not asked, and get the same. */
    optix->head = (kr_tracer){&ops, device, {0x1p127f, 0x1p127f, 0x1p40f}, {0x1p127f, 0x1p127f, 0x1p123f}};
    optix->api = api;
    pthread_mutex_init(&optix->lock, NULL);
    status = device->ops->within(device, start_within, optix, err);
    if (status)
        close_tracer(&optix->head);
    else
        *tracer = &optix->head;
    return status;
}

static void describe(const kr_device *device, kr_device_info *info)
{
    const kr_optix_api *api;
    const char *why;
    if (kr_optix_load(&api, &why, NULL)) {
        snprintf(info->tracer, sizeof info->tracer, "none: %s", why);
        return;
    }
    kr_tracer *started = device ? atomic_load(&((kr_device *)device)->tracer) : NULL;
    if (started)
        info->rt_cores = kr_optix_of(started)->rt_cores != 0;
    snprintf(info->tracer, sizeof info->tracer, "OptiX, ABI %d%s", KR_OPTIX_ABI,
             info->rt_cores == 0 ? " (software traversal: no RT cores)" : "");
}

const kr_tracer_backend kr_tracer_optix = {create, describe};
