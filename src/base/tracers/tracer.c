/* Finds the back end that casts rays on a device, and makes the device's tracer once. */
#include "base/tracers/tracer.h"

#include "base/tracers/backends.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(KR_WITH_EMBREE)
#define EMBREE &kr_tracer_embree
#else
#define EMBREE NULL
#endif
#if defined(KR_WITH_CUDA)
#define OPTIX &kr_tracer_optix
#else
#define OPTIX NULL
#endif

/* One row per back end of devices/, found by the names of its devices. */
static const struct {
    const char *devices;
    const kr_tracer_backend *backend; /* NULL: not in this build */
    const char *library, *advice;
} rows[] = {
    {"cpu", EMBREE, "Embree", "install libembree-dev and build it with KEYRAY_EMBREE=ON"},
    {"cuda", OPTIX, "OptiX", "build it where nvcc is found"},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static int row_of(const char *device_name)
{
    int row = 0;
    while (row < N_ROWS - 1 && strncmp(device_name, rows[row].devices, strlen(rows[row].devices)) != 0)
        ++row;
    return row;
}

/* Tracers are rarely made, so all devices share the lock. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static kr_status make(kr_device *device, kr_tracer **tracer, kr_error *err)
{
    const int row = row_of(device->name);
    kr_tracer *made = NULL;
    if (!rows[row].backend)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "nothing casts rays on %s: this build of keyray has no %s; %s, or use a kind without "
                       "rays",
                       device->name, rows[row].library, rows[row].advice);
    const kr_status status = rows[row].backend->create(device, &made, err);
    if (status)
        return status;
    device->tracer_close = made->ops->close;
    atomic_store(&device->tracer, made);
    *tracer = made;
    return KR_OK;
}

kr_status kr_tracer_of(kr_device *device, kr_tracer **tracer, kr_error *err)
{
    kr_status status = KR_OK;
    kr_tracer *found = atomic_load(&device->tracer);
    if (!found) {
        pthread_mutex_lock(&making);
        found = atomic_load(&device->tracer);
        if (!found)
            status = make(device, &found, err);
        pthread_mutex_unlock(&making);
    }
    if (!status)
        *tracer = found;
    return status;
}

void kr_tracer_describe(const kr_device *device, kr_device_info *info)
{
    const int row = row_of(device ? device->name : info->name);
    if (rows[row].backend)
        rows[row].backend->describe(device, info);
    else
        snprintf(info->tracer, sizeof info->tracer, "none: this build has no %s", rows[row].library);
}
