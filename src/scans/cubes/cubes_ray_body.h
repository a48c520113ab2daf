/* The ray program of scenes of cubes. Rays find rows, integers decide: every row that is met gets the truth
 * of all tests in the bitmap, so rays that meet others, or one twice, cost time and change no result. */
#ifndef KEYRAY_SCANS_CUBES_CUBES_RAY_BODY_H
#define KEYRAY_SCANS_CUBES_CUBES_RAY_BODY_H

#include "key/key.h"

#define KR_RAY_MODULE cubes_ray
#define KR_RAY_PARAMS cubes_ray_params
#define KR_RAY_STATE cubes_state
#define KR_RAY_PAYLOAD 3

#include "scans/cubes/cubes_params.h"
#include "scans/log.h"

typedef struct cubes_state {
    uint64_t ray;
    uint32_t met, refined;
} cubes_state;

/* Words of a ray's payload. */
enum { CUBES_MET, CUBES_REFINED, CUBES_OF_REGION };

/* ---- The truth of a row ---------------------------------------------------------------------- */

KR_BODY uint64_t cubes_code(const cubes_test *test, uint64_t row)
{
#if KR_KEY_BITS == 32
    return kr_load_key32(test->type, test->data, row);
#else
    return kr_load_code(test->type, test->data, row);
#endif
}

/* Whether the last interval that does not begin above the code holds it. */
KR_BODY int cubes_holds(const cubes_test *test, uint64_t code)
{
    uint32_t low = 0, high = test->n_intervals;
    if (high == 1)
        return code >= test->low && code <= test->high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(test->lows + middle) <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && code <= kr_load(test->highs + low - 1);
}

KR_BODY int cubes_passes(const cubes_test *test, uint64_t record, uint64_t row)
{
    const int32_t cell = cubes_record_cell(record, test->axis);
    if (cell >= test->null_first)
        return (int)test->nulls;
    if (cell < test->first || cell > test->last)
        return 0;
    if (cell > test->first && cell < test->last && test->n_intervals == 1)
        return 1;
    return cubes_holds(test, cubes_code(test, row));
}

/* Any of the job's conjunctions is enough. */
KR_BODY uint32_t cubes_holds_any(const cubes_ray_params *p, const cubes_ray_job *job, uint64_t record,
                                 uint64_t row)
{
    const cubes_test *tests = p->more_tests ? p->more_tests : p->tests;
    uint32_t any = job->first_test == job->end_test, all = 1;
    for (uint32_t t = job->first_test; !any && t < job->end_test; ++t) {
        all = all && cubes_passes(tests + t, record, row);
        if (tests[t].ends) {
            any = all;
            all = 1;
        }
    }
    return any;
}

KR_BODY void cubes_write(const cubes_ray_params *p, const cubes_ray_job *job, uint64_t record, uint32_t row)
{
    const uint32_t bit = (uint32_t)1 << row % 32;
    const uint32_t is_alive = !job->alive || (kr_load(job->alive + row / 32) & bit);
    if (is_alive && cubes_holds_any(p, job, record, row))
        kr_atomic_or32(job->bitmap + row / 32, bit);
    else
        kr_atomic_and32(job->bitmap + row / 32, ~bit);
}

KR_BODY int cubes_is_in(const cubes_region *region, uint64_t record)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        const int32_t cell = cubes_record_cell(record, axis);
        if (cell < region->first[axis] || cell > region->last[axis])
            return 0;
    }
    return 1;
}

KR_BODY uint32_t cubes_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    const cubes_ray_params *p = (const cubes_ray_params *)params;
    const uint64_t record = kr_load(p->records + primitive);
    (void)back;
    ++payload[CUBES_MET];
    const cubes_rays *rays = cubes_rays_at(p, payload[CUBES_OF_REGION]);
    if (p->work)
        payload[CUBES_REFINED] += (uint32_t)cubes_is_in(&rays->region, record);
    cubes_write(p, p->more_jobs ? p->more_jobs + (rays->axes >> 8) : &p->only, record, primitive);
    return KR_HIT_IGNORE;
}

KR_BODY void cubes_box(const void *params, uint32_t primitive, float box[6])
{
    const cubes_ray_params *p = (const cubes_ray_params *)params;
    cubes_box_of(kr_load(p->records + primitive), p->half, box);
}

/* ---- Rays ------------------------------------------------------------------------------------ */

/* Where ray `number` is on an axis across it. */
KR_BODY float cubes_place(const cubes_ray_params *p, const cubes_region *region, uint32_t axis,
                          uint32_t number)
{
    return (float)(region->first[axis] + (int32_t)(p->interval / 2 + number * p->interval));
}

/* Ends reach a quarter of a cell too far, which meets no other cube, so that no ray is a point. */
KR_BODY kr_ray cubes_ray(const cubes_ray_params *p, const cubes_rays *rays, uint64_t number)
{
    const cubes_region *region = &rays->region;
    const uint32_t a = rays->axes & 3, along = rays->axes >> 4 & 3, in_a = (uint32_t)(number % rays->n_a);
    const uint32_t in_b = (uint32_t)(number / rays->n_a % rays->n_b);
    const uint32_t piece = (uint32_t)(number / rays->n_a / rays->n_b);
    const int32_t from =
        region->first[along] + (int32_t)(p->spacing / 2) + (int32_t)(piece * (p->length + p->spacing));
    const int32_t end = region->last[along] - (int32_t)p->half, most = end > from ? end - from : 0;
    kr_ray ray = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    if (p->scene.prim == KR_PRIM_TRIANGLE) {
        ray.from[0] = (float)(region->first[0] + (int32_t)((in_a + in_b + 1) * p->interval) - 1);
        ray.from[1] = -1;
        ray.along[1] = 1;
        ray.high = (float)p->half + 3;
        return ray;
    }
    ray.high = (float)(most < (int32_t)p->length ? most : (int32_t)p->length) + 0.5f;
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        ray.along[axis] = axis == along ? 1.0f : 0.0f;
        ray.from[axis] =
            axis == along ? (float)from - 0.25f : cubes_place(p, region, axis, axis == a ? in_a : in_b);
    }
    return ray;
}

KR_BODY int cubes_begin(const cubes_ray_params *p, uint64_t i, cubes_state *s)
{
    (void)p;
    s->ray = i;
    s->met = s->refined = 0;
    return 1;
}

KR_BODY int cubes_step(const cubes_ray_params *p, cubes_state *s)
{
    uint32_t r = 0, end = p->n_regions;
    while (end - r > 1) { /* the last region whose rays do not begin behind this one */
        const uint32_t middle = r + (end - r) / 2;
        if (cubes_rays_at(p, middle)->first <= s->ray)
            r = middle;
        else
            end = middle;
    }
    const cubes_rays *rays = cubes_rays_at(p, r);
    const kr_ray ray = cubes_ray(p, rays, s->ray - rays->first);
    uint32_t payload[KR_RAY_PAYLOAD] = {0, 0, r};
    kr_visit(&p->scene, &ray, payload, cubes_hit, cubes_box, p);
    s->met = payload[CUBES_MET];
    s->refined = payload[CUBES_REFINED];
    return 0;
}

KR_BODY void cubes_end(const cubes_ray_params *p, uint64_t i, const cubes_state *s)
{
    (void)i;
    if (p->work && s->met) {
        kr_atomic_add64(p->work + KR_SCAN_INTERSECTIONS, s->met);
        kr_atomic_add64(p->work + KR_SCAN_REFINED, s->refined);
    }
}

KR_RAY_PROGRAM(cubes_visit, cubes_begin, cubes_step, cubes_end, cubes_hit, cubes_box);

#endif
