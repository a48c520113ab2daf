/* From a probe to its bucket by rays (Henneberg, Schuhknecht, Kharal and Brown, "cgRX", Algorithm 2, and the
 * lookup in the optimized scene, which the paper leaves out). A ray finds a candidate. The primitive names
 * the candidate, not the point where the ray met it: far from a ray's origin, coordinates are off by entire
 * rows. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_FIND_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_FIND_H

#include "index/families/cgrx/cgrx_marks.h"
#include "index/families/cgrx/cgrx_match.h"

/* Never called: the scene has only triangles, and no ray visits. */
KR_BODY void cgrx_no_box(const void *params, uint32_t primitive, float box[6])
{
    (void)params, (void)primitive;
    for (int i = 0; i < 6; ++i)
        box[i] = 0;
}

KR_BODY uint32_t cgrx_no_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    (void)params, (void)payload, (void)primitive, (void)back;
    return KR_HIT_IGNORE;
}

/* The bucket that a target belongs to. */
KR_BODY uint32_t cgrx_owner(const cgrx_params *p, uint32_t target)
{
    return target % p->n_buckets;
}

/* A key in the row that bucket b's representative has in the scene. */
KR_BODY uint64_t cgrx_rep(const cgrx_params *p, uint32_t b)
{
    if (b + 1 >= p->n_buckets)
        return p->last_rep;
    if (p->ends)
        return kr_load((const kr_key *)p->ends + b);
    return kr_entries_key(&p->entries.store, (uint64_t)(b + 1) * p->entries.bucket - 1);
}

/* The row of a target's triangle. */
KR_BODY uint64_t cgrx_target_row(const cgrx_params *p, uint32_t target)
{
    const uint64_t row = kr_point_row(&p->map, cgrx_rep(p, cgrx_owner(p, target)));
    return p->optimized && target >= 2 * p->n_buckets ? row | cgrx_y_most(&p->map) : row;
}

/* Distances are sums of floats and slightly off where the ray is long. So a ray reaches further by this share
 * of its length and a step. Nothing lies behind the last key of a row, the last row or the last plane. */
#define CGRX_PAD 0x1p-20f

/* A ray from half a step before (x, y, z), in steps, for `length` steps along an axis, plus the pad. */
KR_BODY kr_ray cgrx_ray(const cgrx_params *p, int axis, float x, float y, float z, float length)
{
    const kr_point step = p->map.step;
    const float of_axis = axis == 0 ? step.x : axis == 1 ? step.y : step.z;
    kr_ray ray = {
        {x * step.x, y * step.y, z * step.z}, {0, 0, 0}, 0, (length + length * CGRX_PAD + 1) * of_axis};
    ray.from[axis] -= of_axis / 2;
    ray.along[axis] = 1;
    return ray;
}

/* The x of the column of marks. */
KR_BODY float cgrx_mark_x(const cgrx_params *p)
{
    return p->optimized ? (float)(uint32_t)cgrx_x_most(&p->map) : -1.0f;
}

KR_BODY kr_ray cgrx_next_ray(const cgrx_params *p, const cgrx_state *s)
{
    const kr_point_map *map = &p->map;
    const int goes_on = s->phase == CGRX_IN_ROW || s->phase == CGRX_IN_PLANE;
    const uint64_t row = goes_on ? cgrx_target_row(p, s->bucket) : kr_point_row(map, s->lower);
    const float x = goes_on ? 0 : (float)(uint32_t)kr_point_low_bits(s->lower, map->x_bits);
    const float y = (float)(uint32_t)kr_point_low_bits(row, map->y_bits),
                z = (float)(uint32_t)(row >> map->y_bits);
    const float x_end = (float)(uint32_t)cgrx_x_most(map), y_end = (float)(uint32_t)cgrx_y_most(map);
    if (s->phase == CGRX_FROM_KEY || s->phase == CGRX_IN_ROW)
        return cgrx_ray(p, 0, x, y, z, x_end - x);
    if (s->phase == CGRX_OWN_ROW)
        return cgrx_ray(p, 1, cgrx_mark_x(p), y, z, y_end - y);
    if (s->phase == CGRX_NEXT_ROW)
        return cgrx_ray(p, 1, cgrx_mark_x(p), y + 1, z, y_end - y - 1);
    if (s->phase == CGRX_IN_PLANE)
        return cgrx_ray(p, 1, cgrx_mark_x(p), 0, z, y_end);
    const float last = (float)(uint32_t)cgrx_plane(map, p->last_rep);
    return cgrx_ray(p, 2, cgrx_mark_x(p), p->optimized ? y_end : -1.0f, z + 1, last - z - 1);
}

/* Nothing was met: the row has nothing from the key on, or the plane nothing from the next row on. */
KR_BODY uint32_t cgrx_after_nothing(const cgrx_params *p, const cgrx_state *s)
{
    const uint64_t row = kr_point_row(&p->map, s->lower);
    const int more_planes = cgrx_plane(&p->map, p->last_rep) > cgrx_plane(&p->map, s->lower);
    if (s->phase == CGRX_FROM_KEY && kr_point_low_bits(row, p->map.y_bits) < cgrx_y_most(&p->map))
        return CGRX_NEXT_ROW;
    if ((s->phase == CGRX_FROM_KEY || s->phase == CGRX_OWN_ROW || s->phase == CGRX_NEXT_ROW) && more_planes)
        return CGRX_NEXT_PLANE;
    return CGRX_LOST;
}

/* Section 3.3's mapping: the next bucket begins behind a mark that is not a representative. */
KR_BODY void cgrx_named(const cgrx_params *p, cgrx_state *s, uint32_t bucket)
{
    s->bucket = bucket;
    s->phase = bucket < p->n_buckets ? CGRX_FOUND : CGRX_LOST;
}

KR_BODY void cgrx_take_target(const cgrx_params *p, cgrx_state *s, uint32_t target)
{
    const uint32_t kind = target / p->n_buckets;
    cgrx_named(p, s, kind ? cgrx_owner(p, target) + (p->optimized ? 1 : 0) : target);
}

/* A ray along y or z met a target: the way to the first bucket of its row or plane. */
KR_BODY void cgrx_take_mark(const cgrx_params *p, cgrx_state *s, uint32_t target, int back)
{
    const uint32_t owner = cgrx_owner(p, target);
    const int along_z = s->phase == CGRX_NEXT_PLANE;
    if (!along_z && p->optimized && back) { /* the only bucket of its row */
        cgrx_named(p, s, owner);
    } else if (p->rays == CGRX_RAYS_PAPER) {
        s->bucket = target;
        s->phase = along_z ? CGRX_IN_PLANE : CGRX_IN_ROW;
    } else if (!p->optimized) { /* the first bucket of a row or plane makes the mark */
        cgrx_named(p, s, owner);
    } else if (along_z) {
        cgrx_named(p, s, kr_load(p->plane_first + owner));
    } else if (target >= 2 * p->n_buckets) { /* the next plane begins behind a plane mark */
        cgrx_named(p, s, owner + 1);
    } else if (s->phase == CGRX_OWN_ROW && cgrx_target_row(p, target) == kr_point_row(&p->map, s->lower)) {
        s->phase = CGRX_FROM_KEY; /* one of several buckets in the key's row */
    } else {
        cgrx_named(p, s, kr_load(p->row_first + owner));
    }
}

/* Casts one ray; 0 when the bucket is known or lost. */
KR_BODY int cgrx_find_step(const cgrx_params *p, cgrx_state *s)
{
    const kr_ray ray = cgrx_next_ray(p, s);
    const kr_met met = kr_trace(&p->scene, &ray, KR_TRACE_CLOSEST, cgrx_no_box, p);
    ++s->rays;
    if (met.primitive == KR_NO_PRIMITIVE) {
        s->phase = cgrx_after_nothing(p, s);
        return s->phase != CGRX_LOST;
    }
    const uint32_t target = p->targets ? kr_load(p->targets + met.primitive) : met.primitive;
    ++s->met;
    if (s->phase == CGRX_FROM_KEY || s->phase == CGRX_IN_ROW)
        cgrx_take_target(p, s, target);
    else
        cgrx_take_mark(p, s, target, (int)met.back);
    return s->phase < CGRX_FOUND;
}

#endif
