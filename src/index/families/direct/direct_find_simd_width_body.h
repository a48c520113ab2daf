/* Lookups. A probe's code names a block and a bit; the rest is one load after the other, with no search:
 *
 *   the block    whether the key is there, and its ordinal
 *   `starts`     where keys repeat: the positions of its rows
 *   `rows`       where row ids are kept: the first row id
 *
 * On a CPU each load has a turn of its own, so that the loads of many probes are under way together. A GPU
 * has threads enough, and goes through in one step. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FIND_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FIND_SIMD_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/direct/direct_flight.h"
#include "index/families/direct/direct_point.h"
#include "index/kinds/nearest.h"

enum { DIRECT_IN_BLOCK, DIRECT_IN_STARTS, DIRECT_IN_ROWS, DIRECT_NOTHING };

/* The row of the first position, where it is wanted and kept. */
KR_BODY int direct_await_row(const direct_find_params *p, uint32_t at, uint32_t *phase)
{
    if (p->put.what != KR_PUT_ROW || !p->view.rows)
        return 0;
    kr_prefetch(p->view.rows + at);
    *phase = DIRECT_IN_ROWS;
    return !KR_ON_CUDA;
}

KR_BODY int direct_await_starts(const direct_find_params *p, uint32_t at, uint32_t *phase)
{
    kr_prefetch(p->view.starts + at);
    *phase = DIRECT_IN_STARTS;
    return !KR_ON_CUDA;
}

/* ---- Points --------------------------------------------------------------------------------------- */

/* The ordinal of a bit's key, if it has one. */
KR_BODY uint32_t direct_point_find(const direct_view *v, direct_spot spot, uint32_t *has)
{
    if (v->is_full) {
        *has = 1;
        return spot.block * DIRECT_VALUES + spot.bit;
    }
    return direct_look_at(v, spot.block, spot.bit, has);
}

typedef struct direct_point_state {
    direct_spot spot;
    uint32_t at, end; /* ordinals, then positions */
    uint32_t phase;   /* DIRECT_* */
} direct_point_state;

KR_BODY int direct_point_begin(const direct_find_params *p, uint64_t i, direct_point_state *s)
{
    s->at = s->end = 0;
    s->phase = DIRECT_IN_BLOCK;
    return p->view.n && direct_point_aim(p, i, &s->spot);
}

/* On a GPU, whose threads are enough to wait for memory. */
KR_BODY int direct_point_step(const direct_find_params *p, direct_point_state *s)
{
    const direct_view *v = &p->view;
    uint32_t has;
    const uint32_t ordinal = direct_point_find(v, s->spot, &has);
    if (!has)
        return 0;
    s->at = ordinal;
    s->end = ordinal + 1;
    if (v->starts && p->put.what != KR_PUT_FLAG) {
        s->end = kr_load(v->starts + s->end);
        s->at = kr_load(v->starts + s->at);
    }
    return 0;
}

KR_BODY void direct_point_end(const direct_find_params *p, uint64_t i, direct_point_state *s)
{
    direct_put(p, i, s->at, s->end);
}

/* On a CPU (direct_flight.h). */
KR_BODY void direct_fly_put(const direct_find_params *p, uint64_t first, uint32_t n, const direct_flight *f)
{
    if (p->put.what == KR_PUT_ROW && !p->put.order)
        direct_fly_rows(&p->view, (uint32_t *)p->put.out + first, n, f);
    else
        for (uint32_t j = 0; j < n; ++j)
            direct_put(p, first + j, f->at[j], f->end[j]);
}

KR_BODY uint32_t direct_fly_n(uint64_t first, uint64_t end)
{
    return end - first < DIRECT_GROUP ? (uint32_t)(end - first) : DIRECT_GROUP;
}

/* Turn t begins group t, and does the next thing with those before it. */
KR_BODY void direct_point_fly(const direct_find_params *p, uint64_t first, uint64_t end)
{
    const direct_view *v = &p->view;
    const int reads_starts = v->starts && p->put.what != KR_PUT_FLAG;
    const uint32_t *rows = p->put.what == KR_PUT_ROW ? v->rows : NULL,
                   *next = reads_starts ? v->starts : rows;
    const uint64_t n_groups = (end - first + DIRECT_GROUP - 1) / DIRECT_GROUP, last = reads_starts ? 3 : 2;
    direct_flight flights[DIRECT_GROUPS];
    for (uint64_t t = 0; t < n_groups + last; ++t) {
        const uint64_t at = first + t * DIRECT_GROUP;
        if (t < n_groups)
            direct_fly_aim(p, at, direct_fly_n(at, end), &flights[t % DIRECT_GROUPS]);
        if (t >= 1 && t - 1 < n_groups)
            direct_fly_look(v, direct_fly_n(at - DIRECT_GROUP, end), next, &flights[(t - 1) % DIRECT_GROUPS]);
        if (reads_starts && t >= 2 && t - 2 < n_groups)
            direct_fly_starts(v, direct_fly_n(at - 2 * DIRECT_GROUP, end), rows,
                              &flights[(t - 2) % DIRECT_GROUPS]);
        if (t >= last)
            direct_fly_put(p, at - last * DIRECT_GROUP, direct_fly_n(at - last * DIRECT_GROUP, end),
                           &flights[(t - last) % DIRECT_GROUPS]);
    }
}

KR_BODY void direct_point_run(const direct_find_params *p, uint64_t first, uint64_t end)
{
    if (p->view.n)
        direct_point_fly(p, first, end);
    for (; !p->view.n && first < end; ++first)
        direct_put(p, first, 0, 0);
}
KR_PROBE_OR_RUN_PROGRAM(direct_point, direct_find_params, direct_point_state, direct_point_begin,
                        direct_point_step, direct_point_end, direct_point_run);

/* ---- Ranges, and the ordinals around a nearest key ------------------------------------------------ */

typedef struct direct_span_state {
    direct_spot lower, upper; /* the first value that is not below, and the last that is not above */
    uint32_t at, end;         /* ordinals of the first key inside and of the first behind; then positions */
    uint32_t phase;           /* DIRECT_* */
} direct_span_state;

/* All of it lies before the lowest key, or behind the highest. */
KR_BODY int direct_span_outside(const direct_view *v, uint32_t is_behind, direct_span_state *s)
{
    s->at = s->end = is_behind ? v->n_keys : 0;
    s->upper.block = is_behind ? v->n_blocks - 1 : 0;
    s->phase = DIRECT_IN_STARTS;
    return 0;
}

KR_BODY int direct_span_begin(const direct_find_params *p, uint64_t i, direct_span_state *s)
{
    const direct_view *v = &p->view;
    const kr_key lowest = (kr_key)v->lowest, span = (kr_key)v->span;
    kr_key lower, upper;
    s->at = s->end = 0;
    s->phase = DIRECT_NOTHING;
    if (!kr_batch_load(&p->batch, i, &lower, &upper) || !v->n)
        return 0;
    const int is_before = upper < lowest;
    if (is_before || (lower > lowest && lower - lowest > span))
        return direct_span_outside(v, !is_before, s);
    const kr_key from = lower > lowest ? lower - lowest : 0,
                 to = upper - lowest < span ? upper - lowest : span;
    const kr_key floor = direct_quotient(v, from);
    s->lower = direct_spot_of((uint64_t)floor + ((kr_key)(floor * (kr_key)v->step) != from));
    s->upper = direct_spot_of(direct_quotient(v, to));
    s->phase = DIRECT_IN_BLOCK;
    kr_prefetch(direct_block_at(v, s->lower.block));
    kr_prefetch(direct_block_at(v, s->upper.block));
    return 1;
}

/* Where no value lies inside, `lower` is one above `upper`, and both ordinals are the same. */
KR_BODY void direct_span_ordinals(const direct_view *v, direct_span_state *s)
{
    uint32_t has;
    s->at = direct_point_find(v, s->lower, &has);
    s->end = direct_point_find(v, s->upper, &has);
    s->end += has;
    s->phase = DIRECT_IN_STARTS;
}

KR_BODY int direct_range_step(const direct_find_params *p, direct_span_state *s)
{
    const direct_view *v = &p->view;
    if (s->phase == DIRECT_IN_BLOCK) {
        direct_span_ordinals(v, s);
        if (s->at == s->end || p->put.what == KR_PUT_FLAG)
            return 0;
        if (!v->starts)
            return direct_await_row(p, s->at, &s->phase);
        kr_prefetch(v->starts + s->end);
        if (direct_await_starts(p, s->at, &s->phase))
            return 1;
    }
    if (s->phase == DIRECT_IN_STARTS) {
        s->at = kr_load(v->starts + s->at);
        s->end = kr_load(v->starts + s->end);
        return direct_await_row(p, s->at, &s->phase);
    }
    return 0;
}

KR_BODY void direct_range_end(const direct_find_params *p, uint64_t i, direct_span_state *s)
{
    direct_put(p, i, s->at, s->end);
}
KR_PROBE_PROGRAM(direct_range, direct_find_params, direct_span_state, direct_span_begin, direct_range_step,
                 direct_range_end);

/* ---- Nearest keys --------------------------------------------------------------------------------- */

/* The keys around a probe: distinct keys at, at + 1, ... are not below it, those from `end` on are above it.
 */
typedef struct direct_around {
    const direct_view *view;
    uint32_t at, end;            /* ordinals */
    uint32_t first, first_above; /* their positions */
    uint32_t block;              /* near both */
} direct_around;

KR_BODY uint64_t direct_near_key(const direct_around *a, uint32_t position)
{
    const uint32_t ordinal = position < a->first ? a->at - 1 : position < a->first_above ? a->at : a->end;
    return direct_key(a->view, ordinal, a->block);
}

KR_BODY uint32_t direct_near_row(const direct_around *a, uint32_t position)
{
    return direct_row(a->view, position);
}

KR_BODY uint32_t direct_near_where(const direct_around *a, uint32_t position)
{
    (void)a;
    return position;
}
KR_NEAREST(direct_nearest_put, direct_around, direct_near_key, direct_near_row, direct_near_where);

KR_BODY int direct_nearest_step(const direct_find_params *p, direct_span_state *s)
{
    direct_span_ordinals(&p->view, s);
    if (p->view.starts) {
        kr_prefetch(p->view.starts + s->at);
        kr_prefetch(p->view.starts + s->end);
    }
    return 0;
}

KR_BODY void direct_nearest_end(const direct_find_params *p, uint64_t i, direct_span_state *s)
{
    const direct_view *v = &p->view;
    const int any = s->phase != DIRECT_NOTHING;
    direct_around around = {v, s->at, s->end, 0, 0, any ? s->upper.block : 0};
    if (any) {
        around.first = direct_position(v, s->at);
        around.first_above = direct_position(v, s->end);
    }
    const kr_span span = {kr_batch_lower(&p->batch, i), around.first, around.first_above, (uint32_t)any};
    direct_nearest_put(&around, &p->batch.near, &p->put, i, v->n, &span);
}
KR_PROBE_PROGRAM(direct_nearest, direct_find_params, direct_span_state, direct_span_begin,
                 direct_nearest_step, direct_nearest_end);

#endif
