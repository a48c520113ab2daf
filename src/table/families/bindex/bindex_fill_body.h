/* The programs that make a part, and check it. */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_FILL_BODY_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_FILL_BODY_H

#include "base/key/hash.h"
#include "base/key/key.h"
#include "table/families/bindex/bindex_params.h"

/* ---- Codes of some rows ---------------------------------------------------------------------- */

/* Row i of the sample is any of the i-th of `count` stretches of equal length, so that no order of the rows
 * matters. */
KR_BODY void bindex_take_sample(kr_group group, const bindex_sample_params *p, uint64_t i, uint64_t n)
{
    int is_null = 0;
    if (i < n) {
        const uint64_t first = p->n / n * i + p->n % n * i / n,
                       next = p->n / n * (i + 1) + p->n % n * (i + 1) / n;
        const uint64_t row = first + kr_mix64(i, 0) % (next - first);
        is_null = !kr_code_is_valid(p->validity, p->validity_offset, row);
        p->codes[i] = is_null ? ~(uint64_t)0 >> (64 - kr_type_significant_bits(p->type))
                              : kr_code_load(p->type, p->data, row);
    }
    if (p->validity) {
        const uint32_t nulls = kr_popcount32(kr_group_ballot(group, is_null));
        if (group.rank == 0 && nulls)
            kr_atomic_add64(p->nulls, nulls);
    }
}
KR_GROUP_PROGRAM(bindex_sample, bindex_sample_params, bindex_take_sample);

/* Evenly spaced among those that are not NULL. NULLs have the highest code, which a row may have, too. */
KR_BODY void bindex_pick_code(const bindex_pick_params *p, uint64_t i)
{
    const uint64_t n = p->count - kr_load(p->nulls);
    p->picked[i] = n ? kr_load(p->codes + n * (i + 1) / (p->n_picked + 1)) : 0;
}
KR_MAP_PROGRAM(bindex_pick, bindex_pick_params, bindex_pick_code);

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* What a block has in shared memory. */
typedef struct bindex_room {
    uint64_t *codes;    /* of all cells; those that are not there are all ones */
    uint32_t *counters; /* of all cells */
    uint32_t *bits;     /* of the rows of a tile */
    uint32_t *ends;     /* positions before the end of each vector */
} bindex_room;

KR_BODY bindex_room bindex_room_of(char *shared)
{
    bindex_room room;
    room.codes = (uint64_t *)shared;
    room.counters = (uint32_t *)(room.codes + BINDEX_CELLS);
    room.bits = room.counters + BINDEX_CELLS;
    room.ends = room.bits + BINDEX_WORDS;
    return room;
}

KR_BODY void bindex_load_codes(kr_block block, const bindex_view *v, const bindex_room *room)
{
    kr_block_sync(block);
    for (uint32_t c = block.rank; c < BINDEX_CELLS; c += block.size)
        room->codes[c] = c < v->n_cells ? kr_load(v->codes + c) : ~(uint64_t)0;
    kr_block_sync(block);
}

KR_BODY uint32_t bindex_rows_of(const bindex_view *v, uint64_t tile)
{
    const uint64_t room = (uint64_t)v->words * 32, left = v->n - tile * room;
    return (uint32_t)(left < room ? left : room);
}

KR_BODY int bindex_row_is_valid(const bindex_view *v, uint64_t row)
{
    return kr_code_is_valid(v->validity, v->validity_offset, row);
}

/* The last cell that does not begin above the code. */
KR_BODY uint32_t bindex_cell_of(const bindex_view *v, const uint64_t *codes, uint64_t row)
{
    const uint64_t code = kr_code_load(v->type, v->data, row);
    uint32_t cell = 0;
    KR_UNROLL
    for (uint32_t step = BINDEX_CELLS / 2; step; step /= 2)
        cell += codes[cell + step] <= code ? step : 0;
    return cell < v->n_cells ? cell : v->n_cells - 1;
}

KR_BODY void bindex_clear(kr_block block, uint32_t *words, uint32_t n)
{
    for (uint32_t w = block.rank; w < n; w += block.size)
        words[w] = 0;
    kr_block_sync(block);
}

/* Counts of cells become the counts before them; returns the count of all. */
KR_BODY uint32_t bindex_sum_counters(kr_block block, uint32_t *counters)
{
    enum { MINE = KR_MINE(BINDEX_CELLS) };
    uint32_t *mine = counters + block.rank * MINE;
    uint32_t sum = 0, all = 0;
    for (uint32_t c = 0; c < MINE; ++c)
        sum += mine[c];
    uint32_t before = kr_block_sum_before(block, sum, &all);
    for (uint32_t c = 0; c < MINE; ++c) {
        const uint32_t count = mine[c];
        mine[c] = before;
        before += count;
    }
    kr_block_sync(block);
    return all;
}

/* Leaves the end of each cell in its counter. */
KR_BODY void bindex_fill_positions(kr_block block, const bindex_view *v, uint64_t tile,
                                   const bindex_room *room)
{
    const uint64_t first_row = tile * v->words * 32;
    const uint32_t rows = bindex_rows_of(v, tile);
    bindex_clear(block, room->counters, BINDEX_CELLS);
    for (uint32_t i = block.rank; i < rows; i += block.size)
        if (bindex_row_is_valid(v, first_row + i))
            kr_block_count(block, room->counters, bindex_cell_of(v, room->codes, first_row + i));
    kr_block_sync(block);
    const uint32_t all = bindex_sum_counters(block, room->counters);
    for (uint32_t c = block.rank; c < v->n_cells; c += block.size)
        v->starts[c * v->n_tiles + tile] = room->counters[c];
    if (block.rank == 0)
        v->starts[v->n_cells * v->n_tiles + tile] = all;
    kr_block_sync(block);
    for (uint32_t i = block.rank; i < rows; i += block.size)
        if (bindex_row_is_valid(v, first_row + i))
            v->positions[first_row + kr_block_count(block, room->counters,
                                                    bindex_cell_of(v, room->codes, first_row + i))] =
                (uint16_t)i;
    kr_block_sync(block);
}

/* Bits of the rows at positions first .. end - 1, which this block may have written. */
KR_BODY void bindex_add_rows(kr_block block, const bindex_view *v, uint64_t tile, uint32_t first,
                             uint32_t end, uint32_t *bits)
{
    const uint16_t *positions = v->positions + tile * v->words * 32;
    for (uint32_t i = first + block.rank; i < end; i += block.size) {
        const uint32_t at = positions[i];
        kr_block_or(block, bits, at / 32, (uint32_t)1 << at % 32);
    }
    kr_block_sync(block);
}

KR_BODY void bindex_fill_vectors(kr_block block, const bindex_view *v, uint64_t tile, const bindex_room *room)
{
    uint32_t first = 0;
    for (uint32_t k = block.rank; k < v->n_vectors; k += block.size)
        room->ends[k] = room->counters[kr_load(v->ends + k) - 1];
    bindex_clear(block, room->bits, BINDEX_WORDS);
    for (uint32_t k = 0; k < v->n_vectors; ++k) {
        uint32_t *to = v->vectors + (k * v->n_tiles + tile) * v->words;
        bindex_add_rows(block, v, tile, first, room->ends[k], room->bits);
        for (uint32_t w = block.rank; w < v->words; w += block.size)
            kr_store_once(to + w, room->bits[w]);
        kr_block_sync(block);
        first = room->ends[k];
    }
}

KR_BODY void bindex_fill_tiles(kr_block block, char *shared, const bindex_fill_params *p, uint64_t n)
{
    const bindex_room room = bindex_room_of(shared);
    const bindex_view *loaded = NULL;
    for (uint64_t i = block.index; i < n; i += block.count) {
        const bindex_view *v = p->views + i / p->n_tiles;
        if (v != loaded)
            bindex_load_codes(block, v, &room);
        loaded = v;
        bindex_fill_positions(block, v, i % p->n_tiles, &room);
        bindex_fill_vectors(block, v, i % p->n_tiles, &room);
    }
}
KR_BLOCK_PAIR_PROGRAM(bindex_fill, bindex_fill_params, bindex_fill_tiles);

/* A group for each cell. */
KR_BODY void bindex_count_cell(kr_group group, const bindex_count_params *p, uint64_t i, uint64_t n)
{
    const uint64_t cell = i / group.size;
    const uint32_t *starts = p->starts + cell * p->n_tiles;
    uint64_t count = 0;
    (void)n;
    for (uint64_t t = group.rank; t < p->n_tiles; t += group.size)
        count += kr_load(starts + p->n_tiles + t) - kr_load(starts + t);
    kr_group_add64(group, count, p->counts + cell);
}
KR_GROUP_PROGRAM(bindex_count, bindex_count_params, bindex_count_cell);

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Element i is cell i / n_tiles of a tile. */
KR_BODY void bindex_check_start(const bindex_check_params *p, uint64_t i)
{
    const bindex_view *v = &p->view;
    const uint64_t cell = i / v->n_tiles, tile = i % v->n_tiles;
    const uint32_t start = kr_load(v->starts + i), next = kr_load(v->starts + i + v->n_tiles);
    if (start > next || next > bindex_rows_of(v, tile) || (cell == 0 && start))
        kr_atomic_max64(p->found + BINDEX_BAD_STARTS, tile + 1);
}
KR_MAP_PROGRAM(bindex_check_starts, bindex_check_params, bindex_check_start);

/* Element i is position i of the last tile, which may have fewer rows than 16 bits can name. */
KR_BODY void bindex_check_last_position(const bindex_check_params *p, uint64_t i)
{
    const bindex_view *v = &p->view;
    const uint64_t tile = v->n_tiles - 1, first_row = tile * v->words * 32;
    if (i < kr_load(v->starts + v->n_cells * v->n_tiles + tile) &&
        kr_load(v->positions + first_row + i) >= bindex_rows_of(v, tile))
        kr_atomic_max64(p->found + BINDEX_BAD_POSITIONS, tile + 1);
}
KR_MAP_PROGRAM(bindex_check_last, bindex_check_params, bindex_check_last_position);

/* The tile's positions name rows of their cells, that are not NULL, and all of these. */
KR_BODY int bindex_check_positions(kr_block block, const bindex_view *v, uint64_t tile,
                                   const bindex_room *room)
{
    const uint64_t first_row = tile * v->words * 32;
    const uint32_t rows = bindex_rows_of(v, tile);
    const uint32_t all = kr_load(v->starts + v->n_cells * v->n_tiles + tile);
    uint32_t good = 1, valid = 0, named = 0, total = 0;
    bindex_clear(block, room->bits, BINDEX_WORDS);
    for (uint32_t i = block.rank; i < all; i += block.size) {
        const uint32_t at = kr_load(v->positions + first_row + i);
        if (at >= rows || !bindex_row_is_valid(v, first_row + at)) {
            good = 0;
            continue;
        }
        const uint32_t *starts = v->starts + tile;
        const uint64_t cell = bindex_cell_of(v, room->codes, first_row + at);
        good &= kr_load(starts + cell * v->n_tiles) <= i && i < kr_load(starts + (cell + 1) * v->n_tiles);
        kr_block_or(block, room->bits, at / 32, (uint32_t)1 << at % 32);
    }
    kr_block_sync(block);
    for (uint32_t i = block.rank; i < rows; i += block.size)
        valid += bindex_row_is_valid(v, first_row + i) ? 1 : 0;
    for (uint32_t w = block.rank; w < BINDEX_WORDS; w += block.size)
        named += kr_popcount32(room->bits[w]);
    kr_block_sum_before(block, valid - named + (good ? 0 : BINDEX_TILE), &total);
    return total == 0;
}

KR_BODY void bindex_check_vectors(kr_block block, const bindex_check_params *p, uint64_t tile,
                                  const bindex_room *room)
{
    const bindex_view *v = &p->view;
    uint32_t first = 0;
    bindex_clear(block, room->bits, BINDEX_WORDS);
    for (uint32_t k = 0; k < v->n_vectors; ++k) {
        const uint32_t *vector = v->vectors + (k * v->n_tiles + tile) * v->words;
        const uint32_t end = kr_load(v->starts + kr_load(v->ends + k) * v->n_tiles + tile);
        bindex_add_rows(block, v, tile, first, end, room->bits);
        for (uint32_t w = block.rank; w < v->words; w += block.size)
            if (kr_load(vector + w) != room->bits[w])
                kr_atomic_max64(p->found + BINDEX_BAD_VECTORS, tile + 1);
        kr_block_sync(block);
        first = end;
    }
}

/* After bindex_check_starts and bindex_check_last have found nothing. */
KR_BODY void bindex_check_tiles(kr_block block, char *shared, const bindex_check_params *p, uint64_t n_tiles)
{
    const bindex_room room = bindex_room_of(shared);
    bindex_load_codes(block, &p->view, &room);
    for (uint64_t tile = block.index; tile < n_tiles; tile += block.count) {
        if (bindex_check_positions(block, &p->view, tile, &room))
            bindex_check_vectors(block, p, tile, &room);
        else if (block.rank == 0)
            kr_atomic_max64(p->found + BINDEX_BAD_POSITIONS, tile + 1);
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(bindex_check, bindex_check_params, bindex_check_tiles);

#endif
