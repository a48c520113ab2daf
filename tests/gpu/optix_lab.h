/* What tests of scenes share: checks that are counted, primitives, rays that are cast, and the devices. */
#ifndef KEYRAY_TESTS_GPU_OPTIX_LAB_H
#define KEYRAY_TESTS_GPU_OPTIX_LAB_H

#define KR_KEY_BITS 32
#include "optix_scene_body.h"

#include "base/tracers/tracer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static kr_error err;

static inline int check(int condition, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline int check(int condition, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf(condition ? "ok    " : "FAIL  ");
    vprintf(format, args);
    va_end(args);
    printf("%s%s\n", !condition && err.text[0] ? ": " : "", condition ? "" : err.text);
    fflush(stdout);
    condition ? ++passed : ++failed;
    memset(&err, 0, sizeof err);
    return condition;
}

static inline void *need(void *memory)
{
    if (!memory) {
        printf("FAIL  the test itself has no host memory\n");
        exit(1);
    }
    return memory;
}

/* ---- Primitives ---------------------------------------------------------------------------- */

static const char *const prims[KR_PRIMS] = {"triangles", "spheres", "boxes"};

/* Rays along any axis through the point meet it; spheres have a radius of a quarter. */
static inline void fill_prim(uint32_t prim, const float at[3], float *to)
{
    static const float corners[3][3] = {{0.25f, 0, -0.25f}, {-0.25f, 0.25f, 0}, {0, -0.25f, 0.25f}};
    for (int axis = 0; axis < 3; ++axis) {
        if (prim == KR_PRIM_SPHERE) {
            to[axis] = at[axis];
        } else if (prim == KR_PRIM_AABB) {
            to[axis] = at[axis] - 0.25f;
            to[3 + axis] = at[axis] + 0.25f;
        } else {
            for (int corner = 0; corner < 3; ++corner)
                to[3 * corner + axis] = at[axis] + corners[corner][axis];
        }
    }
}

static inline kr_status upload(kr_device *device, const void *from, uint64_t nbytes, kr_buffer *buffer)
{
    kr_status status = kr_buffer_allocate(device, nbytes, NULL, "a test", NULL, buffer, &err);
    if (!status)
        status = kr_device_copy(device, buffer->data, from, nbytes, NULL, &err);
    return status ? status : kr_device_sync(device, NULL, &err);
}

/* ---- Rays ---------------------------------------------------------------------------------- */

typedef struct lab {
    kr_device *device;
    kr_tracer *tracer;
    kr_buffer rays;
} lab;

static inline uint64_t in_use(const lab *l)
{
    return atomic_load(&l->device->in_use_nbytes);
}

/* Brings the answers of the first n elements to the host. */
static inline kr_status cast_rays(const lab *l, ray_params params, uint64_t n, kr_stream *stream,
                                  ray_answer *answers, kr_error *error)
{
    kr_work w = kr_work_on(l->device, stream, error);
    params.answers = kr_work_take(&w, n * sizeof *answers, "a test");
    kr_scene_run(&w, l->tracer, &KR_W(scene_rays), &params, n);
    kr_work_read(&w, answers, params.answers, n * sizeof *answers);
    return kr_work_end(&w);
}

/* ---- Devices ------------------------------------------------------------------------------- */

/* The program's exit status: 77 where no device casts rays. */
static inline int test_on_each_device(void (*test)(lab *))
{
    static const char *const devices[] = {"cpu", "cuda"};
    int tested = 0;
    for (int d = 0; d < 2; ++d) {
        lab l = {0};
        if (kr_device_open(devices[d], NULL, &l.device, &err) || kr_tracer_of(l.device, &l.tracer, &err)) {
            printf("skip  %s: %s\n", devices[d], err.text);
            memset(&err, 0, sizeof err);
        } else {
            test(&l);
            ++tested;
        }
        kr_device_close(l.device);
    }
    printf("%d passed, %d failed, on %d devices\n", passed, failed, tested);
    return failed ? 1 : tested ? 0 : 77;
}

#endif
