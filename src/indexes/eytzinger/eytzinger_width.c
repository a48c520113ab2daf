/* The operations of kind `eytzinger` at one key width. */
#include "indexes/eytzinger/eytzinger.h"
#include "indexes/eytzinger/eytzinger_build_body.h"
#include "indexes/eytzinger/eytzinger_params.h"
#include "search/parts.h"
#include "sorted/sorted.h"

#include <stdlib.h>

typedef struct eytzinger_index {
    kr_buffer keys; /* layout=aos: entries */
    kr_buffer rows; /* layout=soa */
    kr_eytzinger tree;
    kr_tile tile;
    const kr_program *program;
    uint64_t n;
    uint64_t lowest, highest; /* codes of the end keys */
    uint32_t aos;
    uint32_t scan; /* KR_SCAN_* */
} eytzinger_index;

enum { ENTRY_NBYTES = sizeof(kr_key) + sizeof(uint32_t), MOST_LEVELS = 32 };

static uint32_t k_of(const kr_spec *spec)
{
    return (uint32_t)spec->options[EYTZINGER_OPTION_K];
}

static uint64_t slots_of(uint32_t k, uint64_t n)
{
    return n ? n + kr_eytzinger_first(k) : 0;
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

static const struct {
    uint32_t k;
    const kr_program *alone, *group;
} programs[] = {
    {2, &KR_W(eytzinger_2), NULL},
    {3, &KR_W(eytzinger_3), &KR_W(eytzinger_group_3)},
    {5, &KR_W(eytzinger_5), &KR_W(eytzinger_group_5)},
    {9, &KR_W(eytzinger_9), &KR_W(eytzinger_group_9)},
    {17, &KR_W(eytzinger_17), &KR_W(eytzinger_group_17)},
    {33, &KR_W(eytzinger_33), &KR_W(eytzinger_group_33)},
};

/* On a CPU a group is one thread, which compares a node faster than it shares one out. */
static const kr_program *program_of(const kr_device *device, const kr_spec *spec)
{
    const int in_groups = spec->options[KR_SEARCH_GROUP] != 0 && !device->ops->is_host;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i)
        if (programs[i].k == k_of(spec))
            return in_groups ? programs[i].group : programs[i].alone;
    return &KR_W(eytzinger_any);
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
    const uint64_t sorted = shape->count * ENTRY_NBYTES;
    const uint64_t kept = slots_of(k_of(shape->spec), shape->count) * ENTRY_NBYTES;
    kr_sorted_estimate(shape, estimate);
    estimate->footprint_nbytes = kept;
    if (estimate->peak_nbytes < sorted + kept)
        estimate->peak_nbytes = sorted + kept;
    return KR_OK;
}

static void destroy(kr_device *device, void *self)
{
    eytzinger_index *index = self;
    kr_buffer_release(device, &index->rows, NULL);
    kr_buffer_release(device, &index->keys, NULL);
    free(index);
}

static kr_status place(const kr_build *build, const kr_sorted *sorted, eytzinger_index *index, kr_error *err)
{
    const uint64_t slots = slots_of(index->tree.k, index->n);
    const uint64_t key_nbytes = index->aos ? ENTRY_NBYTES : sizeof(kr_key);
    kr_status status =
        kr_buffer_allocate(build->device, slots * key_nbytes, build->stream,
                           index->aos ? "entries in Eytzinger order" : "keys in Eytzinger order",
                           "kind array", &index->keys, err);
    if (status == KR_OK && !index->aos)
        status = kr_buffer_allocate(build->device, slots * sizeof(uint32_t), build->stream,
                                    "row ids in Eytzinger order", "kind array", &index->rows, err);
    const eytzinger_build_params params = {sorted->keys.data, sorted->rows.data, index->keys.data,
                                           index->rows.data, index->tree};
    if (status == KR_OK)
        status = kr_device_run(build->device, &KR_W(eytzinger_place), &params, index->n, build->stream, err);
    kr_stopwatch_lap(build->watch, "place");
    return status;
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    kr_sorted sorted = {0};
    eytzinger_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_sorted_build(build, &sorted, err);
    index->n = sorted.n;
    index->lowest = sorted.lowest;
    index->highest = sorted.highest;
    index->aos = build->spec->options[KR_SEARCH_LAYOUT] == KR_LAYOUT_AOS;
    index->scan = kr_search_scan(build->spec);
    if (build->spec->options[EYTZINGER_OPTION_SCAN] == EYTZINGER_SCAN_LEVELS)
        index->scan |= KR_SCAN_LEVELS;
    index->tree = kr_eytzinger_of(k_of(build->spec), (uint32_t)sorted.n);
    index->tile = tile_of(build->spec, sorted.n);
    index->program = program_of(build->device, build->spec);
    if (status == KR_OK)
        status = place(build, &sorted, index, err);
    kr_sorted_release(build->device, &sorted, build->stream);
    if (status == KR_OK)
        *self = index;
    else
        destroy(build->device, index);
    return status;
}

static kr_entries entries_of(const eytzinger_index *index)
{
    return (kr_entries){index->keys.data, index->rows.data, (uint32_t)index->n, index->aos};
}

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const eytzinger_index *index = self;
    const eytzinger_params params = {
        .batch = job->batch,
        .put = job->put,
        .tile = index->tile,
        .entries = entries_of(index),
        .tree = index->tree,
    };
    return kr_device_run(device, index->program, &params, job->n, stream, err);
}

static kr_rows_view rows(const void *self)
{
    const eytzinger_index *index = self;
    kr_rows_view view = {
        .rows = index->rows.data, .stride = sizeof(uint32_t), .lists = {.tree = index->tree}};
    if (index->aos && index->keys.data) {
        view.rows = (const char *)index->keys.data + sizeof(kr_key);
        view.stride = ENTRY_NBYTES;
    }
    return view;
}

static uint32_t scan(const void *self)
{
    return ((const eytzinger_index *)self)->scan;
}

static uint64_t n_rows(const void *self)
{
    return ((const eytzinger_index *)self)->n;
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const eytzinger_index *index = self;
    *lowest = index->lowest;
    *highest = index->highest;
}

static kr_status cuts(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                      kr_error *err)
{
    const eytzinger_index *index = self;
    const kr_entries entries = entries_of(index);
    const kr_lists lists = {.tree = index->tree};
    return KR_W(kr_parts_cuts)(device, &entries, &lists, bits, keys, stream, err);
}

static uint32_t parts(const void *self, kr_part parts[KR_STATS_PARTS])
{
    const eytzinger_index *index = self;
    parts[0] = (kr_part){index->aos ? "entries" : "keys", index->keys.nbytes};
    if (index->aos)
        return 1;
    parts[1] = (kr_part){"row ids", index->rows.nbytes};
    return 2;
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    const eytzinger_index *index = self;
    const kr_sorted_check check = {
        .keys = index->keys.data,
        .key_stride = index->aos ? ENTRY_NBYTES : sizeof(kr_key),
        .rows = rows(self),
        .n = index->n,
        .key_bits = KR_KEY_BITS,
    };
    return kr_sorted_validate(device, &check, err);
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
    const kr_status status = kr_search_runs_on(device, spec, err);
    if (status != KR_OK)
        return status;
    return kr_family_runs_on(device, spec, program_of(device, spec), err);
}

extern const kr_family_ops KR_W(eytzinger_ops);
const kr_family_ops KR_W(eytzinger_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .rows = rows,
    .scan = scan,
    .n_rows = n_rows,
    .key_range = key_range,
    .cuts = cuts,
    .parts = parts,
    .validate = validate,
    .touches = touches,
    .runs_on = runs_on,
};
