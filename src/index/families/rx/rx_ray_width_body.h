/* The ray programs of kind `rx`. A ray finds a candidate, integers decide: every primitive that is met is
 * looked up in the sorted keys, and the match is searched from there. So a tracer that reports a neighbour
 * costs steps but never a wrong answer.
 *
 *   rx_first   points that need only their first match: one ray, whatever it meets first
 *   rx_scan    points and ranges: the first row of keys between the bounds, in order, where a ray meets
 *              something; then the keys beside it. With hit=closest points take the closest primitive, too
 *   rx_visit   points and ranges: everything that the rays of all rows meet
 *   rx_check   for validate: whether the ray of each key meets all of its primitives */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_RAY_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_RAY_WIDTH_BODY_H

#define KR_RAY_MODULE rx_ray
#define KR_RAY_PARAMS rx_ray_params
#define KR_RAY_STATE rx_state
#if KR_KEY_BITS == 32
#define KR_RAY_PAYLOAD 6
#else
#define KR_RAY_PAYLOAD 8
#endif

#include "index/families/rx/rx_rays.h"

enum { RX_NEXT = 2 }; /* kr_met.back of a candidate that no ray met */
/* After this many rows without a key a range is no longer traced: empty rows must not add to the time. */
enum { RX_EMPTY_ROWS = 8 };

/* Words of a visiting ray's payload; the bounds follow, low words first. */
enum { RX_SMALLEST, RX_LARGEST, RX_HITS, RX_RULED_OUT, RX_BOUNDS };

KR_BODY void rx_payload_begin(const rx_state *s, uint32_t *payload)
{
    payload[RX_SMALLEST] = KR_NO_ROW;
    payload[RX_LARGEST] = payload[RX_HITS] = payload[RX_RULED_OUT] = 0;
#if KR_KEY_BITS == 32
    payload[RX_BOUNDS] = s->lower;
    payload[RX_BOUNDS + 1] = s->upper;
#else
    payload[RX_BOUNDS] = (uint32_t)s->lower;
    payload[RX_BOUNDS + 1] = (uint32_t)(s->lower >> 32);
    payload[RX_BOUNDS + 2] = (uint32_t)s->upper;
    payload[RX_BOUNDS + 3] = (uint32_t)(s->upper >> 32);
#endif
}

/* Records the primitive if its key lies between the bounds, and goes on. */
KR_BODY uint32_t rx_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    const rx_ray_params *p = (const rx_ray_params *)params;
    const uint32_t position = rx_position(p, primitive);
    const kr_key key = rx_key(p, position);
#if KR_KEY_BITS == 32
    const kr_key lower = payload[RX_BOUNDS], upper = payload[RX_BOUNDS + 1];
#else
    const kr_key lower = payload[RX_BOUNDS] | (kr_key)payload[RX_BOUNDS + 1] << 32;
    const kr_key upper = payload[RX_BOUNDS + 2] | (kr_key)payload[RX_BOUNDS + 3] << 32;
#endif
    (void)back;
    if (key < lower || key > upper) {
        ++payload[RX_RULED_OUT];
        return KR_HIT_IGNORE;
    }
    ++payload[RX_HITS];
    if (position < payload[RX_SMALLEST])
        payload[RX_SMALLEST] = position;
    if (position > payload[RX_LARGEST])
        payload[RX_LARGEST] = position;
    return KR_HIT_IGNORE;
}

/* ---- What the programs share --------------------------------------------------------------- */

/* The part that holds the keys from `key` on, or those before the first part's. */
KR_BODY uint32_t rx_door_of(const rx_ray_params *p, kr_key key)
{
    uint32_t at = 0;
    for (uint32_t left = p->n_doors; left > 1;) {
        const uint32_t half = left / 2;
        if (kr_load(&p->doors[at + half].lowest) <= key)
            at += half;
        left -= half;
    }
    return at;
}

/* Casts a ray of the state's bounds in the part that holds the keys from the lower bound on. If it meets
 * nothing and that part ends in a row that was tried, the wanted key is the first of the next part, which
 * needs no ray (back is RX_NEXT). */
KR_BODY kr_met rx_trace(const rx_ray_params *p, const rx_state *s, const kr_ray *ray, uint32_t what)
{
    if (!p->doors)
        return kr_trace(&p->scene, ray, what, rx_box, p);
    const rx_door *door = p->doors + rx_door_of(p, s->lower), *next = door + 1;
    const kr_scene_view scene = door->scene;
    const kr_met met = kr_trace(&scene, ray, what, rx_box, p);
    if (met.primitive == KR_NO_PRIMITIVE && s->lower != s->upper && next < p->doors + p->n_doors &&
        next->lowest <= s->upper &&
        kr_point_row(&p->map, next->lowest) < kr_point_row(&p->map, s->lower) + s->rays)
        return (kr_met){next->scene.first, RX_NEXT};
    return met;
}

/* Makes the match from what a traced ray met. */
KR_BODY void rx_take(const rx_ray_params *p, rx_state *s, uint32_t primitive)
{
    const uint32_t position = rx_position(p, primitive);
    const kr_key key = rx_key(p, position);
    s->events = RX_MET;
    if (p->repeats == RX_REPEATS_NONE && key == s->lower && key == s->upper) {
        s->first = position;
        s->last = position + 1;
        return;
    }
    if (key < s->lower || key > s->upper)
        s->events |= RX_FILTERED | RX_REPAIRED;
    /* At the lower bound's own key the match begins, unless equal keys have a primitive each. */
    const int first = key == s->lower && p->repeats != RX_REPEATS_ALL;
    rx_match_from(p, s, first ? position : rx_at_least(p, position, s->lower));
}

/* No ray met anything: the bounds hold no key, unless they reach the lowest or the highest. With boxes this
 * is not trusted: in extended mode some lie beyond what OptiX meets. */
KR_BODY void rx_take_nothing(const rx_ray_params *p, rx_state *s)
{
    if (p->scene.prim != KR_PRIM_AABB && s->lower != p->lowest && s->upper != p->highest)
        return;
    rx_search(p, s);
    if (s->first < s->last)
        s->events = RX_REPAIRED;
}

KR_BODY void rx_end(const rx_ray_params *p, uint64_t i, rx_state *s)
{
    const uint32_t met = s->events & RX_MET;
    kr_put_work_add(&p->put, i, KR_WORK_RAYS, s->rays);
    kr_put_work_add(&p->put, i, KR_WORK_HITS, met);
    kr_put_work_add(&p->put, i, KR_WORK_FILTERED, (s->events & RX_FILTERED) != 0);
    kr_put_work_add(&p->put, i, KR_WORK_REPAIRED, (s->events & RX_REPAIRED) != 0);
    kr_put_work_add(&p->put, i, KR_WORK_UNTRACED, (s->events & RX_UNTRACED) != 0);
    if (rx_whole(p)) {
        kr_put_match(&p->put, i, s->first, s->last - s->first);
    } else {
        const int found = s->first < s->last, wants_row = found && p->put.what == KR_PUT_ROW;
        kr_put_first(&p->put, i, found, wants_row && p->rows ? kr_load(p->rows + s->first) : s->first);
    }
}

/* ---- rx_first ------------------------------------------------------------------------------ */

KR_BODY int rx_first_step(const rx_ray_params *p, rx_state *s)
{
    const kr_ray ray = rx_ray(p, s->lower, s->lower, RX_PAD);
    s->rays = 1;
    const kr_met met = rx_trace(p, s, &ray, KR_TRACE_FIRST);
    if (met.primitive == KR_NO_PRIMITIVE)
        rx_take_nothing(p, s);
    else
        rx_take(p, s, met.primitive);
    return 0;
}
KR_RAY_PROGRAM(rx_first, rx_begin, rx_first_step, rx_end, rx_hit, rx_box);

/* ---- rx_scan ------------------------------------------------------------------------------- */

KR_BODY int rx_scan_step(const rx_ray_params *p, rx_state *s)
{
    if (s->rays == 0 && rx_too_many_rows(p, s))
        return 0;
    const kr_ray ray = rx_next_ray(p, s);
    const uint32_t what = p->batch.upper || p->closest ? KR_TRACE_CLOSEST : KR_TRACE_FIRST;
    const kr_met met = rx_trace(p, s, &ray, what);
    if (met.primitive != KR_NO_PRIMITIVE) {
        rx_take(p, s, met.primitive);
        if (met.back == RX_NEXT)
            s->events &= ~(uint32_t)RX_MET;
        return 0;
    }
    if (s->rays > rx_more_rows(p, s)) {
        rx_take_nothing(p, s);
        return 0;
    }
    if (s->rays < RX_EMPTY_ROWS)
        return 1;
    s->events = RX_UNTRACED;
    rx_search(p, s);
    return 0;
}
KR_RAY_PROGRAM(rx_scan, rx_begin, rx_scan_step, rx_end, rx_hit, rx_box);

/* ---- rx_visit ------------------------------------------------------------------------------ */

/* All primitives were met: first and last are the outermost positions. Looks beside them nevertheless. */
KR_BODY void rx_take_all(const rx_ray_params *p, rx_state *s)
{
    if (s->first == s->last) {
        rx_take_nothing(p, s);
        return;
    }
    if (p->repeats == RX_REPEATS_ONE) /* the hit represents all equal keys */
        s->last = rx_behind(p, p->n, s->last - 1, rx_key(p, s->last - 1));
    if (s->first > 0 && rx_key(p, s->first - 1) >= s->lower) {
        s->first = rx_at_least(p, s->first - 1, s->lower);
        s->events = RX_REPAIRED;
    }
    if (s->last < p->n && rx_key(p, s->last) <= s->upper) {
        s->last = rx_behind(p, p->n, s->last, s->upper);
        s->events = RX_REPAIRED;
    }
}

/* After a row without keys: goes on to the row of the next key, so that empty rows cost no time. */
KR_BODY void rx_skip_rows(const rx_ray_params *p, rx_state *s)
{
    const uint64_t lowest = kr_point_row(&p->map, s->lower), more = rx_more_rows(p, s);
    if (s->rays > more)
        return;
    const kr_key beyond = (kr_key)kr_point_row_first(&p->map, lowest + s->rays);
    const uint32_t at = rx_between(p, 0, p->n, beyond);
    const uint64_t row = at < p->n ? kr_point_row(&p->map, rx_key(p, at)) - lowest : more + 1;
    s->rays = (uint32_t)(row <= more ? row : more + 1);
}

KR_BODY int rx_visit_step(const rx_ray_params *p, rx_state *s)
{
    if (s->rays == 0 && rx_too_many_rows(p, s))
        return 0;
    uint32_t payload[KR_RAY_PAYLOAD];
    rx_payload_begin(s, payload);
    const kr_ray ray = rx_next_ray(p, s);
    kr_visit(&p->scene, &ray, payload, rx_hit, rx_box, p);
    /* Counted here, because the state has no room; any number may choose the stripe. */
    kr_put_work_add(&p->put, (uint64_t)s->lower, KR_WORK_HITS,
                    (uint64_t)payload[RX_HITS] + payload[RX_RULED_OUT]);
    kr_put_work_add(&p->put, (uint64_t)s->lower, KR_WORK_FILTERED, payload[RX_RULED_OUT]);
    kr_put_work_add(&p->put, (uint64_t)s->lower, KR_WORK_RAYS, 1);
    if (payload[RX_HITS]) {
        const int any = s->first < s->last;
        if (!any || payload[RX_SMALLEST] < s->first)
            s->first = payload[RX_SMALLEST];
        if (!any || payload[RX_LARGEST] + 1 > s->last)
            s->last = payload[RX_LARGEST] + 1;
    }
    if (!payload[RX_HITS])
        rx_skip_rows(p, s);
    if (s->rays <= rx_more_rows(p, s))
        return 1;
    rx_take_all(p, s);
    s->rays = 0; /* counted above; here it is a number of rows */
    return 0;
}
KR_RAY_PROGRAM(rx_visit, rx_begin, rx_visit_step, rx_end, rx_hit, rx_box);

/* ---- rx_check ------------------------------------------------------------------------------ */

/* For the first position of each run of equal keys. */
KR_BODY int rx_check_begin(const rx_ray_params *p, uint64_t i, rx_state *s)
{
    const uint32_t at = (uint32_t)i;
    s->lower = s->upper = rx_key(p, at);
    s->first = s->last = at;
    s->rays = s->events = 0;
    return at == 0 || rx_key(p, at - 1) != s->lower;
}

KR_BODY int rx_check_step(const rx_ray_params *p, rx_state *s)
{
    uint32_t payload[KR_RAY_PAYLOAD];
    rx_payload_begin(s, payload);
    const kr_ray ray = rx_ray(p, s->lower, s->lower, RX_PAD);
    kr_visit(&p->scene, &ray, payload, rx_hit, rx_box, p);
    if (rx_trace(p, s, &ray, KR_TRACE_FIRST).primitive == KR_NO_PRIMITIVE) /* through doors, like lookups */
        s->events = RX_REPAIRED;
    const uint32_t primitives =
        p->repeats == RX_REPEATS_ALL ? rx_behind(p, p->n, s->first, s->lower) - s->first : 1;
    if (payload[RX_HITS] < primitives || payload[RX_SMALLEST] != s->first ||
        payload[RX_LARGEST] != s->first + primitives - 1)
        s->events = RX_REPAIRED;
    return 0;
}

/* out: one more than the largest position whose key has a primitive that its ray does not meet. */
KR_BODY void rx_check_end(const rx_ray_params *p, uint64_t i, rx_state *s)
{
    if (s->events)
        kr_atomic_max64((uint64_t *)p->put.out, i + 1);
}
KR_RAY_PROGRAM(rx_check, rx_check_begin, rx_check_step, rx_check_end, rx_hit, rx_box);

#endif
