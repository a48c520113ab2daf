/* The bodies of kind `rx` that cast no rays: making primitives, finding distinct keys, empty answers. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/rx/rx_geometry.h"
#include "index/families/rx/rx_mesh.h"
#include "index/kinds/batch.h"
#include "index/results/totals.h"

/* Writes primitive first + i of a mesh. */
KR_BODY void rx_write_primitive(const rx_mesh_params *p, uint64_t i)
{
    const uint64_t position = p->positions ? kr_load(p->positions + p->first + i) : p->first + i;
    const uint64_t key = kr_load((const kr_key *)p->keys + position);
    float *out = p->out + i * rx_prim_floats(p->prim);
    if (p->prim == RX_TRIANGLE)
        rx_triangle(&p->map, key, out);
    else if (p->prim == RX_SPHERE)
        rx_sphere(&p->map, key, out);
    else
        rx_box_of(&p->map, key, out);
}
KR_MAP_PROGRAM(rx_mesh, rx_mesh_params, rx_write_primitive);

KR_BODY void rx_write_door(const rx_doors_params *p, uint64_t i)
{
    const uint32_t first = p->doors[i].scene.first;
    p->doors[i].lowest =
        kr_load((const kr_key *)p->keys + (p->positions ? kr_load(p->positions + first) : first));
}
KR_MAP_PROGRAM(rx_doors, rx_doors_params, rx_write_door);

/* ---- Distinct keys: counted by blocks, then written from each block's start ------------------ */

enum { RX_BLOCK = 32 };

typedef struct rx_distinct_params {
    const void *keys;
    uint64_t *blocks;    /* per block: its distinct keys, then those of all blocks before it */
    uint32_t *positions; /* first positions of distinct keys */
    uint64_t n;
} rx_distinct_params;

KR_BODY int rx_is_first(const rx_distinct_params *p, uint64_t i)
{
    const kr_key *keys = (const kr_key *)p->keys;
    return i == 0 || kr_load(keys + i - 1) != kr_load(keys + i);
}

KR_BODY void rx_count_block(const rx_distinct_params *p, uint64_t block)
{
    uint64_t count = 0;
    for (uint64_t i = block * RX_BLOCK; i < (block + 1) * RX_BLOCK && i < p->n; ++i)
        count += rx_is_first(p, i) ? 1 : 0;
    p->blocks[block] = count;
}
KR_MAP_PROGRAM(rx_count_distinct, rx_distinct_params, rx_count_block);

KR_BODY void rx_write_block(const rx_distinct_params *p, uint64_t block)
{
    uint64_t at = p->blocks[block];
    for (uint64_t i = block * RX_BLOCK; i < (block + 1) * RX_BLOCK && i < p->n; ++i)
        if (rx_is_first(p, i))
            p->positions[at++] = (uint32_t)i;
}
KR_MAP_PROGRAM(rx_write_distinct, rx_distinct_params, rx_write_block);

/* ---- answer=scan ------------------------------------------------------------------------------ */

/* The second program of Wu, Algorithm 4: a thread of its own for each probe goes through the sorted keys. */
typedef struct rx_scan_params {
    kr_batch batch;
    const uint32_t *found; /* by probe: the first position of its match, or KR_NO_ROW */
    const void *keys;
    const uint32_t *rows;
    uint64_t n; /* keys */
    uint64_t *out;
    const uint32_t *order;
    reduce_params sum; /* what a row adds: reduce_addend */
} rx_scan_params;

KR_BODY void rx_scan_one(const rx_scan_params *p, uint64_t i)
{
    const uint32_t found = kr_load(p->found + i);
    uint64_t total = 0;
    kr_key lower, upper;
    if (found != KR_NO_ROW && kr_batch_load(&p->batch, i, &lower, &upper))
        for (uint64_t at = found; at < p->n && kr_load((const kr_key *)p->keys + at) <= upper; ++at)
            total += reduce_addend(&p->sum, kr_load(p->rows + at));
    p->out[kr_answer_place(p->order, i)] = total;
}
KR_MAP_PROGRAM(rx_sum_scan, rx_scan_params, rx_scan_one);

/* ---- For validate -------------------------------------------------------------------------- */

typedef struct rx_positions_params {
    const void *keys;
    const uint32_t *rows;
    const uint32_t *positions;
    const uint32_t *row_of; /* NULL, or the row id of each entry */
    uint64_t n_positions, n;
    uint64_t *found; /* one more than the largest entry that is wrong */
    uint64_t by_row;
} rx_positions_params;

/* Entries ascend, each is the first of its key, and only equal keys lie between two. */
KR_BODY int rx_right_distinct(const rx_positions_params *p, uint64_t i, uint64_t at)
{
    const kr_key *keys = (const kr_key *)p->keys;
    const uint64_t next = i + 1 < p->n_positions ? kr_load(p->positions + i + 1) : p->n;
    if (at >= next || next > p->n || (i == 0 && at != 0))
        return 0;
    return (at == 0 || kr_load(keys + at - 1) != kr_load(keys + at)) &&
           kr_load(keys + next - 1) == kr_load(keys + at);
}

/* Row ids ascend in the order of the entries. */
KR_BODY int rx_right_row(const rx_positions_params *p, uint64_t i, uint64_t at)
{
    if (at >= p->n || (p->row_of && kr_load(p->row_of + i) != kr_load(p->rows + at)))
        return 0;
    if (i == 0)
        return 1;
    const uint64_t before = kr_load(p->positions + i - 1);
    return before < p->n && kr_load(p->rows + before) < kr_load(p->rows + at);
}

KR_BODY void rx_check_position(const rx_positions_params *p, uint64_t i)
{
    const uint64_t at = kr_load(p->positions + i);
    if (!(p->by_row ? rx_right_row(p, i, at) : rx_right_distinct(p, i, at)))
        kr_atomic_max64(p->found, i + 1);
}
KR_MAP_PROGRAM(rx_check_positions, rx_positions_params, rx_check_position);

/* ---- An index without keys ----------------------------------------------------------------- */

typedef struct rx_nothing_params {
    kr_put put;
} rx_nothing_params;

KR_BODY void rx_put_nothing(const rx_nothing_params *p, uint64_t i)
{
    if (p->put.what == KR_PUT_COUNT || p->put.what == KR_PUT_MATCH)
        kr_put_match(&p->put, i, 0, 0);
    else
        kr_put_first(&p->put, i, 0, 0);
}
KR_MAP_PROGRAM(rx_nothing, rx_nothing_params, rx_put_nothing);

#endif
