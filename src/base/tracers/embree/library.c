/* Opens Embree's library, once in a process and for good: its tasks' threads may outlive every use. */
#include "base/tracers/embree/embree.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static kr_rtc calls;
static int opened;
static char version[32];
static char failure[192];

/* A function's address; C does not convert an object's address to one. */
static int find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    if (!address)
        snprintf(failure, sizeof failure, "%s has no function %s: install a complete Embree %d",
                 KR_RTC_LIBRARY, name, RTC_VERSION_MAJOR);
    return address != NULL;
}

static int find_all(void *library)
{
#define FIND(name)                                \
    if (!find(library, "rtc" #name, &calls.name)) \
        return 0;
    KR_RTC_CALLS(FIND)
#undef FIND
    return 1;
}

/* Only a device knows the version. One thread, so that no task system is started for it. */
static int ask_version(void)
{
    RTCDevice device = calls.NewDevice("threads=1");
    if (!device) {
        snprintf(failure, sizeof failure, "Embree does not start on this machine: error %d",
                 (int)calls.GetDeviceError(NULL));
        return 0;
    }
    snprintf(version, sizeof version, "%d.%d.%d",
             (int)calls.GetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_MAJOR),
             (int)calls.GetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_MINOR),
             (int)calls.GetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION_PATCH));
    calls.ReleaseDevice(device);
    return 1;
}

static void open_once(void)
{
    void *library = dlopen(KR_RTC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "%s was not found: install Embree %d, or use a kind without rays",
                 KR_RTC_LIBRARY, RTC_VERSION_MAJOR);
        return;
    }
    opened = find_all(library) && ask_version(); /* stays loaded either way: it may have started threads */
}

const kr_rtc *kr_embree_library(const char **why)
{
    pthread_once(&once, open_once);
    *why = failure;
    return opened ? &calls : NULL;
}

const char *kr_embree_version(void)
{
    return version;
}
