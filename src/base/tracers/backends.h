/* What a tracer's back end (embree/, optix/) provides; tracer.c picks one for a device. */
#ifndef KEYRAY_BASE_TRACERS_BACKENDS_H
#define KEYRAY_BASE_TRACERS_BACKENDS_H

#include "base/tracers/tracer.h"

typedef struct kr_tracer_backend {
    kr_status (*create)(kr_device *device, kr_tracer **tracer, kr_error *err);
    /* Fills info->tracer; if device is NULL, for any device of this back end. */
    void (*describe)(const kr_device *device, kr_device_info *info);
} kr_tracer_backend;

extern const kr_tracer_backend kr_tracer_embree, kr_tracer_optix;

#endif
