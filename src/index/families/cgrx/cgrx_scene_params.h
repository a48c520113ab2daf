/* The parameter blocks of the programs of kind `cgrx` that cast no rays. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCENE_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCENE_PARAMS_H

#include "index/families/cgrx/cgrx_entries.h"
#include "index/scenes/point.h"

/* For the programs that make a scene from sorted keys, cut into buckets of `bucket` keys. */
typedef struct cgrx_scene_params {
    const void *keys;
    uint64_t *counts; /* n_buckets + 1: triangles of a bucket, then of all before it; rows in the high half */
    float *triangles;
    uint32_t *targets; /* the target of each triangle (cgrx_params.h) */
    uint32_t *row_first, *plane_first;
    uint64_t n, n_buckets;
    kr_point_map map;
    uint32_t bucket;
    uint32_t optimized, rows, planes; /* 0 or 1; rows, planes: there are several */
    uint32_t part;                    /* triangles of every part but the last */
    uint32_t first_bucket;            /* from which triangles are written, */
    uint32_t first, end;              /* which are these of all */
    uint32_t *begins;                 /* the bucket that has the first triangle of each part */
    uint32_t flips, reserved;         /* 0 or 1: representatives alone in their rows show their other side */
} cgrx_scene_params;
kr_assert_size(cgrx_scene_params, 136);

/* For the program that finds the keys around the ends of buckets. */
typedef struct cgrx_pairs_params {
    cgrx_entries entries;     /* of an index without lists */
    const void *ends;         /* as in cgrx_params; else NULL */
    const uint32_t *end_rows; /* with them: as in cgrx_nodes */
    void *keys;               /* receives the first key and the representative of each bucket */
    uint64_t n_buckets, last_rep;
    kr_point_map map;
    uint32_t optimized, reserved; /* 0 or 1 */
} cgrx_pairs_params;
kr_assert_size(cgrx_pairs_params, 152);

typedef struct cgrx_filter_params {
    const void *keys;
    uint64_t *words;
    uint64_t n_words;
} cgrx_filter_params;

typedef struct cgrx_filter_check_params {
    const uint64_t *words;
    uint64_t n_words;
    cgrx_entries entries;
    uint64_t *found;
} cgrx_filter_check_params;

typedef struct cgrx_pack_params {
    const void *keys;
    const uint32_t *rows;
    kr_entries store;
} cgrx_pack_params;

typedef struct cgrx_ends_params {
    cgrx_entries entries;
    uint64_t *ends; /* the lowest key and the highest */
} cgrx_ends_params;

#endif
