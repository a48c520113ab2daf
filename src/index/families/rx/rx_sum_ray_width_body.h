/* The ray program of answer=rays: what a probe's rays meet is its answer, and the program that each hit calls
 * gathers the row's value and adds it up (RTIndeX, 2.2, 3.1). No key is compared. So it serves only where
 * floats are exact: perpendicular rays of points, and offset rays, which are cut where they get long. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_SUM_RAY_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_SUM_RAY_WIDTH_BODY_H

#define KR_RAY_MODULE rx_sum_ray
#define KR_RAY_PARAMS rx_sum_params
#define KR_RAY_STATE rx_state
#define KR_RAY_PAYLOAD 3

#include "index/families/rx/rx_rays.h"
#include "index/results/totals.h"

/* Keys of a ray that ends beside others, at most: distances along it are then off by less than a quarter of a
 * step (RX_PAD), and the next primitive begins half a step behind its end. */
#define RX_SURE_KEYS ((kr_key)1 << 18)

/* Words of payload. The total is a sum, a count, or the smallest row. */
enum { RX_TOTAL_LOW, RX_TOTAL_HIGH, RX_ROWS_MET };

KR_BODY uint64_t rx_total(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

KR_BODY uint32_t rx_sum_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    const rx_sum_params *p = (const rx_sum_params *)params;
    const uint32_t row = p->row_of ? kr_load(p->row_of + primitive) : primitive;
    (void)back;
    ++payload[RX_ROWS_MET];
    if (p->what == KR_PUT_ROW) {
        if (row < payload[RX_TOTAL_LOW])
            payload[RX_TOTAL_LOW] = row;
    } else {
        const uint64_t total = rx_total(payload[RX_TOTAL_LOW], payload[RX_TOTAL_HIGH]) +
                               (p->what == RX_PUT_SUM ? reduce_addend(&p->sum, row) : 1);
        payload[RX_TOTAL_LOW] = (uint32_t)total;
        payload[RX_TOTAL_HIGH] = (uint32_t)(total >> 32);
    }
    return p->stops ? KR_HIT_STOP : KR_HIT_IGNORE;
}

/* The state's first and last are the words of the total. */
KR_BODY int rx_sum_begin(const rx_sum_params *p, uint64_t i, rx_state *s)
{
    const int goes_on = rx_begin(&p->rays, i, s);
    if (p->what == KR_PUT_ROW)
        s->first = KR_NO_ROW;
    return goes_on;
}

/* A range over too many rows of keys is searched in the sorted keys, and its thread adds up. */
KR_BODY void rx_sum_search(const rx_sum_params *p, rx_state *s)
{
    const rx_ray_params *rays = &p->rays;
    const uint32_t first = rx_between(rays, 0, rays->n, s->lower);
    const uint32_t end = rx_behind(rays, rays->n, first, s->upper);
    uint64_t total = end - first;
    if (p->what == RX_PUT_SUM) {
        total = 0;
        for (uint32_t at = first; at < end; ++at)
            total += reduce_addend(&p->sum, kr_load(rays->rows + at));
    }
    s->first = (uint32_t)total;
    s->last = (uint32_t)(total >> 32);
    s->events = RX_UNTRACED;
}

/* The ray from the lower bound on, and the last key that it covers. Behind a row there is nothing to meet, so
 * a ray of the rest of a row reaches further, however long it is. */
KR_BODY kr_ray rx_sum_ray(const rx_ray_params *p, const rx_state *s, kr_key *end)
{
    const uint64_t row = kr_point_row(&p->map, s->lower);
    const int is_rest = row != kr_point_row(&p->map, s->upper);
    if (is_rest)
        *end = (kr_key)kr_point_row_last(&p->map, row);
    else
        *end = s->upper - s->lower < RX_SURE_KEYS ? s->upper : s->lower + RX_SURE_KEYS - 1;
    return rx_ray(p, s->lower, *end, is_rest ? RX_PAD : 0);
}

KR_BODY int rx_sum_step(const rx_sum_params *p, rx_state *s)
{
    if (s->rays == 0 && rx_more_rows(&p->rays, s) >= p->rays.max_rays) {
        rx_sum_search(p, s);
        return 0;
    }
    kr_key end;
    const kr_ray ray = rx_sum_ray(&p->rays, s, &end);
    uint32_t payload[KR_RAY_PAYLOAD] = {s->first, s->last, 0};
    kr_visit(&p->scene, &ray, payload, rx_sum_hit, rx_box, p);
    /* Counted here, because the state has no room; any number may choose the stripe. */
    kr_put_work_add(&p->rays.put, (uint64_t)s->lower, KR_WORK_HITS, payload[RX_ROWS_MET]);
    s->first = payload[RX_TOTAL_LOW];
    s->last = payload[RX_TOTAL_HIGH];
    ++s->rays;
    if (end == s->upper || (p->stops && payload[RX_ROWS_MET]))
        return 0;
    s->lower = end + 1;
    return 1;
}

KR_BODY void rx_sum_end(const rx_sum_params *p, uint64_t i, rx_state *s)
{
    const kr_put *put = &p->rays.put;
    kr_put_work_add(put, i, KR_WORK_RAYS, s->rays);
    kr_put_work_add(put, i, KR_WORK_UNTRACED, (s->events & RX_UNTRACED) != 0);
    if (p->what == KR_PUT_ROW)
        kr_put_first(put, i, s->first != KR_NO_ROW, s->first);
    else if (p->what == KR_PUT_FLAG)
        kr_put_first(put, i, (s->first | s->last) != 0, 0);
    else
        ((uint64_t *)put->out)[kr_answer_place(put->order, i)] = rx_total(s->first, s->last);
}
KR_RAY_PROGRAM(rx_sum, rx_sum_begin, rx_sum_step, rx_sum_end, rx_sum_hit, rx_box);

#endif
