/* The scene of kind `cgrx`: one triangle per bucket, and marks that lead to the next row and plane. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCENE_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCENE_H

#include "index/families/cgrx/cgrx.h"
#include "index/families/cgrx/cgrx_entries.h"
#include "index/scenes/parts.h"
#include "index/sorted/sorted.h"

typedef struct cgrx_scene {
    kr_parts parts;                   /* none with a single bucket */
    kr_buffer targets;                /* of primitives; empty: primitive p is target p */
    kr_buffer row_first, plane_first; /* empty if lookups do not read them */
    uint64_t n_buckets;
    uint32_t rays;                            /* CGRX_RAYS_*, with auto resolved */
    uint64_t first_end, last_begin, last_rep; /* as in cgrx_params */
} cgrx_scene;

/* What a scene is made from. */
typedef struct cgrx_source {
    const cgrx_design *design;
    const kr_sorted *sorted; /* at least one key */
} cgrx_source;

/* The bounds hold for any keys of `bits` significant bits. */
kr_status KR_W(cgrx_scene_estimate)(kr_device *device, const cgrx_design *design, uint64_t n, uint32_t bits,
                                    kr_scene_estimate *estimate, kr_error *err);
/* Its arrays are scratch memory of the work until they are kept; its parts are released if a step fails. May
 * wait for the stream. */
cgrx_scene KR_W(cgrx_scene_build)(kr_work *work, const cgrx_source *source);
void cgrx_scene_keep(kr_work *work, cgrx_scene *scene);
void cgrx_scene_release(kr_device *device, kr_stream *stream, cgrx_scene *scene);
uint64_t cgrx_scene_nbytes(const cgrx_scene *scene);

#endif
