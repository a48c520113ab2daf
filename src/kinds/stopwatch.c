#include "kinds/stopwatch.h"

#include <string.h>
#include <time.h>

double kr_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void kr_stopwatch_start(kr_stopwatch *watch, kr_device *device, kr_stream *stream)
{
    memset(watch, 0, sizeof *watch);
    watch->device = device;
    watch->stream = stream;
    watch->running = 1;
    kr_device_sync(device, stream, NULL);
    watch->last = kr_seconds();
}

void kr_stopwatch_lap(kr_stopwatch *watch, const char *name)
{
    if (!watch || !watch->running)
        return;
    kr_device_sync(watch->device, watch->stream, NULL);
    const double now = kr_seconds();
    kr_phases *phases = &watch->phases;
    uint32_t i = 0;
    while (i < phases->n && strcmp(phases->at[i].name, name) != 0)
        ++i;
    if (i == phases->n && i < KR_PHASES_MOST)
        phases->at[phases->n++].name = name;
    if (i < KR_PHASES_MOST)
        phases->at[i].seconds += now - watch->last;
    watch->last = now;
}

const char *kr_phases_name(const kr_phases *phases, uint32_t ordinal)
{
    return phases && ordinal < phases->n ? phases->at[ordinal].name : NULL;
}

double kr_phases_seconds(const kr_phases *phases, uint32_t ordinal)
{
    return phases && ordinal < phases->n ? phases->at[ordinal].seconds : 0;
}
