/* Finds back ends by name, checks options, and describes devices. */
#include "base/devices/users.h"
#include "base/util/structs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(KR_WITH_CUDA)
static kr_status no_cuda(uint32_t *count, kr_error *err)
{
    (void)count;
    return kr_fail(err, KR_ERR_NO_DEVICE,
                   "no GPU: keyray was built without CUDA; build it where nvcc is found");
}

/* count fails, so the others are never called. */
static const kr_backend without_cuda = {"cuda", 1, no_cuda, NULL, NULL, NULL};
#endif

static const kr_backend *const backends[] = {
    &kr_backend_cpu,
#if defined(KR_WITH_CUDA)
    &kr_backend_cuda,
#else
    &without_cuda,
#endif
};

enum { N_BACKENDS = sizeof backends / sizeof *backends, MOST_THREADS = 1024 };

/* ---- Options ------------------------------------------------------------------------------- */

static kr_status read_options(const kr_device_options *given, kr_device_options *options, kr_error *err)
{
    *options = (kr_device_options){.struct_size = sizeof *options};
    if (!given)
        return KR_OK;
    const kr_status status = kr_struct_read(&kr_struct_device_options, given, options, err);
    if (status)
        return status;
    if (options->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_options.reserved is %u: it must be 0",
                       options->reserved);
    if (options->threads > MOST_THREADS)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_options.threads is %u: at most %d", options->threads,
                       MOST_THREADS);
    if (!options->allocate != !options->release || (!options->allocate && options->allocator_ctx))
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "kr_device_options: set both allocate and release, or neither of them and no allocator_ctx");
    return kr_progress_check(&options->progress, "kr_device_options.progress", err);
}

/* ---- Names --------------------------------------------------------------------------------- */

/* "cuda" and "cuda:0" are number 0. Returns 0 when the name is not one of this back end. */
static int parse_name(const kr_backend *backend, const char *name, uint32_t *number)
{
    const size_t length = strlen(backend->name);
    *number = 0;
    if (strncmp(name, backend->name, length) != 0)
        return 0;
    name += length;
    if (*name == '\0')
        return 1;
    if (!backend->numbered || *name++ != ':')
        return 0;
    const size_t digits = strspn(name, "0123456789");
    *number = (uint32_t)strtoul(name, NULL, 10);
    return digits > 0 && digits < 10 && name[digits] == '\0';
}

static void write_name(const kr_backend *backend, uint32_t number, char name[16])
{
    if (backend->numbered)
        snprintf(name, 16, "%s:%u", backend->name, number);
    else
        snprintf(name, 16, "%s", backend->name);
}

static kr_status open_backend(const kr_backend *backend, uint32_t number, const kr_device_options *options,
                              kr_device **device, kr_error *err)
{
    uint32_t count = 0;
    kr_device *opened = NULL;
    kr_status status = backend->count(&count, err);
    if (status)
        return status;
    if (number >= count)
        return kr_fail(err, KR_ERR_NO_DEVICE, "no device %s:%u: this machine has %u", backend->name, number,
                       count);
    status = backend->open(number, options, &opened, err);
    if (status)
        return status;
    write_name(backend, number, opened->name);
    opened->options = *options;
    if (options->memory_cap_nbytes == UINT64_MAX)
        opened->options.memory_cap_nbytes = 0;
    else if (!options->memory_cap_nbytes && !options->allocate && backend->cap) {
        opened->options.memory_cap_nbytes = backend->cap();
        opened->has_default_cap = 1;
    }
    opened->own.device = opened;
    kr_users_open_lane(&opened->own);
    *device = opened;
    return KR_OK;
}

/* It is an error if a GPU is there but does not open: taking the CPU instead would hide it. */
static kr_status open_any(const kr_device_options *options, kr_device **device, kr_error *err)
{
    int chosen = 0;
    for (int i = 1; i < N_BACKENDS; ++i) {
        uint32_t count = 0;
        if (backends[i]->count(&count, NULL) == KR_OK && count > 0)
            chosen = i;
    }
    return open_backend(backends[chosen], 0, options, device, err);
}

kr_status kr_device_open(const char *name, const kr_device_options *options, kr_device **device,
                         kr_error *err)
{
    kr_device_options checked;
    uint32_t number;
    if (!name || !device)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_device_open: %s is NULL", name ? "device" : "name");
    const kr_status status = read_options(options, &checked, err);
    if (status)
        return status;
    if (strcmp(name, "auto") == 0)
        return open_any(&checked, device, err);
    for (int i = 0; i < N_BACKENDS; ++i)
        if (parse_name(backends[i], name, &number))
            return open_backend(backends[i], number, &checked, device, err);
    return kr_fail(err, KR_ERR_NO_DEVICE,
                   "no device is called \"%.64s\": use \"cpu\", \"cuda\", \"cuda:N\" or \"auto\"", name);
}

void kr_device_close(kr_device *device)
{
    if (!device)
        return;
    struct kr_tracer *tracer = atomic_load(&device->tracer);
    if (tracer)
        device->tracer_close(tracer);
    kr_users_close_lane(&device->own);
    device->ops->close(device);
}

/* ---- Description --------------------------------------------------------------------------- */

uint32_t kr_device_count(void)
{
    uint32_t all = 0;
    for (int i = 0; i < N_BACKENDS; ++i) {
        uint32_t count = 0;
        if (backends[i]->count(&count, NULL) == KR_OK)
            all += count;
    }
    return all;
}

kr_status kr_device_read(kr_device *device, kr_device_info *info, kr_error *err)
{
    kr_device_info found = {0};
    const kr_status status = device->ops->query(device, &found, err);
    if (status)
        return status;
    memcpy(found.name, device->name, sizeof found.name);
    found.memory_cap_nbytes = device->options.memory_cap_nbytes;
    found.in_use_nbytes = atomic_load(&device->in_use_nbytes);
    found.peak_nbytes = atomic_load(&device->peak_nbytes);
    *info = found;
    return KR_OK;
}

kr_status kr_device_read_listed(uint32_t ordinal, kr_device_info *info, kr_error *err)
{
    kr_device_info found = {0};
    uint32_t number = ordinal;
    for (int i = 0; i < N_BACKENDS; ++i) {
        uint32_t count = 0;
        kr_status status = backends[i]->count(&count, err);
        if (status)
            return status;
        if (number < count) {
            status = backends[i]->describe(number, &found, err);
            if (status)
                return status;
            write_name(backends[i], number, found.name);
            *info = found;
            return KR_OK;
        }
        number -= count;
    }
    return kr_fail(err, KR_ERR_NO_DEVICE, "no device number %u: this machine has %u", ordinal,
                   ordinal - number);
}
