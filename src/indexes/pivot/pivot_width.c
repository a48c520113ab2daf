/* The operations of kind `pivot` at one key width. */
#include "indexes/pivot/pivot.h"
#include "indexes/pivot/pivot_build_body.h"
#include "search/parts.h"
#include "search/store.h"
#include "sorted/rows.h"

#include <stdlib.h>

typedef struct pivot_index {
    kr_store store;
    kr_buffer pivots;
    pivot_shape shape;
    kr_spec spec; /* how lookups are launched */
} pivot_index;

static void shape_of(const kr_spec *spec, uint64_t n, pivot_shape *shape)
{
    pivot_shape_of(n, (uint32_t)spec->options[PIVOT_OPTION_K], (uint32_t)spec->options[PIVOT_OPTION_LEVELS],
                   shape);
}

static kr_status estimate(const kr_shape *shape, kr_estimate *estimate, kr_error *err)
{
    pivot_shape levels;
    (void)err;
    shape_of(shape->spec, shape->count, &levels);
    kr_store_estimate(shape, estimate);
    estimate->footprint_nbytes += (uint64_t)levels.n_slots * sizeof(kr_key);
    if (estimate->peak_nbytes < estimate->footprint_nbytes)
        estimate->peak_nbytes = estimate->footprint_nbytes;
    return KR_OK;
}

static void destroy(kr_device *device, void *self)
{
    pivot_index *index = self;
    kr_buffer_release(device, &index->pivots, NULL);
    kr_store_release(device, &index->store, NULL);
    free(index);
}

static kr_status fill(const kr_build *build, pivot_index *index, kr_error *err)
{
    kr_status status =
        kr_buffer_allocate(build->device, (uint64_t)index->shape.n_slots * sizeof(kr_key), build->stream,
                           "the pivots", "fewer levels, or a larger k", &index->pivots, err);
    if (status != KR_OK)
        return status;
    const pivot_build_params params = {kr_store_entries(&index->store), index->pivots.data, NULL,
                                       index->shape};
    status =
        kr_device_run(build->device, &KR_W(pivot_fill), &params, index->shape.n_slots, build->stream, err);
    kr_stopwatch_lap(build->watch, "pivots");
    return status;
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    pivot_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    index->spec = *build->spec;
    kr_status status = kr_store_build(build, &index->store, err);
    if (status == KR_OK) {
        shape_of(build->spec, index->store.sorted.n, &index->shape);
        status = fill(build, index, err);
    }
    if (status != KR_OK) {
        destroy(build->device, index);
        return status;
    }
    *self = index;
    return KR_OK;
}

KR_PROGRAM_DECLARE(pivot_k0);
KR_PROGRAM_DECLARE(pivot_k2);
KR_PROGRAM_DECLARE(pivot_k3);
KR_PROGRAM_DECLARE(pivot_k5);
KR_PROGRAM_DECLARE(pivot_k9);
KR_PROGRAM_DECLARE(pivot_k17);
KR_PROGRAM_DECLARE(pivot_k33);
KR_PROGRAM_DECLARE(pivot_first_k0);
KR_PROGRAM_DECLARE(pivot_first_k2);
KR_PROGRAM_DECLARE(pivot_first_k3);
KR_PROGRAM_DECLARE(pivot_first_k5);
KR_PROGRAM_DECLARE(pivot_first_k9);
KR_PROGRAM_DECLARE(pivot_first_k17);
KR_PROGRAM_DECLARE(pivot_first_k33);
KR_PROGRAM_DECLARE(pivot_group_k3);
KR_PROGRAM_DECLARE(pivot_group_k5);
KR_PROGRAM_DECLARE(pivot_group_k9);
KR_PROGRAM_DECLARE(pivot_group_k17);
KR_PROGRAM_DECLARE(pivot_group_k33);

/* One thread a probe; k - 1 threads a probe; and on the CPU for the first match alone, where no levels are
 * cut off. */
static const struct {
    uint32_t k;
    const kr_program *alone, *group, *first;
} programs[] = {
    {2, &KR_W(pivot_k2), NULL, &KR_W(pivot_first_k2)},
    {3, &KR_W(pivot_k3), &KR_W(pivot_group_k3), &KR_W(pivot_first_k3)},
    {5, &KR_W(pivot_k5), &KR_W(pivot_group_k5), &KR_W(pivot_first_k5)},
    {9, &KR_W(pivot_k9), &KR_W(pivot_group_k9), &KR_W(pivot_first_k9)},
    {17, &KR_W(pivot_k17), &KR_W(pivot_group_k17), &KR_W(pivot_first_k17)},
    {33, &KR_W(pivot_k33), &KR_W(pivot_group_k33), &KR_W(pivot_first_k33)},
};

/* On a CPU a group is one thread, which compares a node faster than it shares one out. */
static const kr_program *program_of(const kr_device *device, const kr_spec *spec, int first)
{
    const int in_groups = spec->options[KR_SEARCH_GROUP] != 0 && !device->ops->is_host;
    const int64_t k = spec->options[PIVOT_OPTION_K];
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i)
        if (programs[i].k == k)
            return first ? programs[i].first : in_groups ? programs[i].group : programs[i].alone;
    return first ? &KR_W(pivot_first_k0) : &KR_W(pivot_k0);
}

static int takes_rounds(const kr_device *device, const pivot_index *index, uint32_t what)
{
    return device->ops->is_host && index->shape.leaves == 1 && (what == KR_PUT_ROW || what == KR_PUT_FLAG);
}

static kr_tile tile_of(const pivot_index *index)
{
    uint64_t pins[PIVOT_LEVELS];
    const uint32_t n = index->shape.n_levels;
    for (uint32_t i = 0; i < n; ++i)
        pins[i] = i + 1 < n ? index->shape.starts[n - 2 - i] : index->shape.n_slots;
    return kr_search_tile(&index->spec, index->shape.k, sizeof(kr_key), pins, n);
}

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const pivot_index *index = self;
    const kr_entries entries = kr_store_entries(&index->store);
    if (job->partition)
        return KR_W(kr_parts_locate)(device, &entries, job, stream, err);
    const pivot_params params = {
        .batch = job->batch,
        .put = job->put,
        .tile = tile_of(index),
        .entries = entries,
        .pivots = index->pivots.data,
        .shape = index->shape,
    };
    return kr_device_run(device, program_of(device, &index->spec, takes_rounds(device, index, job->put.what)),
                         &params, job->n, stream, err);
}

static kr_rows_view rows(const void *self)
{
    return kr_store_rows(&((const pivot_index *)self)->store);
}

static uint64_t n_rows(const void *self)
{
    return ((const pivot_index *)self)->store.sorted.n;
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const pivot_index *index = self;
    *lowest = index->store.sorted.lowest;
    *highest = index->store.sorted.highest;
}

static uint32_t scan(const void *self)
{
    return kr_search_scan(&((const pivot_index *)self)->spec);
}

static kr_status cuts(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                      kr_error *err)
{
    const kr_entries entries = kr_store_entries(&((const pivot_index *)self)->store);
    return KR_W(kr_parts_cuts)(device, &entries, NULL, bits, keys, stream, err);
}

static uint32_t parts(const void *self, kr_part parts[KR_STATS_PARTS])
{
    const pivot_index *index = self;
    const uint32_t n = kr_store_parts(&index->store, parts);
    parts[n] = (kr_part){"pivots", index->pivots.nbytes};
    return n + 1;
}

static kr_status check_pivots(kr_device *device, const pivot_index *index, kr_error *err)
{
    kr_buffer counter = {0};
    uint64_t found = 0;
    kr_status status = kr_counters_make(device, NULL, 1, &counter, err);
    if (status == KR_OK) {
        const pivot_build_params params = {kr_store_entries(&index->store), index->pivots.data, counter.data,
                                           index->shape};
        status = kr_device_run(device, &KR_W(pivot_check), &params, index->shape.n_slots, NULL, err);
    }
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counter, &found, 1, err);
    kr_buffer_release(device, &counter, NULL);
    if (status == KR_OK && found)
        return kr_fail(err, KR_ERR_INVARIANT, "slot %llu of the pivots is not the key that it stands for",
                       (unsigned long long)found - 1);
    return status;
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    const pivot_index *index = self;
    const kr_status status = kr_store_validate(device, &index->store, err);
    return status == KR_OK ? check_pivots(device, index, err) : status;
}

/* A node a level, the halvings where levels are left out, the leaf and the row id. */
static double touches(const kr_shape *shape)
{
    pivot_shape levels;
    double steps = 2;
    shape_of(shape->spec, shape->count, &levels);
    for (uint32_t left = levels.leaves; left > 1; left /= 2)
        steps += 1;
    return steps + levels.n_levels;
}

static kr_status runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    const kr_status status = kr_search_runs_on(device, spec, err);
    if (status != KR_OK)
        return status;
    return kr_family_runs_on(device, spec, program_of(device, spec, 0), err);
}

extern const kr_family_ops KR_W(pivot_ops);
const kr_family_ops KR_W(pivot_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .rows = rows,
    .n_rows = n_rows,
    .key_range = key_range,
    .cuts = cuts,
    .scan = scan,
    .parts = parts,
    .validate = validate,
    .touches = touches,
    .runs_on = runs_on,
};
