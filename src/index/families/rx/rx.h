/* Kind `rx`: options, the design they result in, and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_H

#include "index/kinds/family.h"
#include "index/scenes/point.h"

enum {
    RX_OPTION_MODE,
    RX_OPTION_BITS,
    RX_OPTION_SCALE,
    RX_OPTION_RAY,
    RX_OPTION_RANGE_RAY,
    RX_OPTION_MAX_RAYS,
    RX_OPTION_PRIM,
    RX_OPTION_BVH,
    RX_OPTION_COMPACT,
    RX_OPTION_RANGE,
    RX_OPTION_DEDUPE,
    RX_OPTION_ORDER,
    RX_OPTION_PARTS,
    RX_OPTION_ENTER,
    RX_OPTION_OUTSIDE,
    RX_OPTION_UPDATE,
    RX_OPTION_ANSWER,
    RX_OPTION_HIT,
    RX_OPTION_PRESET,
    RX_OPTIONS
};

/* Choices. Those of mode are KR_POINT_*, of prim KR_PRIM_*, of ray RX_RAY_*, of range_ray RX_RAY_* - 1. */
enum { RX_ON, RX_OFF };
enum { RX_ENTER_PART, RX_ENTER_TOP };
enum { RX_OUTSIDE_INTEGERS, RX_OUTSIDE_RAYS };
enum { RX_RANGE_SCAN, RX_RANGE_ANYHIT };
enum { RX_ORDER_KEY, RX_ORDER_ROW };
enum { RX_UPDATE_REBUILD, RX_UPDATE_REFIT };
enum { RX_ANSWER_MATCHES, RX_ANSWER_RAYS, RX_ANSWER_SCAN };
enum { RX_HIT_FIRST, RX_HIT_CLOSEST };
enum { RX_PRESET_NONE, RX_PRESET_PAPER, RX_PRESET_THESIS };

/* A spec's options as builds and lookups use them. */
typedef struct rx_design {
    kr_point_map map;
    uint32_t prim;
    uint32_t scene_flags; /* KR_SCENE_* */
    uint32_t point_ray, range_ray;
    uint32_t max_rays;
    uint32_t parts;                                /* 0: as rx_parts_of decides */
    uint32_t compact;                              /* KR_COMPACT_* */
    uint32_t anyhit, dedupe, by_row, refit, enter; /* 0 or 1 */
    uint32_t outside;                              /* RX_OUTSIDE_* */
    uint32_t answer;                               /* RX_ANSWER_* */
    uint32_t closest;                              /* 0 or 1 */
} rx_design;

rx_design rx_design_of(const kr_spec *spec, kr_device *device);
/* The spec's bits must hold every code of the type. */
kr_status rx_check_bits(const kr_spec *spec, uint32_t type, kr_error *err);
/* naive and extended mode hold only small codes. */
kr_status rx_check_highest(const rx_design *design, uint64_t highest, kr_error *err);

/* Functions that do not depend on the width. */
double rx_rays(const kr_shape *shape);
double rx_touches(const kr_shape *shape);

extern const kr_family_ops rx_ops_u32, rx_ops_u64;

#endif
