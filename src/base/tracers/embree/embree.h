/* What the files of this folder share. */
#ifndef KEYRAY_BASE_TRACERS_EMBREE_EMBREE_H
#define KEYRAY_BASE_TRACERS_EMBREE_EMBREE_H

#include "base/tracers/embree/embree_api.h"
#include "base/tracers/tracer.h"
#include "base/util/rounding.h"

#include <pthread.h>

/* Bytes that Embree holds for one scene. */
typedef struct kr_embree_account {
    uint64_t charged;   /* counted against the device's cap */
    uint64_t uncharged; /* above the cap: only what could not be refused */
} kr_embree_account;

/* Embree reports the bytes it takes but not for which scene. So everything that makes it allocate or release
 * memory runs in turns, one scene at a time. */
typedef struct kr_embree_turn {
    pthread_mutex_t lock;
    pthread_t caller;
    kr_stream *stream; /* of the caller; NULL between turns */
    kr_embree_account *account;
    const char *phase; /* for progress and errors */
    kr_error *err;
    double done;
    int must;                 /* 1: no memory is refused */
    _Atomic int cancelled;    /* by the progress callback */
    uint64_t refused, in_use; /* bytes that the cap did not allow, and bytes in use then */
    kr_rounding rounding;     /* the caller's */
    enum RTCError code;       /* Embree's first error in this turn, and its text */
    char text[128];
    pthread_mutex_t counting; /* guards account and refused, used from Embree's threads */
} kr_embree_turn;

typedef struct kr_embree_tracer {
    kr_tracer head;
    const kr_rtc *rtc;
    RTCDevice rtc_device;
    kr_embree_turn turn;
    kr_embree_account own;
} kr_embree_tracer;

/* What Embree reads while it builds and traces. */
typedef struct kr_embree_input {
    kr_buffer floats;  /* triangles: the mesh; spheres: x, y, z, radius each; boxes: the mesh */
    kr_buffer indices; /* triangles: 0, 1, 2, ... */
} kr_embree_input;

typedef struct kr_embree_scene {
    kr_scene head;
    kr_host_scene host;
    const kr_rtc *rtc;
    RTCScene rtc_scene;
    RTCGeometry geometry; /* NULL for a group */
    uint64_t n;           /* primitives, or scenes of a group */
    kr_embree_input input;
    kr_embree_account account;
} kr_embree_scene;

/* library.c: opens the library once. NULL: it cannot be used, and *why is the reason in one sentence. */
const kr_rtc *kr_embree_library(const char **why);
const char *kr_embree_version(void); /* of the opened library, "3.13.5" */

/* turn.c */
void kr_embree_turn_init(kr_embree_tracer *tracer);
void kr_embree_turn_close(kr_embree_tracer *tracer);
void kr_embree_turn_begin(kr_embree_tracer *tracer, kr_embree_account *account, kr_stream *stream,
                          const char *phase, kr_error *err);
/* Has Embree report its progress on building this scene. */
void kr_embree_watch(kr_embree_tracer *tracer, RTCScene scene);
/* The status of what was done since the turn began; `what` names it in the error. */
kr_status kr_embree_turn_status(kr_embree_tracer *tracer, const char *what, uint64_t n);
void kr_embree_turn_end(kr_embree_tracer *tracer);

/* input.c */

/* If Embree can read the mesh's buffer as it is, input->floats is that buffer. `with_indices` 0: the indices
 * of another input will be used. */
kr_status kr_embree_input_make(kr_device *device, const kr_mesh *mesh, int with_indices, kr_stream *stream,
                               kr_embree_input *input, kr_error *err);
/* Makes the mesh's buffer the input's, or releases it. */
void kr_embree_input_take(kr_device *device, kr_mesh *mesh, kr_embree_input *input, kr_stream *stream);
/* Releases what does not belong to the mesh; mesh NULL: everything. */
void kr_embree_input_release(kr_device *device, const kr_mesh *mesh, kr_embree_input *input,
                             kr_stream *stream);

/* trace.c */
extern const kr_host_scene kr_embree_host_scene;
void kr_embree_intersect_box(const struct RTCIntersectFunctionNArguments *args);
void kr_embree_intersect_sphere(const struct RTCIntersectFunctionNArguments *args);

/* estimate.c */
kr_status kr_embree_estimate(kr_tracer *tracer, uint32_t prim, uint64_t n, uint32_t flags,
                             kr_scene_estimate *estimate, kr_error *err);

/* scene.c */
kr_status kr_embree_build(kr_tracer *tracer, kr_mesh *mesh, uint32_t flags, kr_stream *stream,
                          kr_scene **scene, kr_error *err);
kr_status kr_embree_compact(kr_scene *scene, kr_stream *stream, kr_error *err);
kr_status kr_embree_refit(kr_scene *scene, kr_mesh *mesh, kr_stream *stream, kr_error *err);
void kr_embree_destroy(kr_scene *scene, kr_stream *stream);

/* group.c */
kr_status kr_embree_group(kr_tracer *tracer, kr_scene *const *scenes, uint32_t n, uint64_t part,
                          kr_stream *stream, kr_scene **scene, kr_error *err);
kr_status kr_embree_regroup(kr_scene *scene, kr_stream *stream, kr_error *err);

#endif
