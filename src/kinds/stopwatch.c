#include "kinds/stopwatch.h"

#include <stdio.h>
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
    kr_sync(device, stream, NULL);
    watch->last = kr_seconds();
}

void kr_stopwatch_lap(kr_stopwatch *watch, const char *name)
{
    if (!watch || !watch->running)
        return;
    kr_sync(watch->device, watch->stream, NULL);
    const double now = kr_seconds();
    uint32_t i = 0;
    while (i < watch->n_phases && strcmp(watch->phases[i].name, name) != 0)
        ++i;
    if (i == watch->n_phases && i < KR_STATS_PHASES) {
        snprintf(watch->phases[i].name, sizeof watch->phases[i].name, "%s", name);
        ++watch->n_phases;
    }
    if (i < KR_STATS_PHASES)
        watch->phases[i].seconds += now - watch->last;
    watch->last = now;
}
