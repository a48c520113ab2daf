/* The operations of kind `rx` at one key width. */
#include "index/families/rx/rx_params.h"
#include "index/families/rx/rx_scene.h"
#include "index/families/rx/rx_width_body.h"
#include "index/results/dense.h"
#include "index/scenes/rays.h"
#include "index/sorted/rows.h"
#include "index/sorted/sorted.h"

#include <stdlib.h>

KR_RAY_PROGRAM_DECLARE(rx_first);
KR_RAY_PROGRAM_DECLARE(rx_scan);
KR_RAY_PROGRAM_DECLARE(rx_visit);
KR_RAY_PROGRAM_DECLARE(rx_check);
KR_RAY_PROGRAM_DECLARE(rx_sum);

typedef struct rx_index {
    rx_design design;
    kr_sorted sorted;
    kr_buffer positions; /* uint32_t[scenes.parts.n], of primitives; none: primitive i is position i */
    kr_buffer row_ids;   /* likewise, order=row with answer=rays; none: primitive i is row i */
    uint32_t is_unique;  /* answer=rays: 1: no key is given twice */
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
    const uint64_t n = shape->count, ids = n * sizeof(uint32_t);
    kr_need made;
    kr_scene_estimate scenes;
    kr_status status = rx_check_bits(shape->spec, shape->type, err);
    if (status != KR_OK)
        return status;
    const rx_design design = rx_design_of(shape->spec, shape->device);
    status = rx_scenes_estimate(shape->device, &design, n, &scenes, err);
    if (status != KR_OK)
        return status;
    kr_sorted_estimate(shape, &made);
    const uint64_t sorted = made.footprint_nbytes;
    const kr_sort by_row = {.key_bits = 32, .end_bit = 32, .n = n};
    const int by_rays = design.answer == RX_ANSWER_RAYS;
    /* A single pair of equal keys requires a table; row ids that are not 0, 1, 2, ... require one, too. */
    const uint64_t tables = (design.by_row || design.dedupe ? ids : 0) + (design.by_row && by_rays ? ids : 0);
    if (design.by_row)
        made.peak_nbytes =
            larger(made.peak_nbytes, sorted + 2 * ids + kr_device_sort_temp(shape->device, &by_row));
    if (design.dedupe || by_rays)
        made.peak_nbytes = larger(made.peak_nbytes, sorted + tables + blocks_of(n) * sizeof(uint64_t) +
                                                        kr_device_scan_temp(shape->device, blocks_of(n)));
    made.footprint_nbytes = sorted + tables + scenes.footprint_nbytes;
    made.peak_nbytes = larger(made.peak_nbytes, sorted + tables + scenes.peak_nbytes);
    *estimate = made;
    return KR_OK;
}

/* Whether ascending row ids are 0, 1, 2, ... */
static int is_counted(kr_work *w, const uint32_t *ids, uint64_t n)
{
    uint32_t last = 0;
    kr_work_read(w, &last, KR_PLACE_IN(ids, n - 1), sizeof last);
    return last == n - 1;
}

/* order=row: primitive r is the r-th row. */
static void place_by_row(rx_index *index, const rx_source *to)
{
    kr_work *w = to->work;
    const uint64_t nbytes = to->n * sizeof(uint32_t);
    uint32_t *positions = kr_work_take_or(w, nbytes, "positions of rows", "order=key");
    uint32_t *ids = kr_work_take_or(w, nbytes, "ordered row ids", "order=key");
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32,
                          .n = to->n,
                          .keys_in = index->sorted.rows.data,
                          .keys_out = ids,
                          .rows_out = positions};
    kr_work_sort(w, &sort);
    index->positions = (kr_buffer){positions, nbytes};
    if (index->design.answer == RX_ANSWER_RAYS && !is_counted(w, ids, to->n))
        index->row_ids = (kr_buffer){ids, nbytes};
    else
        kr_work_give(w, ids);
    kr_work_lap(w, "sort");
}

/* Counts distinct keys by blocks; `blocks` then holds where each block's keys begin, and the total. */
static uint64_t count_distinct(const rx_source *to, const rx_distinct_params *params)
{
    kr_work *w = to->work;
    const uint64_t n_blocks = blocks_of(to->n);
    uint64_t distinct = to->n;
    kr_work_run(w, &KR_W(rx_count_distinct), params, n_blocks);
    kr_work_sum(w, params->blocks, n_blocks);
    if (params->blocks)
        kr_work_read(w, &distinct, params->blocks + n_blocks - 1, sizeof distinct);
    return distinct;
}

/* dedupe=on: primitive d is the d-th distinct key. No table if all keys are distinct. */
static void place_distinct(rx_index *index, rx_source *to)
{
    kr_work *w = to->work;
    uint64_t *blocks =
        kr_work_take_or(w, blocks_of(to->n) * sizeof *blocks, "counts of distinct keys", "dedupe=off");
    rx_distinct_params params = {to->keys, blocks, NULL, to->n};
    const uint64_t distinct = count_distinct(to, &params), nbytes = distinct * sizeof(uint32_t);
    if (distinct < to->n) {
        params.positions = kr_work_take_or(w, nbytes, "positions of distinct keys", "dedupe=off");
        kr_work_run(w, &KR_W(rx_write_distinct), &params, blocks_of(to->n) - 1);
        index->positions = (kr_buffer){params.positions, nbytes};
    }
    kr_work_give(w, blocks);
    kr_work_lap(w, "dedupe");
    to->n = distinct;
}

/* answer=rays: whether rays of points may end at what they meet first. */
static void find_unique(rx_index *index, const rx_source *to)
{
    kr_work *w = to->work;
    uint64_t *blocks =
        kr_work_take_or(w, blocks_of(to->n) * sizeof *blocks, "counts of distinct keys", "answer=matches");
    const rx_distinct_params params = {to->keys, blocks, NULL, to->n};
    index->is_unique = count_distinct(to, &params) == to->n;
    kr_work_give(w, blocks);
    kr_work_lap(w, "dedupe");
}

/* ---- Build and destroy --------------------------------------------------------------------- */

static void release(kr_device *device, rx_index *index, kr_stream *stream)
{
    rx_scenes_release(&index->scenes, stream);
    kr_buffer_release(device, &index->positions, stream);
    kr_buffer_release(device, &index->row_ids, stream);
    kr_sorted_release(device, &index->sorted, stream);
}

static rx_source source_of(kr_work *work, const rx_index *index)
{
    return (rx_source){
        .work = work,
        .mesh = &KR_W(rx_mesh),
        .doors = &KR_W(rx_doors),
        .keys = index->sorted.keys.data,
        .positions = index->positions.data,
        .design = &index->design,
        .n = index->positions.data ? index->positions.nbytes / sizeof(uint32_t) : index->sorted.n,
    };
}

/* Checks the keys against the mode and decides which primitives there are. The index is scratch memory of the
 * work. */
static rx_source place(kr_work *w, rx_index *index)
{
    rx_source source = source_of(w, index);
    KR_STEP(w, rx_check_highest(&index->design, index->sorted.highest, w->err));
    if (source.n && index->design.by_row)
        place_by_row(index, &source);
    if (source.n && index->design.dedupe)
        place_distinct(index, &source);
    if (source.n && index->design.answer == RX_ANSWER_RAYS)
        find_unique(index, &source);
    source.positions = index->positions.data;
    return source;
}

static void keep_tables(kr_work *w, rx_index *made)
{
    made->positions = kr_work_keep(w, made->positions.data);
    made->row_ids = kr_work_keep(w, made->row_ids.data);
}

/* All but the scenes, which are not scratch memory. */
static void keep(kr_work *w, rx_index *made)
{
    kr_sorted_keep(w, &made->sorted);
    keep_tables(w, made);
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    KR_STEP(w, rx_check_bits(build->spec, (uint32_t)build->keys.type, w->err));
    rx_index *index = kr_work_object(w, sizeof *index, "an index");
    rx_index made = {.scenes = {.stale = 0}};
    if (index)
        made.design = rx_design_of(build->spec, w->device);
    made.sorted = kr_sorted_build(w, build);
    const rx_source source = place(w, &made);
    made.scenes = rx_scenes_build(&source);
    keep(w, &made);
    if (kr_work_goes_on(w))
        *index = made;
    *self = index;
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    release(device, self, stream);
    free(self);
}

/* ---- Lookups ------------------------------------------------------------------------------- */

static rx_ray_params ray_params(const rx_index *index, uint32_t ray)
{
    return (rx_ray_params){
        .scene = kr_scenes_view(&index->scenes.parts),
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
        .closest = index->design.closest,
    };
}

static uint32_t ray_of(const rx_index *index, int is_range)
{
    return is_range ? index->design.range_ray : index->design.point_ray;
}

/* Whether what rays meet is the answer. Rays from zero and along rows of mode=extended are as long as keys
 * are large, and may meet neighbours. */
static int rays_answer(const rx_index *index, int is_range)
{
    const uint32_t ray = ray_of(index, is_range);
    return index->design.answer == RX_ANSWER_RAYS && !index->scenes.stale && index->sorted.n &&
           (ray == RX_RAY_PERPENDICULAR ||
            (ray == RX_RAY_OFFSET && index->design.map.mode != KR_POINT_EXTENDED));
}

/* `how`: NULL, or the sum that is wanted. */
static void answer_by_rays(kr_work *w, const rx_index *index, const kr_locate *job, const kr_reduction *how)
{
    const int is_range = job->batch.upper != NULL;
    kr_tracer *tracer = NULL;
    rx_sum_params params = {
        .rays = ray_params(index, ray_of(index, is_range)),
        .row_of = index->design.by_row ? index->row_ids.data : index->sorted.rows.data,
        .what = how ? RX_PUT_SUM : job->put.what,
        .stops = (!how && job->put.what == KR_PUT_FLAG) || (!is_range && index->is_unique),
    };
    if (how)
        params.sum = how->params;
    params.rays.batch = job->batch;
    params.rays.put = job->put;
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    kr_scene_run(w, tracer, &KR_W(rx_sum), &params, job->n);
}

/* What casts one ray after the other until something is met, and takes the keys beside it. */
static const kr_ray_program *tracing_program(const rx_index *index, int only_first, int is_range)
{
    const int one_ray = only_first && !is_range && !index->scenes.stale && !index->design.closest;
    return one_ray ? &KR_W(rx_first) : &KR_W(rx_scan);
}

/* answer=scan: rays find first positions, then each probe's thread goes on from there. */
static void sum_by_scan(kr_work *w, const rx_index *index, const kr_sum *job)
{
    const int is_range = job->batch.upper != NULL;
    kr_tracer *tracer = NULL;
    rx_ray_params params = ray_params(index, ray_of(index, is_range));
    uint32_t *found = kr_work_take_or(w, job->n * sizeof *found, "first positions", "answer=matches");
    const rx_scan_params scan = {
        .batch = job->batch,
        .found = found,
        .keys = index->sorted.keys.data,
        .rows = index->sorted.rows.data,
        .n = index->sorted.n,
        .out = job->out,
        .order = job->order,
        .sum = job->how->params,
    };
    params.batch = job->batch;
    params.put = (kr_put){.out = found, .work = job->work, .what = KR_PUT_ROW};
    params.rows = NULL; /* positions */
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    kr_scene_run(w, tracer, tracing_program(index, 1, is_range), &params, job->n);
    kr_work_lap(w, "rays");
    kr_work_run(w, &KR_W(rx_sum_scan), &scan, job->n);
    kr_work_lap(w, "scan");
    kr_work_give(w, found);
}

static int sums(const void *self, int is_range)
{
    const rx_index *index = self;
    return rays_answer(index, is_range) || (index->design.answer == RX_ANSWER_SCAN && index->sorted.n);
}

static void sum(kr_work *w, const void *self, const kr_sum *job)
{
    const rx_index *index = self;
    const kr_locate rays = {
        .batch = job->batch,
        .put = {.out = job->out, .order = job->order, .work = job->work},
        .n = job->n,
    };
    if (index->design.answer == RX_ANSWER_SCAN)
        sum_by_scan(w, index, job);
    else
        answer_by_rays(w, index, &rays, job->how);
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    const rx_index *index = self;
    const int is_range = job->batch.upper != NULL;
    kr_tracer *tracer = NULL;
    if (index->sorted.n == 0) {
        const rx_nothing_params params = {job->put};
        kr_work_run(w, &KR_W(rx_nothing), &params, job->n);
        return;
    }
    if (job->put.what != KR_PUT_MATCH && rays_answer(index, is_range)) {
        answer_by_rays(w, index, job, NULL);
        return;
    }
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    rx_ray_params params = ray_params(index, ray_of(index, is_range));
    params.batch = job->batch;
    params.put = job->put;
    const kr_ray_program *program = index->design.anyhit
                                        ? &KR_W(rx_visit)
                                        : tracing_program(index, kr_put_wants_first(&job->put), is_range);
    kr_scene_run(w, tracer, program, &params, job->n);
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
    if (index->row_ids.data)
        components[n++] = (kr_component){"rows of primitives", index->row_ids.nbytes};
    components[n++] = (kr_component){index->scenes.parts.n_parts ? index->scenes.parts.name : "bvh",
                                     rx_scenes_nbytes(&index->scenes)};
    return n;
}

/* ---- Validate ------------------------------------------------------------------------------ */

static int check_order(kr_work *w, const kr_sorted *sorted)
{
    const kr_sorted_check check = {
        .entries =
            kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), sorted->keys.data, sorted->rows.data, sorted->n),
        .key_bits = KR_KEY_BITS,
        .lowest = sorted->lowest,
        .highest = sorted->highest,
    };
    return kr_sorted_validate(w, &check);
}

/* Checks, with or without rays, leave the largest bad entry plus one in a counter. */
static uint64_t check_positions(kr_work *w, const rx_index *index, uint64_t *counter)
{
    uint64_t bad = 0;
    const rx_positions_params params = {
        .keys = index->sorted.keys.data,
        .rows = index->sorted.rows.data,
        .positions = index->positions.data,
        .row_of = index->row_ids.data,
        .n_positions = index->scenes.parts.n,
        .n = index->sorted.n,
        .found = counter,
        .by_row = index->design.by_row,
    };
    kr_work_run(w, &KR_W(rx_check_positions), &params, index->scenes.parts.n);
    kr_work_read(w, &bad, counter, sizeof bad);
    return bad;
}

static uint64_t check_rays(kr_work *w, const rx_index *index, uint64_t *counter)
{
    kr_tracer *tracer = NULL;
    uint64_t bad = 0;
    rx_ray_params params = ray_params(index, index->design.point_ray);
    params.put.out = counter;
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    kr_scene_run(w, tracer, &KR_W(rx_check), &params, index->sorted.n);
    kr_work_read(w, &bad, counter, sizeof bad);
    return bad;
}

static void check_scenes(kr_work *w, const rx_index *index)
{
    uint64_t *counter = kr_work_counters(w, 1);
    uint64_t bad = index->positions.data ? check_positions(w, index, counter) : 0;
    if (bad)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "entry %llu of the table of positions is wrong",
                           (unsigned long long)bad - 1));
    if (index->design.prim != KR_PRIM_AABB) /* lookups do not trust boxes either */
        bad = check_rays(w, index, counter);
    if (bad)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "the ray of the key at position %llu does not meet it",
                           (unsigned long long)bad - 1));
}

static int validate(kr_work *w, const void *self)
{
    const rx_index *index = self;
    const kr_sorted *sorted = &index->sorted;
    const int is_unique = check_order(w, sorted);
    if (index->is_unique && !is_unique)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "rays end at the first row of a key, but keys repeat"));
    if (index->scenes.stale && sorted->n)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT,
                           "the scene is stale: a refit failed and could not be undone; set keys again"));
    if (kr_work_goes_on(w) && sorted->n)
        check_scenes(w, index);
    return is_unique;
}

/* ---- Saving -------------------------------------------------------------------------------- */

/* Tables and scenes are made again, as in a build. So a scene that was stale is not any more. */
static void image(kr_image *image, const kr_image_of *of, void **self)
{
    kr_work *w = image->work;
    rx_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    if (kr_image_loads(image))
        index->design = rx_design_of(of->spec, w->device);
    kr_sorted_image(image, of->type, &index->sorted);
    if (!kr_image_loads(image))
        return;
    kr_work_lap(w, "read");
    KR_STEP(w, rx_check_bits(of->spec, of->type, w->err));
    (void)check_order(w, &index->sorted); /* of other keys, floats may be no numbers */
    const rx_source source = place(w, index);
    index->scenes = rx_scenes_build(&source);
    keep_tables(w, index);
}

/* ---- Rows that get other keys -------------------------------------------------------------- */

/* `made` takes over the scenes of `index` and moves their primitives. On failure `index` gets them back. */
static void refit(const rx_source *source, rx_index *index, rx_index *made)
{
    kr_work undo = kr_work_beside(source->work, NULL);
    const rx_source old = source_of(&undo, index);
    if (!kr_work_goes_on(source->work))
        return;
    rx_scenes_refit(source, &old, &index->scenes);
    (void)kr_work_end(&undo);
    if (kr_work_goes_on(source->work)) {
        made->scenes = index->scenes;
        index->scenes = (rx_scenes){0};
    }
}

static void set_keys(kr_work *w, void *self, const kr_set_keys *job)
{
    rx_index *index = self, made = {.design = index->design};
    made.sorted = kr_sorted_set_keys(w, &index->sorted, job);
    const rx_source source = place(w, &made);
    if (index->design.refit && index->sorted.n)
        refit(&source, index, &made);
    else
        made.scenes = rx_scenes_build(&source);
    if (kr_work_goes_on(w)) {
        keep(w, &made);
        release(w->device, index, w->stream);
        *index = made;
        kr_work_sync(w); /* fails only with the device */
        kr_work_lap(w, "swap");
    }
}

extern const kr_family_ops KR_W(rx_ops);
const kr_family_ops KR_W(rx_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .sums = sums,
    .sum = sum,
    .rows = rows,
    .ordered = &ordered,
    .components = components,
    .validate = validate,
    .touches = rx_touches,
    .rays = rx_rays,
    .tracer = kr_rays_tracer,
    .runs_on = kr_rays_runs_on,
    .set_keys = set_keys,
    .image = image,
};
