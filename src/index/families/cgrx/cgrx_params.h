/* The parameter block of the lookup programs of kind `cgrx`. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_PARAMS_H

#include "base/tracers/ray.h"
#include "index/families/cgrx/cgrx_entries.h"
#include "index/kinds/batch.h"
#include "index/scenes/point.h"

/* The choices of option rays. */
enum { CGRX_RAYS_PAPER, CGRX_RAYS_SHORT, CGRX_RAYS_COLUMN, CGRX_RAYS_AUTO };

/* Primitive p of the scene is target targets[p]. Targets below n_buckets are buckets' representatives; then
 * come the row mark of bucket target - n_buckets and the plane mark of bucket target - 2 n_buckets. */
typedef struct cgrx_params {
    kr_scene_view scene;
    kr_batch batch;
    kr_put put;
    cgrx_entries entries;
    const uint32_t *targets; /* NULL: primitive p is target p */
    /* For each bucket, the first bucket with a representative in its row; not for rays=paper. */
    const uint32_t *row_first;
    const uint32_t *plane_first; /* the same for its plane */
    const void *ends;            /* with lists: kr_key[n_buckets], the largest key each owns */
    const uint64_t *filter;      /* or NULL */
    uint32_t *found;             /* the bucket of each probe, from the ray program to the search */
    uint64_t n_filter;           /* words */
    uint64_t lowest, highest;    /* codes of the end keys */
    uint64_t first_end;          /* the first bucket owns all keys up to it, and */
    uint64_t last_begin;         /* the last bucket all after it: no ray is cast for them */
    uint64_t last_rep;           /* its representative in the scene */
    kr_point_map map;
    uint32_t n_buckets;
    uint32_t rays;              /* CGRX_RAYS_*, not AUTO */
    uint32_t optimized, linear; /* 0 or 1 */
} cgrx_params;
kr_assert_size(cgrx_params, 360);

#endif
