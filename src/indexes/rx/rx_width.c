/* The operations of kind `rx` at one key width. */
#include "indexes/rx/rx_params.h"
#include "indexes/rx/rx_scene.h"
#include "indexes/rx/rx_width_body.h"
#include "results/dense.h"
#include "scenes/rays.h"
#include "sorted/rows.h"
#include "sorted/sorted.h"

#include <stdlib.h>

KR_RAY_PROGRAM_DECLARE(rx_first);
KR_RAY_PROGRAM_DECLARE(rx_scan);
KR_RAY_PROGRAM_DECLARE(rx_visit);
KR_RAY_PROGRAM_DECLARE(rx_check);

typedef struct rx_index {
    rx_design design;
    kr_sorted sorted;
    kr_buffer positions; /* uint32_t[scenes.parts.n], of primitives; none: primitive i is position i */
    rx_scenes scenes;
} rx_index;

/* ---- Which primitives there are ------------------------------------------------------------ */

static uint64_t blocks_of(uint64_t n)
{
    return (n + RX_BLOCK - 1) / RX_BLOCK + 1; /* and the total */
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static kr_status estimate(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    const rx_design design = rx_design_of(shape->spec, shape->device);
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t);
    kr_need made;
    kr_scene_estimate scenes;
    kr_status status = rx_check_bits(shape->spec, shape->type, err);
    if (status == KR_OK)
        status = rx_scenes_estimate(shape->device, &design, n, &scenes, err);
    if (status != KR_OK)
        return status;
    kr_sorted_estimate(shape, &made);
    const uint64_t sorted = made.footprint_nbytes;
    const kr_sort by_row = {.key_bits = 32, .end_bit = 32, .n = n};
    if (design.by_row)
        made.peak_nbytes =
            larger(made.peak_nbytes, sorted + 2 * ids + kr_device_sort_temp(shape->device, &by_row));
    if (design.dedupe)
        made.peak_nbytes = larger(made.peak_nbytes, sorted + ids + blocks_of(n) * sizeof(uint64_t) +
                                                        kr_device_scan_temp(shape->device, blocks_of(n)));
    /* A single pair of equal keys requires a table. */
    const uint64_t positions = design.by_row || design.dedupe ? ids : 0;
    made.footprint_nbytes = sorted + positions + scenes.footprint_nbytes;
    made.peak_nbytes = larger(made.peak_nbytes, sorted + positions + scenes.peak_nbytes);
    *estimate = made;
    return KR_OK;
}

/* order=row: primitive r is the r-th row. */
static kr_status place_by_row(rx_index *index, const rx_source *to, kr_error *err)
{
    const uint64_t nbytes = to->n * sizeof(uint32_t);
    kr_buffer ids = {0};
    kr_status status = kr_buffer_allocate(to->device, nbytes, to->stream, "positions of rows", "order=key",
                                          &index->positions, err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(to->device, nbytes, to->stream, "ordered row ids", "order=key", &ids, err);
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = to->n,
                          .keys_in = index->sorted.rows.data,
                          .keys_out = ids.data,
                          .rows_out = index->positions.data};
    if (status == KR_OK)
        status = kr_device_sort(to->device, &sort, to->stream, err);
    kr_buffer_release(to->device, &ids, to->stream);
    return status;
}

/* Counts distinct keys by blocks; `blocks` then holds where each block's keys begin, and the total. */
static kr_status count_distinct(const rx_source *to, const rx_distinct_params *params, uint64_t *distinct,
                                kr_error *err)
{
    const uint64_t n_blocks = blocks_of(to->n);
    kr_status status = kr_device_run(to->device, &KR_W(rx_count_distinct), params, n_blocks, to->stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(to->device, params->blocks, n_blocks, to->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(to->device, distinct, params->blocks + n_blocks - 1, sizeof *distinct,
                                to->stream, err);
    return status == KR_OK ? kr_device_sync(to->device, to->stream, err) : status;
}

/* dedupe=on: primitive d is the d-th distinct key. No table if all keys are distinct. */
static kr_status place_distinct(rx_index *index, rx_source *to, kr_error *err)
{
    kr_buffer blocks = {0};
    uint64_t distinct = to->n;
    kr_status status = kr_buffer_allocate(to->device, blocks_of(to->n) * sizeof(uint64_t), to->stream,
                                          "counts of distinct keys", "dedupe=off", &blocks, err);
    rx_distinct_params params = {to->keys, blocks.data, NULL, to->n};
    if (status == KR_OK)
        status = count_distinct(to, &params, &distinct, err);
    if (status == KR_OK && distinct < to->n) {
        status = kr_buffer_allocate(to->device, distinct * sizeof(uint32_t), to->stream,
                                    "positions of distinct keys", "dedupe=off", &index->positions, err);
        params.positions = index->positions.data;
        if (status == KR_OK)
            status = kr_device_run(to->device, &KR_W(rx_write_distinct), &params, blocks_of(to->n) - 1,
                                   to->stream, err);
    }
    kr_buffer_release(to->device, &blocks, to->stream);
    kr_stopwatch_lap(to->watch, "dedupe");
    to->n = distinct;
    return status;
}

/* ---- Build and destroy --------------------------------------------------------------------- */

static void release(kr_device *device, rx_index *index, kr_stream *stream)
{
    rx_scenes_release(&index->scenes, stream);
    kr_buffer_release(device, &index->positions, stream);
    kr_sorted_release(device, &index->sorted, stream);
}

static rx_source source_of(kr_device *device, kr_stream *stream, kr_stopwatch *watch, const rx_index *index)
{
    return (rx_source){
        .device = device,
        .stream = stream,
        .watch = watch,
        .mesh = &KR_W(rx_mesh),
        .doors = &KR_W(rx_doors),
        .keys = index->sorted.keys.data,
        .positions = index->positions.data,
        .design = &index->design,
        .n = index->positions.data ? index->positions.nbytes / sizeof(uint32_t) : index->sorted.n,
    };
}

/* Checks the keys against the mode and decides which primitives there are. */
static kr_status place(kr_device *device, kr_stream *stream, kr_stopwatch *watch, rx_index *index,
                       rx_source *source, kr_error *err)
{
    *source = source_of(device, stream, watch, index);
    kr_status status = rx_check_highest(&index->design, index->sorted.highest, err);
    if (status == KR_OK && source->n && index->design.by_row)
        status = place_by_row(index, source, err);
    if (status == KR_OK && source->n && index->design.dedupe)
        status = place_distinct(index, source, err);
    source->positions = index->positions.data;
    return status;
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    rx_source source;
    kr_status status = rx_check_bits(build->spec, (uint32_t)build->keys.type, err);
    if (status != KR_OK)
        return status;
    rx_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    index->design = rx_design_of(build->spec, build->device);
    kr_work w = kr_work_of_build(build, err);
    index->sorted = kr_sorted_build(&w, build);
    kr_sorted_keep(&w, &index->sorted);
    status = kr_work_end(&w);
    if (status == KR_OK)
        status = place(build->device, build->stream, build->watch, index, &source, err);
    if (status == KR_OK)
        status = rx_scenes_build(&source, &index->scenes, err);
    if (status != KR_OK) {
        release(build->device, index, build->stream);
        free(index);
        return status;
    }
    *self = index;
    return KR_OK;
}

static void destroy(kr_device *device, void *self)
{
    release(device, self, NULL);
    free(self);
}

/* ---- Lookups ------------------------------------------------------------------------------- */

static rx_ray_params ray_params(const rx_index *index, uint32_t ray)
{
    return (rx_ray_params){
        .scene = kr_parts_view(&index->scenes.parts),
        .keys = index->sorted.keys.data,
        .rows = index->sorted.rows.data,
        .positions = index->positions.data,
        .lowest = index->sorted.lowest,
        .highest = index->sorted.highest,
        .map = index->design.map,
        .n = (uint32_t)index->sorted.n,
        .max_rays = index->scenes.stale ? 0 : index->design.max_rays,
        .ray = ray,
        .repeats = !index->design.dedupe   ? RX_REPEATS_ALL
                   : index->positions.data ? RX_REPEATS_ONE
                                           : RX_REPEATS_NONE,
        .doors = index->scenes.doors.data,
        .n_doors = index->scenes.doors.data ? index->scenes.parts.n_parts : 0,
        .outside = index->design.outside,
    };
}

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const rx_index *index = self;
    kr_tracer *tracer;
    if (index->sorted.n == 0) {
        const rx_nothing_params params = {job->put};
        return kr_device_run(device, &KR_W(rx_nothing), &params, job->n, stream, err);
    }
    kr_status status = kr_tracer_of(device, &tracer, err);
    if (status != KR_OK)
        return status;
    rx_ray_params params =
        ray_params(index, job->batch.upper ? index->design.range_ray : index->design.point_ray);
    params.batch = job->batch;
    params.put = job->put;
    const int first = kr_put_wants_first(&job->put) && !job->batch.upper && !index->scenes.stale;
    const kr_ray_program *program = index->design.anyhit ? &KR_W(rx_visit)
                                    : first              ? &KR_W(rx_first)
                                                         : &KR_W(rx_scan);
    return kr_scene_run(tracer, program, &params, job->n, stream, err);
}

static kr_rows rows(const void *self)
{
    const kr_sorted *sorted = &((const rx_index *)self)->sorted;
    return kr_dense_rows(sorted->rows.data, sizeof(uint32_t), sorted->n);
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const rx_index *index = self;
    *lowest = index->sorted.lowest;
    *highest = index->sorted.highest;
}

static const kr_ordered_ops ordered = {.key_range = key_range};

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const rx_index *index = self;
    uint32_t n = 0;
    components[n++] = (kr_component){"keys", index->sorted.keys.nbytes};
    components[n++] = (kr_component){"row ids", index->sorted.rows.nbytes};
    if (index->positions.data)
        components[n++] = (kr_component){"positions", index->positions.nbytes};
    components[n++] = (kr_component){index->scenes.parts.n_parts ? index->scenes.parts.name : "bvh",
                                     rx_scenes_nbytes(&index->scenes)};
    return n;
}

/* ---- Validate ------------------------------------------------------------------------------ */

/* Runs a check, with or without rays, that leaves the largest bad entry plus one in a counter. */
static kr_status check_positions(kr_device *device, const rx_index *index, const kr_buffer *counter,
                                 uint64_t *bad, kr_error *err)
{
    const rx_positions_params params = {
        .keys = index->sorted.keys.data,
        .rows = index->sorted.rows.data,
        .positions = index->positions.data,
        .n_positions = index->scenes.parts.n,
        .n = index->sorted.n,
        .found = counter->data,
        .by_row = index->design.by_row,
    };
    kr_status status =
        kr_device_run(device, &KR_W(rx_check_positions), &params, index->scenes.parts.n, NULL, err);
    return status == KR_OK ? kr_counters_read(device, NULL, counter, bad, 1, err) : status;
}

static kr_status check_rays(kr_device *device, const rx_index *index, const kr_buffer *counter, uint64_t *bad,
                            kr_error *err)
{
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(device, &tracer, err);
    rx_ray_params params = ray_params(index, index->design.point_ray);
    params.put.out = counter->data;
    if (status == KR_OK)
        status = kr_scene_run(tracer, &KR_W(rx_check), &params, index->sorted.n, NULL, err);
    return status == KR_OK ? kr_counters_read(device, NULL, counter, bad, 1, err) : status;
}

static kr_status check_scenes(kr_device *device, const rx_index *index, kr_error *err)
{
    kr_buffer counter = {0};
    uint64_t bad = 0;
    kr_status status = kr_counters_make(device, NULL, 1, &counter, err);
    if (status == KR_OK && index->positions.data)
        status = check_positions(device, index, &counter, &bad, err);
    if (status == KR_OK && bad)
        status = kr_fail(err, KR_ERR_INVARIANT, "entry %llu of the table of positions is wrong",
                         (unsigned long long)bad - 1);
    if (status == KR_OK && index->design.prim != KR_PRIM_AABB) /* lookups do not trust boxes either */
        status = check_rays(device, index, &counter, &bad, err);
    if (status == KR_OK && bad)
        status = kr_fail(err, KR_ERR_INVARIANT, "the ray of the key at position %llu does not meet it",
                         (unsigned long long)bad - 1);
    kr_buffer_release(device, &counter, NULL);
    return status;
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    const rx_index *index = self;
    const kr_sorted *sorted = &index->sorted;
    const kr_sorted_check check = {
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), sorted->keys.data, sorted->rows.data, sorted->n),
        KR_KEY_BITS};
    const kr_status status = kr_sorted_validate(device, &check, err);
    if (status != KR_OK || index->sorted.n == 0)
        return status;
    if (index->scenes.stale)
        return kr_fail(err, KR_ERR_INVARIANT,
                       "the scene is stale: a refit failed and could not be undone; set keys again");
    return check_scenes(device, index, err);
}

/* ---- Rows that get other keys -------------------------------------------------------------- */

/* `made` takes over the scenes of `index` and moves their primitives. On failure `index` gets them back. */
static kr_status refit(const rx_source *source, rx_index *index, rx_index *made, kr_error *err)
{
    const rx_source old = source_of(source->device, source->stream, NULL, index);
    const kr_status status = rx_scenes_refit(source, &old, &index->scenes, err);
    if (status == KR_OK) {
        made->scenes = index->scenes;
        index->scenes = (rx_scenes){0};
    }
    return status;
}

static kr_status set_keys(kr_device *device, void *self, const kr_set_keys *job, kr_error *err)
{
    rx_index *index = self, made = {.design = index->design};
    rx_source source;
    kr_work w = kr_work_on(device, job->stream, err);
    w.watch = job->watch;
    made.sorted = kr_sorted_set_keys(&w, &index->sorted, job);
    kr_sorted_keep(&w, &made.sorted);
    kr_status status = kr_work_end(&w);
    if (status == KR_OK)
        status = place(device, job->stream, job->watch, &made, &source, err);
    if (status == KR_OK && index->design.refit && index->sorted.n)
        status = refit(&source, index, &made, err);
    else if (status == KR_OK)
        status = rx_scenes_build(&source, &made.scenes, err);
    if (status != KR_OK) {
        release(device, &made, job->stream);
        return status;
    }
    release(device, index, job->stream);
    *index = made;
    return kr_device_sync(device, job->stream, err); /* fails only with the device */
}

extern const kr_family_ops KR_W(rx_ops);
const kr_family_ops KR_W(rx_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .rows = rows,
    .ordered = &ordered,
    .components = components,
    .validate = validate,
    .touches = rx_touches,
    .rays = rx_rays,
    .tracer = kr_rays_tracer,
    .runs_on = kr_rays_runs_on,
    .set_keys = set_keys,
};
