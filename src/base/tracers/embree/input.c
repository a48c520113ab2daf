/* Turns a mesh into what Embree reads: floats with 16 readable bytes at every vertex, triangle indices. */
#include "base/tracers/embree/embree.h"

#include <math.h>
#include <string.h>

/* Embree silently leaves out a primitive with a coordinate that is not below this. */
#define FARTHEST 1.844e18f

typedef struct preparation {
    const float *mesh;
    float *points;          /* spheres */
    uint32_t *indices;      /* triangles, or NULL */
    _Atomic uint64_t *left; /* a primitive that Embree would leave out */
    float radius;
    uint32_t floats; /* of a primitive */
} preparation;

/* A sphere's box in Embree's tree goes from centre - radius to centre + radius. Where floats are so coarse
 * that both round to the centre, rays along an axis miss it. A radius above half a float's step avoids
 * that. */
static float radius_at(const float centre[3], float radius)
{
    for (int k = 0; k < 3; ++k) {
        uint32_t bits;
        float power; /* of two, at most the coordinate: floats there are 2^-23 of it apart */
        memcpy(&bits, &centre[k], sizeof bits);
        bits &= 0x7F800000u;
        memcpy(&power, &bits, sizeof power);
        const float least = power * (0x1p-24f * 1.001f);
        radius = least > radius ? least : radius;
    }
    return radius;
}

static void prepare(const void *params, uint64_t first, uint64_t end, uint64_t n)
{
    const preparation *job = params;
    (void)n;
    for (uint64_t i = first; i < end; ++i) {
        const float *at = job->mesh + i * job->floats;
        for (uint32_t k = 0; k < job->floats; ++k)
            if (!(fabsf(at[k]) + job->radius < FARTHEST))
                atomic_store_explicit(job->left, i, memory_order_relaxed);
        if (job->points) {
            memcpy(job->points + 4 * i, at, 3 * sizeof *at);
            job->points[4 * i + 3] = radius_at(at, job->radius);
        }
        if (job->indices)
            for (uint32_t k = 0; k < 3; ++k)
                job->indices[3 * i + k] = (uint32_t)(3 * i + k);
    }
}

static const kr_program prepare_program = {
    .name = "embree_prepare", .params_nbytes = sizeof(preparation), .cpu = prepare};

static kr_status allocate(kr_device *device, const kr_mesh *mesh, int with_indices, kr_stream *stream,
                          kr_embree_input *input, kr_error *err)
{
    kr_status status = KR_OK;
    input->floats = mesh->data;
    if (mesh->prim == KR_PRIM_SPHERE)
        status = kr_buffer_allocate(device, mesh->n * 16, stream, "the spheres' centres and radii", NULL,
                                    &input->floats, err);
    else if (mesh->prim == KR_PRIM_TRIANGLE && mesh->data.nbytes < mesh->n * 36 + KR_MESH_PAD)
        status =
            kr_fail(err, KR_ERR_INTERNAL, "a mesh of triangles is shorter than its corners and KR_MESH_PAD");
    if (!status && mesh->prim == KR_PRIM_TRIANGLE && with_indices)
        status = kr_buffer_allocate(device, mesh->n * 12 + KR_MESH_PAD, stream, "the triangles' indices",
                                    NULL, &input->indices, err);
    return status;
}

static kr_status fill(kr_device *device, const kr_mesh *mesh, kr_embree_input *input, kr_stream *stream,
                      kr_error *err)
{
    _Atomic uint64_t left = UINT64_MAX;
    const preparation job = {
        .mesh = mesh->data.data,
        .points = mesh->prim == KR_PRIM_SPHERE ? input->floats.data : NULL,
        .indices = input->indices.data,
        .left = &left,
        .radius = mesh->prim == KR_PRIM_SPHERE ? mesh->radius : 0,
        .floats = kr_tracer_prim_nbytes(mesh->prim) / (uint32_t)sizeof(float),
    };
    kr_status status = kr_device_run(device, &prepare_program, &job, mesh->n, stream, err);
    if (!status && left != UINT64_MAX)
        status = kr_fail(err, KR_ERR_LIMIT,
                         "primitive %llu of a scene has a coordinate beyond Embree's %g; scale the "
                         "coordinates down",
                         (unsigned long long)left, (double)FARTHEST);
    return status;
}

kr_status kr_embree_input_make(kr_device *device, const kr_mesh *mesh, int with_indices, kr_stream *stream,
                               kr_embree_input *input, kr_error *err)
{
    *input = (kr_embree_input){0};
    kr_status status = allocate(device, mesh, with_indices, stream, input, err);
    if (!status)
        status = fill(device, mesh, input, stream, err);
    if (status)
        kr_embree_input_release(device, mesh, input, stream);
    return status;
}

void kr_embree_input_take(kr_device *device, kr_mesh *mesh, kr_embree_input *input, kr_stream *stream)
{
    if (input->floats.data == mesh->data.data)
        mesh->data = (kr_buffer){0};
    else
        kr_buffer_release(device, &mesh->data, stream);
}

void kr_embree_input_release(kr_device *device, const kr_mesh *mesh, kr_embree_input *input,
                             kr_stream *stream)
{
    kr_buffer_release(device, &input->indices, stream);
    if (mesh && input->floats.data == mesh->data.data)
        input->floats = (kr_buffer){0};
    kr_buffer_release(device, &input->floats, stream);
}
