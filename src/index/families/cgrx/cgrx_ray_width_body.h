/* The ray programs of kind `cgrx`:
 *
 *   cgrx_find    from the probe to its bucket; cgrx_search (cgrx_width_body.h) goes on from there
 *   cgrx_check for validate: whether rays meet the triangles of a bucket, and these name it */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_RAY_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_RAY_WIDTH_BODY_H

#include "index/kinds/batch.h"

#define KR_RAY_MODULE cgrx_ray
#define KR_RAY_PARAMS cgrx_params
#define KR_RAY_STATE cgrx_state
#define KR_RAY_PAYLOAD 2

#include "index/families/cgrx/cgrx_find.h"

/* found[i]: the bucket, n_buckets if the key is absent, or n_buckets + 1 if the rays are lost. */
KR_BODY void cgrx_find_end(const cgrx_params *p, uint64_t i, cgrx_state *s)
{
    kr_put_work_add(&p->put, i, KR_WORK_RAYS, s->rays);
    kr_put_work_add(&p->put, i, KR_WORK_HITS, s->met);
    p->found[i] = s->phase == CGRX_FOUND ? s->bucket : p->n_buckets + (s->phase == CGRX_LOST ? 1 : 0);
}
KR_RAY_PROGRAM(cgrx_find, cgrx_begin, cgrx_find_step, cgrx_find_end, cgrx_no_hit, cgrx_no_box);

/* ---- For validate ---------------------------------------------------------------------------- */

/* A ray that begins just before a triangle must meet it; a long ray may miss by a neighbour. Checks of bucket
 * b: its representative, and if it is the first of its row or plane, that mark. */
enum { CGRX_CHECK_REP, CGRX_CHECK_ROW, CGRX_CHECK_PLANE, CGRX_CHECKS };

/* The largest key that the bucket owns; for the last bucket not beyond its row. */
KR_BODY uint64_t cgrx_owned_to(const cgrx_params *p, uint32_t b)
{
    if (b + 1 >= p->n_buckets)
        return p->optimized ? kr_point_row_last(&p->map, kr_point_row(&p->map, p->last_rep)) : p->last_rep;
    if (p->ends)
        return kr_load((const kr_key *)p->ends + b);
    const uint64_t at = (uint64_t)(b + 1) * p->entries.bucket;
    const cgrx_end end = {.rep = kr_entries_key(&p->entries.store, at - 1),
                          .next_key = kr_entries_key(&p->entries.store, at)};
    return cgrx_owns_to(&p->map, (int)p->optimized, &end);
}

KR_BODY int cgrx_check_begin(const cgrx_params *p, uint64_t i, cgrx_state *s)
{
    const kr_point_map *map = &p->map;
    const uint32_t b = (uint32_t)(i % p->n_buckets), kind = (uint32_t)(i / p->n_buckets);
    const uint64_t row = kr_point_row(map, cgrx_rep(p, b)), plane = row >> map->y_bits;
    const uint64_t before = b ? kr_point_row(map, cgrx_rep(p, b - 1)) : 0;
    const uint64_t first_row = kr_point_row(map, p->first_end), last_row = kr_point_row(map, p->last_rep);
    uint64_t from = cgrx_owned_to(p, b);
    int wanted = !b || cgrx_owned_to(p, b - 1) != from;
    s->phase = CGRX_FROM_KEY;
    s->bucket = s->rays = s->met = 0;
    if (kind == CGRX_CHECK_ROW) {
        s->phase = CGRX_NEXT_ROW;
        from = kr_point_row_first(map, row) - 1;
        wanted = first_row != last_row && (!b || row != before) && kr_point_low_bits(row, map->y_bits) != 0;
    } else if (kind == CGRX_CHECK_PLANE) {
        s->phase = CGRX_NEXT_PLANE;
        from = kr_point_row_first(map, plane << map->y_bits) - 1;
        wanted = first_row >> map->y_bits != last_row >> map->y_bits &&
                 (!b || plane != before >> map->y_bits) && plane != 0;
    }
    s->lower = s->upper = (kr_key)from;
    return wanted;
}

KR_BODY int cgrx_check_step(const cgrx_params *p, cgrx_state *s)
{
    cgrx_find_step(p, s);
    return 0;
}

/* out: one more than the largest bucket whose triangles are not met. */
KR_BODY void cgrx_check_end(const cgrx_params *p, uint64_t i, cgrx_state *s)
{
    const uint32_t b = (uint32_t)(i % p->n_buckets);
    const uint64_t row = kr_point_row(&p->map, cgrx_rep(p, b));
    int right = s->rays == 0 || (s->phase == CGRX_FOUND && s->bucket == b);
    if (s->phase == CGRX_IN_ROW) /* rays=paper would go on from there */
        right = cgrx_target_row(p, s->bucket) == row;
    else if (s->phase == CGRX_IN_PLANE)
        right = cgrx_target_row(p, s->bucket) >> p->map.y_bits == row >> p->map.y_bits;
    if (!right)
        kr_atomic_max64((uint64_t *)p->put.out, (uint64_t)b + 1);
}
KR_RAY_PROGRAM(cgrx_check, cgrx_check_begin, cgrx_check_step, cgrx_check_end, cgrx_no_hit, cgrx_no_box);

#endif
