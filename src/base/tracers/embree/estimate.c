/* The memory of a scene. Embree has no call for it, so the trees were measured: 1 to 2^20 primitives along a
 * line, in space, on a grid and all in one place, with 1, 2 and 16 threads, Embree 3.13.5. */
#include "base/tracers/embree/embree.h"

/* Most bytes of a tree for a primitive: plain, compact, refit. */
static const uint32_t tree_nbytes[KR_PRIMS][3] = {
    [KR_PRIM_TRIANGLE] = {100, 51, 100},
    [KR_PRIM_SPHERE] = {93, 93, 40},
    [KR_PRIM_AABB] = {93, 93, 40},
};

/* A scene of few primitives has blocks that are not full; a refit scene of two to four boxes or spheres has
 * large ones. */
enum { FEW = 1024, FEW_NBYTES = 6144, FEW_BOXES_NBYTES = 68 << 10 };

/* Embree first makes an array of all primitives' bounds, which grows in powers of two. */
enum { BOUNDS_NBYTES = 32 };

static uint64_t bounds_nbytes(uint64_t n)
{
    uint64_t capacity = 1;
    while (capacity < n)
        capacity *= 2;
    return capacity * BOUNDS_NBYTES;
}

/* From a million primitives on, compact trees over triangles reuse the array of bounds, which therefore stays
 * allocated. */
static int tree_in_bounds(uint32_t prim, uint64_t n, uint32_t flags)
{
    return n >= 1000000 && prim == KR_PRIM_TRIANGLE &&
           (flags & (KR_SCENE_COMPACT | KR_SCENE_REFIT)) == KR_SCENE_COMPACT;
}

kr_status kr_embree_estimate(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags,
                             kr_scene_estimate *estimate, kr_error *err)
{
    const int refit = (flags & KR_SCENE_REFIT) != 0, boxes = prim == KR_PRIM_AABB;
    const int together = tree_in_bounds(prim, n, flags);
    const uint64_t mesh = kr_tracer_mesh_nbytes(prim, n);
    const uint64_t bounds = bounds_nbytes(n);
    uint64_t own = n * tree_nbytes[prim][refit ? 2 : flags & KR_SCENE_COMPACT];
    (void)tracer, (void)err;
    if (together)
        own += bounds - n * BOUNDS_NBYTES;
    if (n < FEW)
        own += prim != KR_PRIM_TRIANGLE && refit && n > 1 ? FEW_BOXES_NBYTES : FEW_NBYTES;
    if (prim == KR_PRIM_TRIANGLE)
        own += n * 12 + KR_MESH_PAD;
    else if (prim == KR_PRIM_SPHERE)
        own += n * 16;
    estimate->footprint_nbytes =
        own + (refit && !together ? bounds : 0) + (prim == KR_PRIM_TRIANGLE || (boxes && refit) ? mesh : 0);
    estimate->peak_nbytes = own + mesh + (together ? 0 : bounds);
    return KR_OK;
}
