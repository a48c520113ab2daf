/* The options that choose a device, and opening it. */
#ifndef KEYRAY_TERMINAL_DEVICE_H
#define KEYRAY_TERMINAL_DEVICE_H

#include "options.h"

#include <keyray/keyray.h>

typedef struct device_options {
    const char *name;
    uint64_t threads, memory_cap;
} device_options;

#define DEVICE_DEFAULTS \
    {                   \
        .name = "auto"  \
    }

extern const option_row device_rows[];
/* The same without --memory-cap, for a command that has another one. */
extern const option_row device_plain_rows[];

/* `progress` may be NULL. */
int device_open(const device_options *options, const kr_progress *progress, kr_device **device);

#endif
