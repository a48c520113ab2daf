#include "base/devices/stopwatch.h"
#include "base/devices/device.h"

#include <string.h>
#include <time.h>

double kr_stopwatch_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add(kr_phases *phases, const char *name, double seconds)
{
    uint32_t i = 0;
    while (i < phases->n && strcmp(phases->at[i].name, name) != 0)
        ++i;
    if (i == phases->n && i < KR_PHASES_MOST)
        phases->at[phases->n++].name = name;
    if (i < KR_PHASES_MOST)
        phases->at[i].seconds += seconds;
}

void kr_phases_add(kr_phases *phases, const kr_phases *more)
{
    for (uint32_t i = 0; i < more->n; ++i)
        add(phases, more->at[i].name, more->at[i].seconds);
}

/* NULL on a device without stamps: its laps wait, and read the clock. */
static void *stamp(const kr_stopwatch *watch)
{
    if (watch->device->ops->stamp)
        return watch->device->ops->stamp(watch->device, kr_stream_native(watch->device, watch->stream));
    kr_device_sync(watch->device, watch->stream, NULL);
    return NULL;
}

void kr_stopwatch_start(kr_stopwatch *watch, kr_device *device, kr_stream *stream)
{
    memset(watch, 0, sizeof *watch);
    watch->device = device;
    watch->stream = stream;
    watch->running = 1;
    watch->stamps[0] = stamp(watch);
    watch->last = kr_stopwatch_seconds();
}

/* Reads the times of all laps; the last stamp begins the next. */
static void read_laps(kr_stopwatch *watch)
{
    kr_device *device = watch->device;
    for (uint32_t i = 0; i < watch->n_laps; ++i) {
        add(&watch->phases, watch->names[i],
            device->ops->stamp_seconds(device, watch->stamps[i], watch->stamps[i + 1]));
        device->ops->event_destroy(device, watch->stamps[i]);
    }
    watch->stamps[0] = watch->stamps[watch->n_laps];
    watch->n_laps = 0;
}

void kr_stopwatch_lap(kr_stopwatch *watch, const char *name)
{
    if (!watch || !watch->running)
        return;
    if (watch->n_laps == KR_LAPS_MOST)
        read_laps(watch);
    void *mark = stamp(watch);
    if (watch->stamps[0] && mark) {
        watch->names[watch->n_laps] = name;
        watch->stamps[++watch->n_laps] = mark;
    } else if (!watch->stamps[0]) {
        const double now = kr_stopwatch_seconds();
        add(&watch->phases, name, now - watch->last);
        watch->last = now;
    }
}

void kr_stopwatch_stop(kr_stopwatch *watch)
{
    if (!watch || !watch->running)
        return;
    watch->running = 0;
    if (!watch->stamps[0])
        return;
    read_laps(watch);
    watch->device->ops->event_destroy(watch->device, watch->stamps[0]);
}

const char *kr_phases_name(const kr_phases *phases, uint32_t ordinal)
{
    return phases && ordinal < phases->n ? phases->at[ordinal].name : NULL;
}

double kr_phases_seconds(const kr_phases *phases, uint32_t ordinal)
{
    return phases && ordinal < phases->n ? phases->at[ordinal].seconds : 0;
}
