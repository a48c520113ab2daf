/* Ray programs: the work of one probe as a program body that may cast rays. One source for both tracers:
 * NAME_ray_width_body.h, of which CMake makes NAME_ray_width.c and NAME_ray_width.cu. The first gets the CPU
 * executor, whose rays go to Embree, and the kr_ray_program that names everything; the second, compiled to
 * PTX, gets the OptiX programs.
 *
 *   KR_RAY_PROGRAM(name, begin, step, end, hit, box)
 *       int  begin(const KR_RAY_PARAMS *, uint64_t i, KR_RAY_STATE *)   0: nothing to do
 *       int  step(const KR_RAY_PARAMS *, KR_RAY_STATE *)                0: done; may cast rays
 *       void end(const KR_RAY_PARAMS *, uint64_t i, KR_RAY_STATE *)
 *           as in KR_PROBE_PROGRAM: state of at most 32 bytes.
 *       uint32_t hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
 *           Called for every primitive that a visiting ray meets, in any order: once for each triangle and
 *           sphere, perhaps twice for a box, and perhaps for one slightly beside a long ray, so it compares
 *           integers. `payload` belongs to the ray.
 *           Returns KR_HIT_*.
 *       void box(const void *params, uint32_t primitive, float box[6])
 *           Lower and upper corner of a primitive of a scene of boxes, as it was built.
 *
 * Before including this header, a body's header defines
 *   KR_RAY_PARAMS    type of the parameter block, whose first member is `kr_scene_view scene`
 *   KR_RAY_STATE     type of the state
 *   KR_RAY_PAYLOAD   words of payload, 2 to 8
 *   KR_RAY_MODULE    name of the module: rx_ray for the PTX of rx_ray_width.cu
 *
 * Primitives are numbered through all parts of a scene. */
#ifndef KEYRAY_BASE_TRACERS_RAY_H
#define KEYRAY_BASE_TRACERS_RAY_H

#include "base/program/program.h"

enum { KR_PRIM_TRIANGLE, KR_PRIM_SPHERE, KR_PRIM_AABB, KR_PRIMS };

/* A scene as a program sees it: kr_scene_view_of fills it. */
typedef struct kr_scene_view {
    uint64_t handle;  /* OptiX: the traversable */
    const void *host; /* Embree: its scene */
    uint32_t part;    /* primitives per part of a group of scenes, 0: a single scene */
    uint32_t prim;    /* KR_PRIM_* */
    uint32_t first;   /* number of its first primitive; kr_trace only, kr_visit numbers from 0 */
    uint32_t reserved;
} kr_scene_view;
kr_assert_size(kr_scene_view, 32);

/* The points from + t * along with low <= t <= high. */
typedef struct kr_ray {
    float from[3], along[3];
    float low, high;
} kr_ray;

#define KR_NO_PRIMITIVE 0xFFFFFFFFu

typedef struct kr_met {
    uint32_t primitive; /* KR_NO_PRIMITIVE: nothing */
    uint32_t back;      /* 1: the back of a triangle */
} kr_met;

/* Results of `hit`: ignore the primitive, accept it and go on to nearer primitives only, or end the ray. */
enum { KR_HIT_IGNORE, KR_HIT_ACCEPT, KR_HIT_STOP };
/* Which primitive kr_trace returns: the closest, or whichever is met first. */
enum { KR_TRACE_CLOSEST, KR_TRACE_FIRST };

/* Calls for `step`:
 *   kr_met kr_trace(const kr_scene_view *, const kr_ray *, KR_TRACE_*, box, params)     `hit` is not called
 *   void   kr_visit(const kr_scene_view *, const kr_ray *, uint32_t *payload, hit, box, params)
 * `hit`, `box` and `params` are the program's own. A program whose params->scene is a group may also trace in
 * one part of it, by the part's own view with `first` set. Rays need low >= 0. */

/* PTX in the library, a module per key width. */
typedef struct kr_ray_module {
    const char *ptx;
    uint64_t nbytes;
} kr_ray_module;

/* A ray program as host code sees it. */
typedef struct kr_ray_program {
    kr_program program;          /* name, size of the parameter block, CPU executor */
    const kr_ray_module *module; /* holds __raygen__NAME and its companions; NULL: not built for CUDA */
    uint32_t n_payload;
} kr_ray_program;

#if KR_ON_CUDA
#include "base/tracers/optix/ray_optix.h"
#else
#include "base/tracers/ray_cpu.h"
#endif

#define KR_RAY_PROGRAM(name, begin, step, end, hit, box) \
    KR_APPLY(KR_RAY_PROGRAM_, KR_W(name), begin, step, end, hit, box)
/* For a host file that uses a program defined elsewhere. */
#define KR_RAY_PROGRAM_DECLARE(name) extern const kr_ray_program KR_W(name)

#endif
