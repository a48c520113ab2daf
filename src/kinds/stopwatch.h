/* Seconds by phase on the host's clock. A lap first waits for the stream, so that it measures work and not
 * its enqueueing. Laps of a watch that was not started do nothing. */
#ifndef KEYRAY_KINDS_STOPWATCH_H
#define KEYRAY_KINDS_STOPWATCH_H

#include <keyray/keyray.h>

enum { KR_PHASES_MOST = 16 };

typedef struct kr_phases {
    uint32_t n;
    struct {
        const char *name; /* static */
        double seconds;
    } at[KR_PHASES_MOST];
} kr_phases;

typedef struct kr_stopwatch {
    kr_device *device;
    kr_stream *stream;
    uint32_t running; /* 0: every call does nothing */
    double last;
    kr_phases phases;
} kr_stopwatch;

void kr_stopwatch_start(kr_stopwatch *watch, kr_device *device, kr_stream *stream);
/* Adds the time since the last lap to phase `name`, a static string. */
void kr_stopwatch_lap(kr_stopwatch *watch, const char *name);

/* NULL and 0 past the last; `phases` may be NULL. */
const char *kr_phases_name(const kr_phases *phases, uint32_t ordinal);
double kr_phases_seconds(const kr_phases *phases, uint32_t ordinal);

double kr_seconds(void);

#endif
