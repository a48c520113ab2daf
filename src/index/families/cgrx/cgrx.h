/* Kind `cgrx`: options, the design they result in, and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_H

#include "index/families/cgrx/cgrx_params.h"
#include "index/kinds/family.h"
#include "index/scenes/point.h"

enum {
    CGRX_OPTION_SCENE,
    CGRX_OPTION_BUCKET,
    CGRX_OPTION_SEARCH,
    CGRX_OPTION_LAYOUT,
    CGRX_OPTION_BITS,
    CGRX_OPTION_SCALE,
    CGRX_OPTION_RAYS,
    CGRX_OPTION_FLIP,
    CGRX_OPTION_FILTER,
    CGRX_OPTION_BVH,
    CGRX_OPTION_COMPACT,
    CGRX_OPTION_PARTS,
    CGRX_OPTION_UPDATES,
    CGRX_OPTION_NODE,
    CGRX_OPTION_FILL,
    CGRX_OPTION_REBUILD,
    CGRX_OPTION_APPLY,
    CGRX_OPTION_ANSWER,
    CGRX_OPTION_PRESET,
    CGRX_OPTIONS
};

/* Choices. */
enum { CGRX_NAIVE, CGRX_OPTIMIZED };
enum { CGRX_BINARY, CGRX_LINEAR };
enum { CGRX_OFF, CGRX_ON };
enum { CGRX_FLIP_ON, CGRX_FLIP_OFF };
enum { CGRX_APPLY_MERGE, CGRX_APPLY_SPLIT };
enum { CGRX_ANSWER_MATCHES, CGRX_ANSWER_SCAN };
enum { CGRX_PRESET_NONE, CGRX_PRESET_PAPER };

/* A spec's options as builds and lookups use them. */
typedef struct cgrx_design {
    kr_point_map map;
    uint32_t scene;  /* CGRX_NAIVE ... */
    uint32_t flips;  /* 0 or 1: representatives alone in their rows show their other side */
    uint32_t bucket; /* entries of a bucket at build time */
    uint32_t search, layout;
    uint32_t rays;        /* CGRX_RAYS_* */
    uint32_t filter;      /* bits of the filter per key, 0: no filter */
    uint32_t scene_flags; /* KR_SCENE_* */
    uint32_t compact;     /* KR_COMPACT_* */
    uint32_t parts;
    uint32_t node;   /* slots of a node; 0: entries lie in one run and never change */
    uint32_t splits; /* 0 or 1: apply=split */
    uint32_t scans;  /* 0 or 1: answer=scan */
    double rebuild;  /* the factor of growth or shrinkage since the build; 0: never */
} cgrx_design;

cgrx_design cgrx_design_of(const kr_spec *spec);

static inline uint64_t cgrx_buckets_of(const cgrx_design *design, uint64_t n)
{
    return n / design->bucket + (n % design->bucket != 0);
}

/* Functions that do not depend on the width. */
double cgrx_rays(const kr_shape *shape);
double cgrx_touches(const kr_shape *shape);

extern const kr_family_ops cgrx_ops_u32, cgrx_ops_u64;

#endif
