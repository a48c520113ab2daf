/* What a tracer's back end (embree/, optix/) gives; tracer.c picks one for a device. */
#ifndef KEYRAY_TRACERS_BACKENDS_H
#define KEYRAY_TRACERS_BACKENDS_H

#include "tracers/tracer.h"

typedef struct kr_tracer_backend {
    kr_status (*create)(kr_device *device, kr_tracer **tracer, kr_error *err);
    /* Fills info->tracer; with a device NULL, what a device of this kind would get. */
    void (*describe)(const kr_device *device, kr_device_info *info);
} kr_tracer_backend;

extern const kr_tracer_backend kr_tracer_embree, kr_tracer_optix;

#endif
