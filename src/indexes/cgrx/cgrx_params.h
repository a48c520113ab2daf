/* The parameter block of the lookup programs of kind `cgrx`. */
#ifndef KEYRAY_INDEXES_CGRX_CGRX_PARAMS_H
#define KEYRAY_INDEXES_CGRX_CGRX_PARAMS_H

#include "indexes/cgrx/cgrx_entries.h"
#include "kinds/batch.h"
#include "scenes/point.h"
#include "tracers/ray.h"

/* How rays go on. */
enum { CGRX_RAYS_PAPER, CGRX_RAYS_SHORT, CGRX_RAYS_COLUMN, CGRX_RAYS_AUTO };

/* Primitive p of the scene stands for target targets[p]: below n_buckets a bucket's representative, then the
 * mark of the row of target - n_buckets, then that of the plane of target - 2 n_buckets. */
typedef struct cgrx_params {
    kr_scene_view scene;
    kr_batch batch;
    kr_put put;
    cgrx_entries entries;
    const uint32_t *targets; /* NULL: primitive p is target p */
    const uint32_t
        *row_first; /* of a bucket: the first whose representative lies in its row; not rays=paper */
    const uint32_t *plane_first; /* the same for its plane */
    const void *ends;            /* kr_key[n_buckets] with lists: what each owns */
    const uint64_t *filter;      /* or NULL */
    uint32_t *found;             /* the bucket of each probe, where rays and search are two programs */
    uint64_t n_filter;           /* words */
    uint64_t lowest, highest;    /* codes of the end keys */
    uint64_t first_end;          /* the first bucket owns all keys up to it */
    uint64_t last_begin;         /* the last one owns all keys after it */
    uint64_t last_rep;           /* its representative in the scene */
    kr_point_map map;
    uint32_t n_buckets;
    uint32_t rays;              /* CGRX_RAYS_*, not AUTO */
    uint32_t optimized, linear; /* 0 or 1 */
} cgrx_params;
kr_assert_size(cgrx_params, 336);

#endif
