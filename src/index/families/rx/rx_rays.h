/* What the ray programs of kind `rx` share: searches among the sorted keys, the rays of bounds, how a probe
 * begins. Before it is included, KR_RAY_* are defined (base/tracers/ray.h). */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_RAYS_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_RAYS_H

#include "index/families/rx/rx_geometry.h"
#include "index/families/rx/rx_params.h"
#include "index/sorted/gallop.h"

typedef struct rx_state {
    kr_key lower, upper;  /* within the lowest and the highest key, but for rx_casts_outside */
    uint32_t first, last; /* the match */
    uint32_t rays;
    uint32_t events; /* RX_MET ... */
} rx_state;

enum { RX_MET = 1, RX_FILTERED = 2, RX_REPAIRED = 4, RX_UNTRACED = 8 };

/* ---- Sorted keys --------------------------------------------------------------------------- */

KR_BODY kr_key rx_key(const rx_ray_params *p, uint32_t position)
{
    return kr_load((const kr_key *)p->keys + position);
}

KR_BODY uint32_t rx_position(const rx_ray_params *p, uint32_t primitive)
{
    return p->positions ? kr_load(p->positions + primitive) : primitive;
}

KR_SEARCHES(rx, rx_ray_params, rx_key);

/* The first of all positions whose key is at least `key`; the search starts at `at`, a position near it. */
KR_BODY uint32_t rx_at_least(const rx_ray_params *p, uint32_t at, kr_key key)
{
    return rx_key(p, at) >= key ? rx_down_from(p, at, key) : rx_from(p, p->n, at + 1, key);
}

KR_BODY int rx_whole(const rx_ray_params *p)
{
    return p->put.what == KR_PUT_COUNT || p->put.what == KR_PUT_MATCH;
}

/* The match of the bounds from its first position; its end only if it is wanted. */
KR_BODY void rx_match_from(const rx_ray_params *p, rx_state *s, uint32_t first)
{
    s->first = s->last = first;
    if (first < p->n && rx_key(p, first) <= s->upper)
        s->last = rx_whole(p) ? rx_behind(p, p->n, first, s->upper) : first + 1;
}

/* Without rays. */
KR_BODY void rx_search(const rx_ray_params *p, rx_state *s)
{
    rx_match_from(p, s, rx_between(p, 0, p->n, s->lower));
}

/* ---- Rays ---------------------------------------------------------------------------------- */

/* The ray of the keys lower .. upper, which lie in one row. A ray along them reaches further by `pad` of its
 * length. */
KR_BODY kr_ray rx_ray(const rx_ray_params *p, uint64_t lower, uint64_t upper, float pad)
{
    const kr_point_map *map = &p->map;
    const kr_point a = kr_point_of(map, lower);
    const float step = map->step.x, inset = p->scene.prim == KR_PRIM_AABB ? RX_BOX_INSET : 0;
    kr_ray ray = {{a.x, a.y, a.z}, {1, 0, 0}, inset * map->step.z, map->step.z - inset * map->step.z};
    if (p->ray == RX_RAY_PERPENDICULAR) {
        ray.from[2] -= map->step.z / 2;
        ray.along[0] = 0;
        ray.along[2] = 1;
        if (step < RX_TINY) { /* as short as the thinnest gaps */
            ray.along[2] = 1 / RX_SHORT;
            ray.low *= RX_SHORT;
            ray.high *= RX_SHORT;
        }
    } else if (map->mode == KR_POINT_EXTENDED) {
        ray.from[0] = 0;
        ray.low = kr_point_extended(map, (uint32_t)lower, -1 - RX_PAD_GAPS);
        ray.high = kr_point_extended(map, (uint32_t)upper, 1 + RX_PAD_GAPS);
    } else if (p->ray == RX_RAY_OFFSET) {
        const float length = kr_point_of(map, upper).x - a.x + step;
        ray.from[0] = a.x - step / 2;
        ray.low = inset * step;
        ray.high = length - inset * step + length * pad;
    } else { /* from one step before zero */
        const float begin = a.x + step / 2, end = kr_point_of(map, upper).x + step * 1.5f;
        ray.from[0] = -step;
        ray.low = begin + inset * step - begin * pad;
        ray.high = end - inset * step + end * pad;
    }
    return ray;
}

/* The number of rows between the bounds, minus one. */
KR_BODY uint64_t rx_more_rows(const rx_ray_params *p, const rx_state *s)
{
    return kr_point_row(&p->map, s->upper) - kr_point_row(&p->map, s->lower);
}

/* The ray of the next row of the bounds. */
KR_BODY kr_ray rx_next_ray(const rx_ray_params *p, rx_state *s)
{
    const uint64_t lowest = kr_point_row(&p->map, s->lower), row = lowest + s->rays;
    const uint64_t lower = row == lowest ? s->lower : kr_point_row_first(&p->map, row);
    const uint64_t upper =
        row == kr_point_row(&p->map, s->upper) ? s->upper : kr_point_row_last(&p->map, row);
    ++s->rays;
    return rx_ray(p, lower, upper, RX_PAD);
}

KR_BODY void rx_box(const void *params, uint32_t primitive, float box[6])
{
    const rx_ray_params *p = (const rx_ray_params *)params;
    rx_box_of(&p->map, rx_key(p, rx_position(p, primitive)), box);
}

/* ---- Where a probe begins ----------------------------------------------------------------- */

/* A point beyond the lowest or highest key gets a ray if that is asked for and the scene has such a point. */
KR_BODY int rx_casts_outside(const rx_ray_params *p, const rx_state *s)
{
    const uint32_t mode = p->map.mode;
    return p->outside && s->lower == s->upper &&
           (mode == KR_POINT_3D || s->lower <= (mode == KR_POINT_NAIVE ? KR_NAIVE_MOST : KR_EXTENDED_MOST));
}

/* Bounds beyond the lowest or highest key need no ray. */
KR_BODY int rx_begin(const rx_ray_params *p, uint64_t i, rx_state *s)
{
    s->first = s->last = s->rays = s->events = 0;
    if (!kr_batch_load(&p->batch, i, &s->lower, &s->upper))
        return 0;
    if (s->upper < p->lowest || s->lower > p->highest)
        return rx_casts_outside(p, s);
    if (s->lower < p->lowest)
        s->lower = (kr_key)p->lowest;
    if (s->upper > p->highest)
        s->upper = (kr_key)p->highest;
    return 1;
}

KR_BODY int rx_too_many_rows(const rx_ray_params *p, rx_state *s)
{
    if (rx_more_rows(p, s) < p->max_rays)
        return 0;
    s->events = RX_UNTRACED;
    rx_search(p, s);
    return 1;
}

#endif
