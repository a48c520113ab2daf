/* Kind `cgrx`: options, what they come to, and the operations per key width. */
#ifndef KEYRAY_INDEXES_CGRX_CGRX_H
#define KEYRAY_INDEXES_CGRX_CGRX_H

#include "indexes/cgrx/cgrx_params.h"
#include "kinds/family.h"
#include "scenes/point.h"

enum {
    CGRX_OPTION_SCENE,
    CGRX_OPTION_BUCKET,
    CGRX_OPTION_SEARCH,
    CGRX_OPTION_LAYOUT,
    CGRX_OPTION_BITS,
    CGRX_OPTION_SCALE,
    CGRX_OPTION_RAYS,
    CGRX_OPTION_FILTER,
    CGRX_OPTION_BVH,
    CGRX_OPTION_COMPACT,
    CGRX_OPTION_UPDATES,
    CGRX_OPTION_NODE,
    CGRX_OPTION_FILL,
    CGRX_OPTION_REBUILD,
    CGRX_OPTIONS
};

/* Choices. */
enum { CGRX_NAIVE, CGRX_OPTIMIZED };
enum { CGRX_BINARY, CGRX_LINEAR };
enum { CGRX_OFF, CGRX_ON };

/* A spec's options as builds and lookups use them. */
typedef struct cgrx_design {
    kr_point_map map;
    uint32_t scene;  /* CGRX_NAIVE ... */
    uint32_t bucket; /* entries of a bucket when it is built */
    uint32_t search, layout;
    uint32_t rays;        /* CGRX_RAYS_* */
    uint32_t filter;      /* bits of the filter a key, 0: none */
    uint32_t scene_flags; /* KR_SCENE_* */
    uint32_t compact;     /* KR_COMPACT_* */
    uint32_t node;        /* slots of a node; 0: entries lie one after the other and stay as they are */
    double rebuild;       /* how many times as many or as few entries as were built; 0: never */
} cgrx_design;

cgrx_design cgrx_design_of(const kr_spec *spec);

static inline uint64_t cgrx_buckets_of(const cgrx_design *design, uint64_t n)
{
    return n / design->bucket + (n % design->bucket != 0);
}

/* What does not depend on the width. */
double cgrx_rays(const kr_shape *shape);
double cgrx_touches(const kr_shape *shape);

extern const kr_family_ops cgrx_ops_u32, cgrx_ops_u64;

#endif
