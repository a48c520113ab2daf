/* The operations of kind `eytzinger` at one key width. */
#include "indexes/eytzinger/eytzinger.h"
#include "indexes/eytzinger/eytzinger_params.h"
#include "search/parts.h"

#include <stdlib.h>

typedef struct eytzinger_index {
    kr_store store;
    kr_tile tile;
    const kr_program *program;
} eytzinger_index;

enum { MOST_LEVELS = 32 };

static uint32_t k_of(const kr_spec *spec)
{
    return (uint32_t)spec->options[EYTZINGER_OPTION_K];
}

KR_PROGRAM_DECLARE(eytzinger_any);
KR_PROGRAM_DECLARE(eytzinger_2);
KR_PROGRAM_DECLARE(eytzinger_3);
KR_PROGRAM_DECLARE(eytzinger_5);
KR_PROGRAM_DECLARE(eytzinger_9);
KR_PROGRAM_DECLARE(eytzinger_17);
KR_PROGRAM_DECLARE(eytzinger_33);
KR_PROGRAM_DECLARE(eytzinger_group_3);
KR_PROGRAM_DECLARE(eytzinger_group_5);
KR_PROGRAM_DECLARE(eytzinger_group_9);
KR_PROGRAM_DECLARE(eytzinger_group_17);
KR_PROGRAM_DECLARE(eytzinger_group_33);

static const kr_search_programs programs[] = {
    {2, &KR_W(eytzinger_2), NULL},
    {3, &KR_W(eytzinger_3), &KR_W(eytzinger_group_3)},
    {5, &KR_W(eytzinger_5), &KR_W(eytzinger_group_5)},
    {9, &KR_W(eytzinger_9), &KR_W(eytzinger_group_9)},
    {17, &KR_W(eytzinger_17), &KR_W(eytzinger_group_17)},
    {33, &KR_W(eytzinger_33), &KR_W(eytzinger_group_33)},
    {0, &KR_W(eytzinger_any), NULL},
};

static const kr_program *program_of(const kr_device *device, const kr_spec *spec)
{
    return kr_search_program(device, spec, k_of(spec), programs);
}

/* The first slots are what the first steps read. */
static kr_tile tile_of(const kr_spec *spec, uint64_t n)
{
    const uint64_t k = k_of(spec);
    uint64_t pins[MOST_LEVELS], size = 0;
    uint32_t levels = 0;
    while (size < n && levels < MOST_LEVELS) {
        size = size * k + k - 1;
        pins[levels++] = size < n ? size : n;
    }
    return kr_search_tile(spec, (int64_t)k, sizeof(kr_key), pins, levels);
}

static kr_status estimate(const kr_shape *shape, kr_estimate *estimate, kr_error *err)
{
    (void)err;
    kr_store_estimate(shape, k_of(shape->spec), estimate);
    return KR_OK;
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    eytzinger_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = kr_store_build(build, k_of(build->spec), &index->store, err);
    if (status != KR_OK) {
        free(index);
        return status;
    }
    if (build->spec->options[EYTZINGER_OPTION_SCAN] == EYTZINGER_SCAN_LEVELS)
        index->store.scan |= KR_SCAN_LEVELS;
    index->tile = tile_of(build->spec, index->store.n);
    index->program = program_of(build->device, build->spec);
    *self = index;
    return KR_OK;
}

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const eytzinger_index *index = self;
    const eytzinger_params params = {
        .batch = job->batch,
        .put = job->put,
        .tile = index->tile,
        .entries = kr_store_entries(&index->store),
        .tree = index->store.tree,
    };
    return kr_device_run(device, index->program, &params, job->n, stream, err);
}

/* A node a level, whose keys stand side by side; then the row. */
static double touches(const kr_shape *shape)
{
    double levels = 0;
    for (uint64_t left = shape->count; left; left /= k_of(shape->spec))
        levels += 1;
    return levels + 1;
}

static kr_status runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    return kr_search_runs_on(device, spec, program_of(device, spec), err);
}

extern const kr_family_ops KR_W(eytzinger_ops);
const kr_family_ops KR_W(eytzinger_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = kr_store_destroy,
    .locate = locate,
    .rows = kr_store_rows,
    .scan = kr_store_scan,
    .n_rows = kr_store_n_rows,
    .key_range = kr_store_key_range,
    .cuts = KR_W(kr_parts_cuts),
    .parts = kr_store_parts,
    .validate = kr_store_validate,
    .touches = touches,
    .runs_on = runs_on,
};
