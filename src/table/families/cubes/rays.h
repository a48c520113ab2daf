/* Regions of a scene, and the rays that meet every cube whose centre is in a region (RTScan, section 4.4).
 *
 * Cubes are 2 half + 1 cells wide, and centres and rays are at whole cells, so a ray meets a cube exactly if
 * the centre is at most `half` cells away on each axis across the ray. Rays at most a width apart thus meet
 * all cubes, and rays a width apart meet none twice. The same holds along a ray, which is cut in pieces with
 * gaps of at most a width. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_RAYS_H
#define KEYRAY_TABLE_FAMILIES_CUBES_RAYS_H

#include "base/program/lang.h"

enum { CUBES_AXES = 3 };

/* Where rays go that have no axis for all regions: along the axis of a region that needs fewest of them, or
 * along its longest. */
enum { CUBES_FEWEST = CUBES_AXES, CUBES_LONGEST };

/* What stands for a row: a cube, within a box; the triangle of a line (section 2.3); or a surface around a
 * cell, which rays that meet its cube meet as well (section 4.4.2). */
enum { CUBES_BOX, CUBES_LINE, CUBES_TRIANGLE, CUBES_SPHERE };

/* Where rays are, in cells. */
typedef struct cubes_matrix {
    uint32_t shape; /* CUBES_BOX ... */
    uint32_t half;
    uint32_t interval; /* between rays, 1 .. 2 half + 1 */
    uint32_t spacing;  /* between pieces of a ray, 0 .. 2 half + 1 */
    uint32_t length;   /* of a piece */
    uint32_t along;    /* the axis of all rays, CUBES_FEWEST or CUBES_LONGEST */
} cubes_matrix;

/* The cells first .. last on each axis. */
typedef struct cubes_region {
    int32_t first[CUBES_AXES], last[CUBES_AXES];
} cubes_region;

/* The rays of a region: number a + n_a * (b + n_b * piece). */
typedef struct cubes_rays {
    cubes_region region;
    uint32_t n_a, n_b, n_pieces;
    uint32_t axes;  /* a | b << 2 | along << 4 | the job of a batch << 8 */
    uint64_t first; /* number of the first */
} cubes_rays;
kr_assert_size(cubes_rays, 48);

static inline uint64_t cubes_rays_count(const cubes_rays *rays)
{
    return (uint64_t)rays->n_a * rays->n_b * rays->n_pieces;
}

/* A surface is met at a point, not all along a cube: how far from its centre, at most. 0: there is none. */
static inline uint32_t cubes_rays_reach(const cubes_matrix *matrix)
{
    return matrix->shape >= CUBES_TRIANGLE ? 3 * matrix->half + 2 : 0;
}

/* The region is not empty. `first` is left 0. */
cubes_rays cubes_rays_of(const cubes_matrix *matrix, const cubes_region *region);

#endif
