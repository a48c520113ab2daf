/* Scenes and rays that the tests of the tracer share. */
#ifndef KEYRAY_TESTS_UNIT_TRACERS_SCENES_H
#define KEYRAY_TESTS_UNIT_TRACERS_SCENES_H

#include "base/tracers/tracer.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const float Z[3] = {0, 0, 1};

/* ---- Scenes -------------------------------------------------------------------------------- */

static kr_device *open_cpu(const kr_device_options *options, kr_tracer **tracer)
{
    kr_device *device = NULL;
    kr_error err = {0};
    assert_int_equal(kr_device_open("cpu", options, &device, NULL), KR_OK);
    const kr_status status = kr_tracer_of(device, tracer, &err);
    if (status) {
        assert_int_equal(status, KR_ERR_UNSUPPORTED);
        print_message("skipped: %s\n", err.text);
        kr_device_close(device);
        skip();
    }
    return device;
}

/* A primitive around a point, its size 1/2 or so. Triangles show their front to rays along +z. */
static void write_primitive(uint32_t prim, const float at[3], float *out)
{
    static const float corners[9] = {0.5f, 0, -0.5f, 0, -0.5f, 0.5f, -0.5f, 0.5f, 0};
    if (prim == KR_PRIM_TRIANGLE)
        for (int k = 0; k < 9; ++k)
            out[k] = at[k % 3] + corners[k];
    else if (prim == KR_PRIM_SPHERE)
        memcpy(out, at, 3 * sizeof *at);
    else
        for (int k = 0; k < 3; ++k)
            out[k] = at[k] - 0.25f, out[3 + k] = at[k] + 0.25f;
}

static kr_mesh make_mesh(kr_device *device, uint32_t prim, const float (*points)[3], uint64_t n)
{
    kr_mesh mesh = {.prim = prim, .radius = 0.25f, .n = n};
    assert_int_equal(kr_buffer_allocate(device, n * kr_tracer_prim_nbytes(prim) + KR_MESH_PAD, NULL, "a mesh",
                                        NULL, &mesh.data, NULL),
                     KR_OK);
    for (uint64_t i = 0; i < n; ++i)
        write_primitive(prim, points[i], (float *)mesh.data.data + i * (kr_tracer_prim_nbytes(prim) / 4));
    return mesh;
}

static kr_scene *build(kr_tracer *tracer, uint32_t prim, const float (*points)[3], uint64_t n, uint32_t flags)
{
    kr_scene *scene = NULL;
    kr_error err = {0};
    kr_mesh mesh = make_mesh(tracer->device, prim, points, n);
    if (tracer->ops->build(tracer, &mesh, flags, NULL, &scene, &err))
        fail_msg("%s", err.text);
    assert_null(mesh.data.data);
    assert_int_equal(scene->view.prim, prim);
    return scene;
}

/* ---- Rays ---------------------------------------------------------------------------------- */

typedef struct parameters {
    kr_scene_view scene;
    const float (*points)[3];
    uint32_t answer; /* of hit */
} parameters;

static void box_of(const void *params, uint32_t primitive, float box[6])
{
    write_primitive(KR_PRIM_AABB, ((const parameters *)params)->points[primitive], box);
}

static kr_ray ray_of(const float from[3], const float along[3], float high)
{
    return (kr_ray){{from[0], from[1], from[2]}, {along[0], along[1], along[2]}, 0, high};
}

static kr_met cast(const kr_scene *scene, const float (*points)[3], const float from[3], const float along[3],
                   float high, uint32_t what)
{
    const parameters params = {.scene = scene->view, .points = points};
    const kr_ray ray = ray_of(from, along, high);
    return kr_trace(&params.scene, &ray, what, box_of, &params);
}

/* ---- Many primitives ------------------------------------------------------------------------ */

enum { MANY = 20000 };
static float many[MANY][3], moved[MANY][3];

static void fill_many(void)
{
    for (int i = 0; i < MANY; ++i) {
        many[i][0] = (float)(i % 100) * 3;
        many[i][1] = (float)(i / 100) * 2;
        many[i][2] = (float)(i * 7 % 13);
        moved[i][0] = many[MANY - 1 - i][0] + 500;
        moved[i][1] = many[MANY - 1 - i][2];
        moved[i][2] = many[MANY - 1 - i][1];
    }
}

#endif
