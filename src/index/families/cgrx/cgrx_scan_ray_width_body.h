/* The ray programs of answer=scan:
 *
 *   cgrx_scan       from the probe to its answer
 *   cgrx_scan_sums  from the probe to the sum over its rows */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCAN_RAY_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCAN_RAY_WIDTH_BODY_H

#include "index/kinds/batch.h"

#define KR_RAY_MODULE cgrx_scan_ray
#define KR_RAY_PARAMS cgrx_scan_params
#define KR_RAY_STATE cgrx_state
#define KR_RAY_PAYLOAD 2

#include "index/families/cgrx/cgrx_scan.h"

#include "index/families/cgrx/cgrx_find.h"

KR_BODY int cgrx_scan_begin(const cgrx_scan_params *p, uint64_t i, cgrx_state *s)
{
    return cgrx_begin(&p->of, i, s);
}

KR_BODY int cgrx_scan_step(const cgrx_scan_params *p, cgrx_state *s)
{
    return cgrx_find_step(&p->of, s);
}

KR_BODY void cgrx_scan_count(const cgrx_scan_params *p, uint64_t i, const cgrx_state *s)
{
    kr_put_work_add(&p->of.put, i, KR_WORK_RAYS, s->rays);
    kr_put_work_add(&p->of.put, i, KR_WORK_HITS, s->met);
}

KR_BODY void cgrx_scan_end(const cgrx_scan_params *p, uint64_t i, cgrx_state *s)
{
    cgrx_scan_count(p, i, s);
    cgrx_answer(&p->of, i, s);
}
KR_RAY_PROGRAM(cgrx_scan, cgrx_scan_begin, cgrx_scan_step, cgrx_scan_end, cgrx_no_hit, cgrx_no_box);

KR_BODY void cgrx_scan_sums_end(const cgrx_scan_params *p, uint64_t i, cgrx_state *s)
{
    cgrx_scan_count(p, i, s);
    cgrx_scan_add_up(p, i, s);
}
KR_RAY_PROGRAM(cgrx_scan_sums, cgrx_scan_begin, cgrx_scan_step, cgrx_scan_sums_end, cgrx_no_hit, cgrx_no_box);

#endif
