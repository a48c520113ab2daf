/* The parameter blocks of the ray programs of kind `rx`. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_PARAMS_H

#include "base/tracers/ray.h"
#include "index/families/rx/rx_mesh.h"
#include "index/kinds/batch.h"
#include "index/results/params.h"
#include "index/scenes/point.h"

typedef struct rx_ray_params {
    kr_scene_view scene;
    kr_batch batch;
    kr_put put;
    const void *keys;          /* sorted codes */
    const uint32_t *rows;      /* NULL: KR_PUT_ROW writes the first position of a match instead */
    const uint32_t *positions; /* of primitives; NULL: primitive i is position i */
    uint64_t lowest, highest;  /* codes of the end keys */
    const rx_door *doors;      /* parts that tracing rays begin in, by ascending keys; NULL: none */
    kr_point_map map;
    uint32_t n;        /* keys, at least 1 */
    uint32_t max_rays; /* 0: cast no rays */
    uint32_t ray;      /* RX_RAY_* */
    uint32_t repeats;  /* RX_REPEATS_* */
    uint32_t n_doors;
    uint32_t outside; /* 1: rays answer points outside of the keys */
    uint32_t closest; /* 1: rx_scan takes the closest hit for points, too */
    uint32_t reserved;
} rx_ray_params;
kr_assert_size(rx_ray_params, 248);

/* Of answer=rays. */
typedef struct rx_sum_params {
    union {
        kr_scene_view scene;
        rx_ray_params rays;
    };
    const uint32_t *row_of; /* of primitives; NULL: primitive i is row i */
    reduce_params sum;      /* what a row adds: reduce_addend */
    uint32_t what;          /* RX_PUT_SUM, or rays.put.what, which is not KR_PUT_MATCH */
    uint32_t stops;         /* 1: a ray ends at the first row that it meets */
} rx_sum_params;
kr_assert_size(rx_sum_params, 424);
enum { RX_PUT_SUM }; /* beside KR_PUT_* */

/* Equal keys: there are none, they share a primitive, or each may have its own. */
enum { RX_REPEATS_NONE, RX_REPEATS_ONE, RX_REPEATS_ALL };

#endif
