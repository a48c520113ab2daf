/* Building the scene of kind `cgrx` from sorted keys, at one key width. */
#include "index/families/cgrx/cgrx_scene.h"
#include "index/families/cgrx/cgrx_scene_width_body.h"
#include "index/scenes/rays.h"

#include <stdlib.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* 2^bits, or 1 where there are none. */
static uint64_t values_of(int64_t bits)
{
    return bits <= 0 ? 1 : (uint64_t)1 << least((uint64_t)bits, 63);
}

kr_status KR_W(cgrx_scene_estimate)(kr_device *device, const cgrx_design *design, uint64_t n, uint32_t bits,
                                    kr_scene_estimate *estimate, kr_error *err)
{
    const kr_point_map *map = &design->map;
    const uint64_t n_buckets = cgrx_buckets_of(design, n), counts = (n_buckets + 1) * sizeof(uint64_t);
    const uint64_t rows = values_of((int64_t)bits - map->x_bits);
    const uint64_t planes = values_of((int64_t)bits - map->x_bits - map->y_bits);
    kr_scene_estimate bvh;
    *estimate = (kr_scene_estimate){0};
    if (n_buckets < 2)
        return KR_OK;
    uint64_t most =
        n_buckets + (rows > 1 ? least(rows, n_buckets) : 0) + (planes > 1 ? least(planes, n_buckets) : 0);
    most = least(most, KR_MOST_PRIMITIVES);
    const kr_status status =
        kr_scenes_estimate(device, KR_PRIM_TRIANGLE, most, design->parts, design->scene_flags, &bvh, err);
    if (status != KR_OK)
        return status;
    const uint64_t targets = most * sizeof(uint32_t),
                   tables = design->rays != CGRX_RAYS_PAPER && design->scene == CGRX_OPTIMIZED;
    estimate->footprint_nbytes =
        bvh.footprint_nbytes + targets +
        tables * n_buckets * sizeof(uint32_t) * ((rows > 1) + (uint64_t)(planes > 1));
    estimate->peak_nbytes = counts + larger(kr_device_scan_temp(device, n_buckets + 1),
                                            design->parts * sizeof(uint32_t) + targets + bvh.peak_nbytes);
    estimate->peak_nbytes = larger(estimate->peak_nbytes, estimate->footprint_nbytes);
    return KR_OK;
}

/* Reads the keys around the ends of the first bucket and the last but one. rays=paper casts rays for all keys
 * between the first representative and the last, as Algorithm 2 does. With updates=on other keys may follow
 * them. */
static void read_bounds(kr_work *w, const cgrx_source *from, cgrx_scene *scene)
{
    const uint64_t bucket = from->design->bucket, last = (scene->n_buckets - 1) * bucket;
    const uint64_t at[4] = {bucket - 1, bucket, last - 1, last};
    const kr_key *keys = from->sorted->keys.data;
    const int optimized = from->design->scene == CGRX_OPTIMIZED;
    kr_key read[4] = {0};
    for (int i = 0; i < 4 && kr_work_goes_on(w); ++i)
        kr_work_copy(w, read + i, keys + at[i], sizeof(kr_key));
    kr_work_sync(w);
    const cgrx_end first = {.rep = read[0], .next_key = read[1]},
                   before = {.rep = read[2], .next_key = read[3]};
    const int as_published = from->design->rays == CGRX_RAYS_PAPER && !from->design->node;
    scene->last_rep = from->sorted->highest;
    scene->first_end = as_published ? first.rep : cgrx_owns_to(&from->design->map, optimized, &first);
    scene->last_begin = as_published ? scene->last_rep : cgrx_owns_to(&from->design->map, optimized, &before);
}

static cgrx_scene_params params_of(const cgrx_source *from, const cgrx_scene *scene)
{
    const kr_point_map *map = &from->design->map;
    return (cgrx_scene_params){
        .keys = from->sorted->keys.data,
        .n = from->sorted->n,
        .n_buckets = scene->n_buckets,
        .map = *map,
        .bucket = from->design->bucket,
        .optimized = from->design->scene == CGRX_OPTIMIZED,
        .flips = from->design->flips,
        /* rays never search for keys before the first bucket's end or after the last but one's */
        .rows = kr_point_row(map, scene->first_end) != kr_point_row(map, scene->last_rep),
        .planes = cgrx_plane(map, scene->first_end) != cgrx_plane(map, scene->last_rep),
    };
}

/* The triangle of a row with a single bucket turns its other side to a ray along the marks, which is then the
 * only ray. With a row for every second bucket that is 14% slower than short rays on an H200, with a row for
 * each bucket 29% faster. */
static uint32_t rays_of(const cgrx_design *design, const cgrx_scene_params *params, uint64_t n_rows)
{
    if (design->rays == CGRX_RAYS_PAPER)
        return CGRX_RAYS_PAPER;
    const int column = design->rays == CGRX_RAYS_COLUMN ||
                       (design->rays == CGRX_RAYS_AUTO && n_rows > params->n_buckets / 4 * 3);
    return params->optimized && params->flips && params->rows && column ? CGRX_RAYS_COLUMN : CGRX_RAYS_SHORT;
}

/* Counts triangles and rows with a representative, and finds where each bucket's triangles begin. */
static uint64_t count(kr_work *w, cgrx_scene_params *params, uint64_t *n_rows)
{
    const uint64_t n_buckets = params->n_buckets;
    uint64_t both = 0;
    if (n_buckets > KR_MOST_PRIMITIVES)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_LIMIT,
                        "kind 'cgrx': %llu buckets, but a scene holds %llu triangles; give a larger bucket",
                        (unsigned long long)n_buckets, (unsigned long long)KR_MOST_PRIMITIVES));
    params->counts =
        kr_work_take_or(w, (n_buckets + 1) * sizeof *params->counts, "counts of triangles", "bucket=N");
    kr_work_run(w, &KR_W(cgrx_count), params, n_buckets + 1);
    kr_work_sum(w, params->counts, n_buckets + 1);
    if (params->counts)
        kr_work_read(w, &both, params->counts + n_buckets, sizeof both);
    const uint64_t n = (uint32_t)both;
    *n_rows = both >> 32;
    if (n > KR_MOST_PRIMITIVES)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "kind 'cgrx': %llu triangles, but a scene holds %llu; give a larger bucket",
                           (unsigned long long)n, (unsigned long long)KR_MOST_PRIMITIVES));
    return n;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

typedef struct part_source {
    const cgrx_scene_params *params;
    const uint32_t *begins; /* of each part, and the last bucket */
} part_source;

static void fill(kr_work *w, const void *source, uint32_t i, uint64_t first, uint64_t n, float *out)
{
    const part_source *s = source;
    cgrx_scene_params params = *s->params;
    params.triangles = out;
    params.first = (uint32_t)first;
    params.end = (uint32_t)(first + n);
    params.first_bucket = s->begins[i];
    kr_work_run(w, &KR_W(cgrx_triangles), &params, s->begins[i + 1] - s->begins[i] + 1);
}

/* Fills begins[0 .. n_parts]. Waits for the stream. */
static void find_parts(kr_work *w, cgrx_scene_params *params, uint32_t n_parts, uint32_t *begins)
{
    const uint64_t nbytes = n_parts * sizeof *begins;
    begins[0] = 0;
    begins[n_parts] = (uint32_t)params->n_buckets - 1;
    if (n_parts == 1)
        return;
    params->begins = kr_work_take_or(w, nbytes, "the parts of a scene", "parts=1");
    kr_work_run(w, &KR_W(cgrx_begins), params, n_parts);
    kr_work_read(w, begins, params->begins, nbytes);
    kr_work_give(w, params->begins);
}

/* n triangles, of which each part writes its own. */
static void build_parts(kr_work *w, const cgrx_design *design, cgrx_scene_params *params, uint64_t n,
                        cgrx_scene *scene)
{
    part_source source = {params, NULL};
    const kr_parts_job job = {
        .what = "triangles",
        .help = "a larger bucket=N or parts=N",
        .prim = KR_PRIM_TRIANGLE,
        .flags = design->scene_flags,
        .compact = design->compact,
        .n = n,
        .part = kr_scenes_size(n, design->parts),
        .fill = fill,
        .source = &source,
    };
    if (!kr_work_goes_on(w))
        return;
    const uint32_t n_parts = (uint32_t)kr_scenes_size(n, job.part);
    uint32_t *begins = kr_work_object(w, (n_parts + 1) * sizeof *begins, "the parts of a scene");
    params->part = (uint32_t)job.part;
    source.begins = begins;
    if (begins)
        find_parts(w, params, n_parts, begins);
    params->targets = kr_work_take_or(w, n * sizeof *params->targets, "targets of triangles", "bucket=N");
    if (kr_work_goes_on(w))
        scene->parts = kr_scenes_build(w, &job);
    if (!params->rows && n == params->n_buckets) { /* primitive p is target p */
        kr_work_give(w, params->targets);
        params->targets = NULL;
    }
    scene->targets.data = params->targets;
    free(begins);
}

/* The buckets that rays along y and z find, unless rays=paper. */
static void name_buckets(kr_work *w, const cgrx_design *design, cgrx_scene_params *params, cgrx_scene *scene)
{
    const uint64_t nbytes = scene->n_buckets * sizeof(uint32_t);
    if (!params->rows || !params->optimized || design->rays == CGRX_RAYS_PAPER)
        return;
    params->row_first = kr_work_take_or(w, nbytes, "first buckets of rows", "rays=paper");
    if (params->planes)
        params->plane_first = kr_work_take_or(w, nbytes, "first buckets of planes", "rays=paper");
    scene->row_first.data = params->row_first;
    scene->plane_first.data = params->plane_first;
    kr_work_run(w, &KR_W(cgrx_names), params, scene->n_buckets);
    kr_work_lap(w, "names");
}

cgrx_scene KR_W(cgrx_scene_build)(kr_work *w, const cgrx_source *from)
{
    cgrx_scene scene = {.n_buckets = cgrx_buckets_of(from->design, from->sorted->n),
                        .first_end = ~(uint64_t)0};
    uint64_t n_rows = 0;
    if (scene.n_buckets < 2)
        return scene;
    read_bounds(w, from, &scene);
    cgrx_scene_params params = params_of(from, &scene);
    const uint64_t n = count(w, &params, &n_rows);
    scene.rays = rays_of(from->design, &params, n_rows);
    kr_work_lap(w, "triangles");
    build_parts(w, from->design, &params, n, &scene);
    kr_work_give(w, params.counts);
    name_buckets(w, from->design, &params, &scene);
    return scene;
}
