/* Sizes of primitives, for tracers and for their callers. */
#include "base/tracers/tracer.h"

uint32_t kr_tracer_prim_nbytes(uint32_t prim)
{
    static const uint32_t nbytes[KR_PRIMS] = {
        [KR_PRIM_TRIANGLE] = 9 * sizeof(float),
        [KR_PRIM_SPHERE] = 3 * sizeof(float),
        [KR_PRIM_AABB] = 6 * sizeof(float),
    };
    return nbytes[prim];
}

uint64_t kr_tracer_mesh_nbytes(uint32_t prim, uint64_t n)
{
    return n * kr_tracer_prim_nbytes(prim) + (prim == KR_PRIM_TRIANGLE ? KR_MESH_PAD : 0);
}
