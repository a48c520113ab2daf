/* Loads OptiX, which comes with the driver: one library with one function, which fills a table. */
#include "base/tracers/optix/optix.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char library[] = "libnvoptix.so.1";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static kr_optix_api table;
static kr_error failure;     /* its status is KR_OK when the table is filled */
static const char *short_of; /* the failure in a few words */

static void fail(int code, const char *call, const char *brief, const char *text)
{
    short_of = brief;
    kr_fail_call(&failure, KR_ERR_UNSUPPORTED, call, code, "no OptiX: %s", text);
}

static void fail_query(int code)
{
    char text[160];
    if (code == KR_OPTIX_UNSUPPORTED_ABI) {
        fail(code, "optixQueryFunctionTable", "the driver has no OptiX ABI 87",
             "the NVIDIA driver does not serve ABI 87 (OptiX 8.0): it is older than 535, or too new; use "
             "another driver");
    } else if (code) {
        snprintf(text, sizeof text, "the driver's %s refused to start with code %d", library, code);
        fail(code, "optixQueryFunctionTable", "OptiX refused to start", text);
    }
}

/* Never unloaded: the driver keeps threads and exit handlers in it. */
static void load(void)
{
    kr_optix_query *query = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        if (access("/proc/driver/nvidia/version", F_OK) == 0)
            fail(
                0, "dlopen", "the driver's libnvoptix.so.1 was not found",
                "the NVIDIA driver is here without its OptiX library libnvoptix.so.1: give the container the "
                "graphics capability (NVIDIA_DRIVER_CAPABILITIES), or install the driver's graphics "
                "libraries");
        else
            fail(0, "dlopen", "libnvoptix.so.1 was not found",
                 "no NVIDIA driver is installed here, so there is no libnvoptix.so.1: install one");
        return;
    }
    void *symbol = dlsym(handle, "optixQueryFunctionTable");
    if (!symbol) {
        fail(0, "dlsym", "libnvoptix.so.1 is not OptiX's",
             "the library libnvoptix.so.1 has no optixQueryFunctionTable; repair the driver's installation");
        return;
    }
    memcpy(&query, &symbol, sizeof query);
    fail_query(query(KR_OPTIX_ABI, 0, NULL, NULL, &table, sizeof table));
}

kr_status kr_optix_load(const kr_optix_api **api, const char **why, kr_error *err)
{
    pthread_once(&once, load);
    *api = &table;
    *why = short_of;
    if (failure.status && err)
        *err = failure;
    return failure.status;
}
