/* The bodies that make the scene of kind `cgrx`: the number of triangles of each bucket, the triangles, and
 * the buckets that rays along y and z lead to. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCENE_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCENE_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/cgrx/cgrx_marks.h"
#include "index/families/cgrx/cgrx_scene_params.h"

/* ---- The keys around the ends of buckets, of an index that was saved ---------------------------- */

/* What a list owns to, as the representative that it had. It may have been another key of the same row: then
 * the row ended with it, it was moved to the row's end, and no triangle tells the two apart. */
KR_BODY kr_key cgrx_rep_of_list(const cgrx_pairs_params *p, uint64_t b)
{
    return b + 1 < p->n_buckets ? kr_load((const kr_key *)p->ends + b) : (kr_key)p->last_rep;
}

/* A key in the row of the first one of the list: that of the representative before it, unless that row ended
 * there. Where keys equal to the last one of a row follow it, the end has a row id. */
KR_BODY kr_key cgrx_first_of_list(const cgrx_pairs_params *p, uint64_t b)
{
    const kr_key before = b ? cgrx_rep_of_list(p, b - 1) : 0;
    const int ended = p->optimized && before == kr_point_row_last(&p->map, kr_point_row(&p->map, before)) &&
                      b && kr_load(p->end_rows + b - 1) == KR_NO_ROW;
    return b == 0 || ended ? cgrx_rep_of_list(p, b) : before;
}

KR_BODY void cgrx_write_ends(const cgrx_pairs_params *p, uint64_t b)
{
    kr_key *pair = (kr_key *)p->keys + 2 * b;
    if (p->ends) {
        pair[0] = cgrx_first_of_list(p, b);
        pair[1] = cgrx_rep_of_list(p, b);
        return;
    }
    pair[0] = kr_entries_key(&p->entries.store, cgrx_bucket_first(&p->entries, (uint32_t)b));
    pair[1] =
        kr_entries_key(&p->entries.store, cgrx_bucket_first(&p->entries, (uint32_t)b + 1) - UINT64_C(1));
}
KR_MAP_PROGRAM(cgrx_ends_of_buckets, cgrx_pairs_params, cgrx_write_ends);

/* ---- Triangles and names ------------------------------------------------------------------------ */

KR_BODY uint64_t cgrx_rep_of(const cgrx_scene_params *p, uint64_t b)
{
    const uint64_t end = (b + 1) * p->bucket;
    return kr_load((const kr_key *)p->keys + (end < p->n ? end : p->n) - 1);
}

KR_BODY uint32_t cgrx_marks_of(const cgrx_scene_params *p, uint64_t b, cgrx_end *end)
{
    end->is_first = b == 0;
    end->is_last = b + 1 == p->n_buckets;
    end->rep = cgrx_rep_of(p, b);
    end->before = end->is_first ? 0 : cgrx_rep_of(p, b - 1);
    end->after = end->is_last ? 0 : cgrx_rep_of(p, b + 1);
    end->next_key = end->is_last ? 0 : kr_load((const kr_key *)p->keys + (b + 1) * p->bucket);
    const uint32_t marks = p->optimized ? cgrx_marks_optimized(&p->map, end) : cgrx_marks_naive(&p->map, end);
    /* Without a second row no ray goes along y, without a second plane none along z. */
    return marks & ~(uint32_t)((p->rows ? 0 : CGRX_ROW_MARK) | (p->planes ? 0 : CGRX_PLANE_MARK) |
                               (p->flips ? 0 : CGRX_FLIPPED));
}

/* counts[b]: the triangles of bucket b, and in the high half 1 if a row begins with it. The element past the
 * end is 0, so that the exclusive sum ends in the totals. */
KR_BODY void cgrx_count_bucket(const cgrx_scene_params *p, uint64_t b)
{
    cgrx_end end;
    const uint32_t marks = b < p->n_buckets ? cgrx_marks_of(p, b, &end) : 0;
    const int begins_row = b < p->n_buckets && (end.is_first || kr_point_row(&p->map, end.before) !=
                                                                    kr_point_row(&p->map, end.rep));
    p->counts[b] = kr_popcount32(marks & (CGRX_REP | CGRX_ROW_MARK | CGRX_PLANE_MARK)) | (uint64_t)begins_row
                                                                                             << 32;
}
KR_MAP_PROGRAM(cgrx_count, cgrx_scene_params, cgrx_count_bucket);

/* The last bucket whose triangles do not begin behind the part's first. */
KR_BODY void cgrx_begin_part(const cgrx_scene_params *p, uint64_t i)
{
    const uint64_t first = i * p->part;
    uint64_t low = 0, high = p->n_buckets;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if ((uint32_t)p->counts[middle] <= first)
            low = middle;
        else
            high = middle;
    }
    p->begins[i] = (uint32_t)low;
}
KR_MAP_PROGRAM(cgrx_begins, cgrx_scene_params, cgrx_begin_part);

/* x and y are floats, in steps: marks of the naive scene lie one step before the first key. Triangles of
 * other parts are left out. */
KR_BODY void cgrx_write_one(const cgrx_scene_params *p, uint64_t at, uint64_t target, float x, float y,
                            float z, int back)
{
    if (at < p->first || at >= p->end)
        return;
    const kr_point step = p->map.step;
    const kr_point point = {x * step.x, y * step.y, z * step.z};
    const kr_point reach = {0, KR_TRIANGLE_REACH * step.y, KR_TRIANGLE_REACH * step.z};
    const float wide = KR_TRIANGLE_REACH * step.x;
    kr_point_triangle(&point, point.x - wide, point.x + wide, &reach, back,
                      p->triangles + 9 * (at - p->first));
    p->targets[at] = (uint32_t)target;
}

KR_BODY void cgrx_write_bucket(const cgrx_scene_params *p, uint64_t i)
{
    cgrx_end end;
    const uint64_t b = p->first_bucket + i;
    const kr_point_map *map = &p->map;
    const uint32_t marks = cgrx_marks_of(p, b, &end);
    const uint64_t row = kr_point_row(map, end.rep);
    const float x = (float)(uint32_t)kr_point_low_bits(end.rep, map->x_bits);
    const float y = (float)(uint32_t)kr_point_low_bits(row, map->y_bits),
                z = (float)(uint32_t)(row >> map->y_bits);
    const float mark_x = p->optimized ? (float)(uint32_t)cgrx_x_most(map) : -1.0f;
    const float mark_y = p->optimized ? (float)(uint32_t)cgrx_y_most(map) : -1.0f;
    uint64_t at = (uint32_t)p->counts[b];
    if (marks & CGRX_REP)
        cgrx_write_one(p, at++, b, marks & CGRX_MOVED ? mark_x : x, y, z, (marks & CGRX_FLIPPED) != 0);
    if (marks & CGRX_ROW_MARK)
        cgrx_write_one(p, at++, b + p->n_buckets, mark_x, y, z, 0);
    if (marks & CGRX_PLANE_MARK)
        cgrx_write_one(p, at++, b + 2 * p->n_buckets, mark_x, mark_y, z, 0);
}
KR_MAP_PROGRAM(cgrx_triangles, cgrx_scene_params, cgrx_write_bucket);

/* The first bucket up to b whose representative is at least `key`. */
KR_BODY uint64_t cgrx_first_bucket(const cgrx_scene_params *p, uint64_t b, uint64_t key)
{
    uint64_t low = 0, high = b;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (cgrx_rep_of(p, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KR_BODY void cgrx_name_bucket(const cgrx_scene_params *p, uint64_t b)
{
    const uint64_t row = kr_point_row(&p->map, cgrx_rep_of(p, b)), plane = row >> p->map.y_bits;
    p->row_first[b] = (uint32_t)cgrx_first_bucket(p, b, kr_point_row_first(&p->map, row));
    if (p->planes)
        p->plane_first[b] =
            (uint32_t)cgrx_first_bucket(p, b, kr_point_row_first(&p->map, plane << p->map.y_bits));
}
KR_MAP_PROGRAM(cgrx_names, cgrx_scene_params, cgrx_name_bucket);

#endif
