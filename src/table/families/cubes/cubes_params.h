/* Records, cubes, and the parameters of the ray programs. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_CUBES_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_CUBES_CUBES_PARAMS_H

#include "base/tracers/ray.h"
#include "table/families/cubes/rays.h"

/* A row's record: its cell on each axis, in CUBES_RECORD_BITS bits. The highest of these is 0, which lets all
 * axes be compared at once. */
enum { CUBES_RECORD_BITS = 20, CUBES_RECORD_MASK = (1 << CUBES_RECORD_BITS) - 1 };
enum { CUBES_LAST_CELL = (1 << (CUBES_RECORD_BITS - 1)) - 2 };

KR_BODY int32_t cubes_record_cell(uint64_t record, uint32_t axis)
{
    return (int32_t)(record >> axis * CUBES_RECORD_BITS & CUBES_RECORD_MASK);
}

/* A record with this cell on every axis. */
KR_BODY uint64_t cubes_record_of_cell(uint32_t cell)
{
    const uint64_t one = cell;
    return one | one << CUBES_RECORD_BITS | one << 2 * CUBES_RECORD_BITS;
}

/* The record of slots behind the last row, which is in no block. */
#define CUBES_NOWHERE cubes_record_of_cell(CUBES_LAST_CELL + 1)

/* Cells from those of one record to those of another. */
typedef struct cubes_block {
    uint64_t low, high;
} cubes_block;

/* Reaches from `first`, or 0, to `last`, which is not below 0, or CUBES_LAST_CELL. */
KR_BODY void cubes_block_set(cubes_block *block, uint32_t axis, int32_t first, int32_t last)
{
    const uint32_t shift = axis * CUBES_RECORD_BITS;
    block->low |= (uint64_t)(first < 0 ? 0 : first) << shift;
    block->high |= (uint64_t)(last > CUBES_LAST_CELL ? CUBES_LAST_CELL : last) << shift;
}

KR_BODY cubes_block cubes_block_of(const cubes_region *region)
{
    cubes_block block = {0, 0};
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        cubes_block_set(&block, axis, region->first[axis], region->last[axis]);
    return block;
}

/* A difference keeps the bit that is added on an axis unless it falls below 0 there. */
KR_BODY uint32_t cubes_block_has(const cubes_block *block, uint64_t record)
{
    const uint64_t bits = cubes_record_of_cell((uint32_t)1 << (CUBES_RECORD_BITS - 1));
    return (((record | bits) - block->low) & ((block->high | bits) - record) & bits) == bits;
}

/* One column's part of a condition. Cells before `first` and behind `last` hold no code of it, those between
 * these two hold no others; the codes of these two are compared with the intervals. */
typedef struct cubes_test {
    const void *data;
    const uint64_t *lows, *highs; /* of more than one interval */
    uint64_t low, high;           /* of the only interval */
    int32_t first, last;
    int32_t null_first; /* the first cell of NULLs */
    uint32_t nulls;     /* 1: NULLs belong to it */
    uint32_t n_intervals;
    uint32_t type, axis;
    uint32_t ends; /* 1: the last test of a conjunction; any of these is enough */
} cubes_test;
kr_assert_size(cubes_test, 72);

/* What rays write the truth of; without tests, all rows hold. */
typedef struct cubes_ray_job {
    const uint32_t *alive; /* or NULL */
    uint32_t *bitmap;
    uint32_t first_test, end_test;
} cubes_ray_job;
kr_assert_size(cubes_ray_job, 24);

/* Regions for one launch, where they are not in device memory. */
enum { CUBES_REGIONS = 32 };

typedef struct cubes_ray_params {
    kr_scene_view scene;
    const uint64_t *records; /* of slots, CUBES_NOWHERE behind the last row; primitive i has `pack` of them */
    const uint32_t *rows;    /* of slots that have one */
    uint64_t *work;          /* KR_SCAN_WORKS, or NULL */
    /* Of a batch, in device memory. NULL: `only`, `tests` and `rays`. */
    const cubes_ray_job *more_jobs;
    const cubes_test *more_tests;
    const cubes_rays *more_rays;
    cubes_ray_job only;
    cubes_test tests[CUBES_AXES];
    uint32_t n_regions, pack;
    uint32_t half, interval, spacing, length;
    uint32_t shape, reach; /* cubes_rays_reach */
    cubes_rays rays[CUBES_REGIONS];
} cubes_ray_params;
kr_assert_size(cubes_ray_params, 1888);

KR_BODY const cubes_rays *cubes_rays_at(const cubes_ray_params *p, uint32_t region)
{
    return (p->more_rays ? p->more_rays : p->rays) + region;
}

/* The triangle of a record, as in RTScan, section 2.3, in a scene of one column: its cut with z = 0 reaches
 * from the beginning of its cell to 2 half + 1 cells further, at most half as high. So a ray up y in the
 * middle of a cell meets it exactly if the record is in this cell or at most 2 half before it. */
KR_BODY void cubes_triangle_of(uint64_t record, uint32_t half, float out[9])
{
    const float size = (float)(2 * half + 1), begin = (float)cubes_record_cell(record, 0) - 0.5f;
    out[0] = begin + size, out[1] = 0, out[2] = 0;
    out[3] = begin, out[4] = 0, out[5] = size;
    out[6] = begin, out[7] = size, out[8] = -size;
}

/* A triangle that projects along each axis to a right one with legs of 2 w, w being the width of a cube, so
 * that every ray that meets the cube meets it, at up to 3 half + 1 cells from its centre; 2 w^2 is the least
 * area that can do that (section 4.4.2). */
KR_BODY void cubes_triangle3_of(uint64_t record, uint32_t half, float out[9])
{
    const float near = (float)half + 0.5f, far = 3 * near;
    for (uint32_t corner = 0; corner < 3; ++corner)
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
            out[3 * corner + axis] = (float)cubes_record_cell(record, axis) + (corner == axis ? far : -near);
}

/* A sphere around the cross-section of a cube: pi / 2 w^2. */
KR_BODY void cubes_sphere_of(uint64_t record, float out[3])
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        out[axis] = (float)cubes_record_cell(record, axis);
}
KR_BOTH float cubes_sphere_radius(uint32_t half)
{
    return 1.41421356f * ((float)half + 0.5f);
}

/* The box around the cubes of up to `pack` records, at least one. */
KR_BODY void cubes_box_of(const uint64_t *records, uint32_t pack, uint32_t half, float box[6])
{
    const float reach = (float)half + 0.5f;
    int32_t low[CUBES_AXES] = {0, 0, 0}, high[CUBES_AXES] = {0, 0, 0};
    for (uint32_t k = 0; k < pack; ++k) {
        const uint64_t record = kr_load(records + k);
        if (record == CUBES_NOWHERE)
            break;
        KR_UNROLL
        for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
            const int32_t cell = cubes_record_cell(record, axis);
            low[axis] = k && low[axis] < cell ? low[axis] : cell;
            high[axis] = k && high[axis] > cell ? high[axis] : cell;
        }
    }
    KR_UNROLL
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        box[axis] = (float)low[axis] - reach;
        box[CUBES_AXES + axis] = (float)high[axis] + reach;
    }
}

#endif
