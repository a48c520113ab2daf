/* Records, cubes, and the parameters of the ray programs. */
#ifndef KEYRAY_SCANS_CUBES_CUBES_PARAMS_H
#define KEYRAY_SCANS_CUBES_CUBES_PARAMS_H

#include "scans/cubes/rays.h"
#include "tracers/ray.h"

/* A row's record: its cell on each axis, in CUBES_RECORD_BITS bits. */
enum { CUBES_RECORD_BITS = 20, CUBES_RECORD_MASK = (1 << CUBES_RECORD_BITS) - 1 };

KR_BODY int32_t cubes_record_cell(uint64_t record, uint32_t axis)
{
    return (int32_t)(record >> axis * CUBES_RECORD_BITS & CUBES_RECORD_MASK);
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
    const uint64_t *records;
    uint64_t *work; /* KR_SCAN_WORKS, or NULL */
    /* Of a batch, in device memory. NULL: `only`, `tests` and `rays`. */
    const cubes_ray_job *more_jobs;
    const cubes_test *more_tests;
    const cubes_rays *more_rays;
    cubes_ray_job only;
    cubes_test tests[CUBES_AXES];
    uint32_t n_regions, reserved;
    uint32_t half, interval, spacing, length;
    cubes_rays rays[CUBES_REGIONS];
} cubes_ray_params;
kr_assert_size(cubes_ray_params, 1872);

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

/* The cube of a record. */
KR_BODY void cubes_box_of(uint64_t record, uint32_t half, float box[6])
{
    const float reach = (float)half + 0.5f;
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        const float centre = (float)cubes_record_cell(record, axis);
        box[axis] = centre - reach;
        box[CUBES_AXES + axis] = centre + reach;
    }
}

#endif
