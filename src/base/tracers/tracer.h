/* The tracer contract: scenes of primitives in device memory, and programs that cast rays into them. It
 * defines what a back end (embree/, optix/) provides, and the calls that families use.
 *
 * A device has at most one tracer, made on first use and closed with the device. Scenes and programs of one
 * tracer may be used by several threads and streams at the same time; building, refitting and destroying a
 * scene requires exclusive access to it. A tracer's memory counts against the device's cap. */
#ifndef KEYRAY_BASE_TRACERS_TRACER_H
#define KEYRAY_BASE_TRACERS_TRACER_H

#include "base/devices/work.h"
#include "base/tracers/ray.h"

/* Primitives of one scene. The buffer holds floats:
 *   triangles  3 corners of x, y, z     36 bytes per primitive
 *   spheres    centre                   12, all with the same radius
 *   boxes      lower and upper corner   24
 * A buffer of triangles is KR_MESH_PAD bytes longer: Embree reads it in place, 16 bytes per corner. */
#define KR_MESH_PAD 4
typedef struct kr_mesh {
    uint32_t prim; /* KR_PRIM_* */
    float radius;
    uint64_t n; /* at least 1, at most KR_MOST_PRIMITIVES */
    kr_buffer data;
} kr_mesh;

/* OptiX's limit for one acceleration structure; the same limit is set for Embree. */
#define KR_MOST_PRIMITIVES ((uint64_t)1 << 29)

enum {
    KR_SCENE_COMPACT = 1, /* may be compacted */
    KR_SCENE_REFIT = 2,   /* may be refitted */
    /* OptiX's preference, at most one of the two; Embree ignores it. */
    KR_SCENE_FAST_BUILD = 4,
    KR_SCENE_FAST_TRACE = 8
};

typedef struct kr_tracer kr_tracer;

/* The head of a tracer's scene; for Embree a kr_host_scene follows it. */
typedef struct kr_scene {
    kr_tracer *tracer;
    kr_scene_view view;
    uint64_t footprint_nbytes; /* on the device, including buffers that were kept */
    uint64_t compacted_nbytes; /* KR_SCENE_COMPACT: the footprint after compacting */
    uint32_t flags;            /* KR_SCENE_* */
    uint32_t is_broken;        /* 1: a refit failed and could not be undone; no ray may be cast */
} kr_scene;

/* Upper bounds of a scene's memory; from a thousand primitives on, at most 1.5 times the real figures. The
 * peak includes the footprint, the mesh's buffer (only the tracer knows how long it is needed) and, with
 * KR_SCENE_COMPACT, compacting. */
typedef struct kr_scene_estimate {
    uint64_t footprint_nbytes, peak_nbytes;
} kr_scene_estimate;

typedef struct kr_tracer_ops {
    void (*close)(kr_tracer *tracer);
    kr_status (*estimate)(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags,
                          kr_scene_estimate *estimate, kr_error *err);
    /* On success the scene owns the mesh's buffer and mesh->data is empty; the scene releases the buffer
     * after its last use (OptiX: at once, Embree: with the scene). On failure the caller still owns it. */
    kr_status (*build)(kr_tracer *tracer, kr_mesh *mesh, uint32_t flags, kr_stream *stream, kr_scene **scene,
                       kr_error *err);
    /* Moves the scene to less memory. On failure the scene is as it was. */
    kr_status (*compact)(kr_scene *scene, kr_stream *stream, kr_error *err);
    /* Moves the primitives of a scene, as many as before; takes the buffer over like build. On failure the
     * scene is as it was, or is_broken is 1: it could not be restored. */
    kr_status (*refit)(kr_scene *scene, kr_mesh *mesh, kr_stream *stream, kr_error *err);
    /* One scene over `n` scenes of the same kind of primitive. All but the last hold `part` primitives:
     * primitive p of scene s is primitive s * part + p. The scenes must outlive the group. */
    kr_status (*group)(kr_tracer *tracer, kr_scene *const *scenes, uint32_t n, uint64_t part,
                       kr_stream *stream, kr_scene **scene, kr_error *err);
    /* To be called after a group's scenes were refitted. */
    kr_status (*regroup)(kr_scene *scene, kr_stream *stream, kr_error *err);
    void (*destroy)(kr_scene *scene, kr_stream *stream);
    /* Enqueues the program for 0 .. n - 1; params->scene must be a view of a scene of this tracer. */
    void (*run)(kr_work *work, kr_tracer *tracer, const kr_ray_program *program, const void *params,
                uint64_t n);
} kr_tracer_ops;

/* The common head of every tracer. */
struct kr_tracer {
    const kr_tracer_ops *ops;
    kr_device *device;
    float farthest[KR_PRIMS]; /* rays along any axis meet primitives below these coordinates */
    float largest[KR_PRIMS];  /* coordinates that scenes may have; between the two rays may meet nothing */
};

/* The tracer of a device, made on first use. KR_ERR_UNSUPPORTED says in one sentence why there is none: no
 * Embree in this build, no OptiX on this machine, a driver too old, a container without the graphics
 * capability. */
kr_status kr_tracer_of(kr_device *device, kr_tracer **tracer, kr_error *err);

/* Names the device's tracer: "Embree 3.13.5", "OptiX, ABI 87 (software traversal: no RT cores)", or "none: "
 * and the reason. Starts nothing: facts that only a started OptiX knows stay open until then. Fills
 * info->tracer and info->rt_cores. */
void kr_tracer_describe(const kr_device *device, kr_device_info *info);

/* Bytes of one primitive, and of a mesh's buffer. */
uint32_t kr_tracer_prim_nbytes(uint32_t prim);
uint64_t kr_tracer_mesh_nbytes(uint32_t prim, uint64_t n);

static inline void kr_scene_run(kr_work *work, kr_tracer *tracer, const kr_ray_program *program,
                                const void *params, uint64_t n)
{
    if (n && kr_work_goes_on(work))
        tracer->ops->run(work, tracer, program, params, n);
}

#endif
