/* The ray program of scenes of cubes. A ray finds boxes around the cubes of several rows; integers say which
 * of these cubes it meets, and which of the rows are in its region. Each of those gets the truth of all tests
 * in the bitmap, so meeting a row twice costs time and changes no result. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_CUBES_RAY_WIDTH_BODY_H
#define KEYRAY_TABLE_FAMILIES_CUBES_CUBES_RAY_WIDTH_BODY_H

#include "base/key/key.h"

#define KR_RAY_MODULE cubes_ray
#define KR_RAY_PARAMS cubes_ray_params
#define KR_RAY_STATE cubes_state
#define KR_RAY_PAYLOAD CUBES_WORDS

#include "table/families/cubes/cubes_params.h"
#include "table/log.h"

typedef struct cubes_state {
    uint64_t ray;
} cubes_state;

/* Words of a ray's payload: the cells of the rows that it is for, and twice its region, plus 1 once it was
 * counted among the rays that met rows. */
enum { CUBES_LOW, CUBES_HIGH = 2, CUBES_OF_REGION = 4, CUBES_WORDS };

/* ---- The truth of a row ---------------------------------------------------------------------- */

KR_BODY uint64_t cubes_code(const cubes_test *test, uint64_t row)
{
#if KR_KEY_BITS == 32
    return kr_code_load_key32(test->type, test->data, row);
#else
    return kr_code_load(test->type, test->data, row);
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

/* ---- The rows of a primitive ------------------------------------------------------------------ */

/* Bit k: record k is in the block. All are loaded before the first is looked at; `n` is a constant. */
KR_BODY uint32_t cubes_among_some(const uint64_t *records, const cubes_block *block, uint32_t n)
{
    uint64_t loaded[8];
    uint32_t bits = 0;
    if (n == 1)
        return cubes_block_has(block, kr_load(records));
    KR_UNROLL
    for (uint32_t k = 0; k < n; k += 2)
        kr_load_pair(records + k, loaded + k);
    KR_UNROLL
    for (uint32_t k = 0; k < n; ++k)
        bits |= cubes_block_has(block, loaded[k]) << k;
    return bits;
}

KR_BODY uint32_t cubes_among(const cubes_ray_params *p, uint32_t primitive, const cubes_block *block)
{
    const uint64_t *records = p->records + (uint64_t)primitive * p->pack;
    uint32_t bits = 0;
    if (p->pack % 8 == 0)
        for (uint32_t k = 0; k < p->pack; k += 8)
            bits |= cubes_among_some(records + k, block, 8) << k;
    else if (p->pack % 2 == 0)
        for (uint32_t k = 0; k < p->pack; k += 2)
            bits |= cubes_among_some(records + k, block, 2) << k;
    else
        for (uint32_t k = 0; k < p->pack; ++k)
            bits |= cubes_among_some(records + k, block, 1) << k;
    return bits;
}

KR_BODY cubes_block cubes_payload_block(const uint32_t *payload)
{
    const cubes_block block = {payload[CUBES_LOW] | (uint64_t)payload[CUBES_LOW + 1] << 32,
                               payload[CUBES_HIGH] | (uint64_t)payload[CUBES_HIGH + 1] << 32};
    return block;
}

/* Counts what the ray met; returns the rows that are in its region, too. */
KR_BODY uint32_t cubes_count(const cubes_ray_params *p, const cubes_region *region, uint32_t primitive,
                             uint32_t met, uint32_t *payload)
{
    const cubes_block block = cubes_block_of(region);
    const uint32_t rows = met & cubes_among(p, primitive, &block);
    kr_atomic_add64(p->work + KR_SCAN_RAYS_MET, met && !(payload[CUBES_OF_REGION] & 1));
    payload[CUBES_OF_REGION] |= met != 0;
    kr_atomic_add64(p->work + KR_SCAN_PRIMITIVES, 1);
    kr_atomic_add64(p->work + KR_SCAN_INTERSECTIONS, kr_popcount32(met));
    kr_atomic_add64(p->work + KR_SCAN_REFINED, kr_popcount32(rows));
    return rows;
}

KR_BODY uint32_t cubes_hit(const void *params, uint32_t *payload, uint32_t primitive, int back)
{
    const cubes_ray_params *p = (const cubes_ray_params *)params;
    const cubes_block block = cubes_payload_block(payload);
    const uint64_t first = (uint64_t)primitive * p->pack;
    uint32_t rows = cubes_among(p, primitive, &block);
    (void)back;
    if (!rows && !p->work)
        return KR_HIT_IGNORE;
    const cubes_rays *rays = cubes_rays_at(p, payload[CUBES_OF_REGION] / 2);
    const cubes_ray_job *job = p->more_jobs ? p->more_jobs + (rays->axes >> 8) : &p->only;
    if (p->work)
        rows = cubes_count(p, &rays->region, primitive, rows, payload);
    for (; rows; rows &= rows - 1) {
        const uint64_t slot = first + kr_ctz32(rows);
        cubes_write(p, job, kr_load(p->records + slot), kr_load(p->rows + slot));
    }
    return KR_HIT_IGNORE;
}

/* Integers are asked anyway, so the box matters only where those that are met are counted. */
KR_BODY void cubes_box(const void *params, uint32_t primitive, float box[6])
{
    const cubes_ray_params *p = (const cubes_ray_params *)params;
    if (p->work) {
        cubes_box_of(p->records + (uint64_t)primitive * p->pack, p->pack, p->half, box);
        return;
    }
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        box[axis] = -2.0f * CUBES_LAST_CELL;
        box[CUBES_AXES + axis] = 2.0f * CUBES_LAST_CELL;
    }
}

/* ---- Rays ------------------------------------------------------------------------------------ */

/* A ray in cells: from `at`, `length` further along an axis. Of triangles of a line at[0] is all. */
typedef struct cubes_line {
    int32_t at[CUBES_AXES];
    int32_t length;
    uint32_t along;
} cubes_line;

KR_BODY cubes_line cubes_line_of(const cubes_ray_params *p, const cubes_rays *rays, uint64_t number)
{
    const cubes_region *region = &rays->region;
    const uint32_t a = rays->axes & 3, along = rays->axes >> 4 & 3, in_a = (uint32_t)(number % rays->n_a);
    const uint32_t in_b = (uint32_t)(number / rays->n_a % rays->n_b);
    const uint32_t piece = (uint32_t)(number / rays->n_a / rays->n_b);
    const int32_t behind = p->reach ? (int32_t)p->reach : -(int32_t)p->half;
    cubes_line line = {{0, 0, 0}, 0, along};
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        const uint32_t before = axis == along ? p->spacing / 2 + piece * (p->length + p->spacing)
                                              : p->interval / 2 + (axis == a ? in_a : in_b) * p->interval;
        line.at[axis] = region->first[axis] + (int32_t)before - (axis == along ? (int32_t)p->reach : 0);
    }
    if (p->shape == CUBES_LINE) {
        line.at[0] = region->first[0] + (int32_t)((in_a + in_b + 1) * p->interval) - 1;
        return line;
    }
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (axis == along)
            line.length = region->last[axis] + behind - line.at[axis];
    line.length = line.length < 0 ? 0 : line.length;
    line.length = line.length < (int32_t)p->length ? line.length : (int32_t)p->length;
    return line;
}

/* Ends reach a quarter of a cell too far, which meets no other cube, so that no ray is a point. */
KR_BODY kr_ray cubes_ray(const cubes_ray_params *p, const cubes_line *line)
{
    kr_ray ray = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    if (p->shape == CUBES_LINE) {
        ray.from[0] = (float)line->at[0];
        ray.from[1] = -1;
        ray.along[1] = 1;
        ray.high = (float)p->half + 3;
        return ray;
    }
    ray.high = (float)line->length + 0.5f;
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        ray.along[axis] = axis == line->along ? 1.0f : 0.0f;
        ray.from[axis] = axis == line->along ? (float)line->at[axis] - 0.25f : (float)line->at[axis];
    }
    return ray;
}

/* The centres of the cubes that the ray meets, exactly; of surfaces any, as what is reported is met. Unless
 * they are counted, those in its region are enough. */
KR_BODY cubes_block cubes_reach(const cubes_ray_params *p, const cubes_region *region, const cubes_line *line)
{
    const int32_t half = (int32_t)p->half, is_line = p->shape == CUBES_LINE;
    cubes_block block = {0, 0};
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        int32_t first = line->at[axis] - half, last = line->at[axis] + half;
        if (p->reach) {
            first = 0;
            last = CUBES_LAST_CELL;
        } else if (is_line) {
            first = axis ? 0 : line->at[axis] - 2 * half;
            last = axis ? CUBES_LAST_CELL : line->at[axis];
        } else if (axis == line->along)
            last += line->length;
        if (!p->work) {
            first = first > region->first[axis] ? first : region->first[axis];
            last = last < region->last[axis] ? last : region->last[axis];
        }
        cubes_block_set(&block, axis, first, last);
    }
    return block;
}

KR_BODY int cubes_begin(const cubes_ray_params *p, uint64_t i, cubes_state *s)
{
    (void)p;
    s->ray = i;
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
    const cubes_line line = cubes_line_of(p, rays, s->ray - rays->first);
    const kr_ray ray = cubes_ray(p, &line);
    const cubes_block block = cubes_reach(p, &rays->region, &line);
    uint32_t payload[CUBES_WORDS] = {(uint32_t)block.low, (uint32_t)(block.low >> 32), (uint32_t)block.high,
                                     (uint32_t)(block.high >> 32), 2 * r};
    kr_visit(&p->scene, &ray, payload, cubes_hit, cubes_box, p);
    return 0;
}

KR_BODY void cubes_end(const cubes_ray_params *p, uint64_t i, const cubes_state *s)
{
    (void)p, (void)i, (void)s;
}

KR_RAY_PROGRAM(cubes_visit, cubes_begin, cubes_step, cubes_end, cubes_hit, cubes_box);

#endif
