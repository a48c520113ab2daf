/* What the files of the OptiX back end share. OptiX works on the GPU that is current, so everything here runs
 * within kr_device_ops.within. */
#ifndef KEYRAY_BASE_TRACERS_OPTIX_OPTIX_H
#define KEYRAY_BASE_TRACERS_OPTIX_OPTIX_H

#include "base/tracers/optix/optix_abi.h"
#include "base/tracers/tracer.h"

#include <pthread.h>

typedef struct kr_optix {
    kr_tracer head;
    const kr_optix_api *api;
    void *context;
    uint32_t rt_cores;                 /* their version; 0: none, OptiX traverses in software */
    pthread_mutex_t lock;              /* of the two lists */
    struct kr_optix_module *modules;   /* pipeline.c */
    struct kr_optix_program *programs; /* pipeline.c */
} kr_optix;

static inline kr_optix *kr_optix_of(kr_tracer *tracer)
{
    return (kr_optix *)tracer;
}

typedef struct kr_optix_scene {
    kr_scene head; /* view.host points here, so that a launch finds the scene of its parameter block */
    kr_buffer bvh;
    uint64_t n;              /* primitives, or scenes of a group */
    float radius;            /* of spheres; read during the build */
    uint32_t build_flags;    /* KR_OPTIX_ALLOW_*, KR_OPTIX_PREFER_*; a group's are those of its scenes */
    kr_optix_instance *list; /* of a group */
    kr_buffer instances;     /* the same on the device */
} kr_optix_scene;

/* load.c: the library's functions, loaded once per process and kept. KR_ERR_UNSUPPORTED says why there are
 * none; *why is the short form. */
kr_status kr_optix_load(const kr_optix_api **api, const char **why, kr_error *err);

/* optix.c: an OptiX result as a status. `what` names the operation. */
kr_status kr_optix_check(const kr_optix *optix, int result, const char *call, const char *what,
                         kr_error *err);

/* scene.c */
kr_status kr_optix_estimate(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags,
                            kr_scene_estimate *estimate, kr_error *err);
kr_status kr_optix_build(kr_tracer *tracer, kr_mesh *mesh, uint32_t flags, kr_stream *stream,
                         kr_scene **scene, kr_error *err);
kr_status kr_optix_compact(kr_scene *scene, kr_stream *stream, kr_error *err);
kr_status kr_optix_refit(kr_scene *scene, kr_mesh *mesh, kr_stream *stream, kr_error *err);
kr_status kr_optix_group_scenes(kr_tracer *tracer, kr_scene *const *scenes, uint32_t n, uint64_t part,
                                kr_stream *stream, kr_scene **scene, kr_error *err);
kr_status kr_optix_regroup(kr_scene *scene, kr_stream *stream, kr_error *err);
void kr_optix_destroy(kr_scene *scene, kr_stream *stream);

/* pipeline.c: what runs one program on one sort of scene. */
enum { KR_OPTIX_LANES = 4, KR_OPTIX_RECORDS = 3 };

/* Launches of one OptiX pipeline must not overlap, so a program has several and a launch waits, on the GPU,
 * for the one before it in its lane. */
typedef struct kr_optix_lane {
    void *pipeline;
    void *done;   /* event after the last launch */
    void *stream; /* of the last launch */
} kr_optix_lane;

typedef struct kr_optix_program {
    struct kr_optix_program *next;
    const kr_ray_program *program;
    uint32_t prim, grouped, build_flags;
    kr_optix_pipeline_options options;
    void *sphere_module; /* OptiX's own intersection of spheres, or NULL */
    void *groups[KR_OPTIX_RECORDS];
    unsigned char records[KR_OPTIX_RECORDS * KR_OPTIX_RECORD_NBYTES]; /* ray generation, miss, hit */
    pthread_mutex_t lock;                                             /* of what follows */
    kr_optix_lane lanes[KR_OPTIX_LANES];
    uint32_t n_lanes, next_lane;
} kr_optix_program;

/* Makes the program on first use; it lives as long as the tracer. */
kr_status kr_optix_program_of(kr_optix *optix, const kr_ray_program *program, const kr_optix_scene *scene,
                              kr_optix_program **found, kr_error *err);
/* A pipeline of the program, linked and given its stack. */
kr_status kr_optix_pipeline_create(kr_optix *optix, kr_optix_program *program, void **pipeline,
                                   kr_error *err);
void kr_optix_programs_destroy(kr_optix *optix);

/* run.c */
void kr_optix_run(kr_work *work, kr_tracer *tracer, const kr_ray_program *program, const void *params,
                  uint64_t n);

#endif
