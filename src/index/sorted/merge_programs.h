/* Merges a sorted batch into sorted entries.
 *
 * bound   of large batches: where every so many of the batch belong among the old entries
 * find    where each delete and each insert belongs
 * keep    the deletes that hit something, packed
 * split   what lies before each tile of places, and the keys at both ends of the result
 * write   every entry and insert of a tile to its new position
 *
 * The comparisons are those of the batch, in `find`. The old entries are only moved, and each is read once:
 * a bit for each place tells inserts from old entries, another for each old entry whether it is deleted, and
 * counting the bits before it gives where a place reads from and writes to. Neighbours read neighbours and
 * write to neighbours. */
#ifndef KEYRAY_INDEX_SORTED_MERGE_PROGRAMS_H
#define KEYRAY_INDEX_SORTED_MERGE_PROGRAMS_H

#include "index/sorted/gallop.h"
#include "index/sorted/merge_params.h"

enum { KR_MERGE_AT_ONCE = 4 }; /* places that a thread reads before it writes them */

/* An old key or that of an insert. Keys of 64 bits may be aligned to 4 bytes only. */
KR_BODY kr_key kr_merge_load(const kr_merge_params *p, const uint32_t *key)
{
    if (sizeof(kr_key) == 8 && p->old.layout == KR_LAYOUT_AOS)
        return kr_entry_key_words(key);
    return kr_load((const kr_key *)key);
}

/* About as many entries as there are between two neighbours of the batch: a power of two. */
KR_BODY uint32_t kr_merge_step(uint32_t entries, uint32_t batch)
{
    const uint32_t between = entries / batch;
    return between ? 0x80000000u >> kr_clz32(between) : 1;
}

/* ---- Keep ---------------------------------------------------------------------------------- */

KR_BODY uint32_t kr_merge_n_hits(const kr_merge_params *p)
{
    return p->n_deletes ? (uint32_t)(kr_load(p->removed + p->n_deletes) >> 32) : 0;
}

/* Element n_deletes is the one behind the last hit. */
KR_BODY void kr_merge_keep_hit(const kr_merge_params *p, uint64_t i)
{
    const uint64_t before = kr_load(p->removed + i);
    const int last = i == p->n_deletes;
    if (last || kr_load(p->removed + i + 1) >> 32 != before >> 32) {
        const kr_merge_hit hit = {last ? p->old.n : kr_load(p->delete_at + i), (uint32_t)before};
        p->hits[before >> 32] = hit;
    }
}

/* ---- Split --------------------------------------------------------------------------------- */

/* How many inserts lie before a place. */
KR_BODY uint32_t kr_merge_inserts_before(const kr_merge_params *p, uint64_t place)
{
    uint32_t low = place > p->old.n ? (uint32_t)(place - p->old.n) : 0;
    uint32_t high = place < p->n_inserts ? (uint32_t)place : p->n_inserts;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)kr_load(p->insert_at + middle) + middle < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KR_BODY kr_merge_split kr_merge_split_at(const kr_merge_params *p, uint64_t place)
{
    kr_merge_split split = {kr_merge_inserts_before(p, place), 0, 0};
    const uint32_t position = (uint32_t)(place - split.inserts);
    uint32_t low = 0, high = kr_merge_n_hits(p);
    while (low < high) { /* hits that begin before the position */
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(&p->hits[middle].at) < position)
            low = middle + 1;
        else
            high = middle;
    }
    split.hits = low;
    if (low) {
        const kr_merge_hit *hit = p->hits + low - 1;
        const uint32_t removed = kr_load(&hit->removed), within = position - kr_load(&hit->at);
        const uint32_t n = kr_load(&hit[1].removed) - removed;
        split.removed = removed + (within < n ? within : n);
        split.hits -= within < n;
    }
    return split;
}

/* How many hits follow each other without a gap from the first entry on. */
KR_BODY uint32_t kr_merge_hits_in_front(const kr_merge_params *p)
{
    uint32_t low = 0, high = kr_merge_n_hits(p);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(&p->hits[middle].at) == kr_load(&p->hits[middle].removed))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first of the hits that follow each other up to the last entry. */
KR_BODY uint32_t kr_merge_hits_behind(const kr_merge_params *p, uint32_t removed)
{
    uint32_t low = 0, high = kr_merge_n_hits(p);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->old.n - kr_load(&p->hits[middle].at) == removed - kr_load(&p->hits[middle].removed))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Positions of the first and the last entry that is not deleted, if there are any. */
KR_BODY uint32_t kr_merge_survivor(const kr_merge_params *p, int last, uint32_t removed)
{
    const uint32_t n = kr_merge_n_hits(p);
    if (n == 0)
        return last ? p->old.n - 1 : 0;
    return last ? kr_load(&p->hits[kr_merge_hits_behind(p, removed)].at) - 1
                : kr_load(&p->hits[kr_merge_hits_in_front(p)].removed);
}

/* ---- Write --------------------------------------------------------------------------------- */

typedef struct kr_merge_tile {
    kr_merge_split from;
    uint32_t places;   /* of the tile */
    uint32_t inserts;  /* among them */
    uint32_t position; /* of the first old entry */
    uint32_t to;       /* where the first that is left goes */
    uint32_t hits;     /* that may concern it, from from.hits on */
    uint32_t removed;  /* of its old entries */
} kr_merge_tile;

KR_BODY kr_merge_split kr_merge_split_load(const kr_merge_params *p, uint64_t t)
{
    const kr_merge_split split = {kr_load(&p->splits[t].inserts), kr_load(&p->splits[t].removed),
                                  kr_load(&p->splits[t].hits)};
    return split;
}

KR_BODY kr_merge_tile kr_merge_tile_of(const kr_merge_params *p, uint64_t t)
{
    const uint64_t first = t * KR_MERGE_TILE, left = kr_merge_places(p) - first;
    const kr_merge_split end = kr_merge_split_load(p, t + 1);
    kr_merge_tile tile;
    tile.from = kr_merge_split_load(p, t);
    tile.places = left < KR_MERGE_TILE ? (uint32_t)left : KR_MERGE_TILE;
    tile.inserts = end.inserts - tile.from.inserts;
    tile.position = (uint32_t)(first - tile.from.inserts);
    tile.to = (uint32_t)(first - tile.from.removed);
    tile.removed = end.removed - tile.from.removed;
    tile.hits = tile.removed ? end.hits - tile.from.hits + 1 : 0;
    return tile;
}

/* Shared memory of a block. */
typedef struct kr_merge_room {
    uint32_t *inserted; /* bit m: place m of the tile is an insert */
    uint32_t *deleted;  /* bit i: old entry i of the tile is deleted */
    uint32_t *before;   /* bits of `inserted` in the words before, and << 16 those of `deleted` */
} kr_merge_room;

KR_BODY kr_merge_room kr_merge_room_of(char *shared)
{
    uint32_t *words = (uint32_t *)shared;
    const kr_merge_room room = {words, words + KR_MERGE_WORDS, words + 2 * KR_MERGE_WORDS};
    return room;
}

/* The bits below i of its word. */
KR_BODY uint32_t kr_merge_below(uint32_t word, uint32_t i)
{
    return word & (((uint32_t)1 << i % 32) - 1);
}

KR_BODY void kr_merge_mark_deleted(kr_block block, const kr_merge_room *room, uint32_t from, uint32_t end)
{
    while (from < end) {
        const uint32_t word = from / 32, behind = 32 * word + 32, stop = end < behind ? end : behind;
        kr_block_or(block, room->deleted, word, ~(uint32_t)0 >> (32 - (stop - from)) << from % 32);
        from = stop;
    }
}

KR_BODY void kr_merge_mark(kr_block block, const kr_merge_params *p, const kr_merge_tile *tile,
                           const kr_merge_room *room)
{
    const uint32_t behind = tile->position + (tile->places - tile->inserts); /* its old entries */
    for (uint32_t w = block.rank; w < KR_MERGE_WORDS; w += block.size)
        room->inserted[w] = room->deleted[w] = 0;
    kr_block_sync(block);
    for (uint32_t j = block.rank; j < tile->inserts; j += block.size) {
        const uint32_t m = kr_load(p->insert_at + tile->from.inserts + j) - tile->position + j;
        kr_block_or(block, room->inserted, m / 32, (uint32_t)1 << m % 32);
    }
    for (uint32_t h = block.rank; h < tile->hits; h += block.size) {
        const kr_merge_hit *hit = p->hits + tile->from.hits + h;
        const uint32_t at = kr_load(&hit->at);
        if (at >= behind)
            continue;
        const uint32_t end = at + (kr_load(&hit[1].removed) - kr_load(&hit->removed));
        kr_merge_mark_deleted(block, room, at > tile->position ? at - tile->position : 0,
                              (end < behind ? end : behind) - tile->position);
    }
    kr_block_sync(block);
}

/* Counts the bits before each word. */
KR_BODY void kr_merge_count(kr_block block, const kr_merge_room *room)
{
    uint32_t first, end, sum = 0;
    kr_block_share(block, KR_MERGE_WORDS, &first, &end);
    for (uint32_t w = first; w < end; ++w)
        sum += kr_popcount32(room->inserted[w]) + (kr_popcount32(room->deleted[w]) << 16);
    sum = kr_block_sum_before(block, sum, NULL);
    for (uint32_t w = first; w < end; ++w) {
        room->before[w] = sum;
        sum += kr_popcount32(room->inserted[w]) + (kr_popcount32(room->deleted[w]) << 16);
    }
    kr_block_sync(block);
}

typedef struct kr_merge_move {
    uint32_t from;     /* a position, or the number of an insert */
    uint32_t to;       /* a new position, or KR_NO_ROW */
    uint32_t inserted; /* 1: an insert */
} kr_merge_move;

KR_BODY kr_merge_move kr_merge_move_of(const kr_merge_tile *tile, const kr_merge_room *room, uint32_t m)
{
    const uint32_t word = room->inserted[m / 32];
    const uint32_t inserts = (room->before[m / 32] & 0xFFFFu) + kr_popcount32(kr_merge_below(word, m));
    const uint32_t i = m - inserts, deleted = room->deleted[i / 32];
    const uint32_t removed = (room->before[i / 32] >> 16) + kr_popcount32(kr_merge_below(deleted, i));
    const uint32_t inserted = word >> m % 32 & 1, gone = ~inserted & deleted >> i % 32 & 1;
    const kr_merge_move move = {inserted ? tile->from.inserts + inserts : tile->position + i,
                                gone ? KR_NO_ROW : tile->to + m - removed, inserted};
    return move;
}

/* Neighbouring entries that are deleted. */
typedef struct kr_merge_gap {
    uint32_t from, end; /* positions */
    uint32_t hit;
} kr_merge_gap;

/* The first gap that ends behind the tile's first entry, the next and so on; beyond all when there are none.
 */
KR_BODY kr_merge_gap kr_merge_gap_of(const kr_merge_params *p, const kr_merge_tile *tile, uint32_t number)
{
    kr_merge_gap gap = {0xFFFFFFFFu, 0xFFFFFFFFu, number};
    if (number < tile->hits) {
        const kr_merge_hit *hit = p->hits + tile->from.hits + number;
        gap.from = kr_load(&hit->at) > tile->position ? kr_load(&hit->at) : tile->position;
        if (gap.from < tile->position + (tile->places - tile->inserts))
            gap.end = kr_load(&hit->at) + (kr_load(&hit[1].removed) - kr_load(&hit->removed));
    }
    return gap;
}

/* ---- The programs of a family: name_bound, name_find, name_split, name_write -------------------
 *
 *   params_t         has members `kr_merge_params merge` and `kr_blocks blocks`
 *   slot_of          uint64_t (const params_t *, uint64_t position): of an old entry
 *   key_at, row_at   const uint32_t *(const params_t *, uint64_t slot): where its key and row id are
 *   put              void (const params_t *, uint64_t position, kr_key, uint32_t row): stores a new entry */
#define KR_MERGE_PROGRAMS(name, params_t, slot_of, key_at, row_at, put)                                     \
    KR_BODY kr_key name##_key(const params_t *p, uint32_t position)                                         \
    {                                                                                                       \
        return kr_merge_load(&p->merge, key_at(p, slot_of(p, position)));                                   \
    }                                                                                                       \
    KR_BODY uint32_t name##_row(const params_t *p, uint32_t position)                                       \
    {                                                                                                       \
        return kr_load(row_at(p, slot_of(p, position)));                                                    \
    }                                                                                                       \
    KR_SEARCHES(name, params_t, name##_key);                                                                \
    /* Where the first of each KR_MERGE_STRIDE of the batch belongs; then the end. */                       \
    KR_BODY uint32_t name##_bound_of(const params_t *p, const kr_key *batch, uint64_t i, uint32_t n)        \
    {                                                                                                       \
        return i < n ? name##_between(p, 0, p->merge.old.n, kr_load(batch + i)) : p->merge.old.n;           \
    }                                                                                                       \
    KR_BODY void name##_bound_batch(const params_t *p, uint64_t b)                                          \
    {                                                                                                       \
        const kr_merge_params *m = &p->merge;                                                               \
        const uint64_t deletes = kr_merge_bounds(m->n_deletes), i = b < deletes ? b : b - deletes;          \
        m->bounds[b] = b < deletes ? name##_bound_of(p, m->deletes, i * KR_MERGE_STRIDE, m->n_deletes)      \
                                   : name##_bound_of(p, m->inserts, i * KR_MERGE_STRIDE, m->n_inserts);     \
    }                                                                                                       \
    KR_MAP_PROGRAM(name##_bound, params_t, name##_bound_batch);                                             \
    KR_BODY uint32_t name##_first(const params_t *p, const uint32_t *bounds, uint32_t i, kr_key key)        \
    {                                                                                                       \
        const uint32_t *near = bounds + i / KR_MERGE_STRIDE;                                                \
        return bounds ? name##_between(p, kr_load(near), kr_load(near + 1), key)                            \
                      : name##_between(p, 0, p->merge.old.n, key);                                          \
    }                                                                                                       \
    /* Of several equal deletes the first removes all. */                                                   \
    KR_BODY void name##_find_deletes(const params_t *p, uint32_t first, uint32_t end)                       \
    {                                                                                                       \
        const kr_merge_params *m = &p->merge;                                                               \
        const uint32_t step = kr_merge_step(m->old.n, m->n_deletes);                                        \
        const uint32_t *bounds = m->bounds;                                                                 \
        uint32_t at = 0;                                                                                    \
        for (uint32_t i = first; i < end; ++i) {                                                            \
            const kr_key key = kr_load(m->deletes + i);                                                     \
            const int again = i && kr_load(m->deletes + i - 1) == key;                                      \
            at = i == first ? name##_first(p, bounds, i, key) : name##_from_by(p, m->old.n, at, step, key); \
            m->delete_at[i] = at;                                                                           \
            m->removed[i] = !again && at < m->old.n && name##_key(p, at) == key                             \
                                ? ((uint64_t)1 << 32) + (name##_behind(p, m->old.n, at, key) - at)          \
                                : 0;                                                                        \
        }                                                                                                   \
        if (end == m->n_deletes)                                                                            \
            m->removed[end] = 0;                                                                            \
    }                                                                                                       \
    /* An insert goes behind the entries with its key and a row id up to its own. */                        \
    KR_BODY uint32_t name##_behind_rows(const params_t *p, uint32_t low, uint32_t high, uint32_t row)       \
    {                                                                                                       \
        while (low < high) {                                                                                \
            const uint32_t middle = low + (high - low) / 2;                                                 \
            if (name##_row(p, middle) <= row)                                                               \
                low = middle + 1;                                                                           \
            else                                                                                            \
                high = middle;                                                                              \
        }                                                                                                   \
        return low;                                                                                         \
    }                                                                                                       \
    KR_BODY void name##_find_inserts(const params_t *p, uint32_t first, uint32_t end)                       \
    {                                                                                                       \
        const kr_merge_params *m = &p->merge;                                                               \
        const uint32_t step = kr_merge_step(m->old.n, m->n_inserts);                                        \
        const uint32_t *bounds = m->bounds ? m->bounds + kr_merge_bounds(m->n_deletes) : m->bounds;         \
        uint32_t at = 0;                                                                                    \
        for (uint32_t j = first; j < end; ++j) {                                                            \
            const kr_key key = kr_load(m->inserts + j);                                                     \
            at = j == first ? name##_first(p, bounds, j, key) : name##_from_by(p, m->old.n, at, step, key); \
            m->insert_at[j] = at < m->old.n && name##_key(p, at) == key                                     \
                                  ? name##_behind_rows(p, at, name##_behind(p, m->old.n, at, key),          \
                                                       kr_load(m->insert_rows + j))                         \
                                  : at;                                                                     \
        }                                                                                                   \
    }                                                                                                       \
    /* Runs of deletes, then runs of inserts. */                                                            \
    KR_BODY void name##_find_run(const params_t *p, uint64_t i)                                             \
    {                                                                                                       \
        const uint32_t run = p->merge.run, deletes = p->merge.n_deletes, inserts = p->merge.n_inserts;      \
        const uint64_t runs = deletes / run + (deletes % run != 0);                                         \
        const uint64_t first = (i < runs ? i : i - runs) * run, end = first + run;                          \
        if (i < runs)                                                                                       \
            name##_find_deletes(p, (uint32_t)first, end < deletes ? (uint32_t)end : deletes);               \
        else                                                                                                \
            name##_find_inserts(p, (uint32_t)first, end < inserts ? (uint32_t)end : inserts);               \
    }                                                                                                       \
    KR_MAP_PROGRAM(name##_find, params_t, name##_find_run);                                                 \
    KR_BODY void name##_find_end(const params_t *p, int last)                                               \
    {                                                                                                       \
        const kr_merge_params *m = &p->merge;                                                               \
        const uint64_t sums = m->n_deletes ? kr_load(m->removed + m->n_deletes) : 0;                        \
        const uint32_t removed = (uint32_t)sums;                                                            \
        kr_key end = m->n_inserts ? kr_load(m->inserts + (last ? m->n_inserts - 1 : 0)) : 0;                \
        if (removed < m->old.n) {                                                                           \
            const kr_key key = name##_key(p, kr_merge_survivor(m, last, removed));                          \
            end = m->n_inserts == 0 || (last ? key > end : key < end) ? key : end;                          \
        }                                                                                                   \
        m->found[last ? KR_MERGE_FOUND_HIGHEST : KR_MERGE_FOUND_LOWEST] = end;                              \
        m->found[KR_MERGE_FOUND_REMOVED] = removed;                                                         \
    }                                                                                                       \
    /* Two elements behind those of the tiles find the ends. */                                             \
    KR_BODY void name##_split_place(const params_t *p, uint64_t t)                                          \
    {                                                                                                       \
        const kr_merge_params *m = &p->merge;                                                               \
        const uint64_t place = t * KR_MERGE_TILE, all = kr_merge_places(m);                                 \
        if (t > m->n_tiles)                                                                                 \
            name##_find_end(p, t > (uint64_t)m->n_tiles + 1);                                               \
        else                                                                                                \
            m->splits[t] = kr_merge_split_at(m, place < all ? place : all);                                 \
    }                                                                                                       \
    KR_MAP_PROGRAM(name##_split, params_t, name##_split_place);                                             \
    KR_BODY void name##_copy(const params_t *p, uint32_t from, uint32_t to, uint32_t n)                     \
    {                                                                                                       \
        for (uint32_t q = 0; q < n; ++q)                                                                    \
            put(p, to + q, name##_key(p, from + q), name##_row(p, from + q));                               \
    }                                                                                                       \
    /* One thread alone goes from insert to insert, and copies what lies between. */                        \
    KR_BODY void name##_walk(const params_t *p, const kr_merge_tile *tile)                                  \
    {                                                                                                       \
        const kr_merge_params *m = &p->merge;                                                               \
        const uint32_t end = tile->position + (tile->places - tile->inserts);                               \
        const uint32_t last = tile->from.inserts + tile->inserts;                                           \
        kr_merge_gap gap = kr_merge_gap_of(m, tile, 0);                                                     \
        uint32_t at = tile->position, to = tile->to;                                                        \
        for (uint32_t j = tile->from.inserts;; ++j) {                                                       \
            const uint32_t stop = j < last ? kr_load(m->insert_at + j) : end;                               \
            while (at < stop) {                                                                             \
                const uint32_t n = (stop < gap.from ? stop : gap.from) - at;                                \
                name##_copy(p, at, to, n);                                                                  \
                to += n;                                                                                    \
                at += n;                                                                                    \
                if (at == gap.from) {                                                                       \
                    gap.from = at = stop < gap.end ? stop : gap.end;                                        \
                    if (at == gap.end)                                                                      \
                        gap = kr_merge_gap_of(m, tile, gap.hit + 1);                                        \
                }                                                                                           \
            }                                                                                               \
            if (j == last)                                                                                  \
                return;                                                                                     \
            put(p, to++, kr_load(m->inserts + j), kr_load(m->insert_rows + j));                             \
        }                                                                                                   \
    }                                                                                                       \
    /* All reads come before the writes, so that they overlap. */                                           \
    KR_BODY void name##_move(kr_block block, const params_t *p, const kr_merge_tile *tile,                  \
                             const kr_merge_room *room, uint32_t first, int changed)                        \
    {                                                                                                       \
        kr_key keys[KR_MERGE_AT_ONCE];                                                                      \
        uint32_t rows[KR_MERGE_AT_ONCE], to[KR_MERGE_AT_ONCE];                                              \
        KR_UNROLL                                                                                           \
        for (uint32_t q = 0; q < KR_MERGE_AT_ONCE; ++q) {                                                   \
            const uint32_t place = first + q * block.size, last = tile->places - 1;                         \
            const uint32_t m = place < last ? place : last; /* without a branch */                          \
            kr_merge_move move = {tile->position + m, tile->to + m, 0};                                     \
            if (changed)                                                                                    \
                move = kr_merge_move_of(tile, room, m);                                                     \
            const uint64_t slot = slot_of(p, move.from); /* not used of an insert */                        \
            to[q] = place <= last ? move.to : KR_NO_ROW;                                                    \
            keys[q] =                                                                                       \
                kr_merge_load(&p->merge, move.inserted ? (const uint32_t *)(p->merge.inserts + move.from)   \
                                                       : key_at(p, slot));                                  \
            rows[q] = kr_load(move.inserted ? p->merge.insert_rows + move.from : row_at(p, slot));          \
        }                                                                                                   \
        KR_UNROLL                                                                                           \
        for (uint32_t q = 0; q < KR_MERGE_AT_ONCE; ++q)                                                     \
            if (to[q] != KR_NO_ROW)                                                                         \
                put(p, to[q], keys[q], rows[q]);                                                            \
    }                                                                                                       \
    KR_BODY void name##_write_tile(kr_block block, const params_t *p, const kr_merge_tile *tile,            \
                                   const kr_merge_room *room, int changed)                                  \
    {                                                                                                       \
        for (uint32_t first = block.rank; first < tile->places; first += KR_MERGE_AT_ONCE * block.size) {   \
            name##_move(block, p, tile, room, first, changed);                                              \
        }                                                                                                   \
    }                                                                                                       \
    KR_BODY void name##_write_tiles(kr_block block, char *shared, const params_t *p, uint64_t n_tiles)      \
    {                                                                                                       \
        const kr_merge_room room = kr_merge_room_of(shared);                                                \
        for (uint64_t t = block.index; t < n_tiles; t += block.count) {                                     \
            const kr_merge_tile tile = kr_merge_tile_of(&p->merge, t);                                      \
            if (tile.removed == tile.places)                                                                \
                continue;                                                                                   \
            if (block.size == 1 && !p->merge.by_bits) {                                                     \
                name##_walk(p, &tile);                                                                      \
            } else if (tile.inserts || tile.removed) {                                                      \
                kr_merge_mark(block, &p->merge, &tile, &room);                                              \
                kr_merge_count(block, &room);                                                               \
                name##_write_tile(block, p, &tile, &room, 1);                                               \
                kr_block_sync(block);                                                                       \
            } else {                                                                                        \
                name##_write_tile(block, p, &tile, &room, 0);                                               \
            }                                                                                               \
        }                                                                                                   \
    }                                                                                                       \
    KR_BLOCK_PROGRAM(name##_write, params_t, name##_write_tiles)

#endif
