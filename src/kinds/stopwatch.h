/* Seconds by phase on the host's clock. With a device and stream, a lap first waits for the stream, so that
 * it measures work and not its enqueueing; without, laps cost nothing. */
#ifndef KEYRAY_KINDS_STOPWATCH_H
#define KEYRAY_KINDS_STOPWATCH_H

#include <keyray/keyray.h>

typedef struct kr_stopwatch {
    kr_device *device;
    kr_stream *stream;
    uint32_t running; /* 0: every call does nothing */
    uint32_t n_phases;
    double last;
    kr_phase phases[KR_STATS_PHASES];
} kr_stopwatch;

void kr_stopwatch_start(kr_stopwatch *watch, kr_device *device, kr_stream *stream);
/* Adds the time since the last lap to phase `name`. */
void kr_stopwatch_lap(kr_stopwatch *watch, const char *name);

double kr_seconds(void);

#endif
