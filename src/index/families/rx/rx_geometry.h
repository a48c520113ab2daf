/* Where the primitive of a key lies, and the rays that meet it (Henneberg and Schuhknecht, "RTIndeX", 3.2,
 * 3.3, 3.5). The generator of meshes and the intersection test of boxes share this code. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_GEOMETRY_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_GEOMETRY_H

#include "index/scenes/point.h"

/* The same as KR_PRIM_*, for files that cast no rays. */
enum { RX_TRIANGLE, RX_SPHERE, RX_AABB };
enum { RX_RAY_PERPENDICULAR, RX_RAY_OFFSET, RX_RAY_ZERO };

/* Builders multiply areas with counts: (2^23 2^scale)^2 2^29 must be a float. */
#define RX_MOST_SCALE 25

/* Rays must begin and end outside of spheres. */
#define RX_SPHERE_REACH 0.25f
/* Boxes reach as far as triangles, since from 2^22 on there are no floats in between. Rays along a row begin
 * and end a quarter inside the outermost boxes, or they would meet the boxes beside them. */
#define RX_BOX_REACH 0.5f
#define RX_BOX_INSET 0.25f

/* Distances along a ray are sums of floats and slightly off where the ray is long. Rays reach further by this
 * share of their length: nothing for a few keys, 8 keys for 2^23. */
#define RX_PAD 0x1p-20f
/* In extended mode, this many floats beyond the gap, which includes the neighbouring keys. */
enum { RX_PAD_GAPS = 3 };
/* The length of a ray across keys where x was scaled down: a tracer compares it with gaps in x that it
 * multiplied by 1e18. */
#define RX_SHORT 0x1p-50f
#define RX_TINY 0x1p-60f /* smaller steps are scaled down */

/* One radius serves all spheres: that of the narrowest axis. */
KR_BOTH float rx_radius(const kr_point_map *map)
{
    const float narrow = map->step.x < map->step.y ? map->step.x : map->step.y;
    return RX_SPHERE_REACH * (narrow < map->step.z ? narrow : map->step.z);
}

KR_BODY uint32_t rx_prim_floats(uint32_t prim)
{
    return prim == RX_TRIANGLE ? 9 : prim == RX_SPHERE ? 3 : 6;
}

/* The x of a neighbouring gap in extended mode, else x - reach or x + reach. */
KR_BODY float rx_x_beside(const kr_point_map *map, uint64_t key, float x, float reach, int side)
{
    if (map->mode == KR_POINT_EXTENDED)
        return kr_point_extended(map, (uint32_t)key, side);
    return x + (float)side * reach * map->step.x;
}

KR_BODY void rx_triangle(const kr_point_map *map, uint64_t key, float *out)
{
    const kr_point at = kr_point_of(map, key);
    const kr_point reach = {0, KR_TRIANGLE_REACH * map->step.y, KR_TRIANGLE_REACH * map->step.z};
    kr_point_triangle(&at, rx_x_beside(map, key, at.x, KR_TRIANGLE_REACH, -1),
                      rx_x_beside(map, key, at.x, KR_TRIANGLE_REACH, 1), &reach, 1, out);
}

KR_BODY void rx_box_of(const kr_point_map *map, uint64_t key, float *out)
{
    const kr_point at = kr_point_of(map, key);
    const float y = RX_BOX_REACH * map->step.y, z = RX_BOX_REACH * map->step.z;
    for (int side = 0; side < 2; ++side) {
        const float sign = side ? 1.0f : -1.0f;
        out[3 * side] = rx_x_beside(map, key, at.x, RX_BOX_REACH, side ? 1 : -1);
        out[3 * side + 1] = at.y + sign * y;
        out[3 * side + 2] = at.z + sign * z;
    }
}

KR_BODY void rx_sphere(const kr_point_map *map, uint64_t key, float *out)
{
    const kr_point at = kr_point_of(map, key);
    out[0] = at.x;
    out[1] = at.y;
    out[2] = at.z;
}

#endif
