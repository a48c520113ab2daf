/* Which triangles a bucket has (Henneberg, Schuhknecht, Kharal and Brown, "cgRX", Algorithms 1 and 3), as
 * numbers. A bucket's representative is its largest key. Algorithm 3 is corrected in one place: a row whose
 * last key lies at x_max needs no other mark, which would hide a run of equal keys there that crosses a
 * bucket's end. What is missing before the first bucket and after the last differs from every key. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_MARKS_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_MARKS_H

#include "index/scenes/point.h"

enum { CGRX_REP = 1, CGRX_MOVED = 2, CGRX_FLIPPED = 4, CGRX_ROW_MARK = 8, CGRX_PLANE_MARK = 16 };

/* The keys around the end of a bucket. */
typedef struct cgrx_end {
    uint64_t rep;
    uint64_t before;   /* the representative of the bucket before */
    uint64_t after;    /* the representative of the bucket after */
    uint64_t next_key; /* the key after the representative */
    uint32_t is_first, is_last;
} cgrx_end;

KR_BODY uint64_t cgrx_plane(const kr_point_map *map, uint64_t key)
{
    return kr_point_row(map, key) >> map->y_bits;
}

KR_BODY uint64_t cgrx_x_most(const kr_point_map *map)
{
    return ((uint64_t)1 << map->x_bits) - 1;
}

KR_BODY uint64_t cgrx_y_most(const kr_point_map *map)
{
    return ((uint64_t)1 << map->y_bits) - 1;
}

/* 1 when the representative may move to the end of its row: no other key of the row follows. */
KR_BODY int cgrx_movable(const kr_point_map *map, const cgrx_end *e)
{
    return e->is_last || kr_point_row(map, e->next_key) != kr_point_row(map, e->rep);
}

KR_BODY uint32_t cgrx_marks_naive(const kr_point_map *map, const cgrx_end *e)
{
    if (!e->is_first && e->rep == e->before)
        return 0;
    const int new_row = e->is_first || kr_point_row(map, e->rep) != kr_point_row(map, e->before);
    const int new_plane = e->is_first || cgrx_plane(map, e->rep) != cgrx_plane(map, e->before);
    return CGRX_REP | (new_row ? CGRX_ROW_MARK : 0) | (new_plane ? CGRX_PLANE_MARK : 0);
}

KR_BODY uint32_t cgrx_marks_optimized(const kr_point_map *map, const cgrx_end *e)
{
    const int movable = cgrx_movable(map, e);
    const uint64_t row = kr_point_row(map, e->rep), x = kr_point_low_bits(e->rep, map->x_bits);
    const uint64_t y = kr_point_low_bits(row, map->y_bits);
    uint32_t marks = 0;
    if (e->is_first || e->rep != e->before || (movable && x != cgrx_x_most(map)))
        marks = CGRX_REP;
    if (marks && movable)
        marks |= CGRX_MOVED | (e->is_first || kr_point_row(map, e->before) != row ? CGRX_FLIPPED : 0);
    if (!movable && x != cgrx_x_most(map) && (e->is_last || kr_point_row(map, e->after) != row))
        marks |= CGRX_ROW_MARK;
    if (y != cgrx_y_most(map) && (e->is_last || cgrx_plane(map, e->after) != cgrx_plane(map, e->rep)))
        marks |= CGRX_PLANE_MARK;
    return marks;
}

/* The largest key for which lookups find this bucket. A bucket owns the keys up to it that the bucket before
 * does not own; the last bucket owns all that follow. */
KR_BODY uint64_t cgrx_owns_to(const kr_point_map *map, int optimized, const cgrx_end *e)
{
    if (e->is_last)
        return ~(uint64_t)0;
    return optimized && cgrx_movable(map, e) ? kr_point_row_last(map, kr_point_row(map, e->rep)) : e->rep;
}

#endif
