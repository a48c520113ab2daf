/* The operations of kind `array` at one key width. */
#include "indexes/array/array.h"
#include "indexes/array/array_body.h"
#include "search/parts.h"
#include "search/store.h"

#include <stdlib.h>

typedef struct array_index {
    kr_store store;
    kr_tile tile;
    uint32_t top, k;
    uint32_t scan; /* KR_SCAN_* */
} array_index;

static kr_status estimate(const kr_shape *shape, kr_estimate *estimate, kr_error *err)
{
    (void)err;
    kr_store_estimate(shape, estimate);
    return KR_OK;
}

static void destroy(kr_device *device, void *self)
{
    array_index *index = self;
    kr_store_release(device, &index->store, NULL);
    free(index);
}

/* Step d of the binary search meets 2^d keys, which are words of its pins; the K-ary search has none. */
static void set_search(array_index *index, const kr_spec *spec)
{
    const uint32_t n = (uint32_t)index->store.sorted.n;
    uint64_t pins[32];
    uint32_t levels = 0;
    index->k = (uint32_t)spec->options[ARRAY_OPTION_K];
    index->scan = kr_search_scan(spec);
    index->top = n ? 0x80000000u >> kr_clz32(n) : 0;
    for (uint32_t step = index->top; step && index->k == 2; step >>= 1, ++levels)
        pins[levels] = ((uint64_t)2 << levels) - 1;
    index->tile = kr_search_tile(spec, index->k, sizeof(kr_key), pins, levels);
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    array_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = kr_store_build(build, &index->store, err);
    if (status != KR_OK) {
        free(index);
        return status;
    }
    set_search(index, build->spec);
    *self = index;
    return KR_OK;
}

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const array_index *index = self;
    if (job->partition) {
        const kr_entries entries = kr_store_entries(&index->store);
        return KR_W(kr_parts_locate)(device, &entries, job, stream, err);
    }
    const array_params params = {
        .batch = job->batch,
        .put = job->put,
        .tile = index->tile,
        .entries = kr_store_entries(&index->store),
        .top = index->top,
        .k = index->k,
    };
    const kr_program *program = index->k > 2       ? &KR_W(array_kary)
                                : index->store.aos ? &KR_W(array_aos)
                                                   : &KR_W(array_soa);
    return kr_device_run(device, program, &params, job->n, stream, err);
}

static kr_rows_view rows(const void *self)
{
    return kr_store_rows(&((const array_index *)self)->store);
}

static uint64_t n_rows(const void *self)
{
    return ((const array_index *)self)->store.sorted.n;
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const array_index *index = self;
    *lowest = index->store.sorted.lowest;
    *highest = index->store.sorted.highest;
}

static uint32_t scan(const void *self)
{
    return ((const array_index *)self)->scan;
}

static kr_status cuts(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                      kr_error *err)
{
    const kr_entries entries = kr_store_entries(&((const array_index *)self)->store);
    return KR_W(kr_parts_cuts)(device, &entries, NULL, bits, keys, stream, err);
}

static uint32_t parts(const void *self, kr_part parts[KR_STATS_PARTS])
{
    return kr_store_parts(&((const array_index *)self)->store, parts);
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    return kr_store_validate(device, &((const array_index *)self)->store, err);
}

/* Binary search halves n + 1 places, k-ary search cuts them by k reading up to k - 1 pivots; then the row. */
static double touches(const kr_shape *shape)
{
    const uint64_t k = (uint64_t)shape->spec->options[ARRAY_OPTION_K];
    const int shared = shape->spec->options[KR_SEARCH_GROUP] != 0; /* pivots of a step are read at once */
    double steps = 0;
    for (uint64_t left = shape->count; left; left /= k)
        steps += k > 2 && !shared ? (double)(k - 1) / 2 + 0.5 : 1;
    return steps + 1;
}

static kr_status runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    const kr_status status = kr_search_runs_on(device, spec, err);
    if (status != KR_OK)
        return status;
    return kr_family_runs_on(device, spec, &KR_W(array_soa), err);
}

extern const kr_family_ops KR_W(array_ops);
const kr_family_ops KR_W(array_ops) = {
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
