/* The operations of kind `cgrx` at one key width. */
#include "index/families/cgrx/cgrx_index.h"
#include "index/families/cgrx/cgrx_walk.h"
#include "index/families/cgrx/cgrx_width_body.h"
#include "index/results/dense.h"
#include "index/scenes/rays.h"
#include "index/sorted/rows.h"

#include <stdlib.h>

KR_RAY_PROGRAM_DECLARE(cgrx_find);
KR_RAY_PROGRAM_DECLARE(cgrx_scan);
KR_RAY_PROGRAM_DECLARE(cgrx_scan_sums);
KR_RAY_PROGRAM_DECLARE(cgrx_check);

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- Estimate -------------------------------------------------------------------------------- */

/* The memory of the entries beside the sorted arrays. With updates=off and layout=soa there is none: the
 * index keeps those arrays. */
static kr_need places_of(const kr_shape *shape, const cgrx_design *design)
{
    kr_need places = {0};
    if (design->node) {
        KR_W(cgrx_nodes_estimate)(shape, design, &places);
    } else if (design->layout != KR_LAYOUT_SOA) {
        places.footprint_nbytes = shape->count * kr_layout_nbytes(design->layout, sizeof(kr_key));
        places.peak_nbytes = places.footprint_nbytes;
    }
    return places;
}

/* What is there of a file when the scene is made again, and the ends of buckets that it is made from. */
static uint64_t loaded_of(const cgrx_design *design, uint64_t n)
{
    const uint64_t buckets = cgrx_buckets_of(design, n), ends = 2 * buckets * sizeof(kr_key);
    if (design->node)
        return ends + buckets * (sizeof(kr_key) + sizeof(uint32_t));
    return n * kr_layout_nbytes(design->layout, sizeof(kr_key)) +
           (design->layout == KR_LAYOUT_SOA ? 0 : ends);
}

static kr_status estimate(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    const cgrx_design design = cgrx_design_of(shape->spec);
    kr_need made;
    kr_scene_estimate scene;
    kr_status status =
        kr_rays_check_bits(shape->spec, shape->spec->options[CGRX_OPTION_BITS], shape->type, err);
    if (status == KR_OK)
        status = KR_W(cgrx_scene_estimate)(shape->device, &design, shape->count,
                                           kr_type_significant_bits(shape->type), &scene, err);
    if (status != KR_OK)
        return status;
    kr_sorted_estimate(shape, &made);
    const kr_need places = places_of(shape, &design);
    const uint64_t sorted = made.footprint_nbytes;
    const uint64_t filter = design.filter ? cgrx_filter_words(&design, shape->count) * sizeof(uint64_t) : 0;
    made.peak_nbytes = larger(made.peak_nbytes, sorted + scene.peak_nbytes);
    made.peak_nbytes =
        larger(made.peak_nbytes, sorted + scene.footprint_nbytes + filter + places.peak_nbytes);
    made.peak_nbytes =
        larger(made.peak_nbytes, loaded_of(&design, shape->count) + filter + scene.peak_nbytes);
    made.footprint_nbytes =
        scene.footprint_nbytes + filter + (places.footprint_nbytes ? places.footprint_nbytes : sorted);
    *estimate = made;
    return KR_OK;
}

/* ---- Build and destroy ------------------------------------------------------------------------ */

kr_buffer KR_W(cgrx_filter_make)(kr_work *w, const cgrx_design *design, const kr_sorted *sorted)
{
    const uint64_t words = cgrx_filter_words(design, sorted->n), nbytes = words * sizeof(uint64_t);
    if (!design->filter)
        return (kr_buffer){0};
    uint64_t *filter = kr_work_take_or(w, nbytes, "the filter", "filter=0");
    const cgrx_filter_params params = {sorted->keys.data, filter, words};
    kr_work_fill(w, filter, 0, nbytes);
    kr_work_run(w, &KR_W(cgrx_fill_filter), &params, sorted->n);
    kr_work_lap(w, "filter");
    return (kr_buffer){filter, nbytes};
}

/* updates=off: takes the sorted arrays, or makes entries beside them. */
static void place_entries(kr_work *w, const kr_sorted *sorted, cgrx_index *made)
{
    made->storage.layout = made->design.layout;
    if (made->design.layout == KR_LAYOUT_SOA) {
        made->storage.keys = sorted->keys;
        made->storage.rows = sorted->rows;
        return;
    }
    made->storage = KR_W(cgrx_storage_take)(w, made->design.layout, sorted->n);
    const cgrx_pack_params params = {sorted->keys.data, sorted->rows.data,
                                     KR_W(cgrx_storage_entries)(&made->storage, sorted->n)};
    kr_work_run(w, &KR_W(cgrx_pack), &params, sorted->n);
}

static void place(kr_work *w, const kr_sorted *sorted, cgrx_index *made)
{
    if (made->design.node) {
        const cgrx_nodes_source source = {&made->design, sorted};
        KR_W(cgrx_nodes_build)(w, &source, &made->storage, &made->nodes);
    } else {
        place_entries(w, sorted, made);
        kr_work_lap(w, "pack");
    }
}

void KR_W(cgrx_construct)(kr_work *w, const kr_sorted *sorted, cgrx_index *index)
{
    cgrx_index made = {.design = index->design,
                       .n = sorted->n,
                       .built = sorted->n,
                       .lowest = sorted->lowest,
                       .highest = sorted->highest};
    const cgrx_source source = {&made.design, sorted};
    if (sorted->n) {
        made.scene = KR_W(cgrx_scene_build)(w, &source);
        made.filter = KR_W(cgrx_filter_make)(w, &made.design, sorted);
        place(w, sorted, &made);
    }
    cgrx_scene_keep(w, &made.scene);
    made.filter = kr_work_keep(w, made.filter.data);
    cgrx_nodes_keep(w, &made.storage, &made.nodes);
    if (kr_work_goes_on(w))
        *index = made;
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    KR_STEP(w, kr_rays_check_bits(build->spec, build->spec->options[CGRX_OPTION_BITS],
                                  (uint32_t)build->keys.type, w->err));
    cgrx_index *index = kr_work_object(w, sizeof *index, "an index");
    if (index)
        index->design = cgrx_design_of(build->spec);
    *self = index;
    const kr_sorted sorted = kr_sorted_build(w, build);
    if (index)
        KR_W(cgrx_construct)(w, &sorted, index);
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    cgrx_index_release(device, stream, self);
    free(self);
}

/* ---- Lookups ---------------------------------------------------------------------------------- */

static cgrx_entries entries_of(const cgrx_index *index)
{
    return (cgrx_entries){
        .store = KR_W(cgrx_storage_entries)(&index->storage, index->n),
        .lists = cgrx_nodes_lists(&index->nodes),
        .bucket = index->design.bucket,
    };
}

cgrx_params KR_W(cgrx_params_of)(const cgrx_index *index)
{
    const cgrx_scene *scene = &index->scene;
    return (cgrx_params){
        .scene = scene->parts.n_parts ? kr_scenes_view(&scene->parts) : (kr_scene_view){0},
        .entries = entries_of(index),
        .targets = scene->targets.data,
        .row_first = scene->row_first.data,
        .plane_first = scene->plane_first.data,
        .ends = index->nodes.ends.data,
        .filter = index->filter.data,
        .n_filter = index->filter.nbytes / sizeof(uint64_t),
        .lowest = index->lowest,
        .highest = index->highest,
        .first_end = scene->first_end,
        .last_begin = scene->last_begin,
        .last_rep = scene->last_rep,
        .map = index->design.map,
        .n_buckets = scene->n_buckets ? (uint32_t)scene->n_buckets : 1,
        .optimized = index->design.scene == CGRX_OPTIMIZED,
        .rays = scene->rays,
        .linear = index->design.search == CGRX_LINEAR,
    };
}

static const kr_program *search_of(const kr_locate *job)
{
    return job->batch.near.how ? &KR_W(cgrx_search_nearest) : &KR_W(cgrx_search);
}

/* Rays and search are two programs: ray programs have neither shared memory nor groups, and the times can be
 * measured apart. They exchange 4 bytes per probe. */
static void locate_by_rays(kr_work *w, cgrx_params *params, const kr_locate *job)
{
    kr_tracer *tracer = NULL;
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    params->found = kr_work_take_or(w, job->n * sizeof *params->found, "buckets of probes",
                                    "kr_index_lookup_chunks needs less");
    kr_scene_run(w, tracer, &KR_W(cgrx_find), params, job->n);
    kr_work_lap(w, "rays");
    kr_work_run(w, search_of(job), params, job->n);
    kr_work_give(w, params->found);
    kr_work_lap(w, "bucket search");
}

/* answer=scan: all of it in one program. */
static void run_scan(kr_work *w, const kr_ray_program *program, cgrx_scan_params *params, uint64_t n)
{
    kr_tracer *tracer = NULL;
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    params->scene = params->of.scene;
    kr_scene_run(w, tracer, program, params, n);
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    const cgrx_index *index = self;
    cgrx_params params = KR_W(cgrx_params_of)(index);
    params.batch = job->batch;
    params.put = job->put;
    if (!index->scene.parts.n_parts) { /* no bucket, or a single one */
        kr_work_run(w, search_of(job), &params, job->n);
        kr_work_lap(w, "bucket search");
    } else if (index->design.scans && !job->batch.near.how) {
        run_scan(w, &KR_W(cgrx_scan), &(cgrx_scan_params){.of = params}, job->n);
    } else {
        locate_by_rays(w, &params, job);
    }
}

static int sums(const void *self, int is_range)
{
    (void)is_range;
    return (int)((const cgrx_index *)self)->design.scans;
}

static void sum(kr_work *w, const void *self, const kr_sum *job)
{
    const cgrx_index *index = self;
    cgrx_scan_params params = {.of = KR_W(cgrx_params_of)(index), .how = job->how->params};
    params.of.batch = job->batch;
    params.of.put = (kr_put){.out = job->out, .order = job->order, .work = job->work, .what = KR_PUT_MATCH};
    if (!index->scene.parts.n_parts)
        kr_work_run(w, &KR_W(cgrx_sum_alone), &params, job->n);
    else
        run_scan(w, &KR_W(cgrx_scan_sums), &params, job->n);
}

static kr_rows rows(const void *self)
{
    const cgrx_index *index = self;
    const cgrx_entries entries = entries_of(index);
    const cgrx_walk_view view = {
        .rows = entries.store.rows, .lists = entries.lists, .row_stride = entries.store.row_stride};
    if (!entries.lists.starts)
        return kr_dense_rows(entries.store.rows, entries.store.row_stride, index->n);
    return (kr_rows){.walk = &cgrx_walk,
                     .view = kr_match_view_of(&view, sizeof view),
                     .n_rows = index->n,
                     .n_slots = index->n};
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const cgrx_index *index = self;
    *lowest = index->lowest;
    *highest = index->highest;
}

static const kr_ordered_ops ordered = {.key_range = key_range};

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const cgrx_index *index = self;
    const uint64_t bvh = kr_scenes_nbytes(&index->scene.parts);
    uint32_t n = 0;
    if (index->design.layout == KR_LAYOUT_SOA) {
        components[n++] = (kr_component){"keys", index->storage.keys.nbytes};
        components[n++] = (kr_component){"row ids", index->storage.rows.nbytes};
    } else {
        components[n++] = (kr_component){"entries", index->storage.keys.nbytes};
    }
    if (index->design.node)
        components[n++] = (kr_component){"lists", cgrx_nodes_nbytes(&index->nodes)};
    components[n++] = (kr_component){bvh ? index->scene.parts.name : "bvh", bvh};
    components[n++] = (kr_component){"names", cgrx_scene_nbytes(&index->scene) - bvh};
    if (index->design.filter)
        components[n++] = (kr_component){"filter", index->filter.nbytes};
    return n;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const cgrx_nodes *nodes = &((const cgrx_index *)self)->nodes;
    uint32_t n = 0;
    if (!nodes->n_lists)
        return 0;
    counters[n++] = (kr_counter){"lists", nodes->n_lists};
    counters[n++] = (kr_counter){"nodes", nodes->n_used - nodes->n_spare};
    counters[n++] = (kr_counter){"node room", nodes->room};
    counters[n++] = (kr_counter){"node entries", nodes->node};
    counters[n++] = (kr_counter){"longest list", nodes->most_nodes};
    return n;
}

/* ---- Validate --------------------------------------------------------------------------------- */

/* cgrx_check looks at three triangles per bucket. */
enum { CHECKS = 3 };

static void check_rays(kr_work *w, const cgrx_index *index, uint64_t *counter)
{
    cgrx_params params = KR_W(cgrx_params_of)(index);
    kr_tracer *tracer = NULL;
    uint64_t bad = 0;
    params.put.out = counter;
    KR_STEP(w, kr_tracer_of(w->device, &tracer, w->err));
    kr_scene_run(w, tracer, &KR_W(cgrx_check), &params, CHECKS * index->scene.n_buckets);
    kr_work_read(w, &bad, counter, sizeof bad);
    if (bad)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT,
                           "a ray just before a triangle of bucket %llu misses it, or finds another bucket",
                           (unsigned long long)bad - 1));
}

static void check_filter(kr_work *w, const cgrx_index *index, uint64_t *counter)
{
    const cgrx_filter_check_params params = {index->filter.data, index->filter.nbytes / sizeof(uint64_t),
                                             entries_of(index), counter};
    uint64_t bad = 0;
    kr_work_run(w, &KR_W(cgrx_check_filter), &params, index->n);
    kr_work_read(w, &bad, counter, sizeof bad);
    if (bad)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "the key at position %llu is missing in the filter",
                           (unsigned long long)bad - 1));
}

static int validate(kr_work *w, const void *self)
{
    const cgrx_index *index = self;
    cgrx_order_params params = {.entries = entries_of(index)};
    const kr_order_check order = {.program = &KR_W(cgrx_check_order),
                                  .params = &params,
                                  .found = &params.found,
                                  .n = index->n,
                                  .lowest = index->lowest,
                                  .highest = index->highest};
    if (index->nodes.n_lists)
        KR_W(cgrx_nodes_validate)(w, &index->storage, &index->nodes);
    const int is_unique = kr_sorted_order_check(w, &order);
    uint64_t *counter = kr_work_counters(w, 1);
    if (index->filter.data && index->n)
        check_filter(w, index, counter);
    if (index->scene.parts.n_parts)
        check_rays(w, index, counter);
    return is_unique;
}

extern const kr_family_ops KR_W(cgrx_ops);
const kr_family_ops KR_W(cgrx_ops) = {
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
    .touches = cgrx_touches,
    .rays = cgrx_rays,
    .tracer = kr_rays_tracer,
    .runs_on = kr_rays_runs_on,
    .update = KR_W(cgrx_update),
    .counters = counters,
    .image = KR_W(cgrx_image),
};
