/* The passes of index/partition/partition.h.
 *
 * With cuts, the part p of a code x is the number of cuts below x, not counting cut 0. So the first entry of
 * at least x lies after cut p, and at cut p + 1 at the latest. A table over the leading bits of a code's
 * distance from the lowest key narrows the search among the cuts: to none or one of them where keys are
 * spread evenly, and to all where they crowd. Even parts are found by divisions. Else the
 * part is the top bits of the code's hash. `way` is a constant in each program. */
#ifndef KEYRAY_INDEX_PARTITION_PARTITION_WIDTH_BODY_H
#define KEYRAY_INDEX_PARTITION_PARTITION_WIDTH_BODY_H

#include "base/key/divide.h"
#include "base/key/hash.h"
#include "base/program/block.h"
#include "index/kinds/batch.h"
#include "index/partition/partition_marks.h"

enum {
    PARTITION_RUNS = KR_MINE(1 << KR_PART_BITS_MOST), /* parts that a thread sums, at most */
    PARTITION_AHEAD = KR_KEY_BITS == 64 ? 4 : 8,      /* codes that a thread reads at a time to count them */
    PARTITION_AT_ONCE = 4,                            /* codes that a thread counts or writes at a time */
    /* Codes of 8 bytes leave less shared memory for the table. */
    PARTITION_TABLE_BITS = KR_KEY_BITS == 64 ? 11 : 13,
    PARTITION_CELLS = 1 << PARTITION_TABLE_BITS,
};

enum { PARTITION_BY_CUTS, PARTITION_EVEN, PARTITION_HASHED, PARTITION_PAIRS };

typedef struct partition_params {
    kr_batch batch; /* the caller's */
    kr_blocks blocks;
    uint64_t seed;              /* of the hash */
    uint64_t magic, step_magic; /* of divisions, of even parts: by the values of a part, and by the step */
    const kr_key *cuts;         /* 2^bits */
    uint32_t *table;   /* PARTITION_CELLS: parts of the first code of the cell, and << 16 of the next cell */
    uint32_t *counts;  /* of probes, by part */
    uint32_t *cursors; /* by part: where the next tile's run goes */
    uint32_t *starts;
    uint32_t *first_segments; /* by part */
    kr_segment *segments;
    uint32_t *n_segments;
    kr_key *codes;   /* NULL: pairs in their place */
    uint64_t *pairs; /* as in kr_partition */
    uint32_t *order; /* or NULL */
    uint32_t *marks; /* as in kr_partition, or NULL */
    uint32_t *bases;
    uint64_t n;
    kr_key lowest, even;  /* code; values of an even part */
    uint32_t bits, shift; /* of a distance from `lowest`, to name its cell; of the divisions */
    uint32_t step_shift;
    uint32_t segment, tile;
} partition_params;

/* ---- The part of a code -------------------------------------------------------------------- */

KR_BODY uint32_t partition_search(const kr_key *cuts, kr_key code, uint32_t low, uint32_t high)
{
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (cuts[middle + 1] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of the first code of cell t: lowest + (t << shift), which may lie above all codes. */
KR_BODY uint32_t partition_of_cell(const partition_params *p, uint64_t t, uint32_t least)
{
    const uint32_t last = (1u << p->bits) - 1;
    const uint64_t begin = (t << p->shift) + p->lowest, most = (kr_key) ~(kr_key)0;
    const int beyond =
        t == PARTITION_CELLS || t << p->shift >> p->shift != t || begin < p->lowest || begin > most;
    return beyond ? last : partition_search(p->cuts, (kr_key)begin, least, last);
}

/* And no probe is counted yet. */
KR_BODY void partition_fill_cell(const partition_params *p, uint64_t t)
{
    if (t < 1u << p->bits)
        p->counts[t] = 0;
    const uint32_t first = partition_of_cell(p, t, 0);
    p->table[t] = first | partition_of_cell(p, t + 1, first) << 16;
}
KR_MAP_PROGRAM(partition_table, partition_params, partition_fill_cell);

/* A block's shared memory: cuts and table only where there are cuts; codes and marks only when it places
 * probes. */
typedef struct partition_room {
    kr_key *cuts;
    kr_key *codes;
    uint32_t *counts; /* of the tile's probes, by part; after partition_keep_bases the bases */
    uint32_t *table;
    uint32_t *marks; /* of the tile's probes, in order */
} partition_room;

KR_BODY partition_room partition_room_of(const partition_params *p, int way, char *shared)
{
    const uint32_t n = 1u << p->bits;
    const int cut = way == PARTITION_BY_CUTS;
    partition_room room;
    room.cuts = (kr_key *)shared;
    room.counts = (uint32_t *)(room.cuts + (cut ? n : 0));
    room.table = room.counts + n;
    room.codes = (kr_key *)(room.table + (cut ? PARTITION_CELLS : 0));
    room.marks = (uint32_t *)(room.codes + p->tile);
    return room;
}

/* The table's word for a code. Codes below the lowest key fall into cell 0, whose parts begin with part 0. */
KR_BODY uint32_t partition_range(const partition_params *p, const partition_room *room, kr_key code)
{
    const kr_key cell = (kr_key)(code - (code < p->lowest ? code : p->lowest)) >> p->shift;
    return room->table[cell < PARTITION_CELLS ? (uint32_t)cell : PARTITION_CELLS - 1];
}

/* Codes below the lowest have value 0. */
KR_BODY kr_key partition_value(const partition_params *p, kr_key code)
{
    const kr_key distance = (kr_key)(code - (code < p->lowest ? code : p->lowest));
    return kr_code_divide(distance, p->step_magic, p->step_shift);
}

/* Codes beyond the parts belong to the last. */
KR_BODY uint32_t partition_even_part(const partition_params *p, kr_key code)
{
    const kr_key part = kr_code_divide(partition_value(p, code), p->magic, p->shift);
    const uint32_t last = (1u << p->bits) - 1;
    return part < last ? (uint32_t)part : last;
}

/* The parts of n codes. Most cells have one cut or none, so that reads of shared memory do not wait for each
 * other; codes in other cells are searched for afterwards. */
KR_BODY void partition_parts(const partition_params *p, int way, const partition_room *room,
                             const kr_key *codes, uint32_t n, uint32_t *parts)
{
    const uint32_t crowded = 0x80000000u;
    if (way != PARTITION_BY_CUTS) {
        KR_UNROLL
        for (uint32_t j = 0; j < n; ++j)
            parts[j] = way == PARTITION_HASHED ? kr_code_hash(codes[j], p->seed) >> (32 - p->bits)
                                               : partition_even_part(p, codes[j]);
        return;
    }
    KR_UNROLL
    for (uint32_t j = 0; j < n; ++j)
        parts[j] = partition_range(p, room, codes[j]);
    KR_UNROLL
    for (uint32_t j = 0; j < n; ++j) {
        const uint32_t least = parts[j] & 0xFFFFu, last = parts[j] >> 16;
        const uint32_t above = least < last && room->cuts[last] < codes[j];
        parts[j] = last - least > 1 ? parts[j] | crowded : least + above;
    }
    KR_UNROLL
    for (uint32_t j = 0; j < n; ++j)
        if (parts[j] & crowded)
            parts[j] =
                partition_search(room->cuts, codes[j], parts[j] & 0xFFFFu, (parts[j] & ~crowded) >> 16);
}

KR_BODY void partition_load(kr_block block, const partition_params *p, int way, const partition_room *room)
{
    if (way != PARTITION_BY_CUTS)
        return;
    for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)
        room->cuts[i] = kr_load(p->cuts + i);
    for (uint32_t i = block.rank; i < PARTITION_CELLS; i += block.size)
        room->table[i] = kr_load(p->table + i);
}

/* The codes of n probes of the tile that begins with probe `first`, of `here` probes: from its probe `from`
 * on, thread r's are r, r + size, ... `whole`: all of them are in the tile, and are given as codes. */
KR_BODY void partition_read(kr_block block, const partition_params *p, int whole, uint64_t first,
                            uint32_t here, uint32_t from, uint32_t n, kr_key *codes)
{
    const kr_key *given = (const kr_key *)p->batch.lower + first + from + block.rank;
    KR_UNROLL
    for (uint32_t j = 0; j < n; ++j) {
        const uint32_t i = from + j * block.size + block.rank;
        codes[j] = whole      ? kr_load_once(given + j * block.size)
                   : i < here ? kr_code_load_key(p->batch.lower_type, p->batch.lower, first + i)
                              : 0;
    }
}

KR_BODY uint32_t partition_here(const partition_params *p, uint64_t first)
{
    return first >= p->n ? 0 : p->n - first < p->tile ? (uint32_t)(p->n - first) : p->tile;
}

KR_BODY void partition_clear(kr_block block, const partition_params *p, const partition_room *room)
{
    for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)
        room->counts[i] = 0;
    kr_block_sync(block);
}

/* ---- First pass: how many probes each part has ---------------------------------------------- */

/* Few codes at a time, so that the registers suffice for two blocks on a multiprocessor. */
KR_BODY void partition_count_some(kr_block block, const partition_params *p, int way, int whole,
                                  const partition_room *room, uint64_t first, uint32_t here)
{
    for (uint32_t from = 0; from < here; from += PARTITION_AHEAD * block.size) {
        kr_key codes[PARTITION_AHEAD];
        partition_read(block, p, whole, first, here, from, PARTITION_AHEAD, codes);
        KR_UNROLL
        for (uint32_t ahead = 0; ahead < PARTITION_AHEAD; ahead += PARTITION_AT_ONCE) {
            uint32_t parts[PARTITION_AT_ONCE];
            partition_parts(p, way, room, codes + ahead, PARTITION_AT_ONCE, parts);
            KR_UNROLL
            for (uint32_t j = 0; j < PARTITION_AT_ONCE; ++j)
                if (whole || from + (ahead + j) * block.size + block.rank < here)
                    kr_block_count(block, room->counts, parts[j]);
        }
    }
}

KR_BODY void partition_count_tile(kr_block block, const partition_params *p, int way,
                                  const partition_room *room, uint64_t first)
{
    const uint32_t here = partition_here(p, first);
    if (here % (PARTITION_AHEAD * block.size) == 0 && p->batch.lower_type == KR_RAW_KEY)
        partition_count_some(block, p, way, 1, room, first, here);
    else
        partition_count_some(block, p, way, 0, room, first, here);
}

KR_BODY void partition_count_all(kr_block block, char *shared, const partition_params *p, uint64_t n_tiles,
                                 int way)
{
    const partition_room room = partition_room_of(p, way, shared);
    partition_load(block, p, way, &room);
    partition_clear(block, p, &room);
    for (uint64_t t = block.index; t < n_tiles; t += block.count)
        partition_count_tile(block, p, way, &room, t * p->tile);
    kr_block_sync(block);
    for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)
        if (room.counts[i])
            kr_atomic_take32(p->counts + i, room.counts[i]);
}

/* ---- Where parts and their segments begin: one block ------------------------------------------- */

KR_BODY uint32_t partition_segments(const partition_params *p, uint32_t probes)
{
    return probes / p->segment + (probes % p->segment != 0);
}

KR_BODY void partition_plan_all(kr_block block, char *shared, const partition_params *p, uint64_t n)
{
    uint32_t first, end, probes = 0, segments = 0, all_segments;
    (void)shared, (void)n;
    kr_block_share(block, 1u << p->bits, &first, &end);
    for (uint32_t i = first; i < end; ++i) {
        probes += p->counts[i];
        segments += partition_segments(p, p->counts[i]);
    }
    uint32_t start = kr_block_sum_before(block, probes, NULL);
    uint32_t at = kr_block_sum_before(block, segments, &all_segments);
    for (uint32_t i = first; i < end; ++i) {
        const uint32_t count = p->counts[i];
        p->starts[i] = start;
        p->cursors[i] = start;
        p->first_segments[i] = at;
        at += partition_segments(p, count);
        start += count;
    }
    if (block.rank == 0) {
        *p->n_segments = all_segments;
        p->starts[1u << p->bits] = (uint32_t)p->n;
    }
}
KR_BLOCK_PROGRAM(partition_plan, partition_params, partition_plan_all);

/* ---- Second pass: every probe to its part ---------------------------------------------------- */

/* Of a share of the parts: there are as many shares as tiles. */
KR_BODY void partition_list_segments(kr_block block, const partition_params *p, uint64_t share)
{
    const uint64_t n_tiles = (p->n + p->tile - 1) / p->tile;
    for (uint64_t part = share; part < 1u << p->bits; part += n_tiles) {
        const uint32_t start = p->starts[part], at = p->first_segments[part];
        const uint32_t n = partition_segments(p, p->starts[part + 1] - start);
        for (uint32_t c = block.rank; c < n; c += block.size) {
            const kr_segment segment = {(uint32_t)part, start + c * p->segment};
            p->segments[at + c] = segment;
        }
    }
}

/* Turns counts into the places of the parts' runs in the tile; reserves room for each run in its part.
 * `places`: of the thread's own parts, the run's place in the batch. */
KR_BODY void partition_take_runs(kr_block block, const partition_params *p, const partition_room *room,
                                 uint32_t *places)
{
    uint32_t first, end, sum = 0;
    kr_block_share(block, 1u << p->bits, &first, &end);
    for (uint32_t i = first; i < end; ++i)
        sum += room->counts[i];
    uint32_t at = kr_block_sum_before(block, sum, NULL);
    KR_UNROLL
    for (uint32_t r = 0; r < PARTITION_RUNS; ++r)
        if (first + r < end) {
            const uint32_t count = room->counts[first + r];
            places[r] = count ? kr_atomic_take32(p->cursors + first + r, count) : 0;
            room->counts[first + r] = at;
            at += count;
        }
    kr_block_sync(block);
}

/* Turns places in the tile, which are no longer needed, into bases: a run's place in the batch minus its
 * place in the tile. Only here must the places in the batch be known. */
KR_BODY void partition_keep_bases(kr_block block, const partition_params *p, const partition_room *room,
                                  const uint32_t *places, uint64_t tile)
{
    uint32_t first, end;
    kr_block_share(block, 1u << p->bits, &first, &end);
    kr_block_sync(block);
    KR_UNROLL
    for (uint32_t r = 0; r < PARTITION_RUNS; ++r)
        if (first + r < end) {
            const uint32_t base = places[r] - room->counts[first + r];
            room->counts[first + r] = base;
            if (p->bases)
                p->bases[(tile << p->bits) + first + r] = base;
        }
    kr_block_sync(block);
}

/* Puts a probe of the tile to its place there. Of pairs, a code becomes its value in the part. */
KR_BODY void partition_put(const partition_params *p, int way, const partition_room *room, uint32_t at,
                           kr_key code, uint32_t mark)
{
    const uint32_t part = kr_partition_mark_part(mark);
    if (way == PARTITION_PAIRS) {
        const uint32_t value = (uint32_t)(partition_value(p, code) - part * p->even);
        ((uint64_t *)room->codes)[at] = (uint64_t)mark << 32 | value;
    } else {
        room->codes[at] = code;
        room->marks[at] = mark;
    }
}

/* Puts the tile's probes in order, in shared memory. */
KR_BODY void partition_order_tile(kr_block block, const partition_params *p, int way, int whole,
                                  const partition_room *room, uint32_t here, const kr_key *codes,
                                  uint32_t *places)
{
    uint32_t ranks[KR_TILE_MINE]; /* part << 16 | rank in the tile's run of it */
    KR_UNROLL
    for (uint32_t from = 0; from < KR_TILE_MINE; from += PARTITION_AT_ONCE) {
        partition_parts(p, way, room, codes + from, PARTITION_AT_ONCE, ranks + from);
        KR_UNROLL
        for (uint32_t j = from; j < from + PARTITION_AT_ONCE; ++j)
            if (whole || j * block.size + block.rank < here)
                ranks[j] = ranks[j] << 16 | kr_block_count(block, room->counts, ranks[j]);
    }
    kr_block_sync(block);
    partition_take_runs(block, p, room, places);
    KR_UNROLL
    for (uint32_t j = 0; j < KR_TILE_MINE; ++j) {
        const uint32_t i = j * block.size + block.rank;
        if (whole || i < here) {
            const uint32_t part = ranks[j] >> 16, at = room->counts[part] + (ranks[j] & 0xFFFFu);
            partition_put(p, way, room, at, codes[j], kr_partition_mark(part, i));
        }
    }
}

/* Writes what stands at a place of the tile. */
KR_BODY void partition_write(const partition_params *p, int way, const partition_room *room, uint64_t first,
                             uint32_t at)
{
    if (way == PARTITION_PAIRS) {
        const uint64_t pair = ((const uint64_t *)room->codes)[at];
        const uint32_t mark = (uint32_t)(pair >> 32), row = (uint32_t)first + kr_partition_mark_source(mark);
        p->pairs[room->counts[kr_partition_mark_part(mark)] + at] = (uint64_t)row << 32 | (uint32_t)pair;
        return;
    }
    const uint32_t mark = room->marks[at], place = room->counts[kr_partition_mark_part(mark)] + at;
    p->codes[place] = room->codes[at];
    if (p->marks)
        kr_store_once(p->marks + first + at, mark);
    if (p->order)
        p->order[place] = (uint32_t)first + kr_partition_mark_source(mark);
}

/* Writes it, in runs. */
KR_BODY void partition_write_tile(kr_block block, const partition_params *p, int way, int whole,
                                  const partition_room *room, uint64_t first, uint32_t here)
{
    for (uint32_t from = block.rank; from < here; from += PARTITION_AT_ONCE * block.size) {
        KR_UNROLL
        for (uint32_t j = 0; j < PARTITION_AT_ONCE; ++j) {
            const uint32_t at = from + j * block.size;
            if (!whole && at >= here)
                break;
            partition_write(p, way, room, first, at);
        }
    }
    kr_block_sync(block);
}

/* Tiles t, t + count, ... The codes of the next are on their way while one is written. */
KR_BODY void partition_place_some(kr_block block, const partition_params *p, int way, int whole,
                                  const partition_room *room, uint64_t t, uint64_t n_tiles)
{
    kr_key codes[KR_TILE_MINE];
    uint32_t places[PARTITION_RUNS];
    uint64_t first = t * p->tile;
    uint32_t here = partition_here(p, first);
    partition_read(block, p, whole, first, here, 0, KR_TILE_MINE, codes);
    for (; t < n_tiles; t += block.count) {
        const uint64_t next = t + block.count < n_tiles ? (t + block.count) * p->tile : p->n;
        const uint32_t after = partition_here(p, next);
        partition_clear(block, p, room);
        partition_order_tile(block, p, way, whole, room, here, codes, places);
        if (after)
            partition_read(block, p, whole, next, after, 0, KR_TILE_MINE, codes);
        partition_keep_bases(block, p, room, places, t);
        partition_list_segments(block, p, t);
        partition_write_tile(block, p, way, whole, room, first, here);
        first = next;
        here = after;
    }
}

KR_BODY void partition_place_all(kr_block block, char *shared, const partition_params *p, uint64_t n_tiles,
                                 int way)
{
    const partition_room room = partition_room_of(p, way, shared);
    const int full = p->tile == KR_TILE_MINE * block.size && p->batch.lower_type == KR_RAW_KEY;
    const uint64_t n_whole = !full ? 0 : p->n / p->tile < n_tiles ? p->n / p->tile : n_tiles;
    uint64_t t = block.index;
    partition_load(block, p, way, &room);
    if (t < n_whole) {
        partition_place_some(block, p, way, 1, &room, t, n_whole);
        t += (n_whole - t + block.count - 1) / block.count * block.count;
    }
    if (t < n_tiles)
        partition_place_some(block, p, way, 0, &room, t, n_tiles);
}

#define PARTITION_PROGRAM(form, name, pass, way)                                                        \
    KR_BODY void name##_body(kr_block block, char *shared, const partition_params *p, uint64_t n_tiles) \
    {                                                                                                   \
        pass(block, shared, p, n_tiles, way);                                                           \
    }                                                                                                   \
    form(name, partition_params, name##_body)
PARTITION_PROGRAM(KR_BLOCK_PAIR_PROGRAM, partition_count_cut, partition_count_all, PARTITION_BY_CUTS);
PARTITION_PROGRAM(KR_BLOCK_PAIR_PROGRAM, partition_count_even, partition_count_all, PARTITION_EVEN);
PARTITION_PROGRAM(KR_BLOCK_PAIR_PROGRAM, partition_count_hashed, partition_count_all, PARTITION_HASHED);
PARTITION_PROGRAM(KR_BLOCK_PROGRAM, partition_place_cut, partition_place_all, PARTITION_BY_CUTS);
PARTITION_PROGRAM(KR_BLOCK_PROGRAM, partition_place_even, partition_place_all, PARTITION_EVEN);
PARTITION_PROGRAM(KR_BLOCK_PROGRAM, partition_place_hashed, partition_place_all, PARTITION_HASHED);
PARTITION_PROGRAM(KR_BLOCK_PROGRAM, partition_place_pairs, partition_place_all, PARTITION_PAIRS);

#endif
