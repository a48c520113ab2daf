/* Seconds by phase. A GPU records the time in the stream, so that laps wait for nothing; on other devices a
 * lap waits for the stream and reads the clock. Laps of a watch that was not started do nothing. */
#ifndef KEYRAY_BASE_DEVICES_STOPWATCH_H
#define KEYRAY_BASE_DEVICES_STOPWATCH_H

#include <keyray/keyray.h>

enum { KR_PHASES_MOST = 16, KR_LAPS_MOST = 32 };

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
    double last;      /* without stamps */
    kr_phases phases; /* complete after kr_stopwatch_stop */
    /* Laps whose times are not read yet: lap i ended at stamps[i + 1]. */
    uint32_t n_laps;
    const char *names[KR_LAPS_MOST];
    void *stamps[KR_LAPS_MOST + 1];
} kr_stopwatch;

void kr_stopwatch_start(kr_stopwatch *watch, kr_device *device, kr_stream *stream);
/* Adds the time since the last lap to phase `name`, a static string. */
void kr_stopwatch_lap(kr_stopwatch *watch, const char *name);
/* Waits for the last lap and reads all times. Every watch that was started must be stopped. */
void kr_stopwatch_stop(kr_stopwatch *watch);

/* Adds the seconds of `more` to the phases of the same names, and phases that are new behind them. */
void kr_phases_add(kr_phases *phases, const kr_phases *more);
/* NULL and 0 past the last; `phases` may be NULL. */
const char *kr_phases_name(const kr_phases *phases, uint32_t ordinal);
double kr_phases_seconds(const kr_phases *phases, uint32_t ordinal);

double kr_stopwatch_seconds(void);

#endif
