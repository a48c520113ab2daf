/* Keys as points of a scene (Henneberg and Schuhknecht, "RTIndeX", 3.2 and 3.4).
 *
 * naive     x = key, below 2^23, so that the gap of 1/2 beside every key is exact
 * extended  x = the float of bits 2 key + 0x3F000000, key below 2^29; the floats between are the gaps
 * 3d        x, y, z = the key's lowest, middle and highest bits, each at most 23 of them
 *
 * Each axis is stretched by a power of two, which keeps every coordinate exact. Floats only find candidates:
 * the family compares integers. */
#ifndef KEYRAY_INDEX_SCENES_POINT_H
#define KEYRAY_INDEX_SCENES_POINT_H

#include "base/key/key.h"

enum { KR_POINT_NAIVE, KR_POINT_EXTENDED, KR_POINT_3D };

typedef struct kr_point {
    float x, y, z;
} kr_point;

typedef struct kr_point_map {
    kr_point step;           /* between neighbouring keys, rows and planes */
    uint32_t mode;           /* KR_POINT_* */
    uint32_t x_bits, y_bits; /* 3d; z has the rest */
} kr_point_map;
kr_assert_size(kr_point_map, 24);

#define KR_NAIVE_MOST ((1u << 23) - 1)
#define KR_EXTENDED_MOST ((1u << 29) - 1)

/* x of a key in extended mode; `gaps` floats further: 1 is the gap after the key. */
KR_BODY float kr_point_extended(const kr_point_map *map, uint32_t key, int gaps)
{
    return kr_bits_f32(2 * key + 0x3F000000u + (uint32_t)gaps) * map->step.x;
}

KR_BODY uint64_t kr_point_low_bits(uint64_t key, uint32_t bits)
{
    return bits < 64 ? key & (((uint64_t)1 << bits) - 1) : key;
}

/* Keys of one row differ in their x only. */
KR_BODY uint64_t kr_point_row(const kr_point_map *map, uint64_t key)
{
    return map->mode == KR_POINT_3D ? key >> map->x_bits : 0;
}

/* The row's first and last key. */
KR_BODY uint64_t kr_point_row_first(const kr_point_map *map, uint64_t row)
{
    return row << map->x_bits;
}

KR_BODY uint64_t kr_point_row_last(const kr_point_map *map, uint64_t row)
{
    return row << map->x_bits | (((uint64_t)1 << map->x_bits) - 1);
}

KR_BODY kr_point kr_point_of(const kr_point_map *map, uint64_t key)
{
    kr_point point = {0, 0, 0};
    if (map->mode == KR_POINT_EXTENDED) {
        point.x = kr_point_extended(map, (uint32_t)key, 0);
    } else if (map->mode == KR_POINT_NAIVE) {
        point.x = (float)(uint32_t)key * map->step.x;
    } else {
        const uint64_t row = key >> map->x_bits;
        point.x = (float)(uint32_t)kr_point_low_bits(key, map->x_bits) * map->step.x;
        point.y = (float)(uint32_t)kr_point_low_bits(row, map->y_bits) * map->step.y;
        point.z = (float)(uint32_t)(row >> map->y_bits) * map->step.z;
    }
    return point;
}

/* How far a triangle extends from its point on each axis, in steps. Neighbours are 1 step apart. */
#define KR_TRIANGLE_REACH 0.5f

/* The triangle of a point, with corners (+, 0, -), (-, +, 0), (0, -, +) around it. It contains the point and
 * is parallel to no axis, so rays along any axis meet it. It extends `reach` from the point on y and z, and
 * from `low` to `high` on x. Rays up any axis see its back if `back` is 1, else its front. */
KR_BODY void kr_point_triangle(const kr_point *at, float low, float high, const kr_point *reach, int back,
                               float *out)
{
    float *second = out + (back ? 3 : 6), *third = out + (back ? 6 : 3);
    out[0] = high;
    out[1] = at->y;
    out[2] = at->z - reach->z;
    second[0] = low;
    second[1] = at->y + reach->y;
    second[2] = at->z;
    third[0] = at->x;
    third[1] = at->y - reach->y;
    third[2] = at->z + reach->z;
}

#endif
