/* Building the scene of kind `cgrx` from sorted keys, at one key width. */
#include "indexes/cgrx/cgrx_scene.h"
#include "indexes/cgrx/cgrx_scene_body.h"
#include "scenes/rays.h"

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
    kr_tracer *tracer;
    kr_scene_estimate bvh;
    *estimate = (kr_scene_estimate){0};
    if (n_buckets < 2)
        return KR_OK;
    uint64_t most =
        n_buckets + (rows > 1 ? least(rows, n_buckets) : 0) + (planes > 1 ? least(planes, n_buckets) : 0);
    most = least(most, KR_MOST_PRIMITIVES);
    kr_status status = kr_tracer_of(device, &tracer, err);
    if (status == KR_OK)
        status = tracer->ops->estimate(tracer, KR_PRIM_TRIANGLE, most, design->scene_flags, &bvh, err);
    if (status != KR_OK)
        return status;
    const uint64_t targets = most * sizeof(uint32_t),
                   tables = design->rays != CGRX_RAYS_PAPER && design->scene == CGRX_OPTIMIZED;
    estimate->footprint_nbytes =
        bvh.footprint_nbytes + targets +
        tables * n_buckets * sizeof(uint32_t) * ((rows > 1) + (uint64_t)(planes > 1));
    estimate->peak_nbytes = larger(counts + larger(kr_device_scan_temp(device, n_buckets + 1),
                                                   targets + kr_mesh_nbytes(KR_PRIM_TRIANGLE, most)),
                                   targets + bvh.peak_nbytes);
    estimate->peak_nbytes = larger(estimate->peak_nbytes, estimate->footprint_nbytes);
    return KR_OK;
}

/* Reads the keys around the ends of the first bucket and the last but one. */
static kr_status read_bounds(const cgrx_source *from, cgrx_scene *scene, kr_error *err)
{
    const uint64_t bucket = from->design->bucket, last = (scene->n_buckets - 1) * bucket;
    const uint64_t at[4] = {bucket - 1, bucket, last - 1, last};
    const kr_key *keys = from->sorted->keys.data;
    kr_key read[4];
    kr_status status = KR_OK;
    for (int i = 0; i < 4 && status == KR_OK; ++i)
        status = kr_device_copy(from->device, read + i, keys + at[i], sizeof(kr_key), from->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(from->device, from->stream, err);
    if (status != KR_OK)
        return status;
    const int optimized = from->design->scene == CGRX_OPTIMIZED;
    const cgrx_end first = {.rep = read[0], .next_key = read[1]},
                   before = {.rep = read[2], .next_key = read[3]};
    scene->first_end = cgrx_owns_to(&from->design->map, optimized, &first);
    scene->last_begin = cgrx_owns_to(&from->design->map, optimized, &before);
    scene->last_rep = from->sorted->highest;
    return KR_OK;
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
    return params->optimized && params->rows && column ? CGRX_RAYS_COLUMN : CGRX_RAYS_SHORT;
}

/* Counts triangles and rows with a representative, and finds where each bucket's triangles begin. */
static kr_status count(const cgrx_source *from, cgrx_scene_params *params, kr_buffer *counts, uint64_t *n,
                       uint64_t *n_rows, kr_error *err)
{
    const uint64_t nbytes = (params->n_buckets + 1) * sizeof(uint64_t);
    uint64_t both = 0;
    if (params->n_buckets > KR_MOST_PRIMITIVES)
        return kr_fail(err, KR_ERR_LIMIT,
                       "kind 'cgrx': %llu buckets, but a scene holds %llu triangles; give a larger bucket",
                       (unsigned long long)params->n_buckets, (unsigned long long)KR_MOST_PRIMITIVES);
    kr_status status = kr_buffer_allocate(from->device, nbytes, from->stream, "counts of triangles",
                                          "bucket=N", counts, err);
    params->counts = counts->data;
    if (status == KR_OK)
        status =
            kr_device_run(from->device, &KR_W(cgrx_count), params, params->n_buckets + 1, from->stream, err);
    if (status == KR_OK)
        status =
            kr_device_exclusive_sum(from->device, params->counts, params->n_buckets + 1, from->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(from->device, &both, params->counts + params->n_buckets, sizeof both,
                                from->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(from->device, from->stream, err);
    *n = (uint32_t)both;
    *n_rows = both >> 32;
    if (status == KR_OK && *n > KR_MOST_PRIMITIVES)
        status = kr_fail(err, KR_ERR_LIMIT,
                         "kind 'cgrx': %llu triangles, but a scene holds %llu; give a larger bucket",
                         (unsigned long long)*n, (unsigned long long)KR_MOST_PRIMITIVES);
    return status;
}

static kr_status write_triangles(const cgrx_source *from, cgrx_scene_params *params, cgrx_scene *scene,
                                 kr_mesh *mesh, kr_error *err)
{
    kr_status status = kr_buffer_allocate(from->device, mesh->n * sizeof(uint32_t), from->stream,
                                          "targets of triangles", "bucket=N", &scene->targets, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(from->device, kr_mesh_nbytes(KR_PRIM_TRIANGLE, mesh->n), from->stream,
                                    "triangles", "a larger bucket=N", &mesh->data, err);
    params->targets = scene->targets.data;
    params->triangles = mesh->data.data;
    if (status == KR_OK)
        status =
            kr_device_run(from->device, &KR_W(cgrx_triangles), params, params->n_buckets, from->stream, err);
    if (status == KR_OK && !params->rows && mesh->n == params->n_buckets) /* primitive p is target p */
        kr_buffer_release(from->device, &scene->targets, from->stream);
    return status;
}

/* The buckets that rays along y and z find, unless rays=paper. */
static kr_status name_buckets(const cgrx_source *from, cgrx_scene_params *params, cgrx_scene *scene,
                              kr_error *err)
{
    const uint64_t nbytes = scene->n_buckets * sizeof(uint32_t);
    if (!params->rows || !params->optimized || from->design->rays == CGRX_RAYS_PAPER)
        return KR_OK;
    kr_status status = kr_buffer_allocate(from->device, nbytes, from->stream, "first buckets of rows",
                                          "rays=paper", &scene->row_first, err);
    if (status == KR_OK && params->planes)
        status = kr_buffer_allocate(from->device, nbytes, from->stream, "first buckets of planes",
                                    "rays=paper", &scene->plane_first, err);
    params->row_first = scene->row_first.data;
    params->plane_first = scene->plane_first.data;
    if (status == KR_OK)
        status = kr_device_run(from->device, &KR_W(cgrx_names), params, scene->n_buckets, from->stream, err);
    kr_stopwatch_lap(from->watch, "names");
    return status;
}

static kr_status build_bvh(const cgrx_source *from, cgrx_scene *scene, kr_mesh *mesh, kr_error *err)
{
    const cgrx_design *design = from->design;
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(from->device, &tracer, err);
    if (status == KR_OK)
        status = tracer->ops->build(tracer, mesh, design->scene_flags, from->stream, &scene->scene, err);
    kr_stopwatch_lap(from->watch, "bvh");
    if (status == KR_OK && kr_rays_wants_compact(design->compact, scene->scene)) {
        status = tracer->ops->compact(scene->scene, from->stream, err);
        kr_stopwatch_lap(from->watch, "compact");
    }
    return status;
}

static kr_status build_within(const cgrx_source *from, cgrx_scene *scene, kr_mesh *mesh, kr_buffer *counts,
                              kr_error *err)
{
    kr_status status = read_bounds(from, scene, err);
    cgrx_scene_params params = params_of(from, scene);
    uint64_t n_rows = 0;
    if (status == KR_OK)
        status = count(from, &params, counts, &mesh->n, &n_rows, err);
    scene->rays = rays_of(from->design, &params, n_rows);
    if (status == KR_OK)
        status = write_triangles(from, &params, scene, mesh, err);
    kr_buffer_release(from->device, counts, from->stream);
    kr_stopwatch_lap(from->watch, "triangles");
    if (status == KR_OK)
        status = build_bvh(from, scene, mesh, err);
    return status == KR_OK ? name_buckets(from, &params, scene, err) : status;
}

kr_status KR_W(cgrx_scene_build)(const cgrx_source *from, cgrx_scene *scene, kr_error *err)
{
    cgrx_scene made = {.n_buckets = cgrx_buckets_of(from->design, from->sorted->n),
                       .first_end = ~(uint64_t)0};
    kr_mesh mesh = {.prim = KR_PRIM_TRIANGLE};
    kr_buffer counts = {0};
    kr_status status = KR_OK;
    if (made.n_buckets > 1)
        status = build_within(from, &made, &mesh, &counts, err);
    kr_buffer_release(from->device, &mesh.data, from->stream);
    if (status == KR_OK)
        *scene = made;
    else
        cgrx_scene_release(from->device, from->stream, &made);
    return status;
}
