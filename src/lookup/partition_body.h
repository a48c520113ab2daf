/* The passes of lookup/partition.h.
 *
 * With cuts, the part p of a code x is the number of cuts below x, not counting cut 0. So the first entry of
 * at least x lies after cut p, and at cut p + 1 at the latest. A table over the leading bits of a code's
 * distance from the lowest key narrows the search among the cuts: to one or two of them where keys are spread
 * evenly, and to all where they crowd. Without cuts, the part is the top bits of the code's hash. `hashed` is
 * a constant in each program. */
#ifndef KEYRAY_LOOKUP_PARTITION_BODY_H
#define KEYRAY_LOOKUP_PARTITION_BODY_H

#include "key/hash.h"
#include "kinds/batch.h"
#include "program/block.h"

enum {
    PARTITION_TILE = 16384, /* probes put in order at a time, at most: ranks in a tile are 16 bits */
    PARTITION_TILE_CPU = 2048,
    PARTITION_MINE =
        KR_ON_CUDA ? KR_MINE(PARTITION_TILE) : KR_MINE(PARTITION_TILE_CPU), /* of a tile, a thread's */
    PARTITION_TABLE_BITS = 12,
    PARTITION_TABLE = (1 << PARTITION_TABLE_BITS) + 1,
    PARTITION_TABLE_ROOM = PARTITION_TABLE + 3, /* codes of 8 bytes may follow */
};

typedef struct partition_params {
    kr_batch batch; /* the caller's */
    kr_blocks blocks;
    uint64_t seed;      /* of the hash, without cuts */
    const kr_key *cuts; /* 2^bits, or NULL */
    uint16_t *table;    /* PARTITION_TABLE: parts of the first code of each cell, and one more */
    uint32_t *counts;   /* of probes, by part */
    uint32_t *cursors;  /* by part: where the next tile's run goes */
    uint32_t *starts;
    kr_segment *segments;
    uint32_t *n_segments;
    kr_key *codes;
    uint32_t *places; /* or NULL */
    uint32_t *order;  /* or NULL */
    uint64_t n;
    kr_key lowest;
    uint32_t bits, shift; /* of a distance from `lowest`, to name its cell */
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

/* Cell t begins at lowest + (t << shift), which may lie above all codes. */
KR_BODY void partition_fill_cell(const partition_params *p, uint64_t t)
{
    const uint32_t last = (1u << p->bits) - 1;
    const uint64_t begin = (t << p->shift) + p->lowest, most = (kr_key) ~(kr_key)0;
    const int beyond =
        t == PARTITION_TABLE - 1 || t << p->shift >> p->shift != t || begin < p->lowest || begin > most;
    p->table[t] = (uint16_t)(beyond ? last : partition_search(p->cuts, (kr_key)begin, 0, last));
}
KR_MAP_PROGRAM(partition_table, partition_params, partition_fill_cell);

/* A block's shared memory: cuts and table only where there are cuts; bases, codes, parts and sources only
 * when it places probes. */
typedef struct partition_room {
    kr_key *cuts;
    kr_key *codes;
    uint32_t *counts;
    uint32_t *bases; /* a run's place in the batch minus its place in the tile */
    uint16_t *table;
    uint16_t *parts; /* of the tile's probes, in order */
    uint16_t *sources;
} partition_room;

KR_BODY partition_room partition_room_of(const partition_params *p, int hashed, char *shared)
{
    const uint32_t n = 1u << p->bits;
    partition_room room;
    room.cuts = (kr_key *)shared;
    room.counts = (uint32_t *)(room.cuts + (hashed ? 0 : n));
    room.table = (uint16_t *)(room.counts + n);
    room.bases = (uint32_t *)(room.table + (hashed ? 0 : PARTITION_TABLE_ROOM));
    room.codes = (kr_key *)(room.bases + n);
    room.parts = (uint16_t *)(room.codes + p->tile);
    room.sources = room.parts + p->tile;
    return room;
}

KR_BODY uint32_t partition_of(const partition_params *p, int hashed, const partition_room *room, kr_key code)
{
    if (hashed)
        return kr_hash(code, p->seed) >> (32 - p->bits);
    const kr_key cell = code < p->lowest ? 0 : (kr_key)(code - p->lowest) >> p->shift;
    const uint32_t t = cell < PARTITION_TABLE - 2 ? (uint32_t)cell : PARTITION_TABLE - 2;
    return partition_search(room->cuts, code, code < p->lowest ? 0 : room->table[t], room->table[t + 1]);
}

KR_BODY void partition_load(kr_block block, const partition_params *p, int hashed, const partition_room *room)
{
    if (hashed)
        return;
    for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)
        room->cuts[i] = kr_load(p->cuts + i);
    for (uint32_t i = block.rank; i < PARTITION_TABLE; i += block.size)
        room->table[i] = kr_load(p->table + i);
}

/* The codes of the tile that begins with probe `first`, of `here` probes: thread r's are r, r + size, ... */
KR_BODY void partition_read(kr_block block, const partition_params *p, uint64_t first, uint32_t here,
                            kr_key *codes)
{
    const kr_key *raw = p->batch.lower_type == KR_RAW_KEY ? (const kr_key *)p->batch.lower + first : NULL;
    if (raw && here == PARTITION_MINE * block.size) {
        KR_UNROLL
        for (uint32_t j = 0; j < PARTITION_MINE; ++j)
            codes[j] = kr_load(raw + j * block.size + block.rank);
        return;
    }
    KR_UNROLL
    for (uint32_t j = 0; j < PARTITION_MINE; ++j) {
        const uint32_t i = j * block.size + block.rank;
        codes[j] = i < here ? kr_load_key(p->batch.lower_type, p->batch.lower, first + i) : 0;
    }
}

KR_BODY uint32_t partition_here(const partition_params *p, uint64_t first)
{
    return p->n - first < p->tile ? (uint32_t)(p->n - first) : p->tile;
}

KR_BODY void partition_clear(kr_block block, const partition_params *p, const partition_room *room)
{
    for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)
        room->counts[i] = 0;
    kr_block_sync(block);
}

/* ---- First pass: how many probes each part has ---------------------------------------------- */

KR_BODY void partition_count_all(kr_block block, char *shared, const partition_params *p, uint64_t n_tiles,
                                 int hashed)
{
    const partition_room room = partition_room_of(p, hashed, shared);
    partition_load(block, p, hashed, &room);
    partition_clear(block, p, &room);
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t first = t * p->tile;
        const uint32_t here = partition_here(p, first);
        kr_key codes[PARTITION_MINE];
        partition_read(block, p, first, here, codes);
        KR_UNROLL
        for (uint32_t j = 0; j < PARTITION_MINE; ++j)
            if (j * block.size + block.rank < here)
                kr_block_count(block, room.counts, partition_of(p, hashed, &room, codes[j]));
    }
    kr_block_sync(block);
    for (uint32_t i = block.rank; i < 1u << p->bits; i += block.size)
        if (room.counts[i])
            kr_atomic_take32(p->counts + i, room.counts[i]);
}

/* ---- Where parts and segments begin: one block ------------------------------------------------- */

KR_BODY uint32_t partition_segments(const partition_params *p, uint32_t probes)
{
    return probes / p->segment + (probes % p->segment != 0);
}

KR_BODY void partition_plan_all(kr_block block, char *shared, const partition_params *p, uint64_t n)
{
    const uint32_t parts = 1u << p->bits, run = (parts + block.size - 1) / block.size;
    const uint32_t first = block.rank * run < parts ? block.rank * run : parts;
    const uint32_t end = first + run < parts ? first + run : parts;
    uint32_t probes = 0, segments = 0, all_segments;
    (void)shared, (void)n;
    for (uint32_t i = first; i < end; ++i) {
        probes += p->counts[i];
        segments += partition_segments(p, p->counts[i]);
    }
    uint32_t start = kr_block_sum_before(block, probes, NULL);
    uint32_t at = kr_block_sum_before(block, segments, &all_segments);
    for (uint32_t i = first; i < end; ++i) {
        const uint32_t count = p->counts[i], n_segments = partition_segments(p, count);
        p->starts[i] = start;
        p->cursors[i] = start;
        for (uint32_t c = 0; c < n_segments; ++c) {
            const kr_segment segment = {i, start + c * p->segment};
            p->segments[at++] = segment;
        }
        start += count;
    }
    if (block.rank == 0) {
        *p->n_segments = all_segments;
        p->starts[parts] = (uint32_t)p->n;
    }
}
KR_BLOCK_PROGRAM(partition_plan, partition_params, partition_plan_all);

/* ---- Second pass: every probe to its part ---------------------------------------------------- */

/* Turns counts into the places of the parts' runs in the tile; reserves room for each run in its part. */
KR_BODY void partition_take_runs(kr_block block, const partition_params *p, const partition_room *room)
{
    const uint32_t parts = 1u << p->bits, run = (parts + block.size - 1) / block.size;
    const uint32_t first = block.rank * run < parts ? block.rank * run : parts;
    const uint32_t end = first + run < parts ? first + run : parts;
    uint32_t sum = 0;
    for (uint32_t i = first; i < end; ++i)
        sum += room->counts[i];
    uint32_t at = kr_block_sum_before(block, sum, NULL);
    for (uint32_t i = first; i < end; ++i) {
        const uint32_t count = room->counts[i];
        room->bases[i] = (count ? kr_atomic_take32(p->cursors + i, count) : 0) - at;
        room->counts[i] = at;
        at += count;
    }
    kr_block_sync(block);
}

KR_BODY void partition_place_tile(kr_block block, const partition_params *p, int hashed,
                                  const partition_room *room, uint64_t first)
{
    const uint32_t here = partition_here(p, first);
    kr_key codes[PARTITION_MINE];
    uint32_t ranks[PARTITION_MINE]; /* part << 16 | rank in the tile's run of it */
    partition_read(block, p, first, here, codes);
    KR_UNROLL
    for (uint32_t j = 0; j < PARTITION_MINE; ++j)
        if (j * block.size + block.rank < here) {
            const uint32_t part = partition_of(p, hashed, room, codes[j]);
            ranks[j] = part << 16 | kr_block_count(block, room->counts, part);
        }
    kr_block_sync(block);
    partition_take_runs(block, p, room);
    KR_UNROLL
    for (uint32_t j = 0; j < PARTITION_MINE; ++j) {
        const uint32_t i = j * block.size + block.rank;
        if (i < here) {
            const uint32_t part = ranks[j] >> 16, at = room->counts[part] + (ranks[j] & 0xFFFFu);
            room->codes[at] = codes[j];
            room->parts[at] = (uint16_t)part;
            if (p->order)
                room->sources[at] = (uint16_t)i;
            if (p->places)
                p->places[first + i] = room->bases[part] + at;
        }
    }
    kr_block_sync(block);
    for (uint32_t at = block.rank; at < here; at += block.size) {
        const uint32_t place = room->bases[room->parts[at]] + at;
        p->codes[place] = room->codes[at];
        if (p->order)
            p->order[place] = (uint32_t)(first + room->sources[at]);
    }
    kr_block_sync(block);
}

KR_BODY void partition_place_all(kr_block block, char *shared, const partition_params *p, uint64_t n_tiles,
                                 int hashed)
{
    const partition_room room = partition_room_of(p, hashed, shared);
    partition_load(block, p, hashed, &room);
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        partition_clear(block, p, &room);
        partition_place_tile(block, p, hashed, &room, t * p->tile);
    }
}

#define PARTITION_PROGRAM(name, pass, hashed)                                                           \
    KR_BODY void name##_body(kr_block block, char *shared, const partition_params *p, uint64_t n_tiles) \
    {                                                                                                   \
        pass(block, shared, p, n_tiles, hashed);                                                        \
    }                                                                                                   \
    KR_BLOCK_PROGRAM(name, partition_params, name##_body)
PARTITION_PROGRAM(partition_count_cut, partition_count_all, 0);
PARTITION_PROGRAM(partition_count_hashed, partition_count_all, 1);
PARTITION_PROGRAM(partition_place_cut, partition_place_all, 0);
PARTITION_PROGRAM(partition_place_hashed, partition_place_all, 1);

#endif
