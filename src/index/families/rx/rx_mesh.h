/* The parameter block of the program that makes primitives; it serves both widths. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_MESH_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_MESH_H

#include "base/tracers/ray.h"
#include "index/scenes/point.h"

typedef struct rx_mesh_params {
    const void *keys;
    const uint32_t *positions; /* or NULL: primitive i is position i */
    float *out;
    uint64_t first; /* primitive */
    kr_point_map map;
    uint32_t prim; /* KR_PRIM_* */
    uint32_t reserved;
} rx_mesh_params;
kr_assert_size(rx_mesh_params, 64);

/* A part of the scene that a ray may begin in: keys from `lowest` on, up to the next part's. */
typedef struct rx_door {
    kr_scene_view scene;
    uint64_t lowest;
} rx_door;
kr_assert_size(rx_door, 40);

/* Writes `lowest` of all doors. */
typedef struct rx_doors_params {
    const void *keys;
    const uint32_t *positions; /* or NULL */
    rx_door *doors;
} rx_doors_params;

#endif
