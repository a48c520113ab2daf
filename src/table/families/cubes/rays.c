#include "table/families/cubes/rays.h"

static uint32_t extent_of(const cubes_region *region, uint32_t axis)
{
    return (uint32_t)(region->last[axis] - region->first[axis]) + 1;
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Rays that follow each other in number are neighbours in the scene: the shorter axis comes first. */
static cubes_rays rays_along(const cubes_matrix *matrix, const cubes_region *region, uint32_t along)
{
    uint32_t a = (along + 1) % CUBES_AXES, b = (along + 2) % CUBES_AXES;
    if (extent_of(region, a) > extent_of(region, b)) {
        const uint32_t other = a;
        a = b;
        b = other;
    }
    return (cubes_rays){
        .region = *region,
        .n_a = ceil_div(extent_of(region, a), matrix->interval),
        .n_b = ceil_div(extent_of(region, b), matrix->interval),
        .n_pieces = ceil_div(extent_of(region, along) + 2 * cubes_rays_reach(matrix),
                             matrix->length + matrix->spacing),
        .axes = a | b << 2 | along << 4,
    };
}

static uint32_t longest_axis(const cubes_region *region)
{
    uint32_t longest = CUBES_AXES - 1;
    for (uint32_t axis = 0; axis + 1 < CUBES_AXES; ++axis)
        if (extent_of(region, axis) > extent_of(region, longest))
            longest = axis;
    return longest;
}

cubes_rays cubes_rays_of(const cubes_matrix *matrix, const cubes_region *region)
{
    if (matrix->along != CUBES_FEWEST)
        return rays_along(matrix, region,
                          matrix->along == CUBES_LONGEST ? longest_axis(region) : matrix->along);
    cubes_rays best = rays_along(matrix, region, CUBES_AXES - 1);
    for (uint32_t along = 0; along + 1 < CUBES_AXES; ++along) {
        const cubes_rays rays = rays_along(matrix, region, along);
        if (cubes_rays_count(&rays) < cubes_rays_count(&best))
            best = rays;
    }
    return best;
}
