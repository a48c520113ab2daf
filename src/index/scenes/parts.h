/* Primitives in equal parts, each a scene of its own under a group. Parts are built one after the other, so
 * only one part's mesh and uncompacted tree exist at a time. Source: Wu, "Fast Database Join on Ray-tracing
 * Core Equipped GPU", 4.2.1 (sub-BVHs). */
#ifndef KEYRAY_INDEX_SCENES_PARTS_H
#define KEYRAY_INDEX_SCENES_PARTS_H

#include "base/tracers/tracer.h"

typedef struct kr_parts {
    kr_scene **parts;
    kr_scene *group; /* NULL with one part */
    uint64_t n;      /* primitives */
    uint64_t part;   /* primitives of every part but the last */
    uint32_t n_parts;
    char name[16]; /* of the component: "bvh", or "bvh, 3 parts" */
} kr_parts;

typedef struct kr_parts_job {
    const char *what, *help; /* the name of the primitives; what saves memory */
    uint32_t prim, flags;    /* KR_PRIM_*, KR_SCENE_* */
    uint32_t compact;        /* KR_COMPACT_* */
    float radius;
    uint64_t n, part; /* primitives, at least 1, and those of every part but the last */
    /* Writes primitives first .. first + n - 1, of part i; enqueues. */
    void (*fill)(kr_work *work, const void *source, uint32_t i, uint64_t first, uint64_t n, float *out);
    const void *source;
} kr_parts_job;

/* How many primitives a part holds. */
uint64_t kr_scenes_size(uint64_t n, uint64_t parts);
/* Upper bounds of n primitives or fewer in at most `parts` equal parts, or in as many as a tracer needs.
 * Peak: with the footprint and one part's mesh. */
kr_status kr_scenes_estimate(kr_device *device, uint32_t prim, uint64_t n, uint64_t parts, uint32_t flags,
                             kr_scene_estimate *estimate, kr_error *err);
/* On failure nothing is left. Not scratch memory of the work. */
kr_parts kr_scenes_build(kr_work *work, const kr_parts_job *job);
/* The mesh of part i, which the caller releases or gives to the tracer; without data after a failure. */
kr_mesh kr_scenes_mesh(kr_work *work, const kr_parts_job *job, uint32_t i);
void kr_scenes_release(kr_parts *parts, kr_stream *stream);
/* Where rays begin that enter above all parts. There is at least one. */
kr_scene_view kr_scenes_view(const kr_parts *parts);
uint64_t kr_scenes_nbytes(const kr_parts *parts);

#endif
