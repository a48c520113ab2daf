/* The part of OptiX's binary interface that keyray uses, version 87 (OptiX 8.0), which drivers from 535 on
 * serve.
 *
 * OptiX comes with the driver, its headers do not come with keyray: these are its numbers and layouts under
 * keyray's own names. tests/gpu/optix_abi.c compares every one with the real headers where
 * `-DOptiX_ROOT=` names them. Addresses on the device and traversables are uint64_t, handles void *. */
#ifndef KEYRAY_BASE_TRACERS_OPTIX_OPTIX_ABI_H
#define KEYRAY_BASE_TRACERS_OPTIX_OPTIX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { KR_OPTIX_ABI = 87 };

/* Results that keyray distinguishes. */
enum {
    KR_OPTIX_SUCCESS = 0,
    KR_OPTIX_HOST_OUT_OF_MEMORY = 7002,
    KR_OPTIX_LAUNCH_FAILURE = 7050,
    KR_OPTIX_UNSUPPORTED_ABI = 7801,
    KR_OPTIX_DEVICE_OUT_OF_MEMORY = 7807
};

/* ---- Context ------------------------------------------------------------------------------- */

typedef struct kr_optix_context_options {
    void (*log)(unsigned level, const char *tag, const char *text, void *ctx);
    void *log_ctx;
    int32_t log_level;
    uint32_t validation;
} kr_optix_context_options;

enum { KR_OPTIX_RTCORE_VERSION = 0x2005 };

/* ---- Acceleration structures --------------------------------------------------------------- */

enum {
    KR_OPTIX_INPUT_TRIANGLES = 0x2141,
    KR_OPTIX_INPUT_BOXES = 0x2142,
    KR_OPTIX_INPUT_INSTANCES = 0x2143,
    KR_OPTIX_INPUT_SPHERES = 0x2146
};
enum { KR_OPTIX_FLOAT3 = 0x2121 };
enum { KR_OPTIX_GEOMETRY_ONE_ANYHIT = 2 };

/* Micromaps follow the triangles' fields; left zero, there are none. */
typedef struct kr_optix_triangles {
    const uint64_t *vertices;
    uint32_t n_vertices, vertex_format, vertex_stride;
    uint64_t indices;
    uint32_t n_indices, index_format, index_stride;
    uint64_t transform;
    const uint32_t *flags;
    uint32_t n_records;
    uint64_t record_offsets;
    uint32_t record_offset_nbytes, record_offset_stride;
    uint32_t first_primitive, transform_format;
} kr_optix_triangles;

typedef struct kr_optix_spheres {
    const uint64_t *centres;
    uint32_t centre_stride, n;
    const uint64_t *radii;
    uint32_t radius_stride;
    int32_t one_radius;
    const uint32_t *flags;
    uint32_t n_records;
    uint64_t record_offsets;
    uint32_t record_offset_nbytes, record_offset_stride;
    uint32_t first_primitive;
} kr_optix_spheres;

typedef struct kr_optix_boxes {
    const uint64_t *boxes;
    uint32_t n, stride;
    const uint32_t *flags;
    uint32_t n_records;
    uint64_t record_offsets;
    uint32_t record_offset_nbytes, record_offset_stride;
    uint32_t first_primitive;
} kr_optix_boxes;

typedef struct kr_optix_instances {
    uint64_t instances;
    uint32_t n, stride;
} kr_optix_instances;

typedef struct kr_optix_input {
    uint32_t type;
    union {
        unsigned char all[1024]; /* first, so that {0} clears everything */
        kr_optix_triangles triangles;
        kr_optix_spheres spheres;
        kr_optix_boxes boxes;
        kr_optix_instances instances;
        uint64_t alignment;
    } of;
} kr_optix_input;

typedef struct kr_optix_instance {
    float transform[12]; /* three rows of four */
    uint32_t id, record_offset, visibility, flags;
    uint64_t traversable;
    uint32_t reserved[2];
} kr_optix_instance;

enum {
    KR_OPTIX_ALLOW_UPDATE = 1,
    KR_OPTIX_ALLOW_COMPACTION = 2,
    KR_OPTIX_PREFER_FAST_TRACE = 4,
    KR_OPTIX_PREFER_FAST_BUILD = 8
};
enum { KR_OPTIX_BUILD = 0x2161, KR_OPTIX_UPDATE = 0x2162 };
enum { KR_OPTIX_COMPACTED_SIZE = 0x2181 };

typedef struct kr_optix_build_options {
    uint32_t flags, operation;
    struct {
        uint16_t n_keys, flags;
        float begin, end;
    } motion;
} kr_optix_build_options;

typedef struct kr_optix_build_sizes {
    size_t output_nbytes, temp_nbytes, update_temp_nbytes;
} kr_optix_build_sizes;

typedef struct kr_optix_emit {
    uint64_t to;
    uint32_t property;
} kr_optix_emit;

/* ---- Pipelines ----------------------------------------------------------------------------- */

enum { KR_OPTIX_OPTIMIZE_MOST = 0x2343, KR_OPTIX_DEBUG_NONE = 0x2350 };

typedef struct kr_optix_module_options {
    int32_t most_registers;
    uint32_t optimize, debug;
    const void *bound_values;
    uint32_t n_bound_values, n_payload_types;
    const void *payload_types;
} kr_optix_module_options;

enum { KR_OPTIX_GRAPH_ANY = 0, KR_OPTIX_GRAPH_SINGLE = 1, KR_OPTIX_GRAPH_INSTANCES = 2 };
enum { KR_OPTIX_MOST_GRAPH_DEPTH = 31 }; /* with KR_OPTIX_GRAPH_ANY; driver 580 takes it */

typedef struct kr_optix_pipeline_options {
    int32_t motion;
    uint32_t graphs;
    int32_t n_payload, n_attributes;
    uint32_t exceptions;
    const char *params_name;
    uint32_t primitives; /* KR_OPTIX_USES_* */
    int32_t micromaps;
} kr_optix_pipeline_options;

#define KR_OPTIX_USES_BOXES 1u
#define KR_OPTIX_USES_SPHERES (1u << 6)
#define KR_OPTIX_USES_TRIANGLES (1u << 31)

enum { KR_OPTIX_BUILTIN_SPHERE = 0x2506 };

typedef struct kr_optix_builtin_options {
    uint32_t primitive;
    int32_t motion;
    uint32_t build_flags, curve_caps;
} kr_optix_builtin_options;

enum { KR_OPTIX_GROUP_RAYGEN = 0x2421, KR_OPTIX_GROUP_MISS = 0x2422, KR_OPTIX_GROUP_HIT = 0x2424 };

typedef struct kr_optix_entry {
    void *module;
    const char *name;
} kr_optix_entry;

typedef struct kr_optix_group {
    uint32_t kind, flags;
    union {
        kr_optix_entry all[3];
        kr_optix_entry raygen, miss;
        struct {
            kr_optix_entry closest, any, intersection;
        } hit;
    } of;
} kr_optix_group;

typedef struct kr_optix_group_options {
    const void *payload_type;
} kr_optix_group_options;

typedef struct kr_optix_link_options {
    uint32_t trace_depth;
} kr_optix_link_options;

typedef struct kr_optix_stack_sizes {
    uint32_t raygen, miss, closest, any, intersection, continuation_callable, direct_callable;
} kr_optix_stack_sizes;

enum { KR_OPTIX_RECORD_NBYTES = 32 };

typedef struct kr_optix_records {
    uint64_t first;
    uint32_t stride, n;
} kr_optix_records;

typedef struct kr_optix_table {
    uint64_t raygen, exception;
    kr_optix_records miss, hit, callables;
} kr_optix_table;

/* ---- Device programs (ray_optix.h) --------------------------------------------------------- */

enum { KR_OPTIX_RAY_NO_ANYHIT = 1, KR_OPTIX_RAY_FIRST_HIT = 4, KR_OPTIX_RAY_NO_CLOSESTHIT = 8 };
enum { KR_OPTIX_HIT_BACK = 0xFF };

/* keyray's own: the block that every launch gets, two numbers and at most 4096 bytes of parameters, and the
 * name of the variable in constant memory that it is copied to. */
enum { KR_OPTIX_LAUNCH_NBYTES = 16 + 4096 };
#define KR_OPTIX_LAUNCH_NAME "kr_launch"

/* ---- Functions ----------------------------------------------------------------------------- */

/* Filled by the library; entries that keyray does not call are placeholders. */
typedef struct kr_optix_api {
    const char *(*error_name)(int result);
    const char *(*error_string)(int result);
    int (*context_create)(void *cuda_context, const kr_optix_context_options *options, void **context);
    int (*context_destroy)(void *context);
    int (*context_property)(void *context, int property, void *value, size_t nbytes);
    void *unused_context[7];
    int (*module_create)(void *context, const kr_optix_module_options *options,
                         const kr_optix_pipeline_options *pipeline_options, const char *text, size_t nbytes,
                         char *log, size_t *log_nbytes, void **module);
    void *unused_module[2];
    int (*module_destroy)(void *module);
    int (*builtin_module)(void *context, const kr_optix_module_options *options,
                          const kr_optix_pipeline_options *pipeline_options,
                          const kr_optix_builtin_options *builtin_options, void **module);
    void *unused_task;
    int (*group_create)(void *context, const kr_optix_group *descriptions, unsigned n,
                        const kr_optix_group_options *options, char *log, size_t *log_nbytes, void **groups);
    int (*group_destroy)(void *group);
    int (*group_stack)(void *group, kr_optix_stack_sizes *sizes, void *pipeline);
    int (*pipeline_create)(void *context, const kr_optix_pipeline_options *options,
                           const kr_optix_link_options *link_options, void *const *groups, unsigned n,
                           char *log, size_t *log_nbytes, void **pipeline);
    int (*pipeline_destroy)(void *pipeline);
    int (*pipeline_stack)(void *pipeline, unsigned direct_from_traversal, unsigned direct_from_state,
                          unsigned continuation, unsigned graph_depth);
    int (*accel_sizes)(void *context, const kr_optix_build_options *options, const kr_optix_input *inputs,
                       unsigned n, kr_optix_build_sizes *sizes);
    int (*accel_build)(void *context, void *stream, const kr_optix_build_options *options,
                       const kr_optix_input *inputs, unsigned n, uint64_t temp, size_t temp_nbytes,
                       uint64_t output, size_t output_nbytes, uint64_t *traversable,
                       const kr_optix_emit *emits, unsigned n_emits);
    void *unused_relocation[3];
    int (*accel_compact)(void *context, void *stream, uint64_t traversable, uint64_t output,
                         size_t output_nbytes, uint64_t *compacted);
    void *unused_micromaps[8];
    int (*record_header)(void *group, void *record);
    int (*launch)(void *pipeline, void *stream, uint64_t params, size_t params_nbytes,
                  const kr_optix_table *table, unsigned width, unsigned height, unsigned depth);
    void *unused_denoiser[8];
} kr_optix_api;

/* The one function that the library exports. */
typedef int kr_optix_query(int abi, unsigned n_options, int *keys, const void **values, void *table,
                           size_t table_nbytes);

#endif
