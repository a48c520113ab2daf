/* The bodies that apply a sorted batch to the leaves, in place.
 *
 * route    which of the batch belongs to which leaf
 * plan     how many entries each leaf will have
 * sum      what lies before each tile of leaves
 * direct   the new directory: what becomes of each leaf, and where its entries begin
 * apply    merges the batch into its leaves
 *
 * A leaf whose entries will fit stays where it is. One that overflows is cut into equal pieces, as many as
 * are needed: all of them go to leaves that were free, and its own becomes free, as does one that becomes
 * empty. So pieces can be written independently of each other, and a group of threads takes one at a time. */
#ifndef KEYRAY_INDEXES_BTREE_BTREE_UPDATE_BODY_H
#define KEYRAY_INDEXES_BTREE_BTREE_UPDATE_BODY_H

#include "indexes/btree/btree_params.h"
#include "program/block.h"

enum {
    BTREE_TILE = 1024, /* leaves of a tile */
    BTREE_LANES_GPU = 8,
    BTREE_LANES = KR_ON_CUDA ? (int)BTREE_LANES_GPU : 1, /* threads that take a leaf together */
    BTREE_MINE = 64 / BTREE_LANES,                       /* slots of the largest leaf, a thread's */
};
#define BTREE_CHANGED 0x80000000u /* marks a count */
#define BTREE_NONE 0xFFFFFFFFu

/* Of a tile; then of all tiles before it. */
typedef struct btree_sums {
    uint32_t entries, leaves; /* after the batch */
    uint32_t taken, freed;    /* leaves */
    uint32_t changed;         /* leaves after the batch that something of it comes to, or goes from */
    uint32_t reserved;
} btree_sums;

typedef struct btree_update_params {
    btree_tree tree; /* as it was, until `apply` changes leaves */
    btree_tree made; /* afterwards: the same leaves; if none is taken or freed, the same directory */
    const kr_key *deletes, *inserts; /* ascending */
    const uint32_t *insert_rows;
    uint32_t *delete_from, *insert_from;   /* where the batch of each leaf begins; and one more */
    uint32_t *delete_tiles, *insert_tiles; /* the same of each tile */
    uint32_t *counts;                      /* entries of each leaf afterwards, and BTREE_CHANGED */
    btree_sums *sums;                      /* n_tiles + 1 */
    uint32_t *before;                      /* entries before each leaf afterwards */
    uint32_t *source;                      /* of an ordinal afterwards: that of the leaf it comes from */
    uint32_t *changed;                     /* the ordinals afterwards that change */
    kr_blocks blocks;
    uint32_t n_deletes, n_inserts;
    uint32_t n_tiles;
    uint32_t moves; /* 1: leaves are taken or freed */
} btree_update_params;
kr_assert_size(btree_update_params, 344);

/* ---- Route ----------------------------------------------------------------------------------- */

KR_BODY uint32_t btree_deletes_below(const btree_update_params *p, uint32_t low, uint32_t high, kr_key key)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(p->deletes + middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Inserts low .. high - 1: the first that is not less than an entry. */
KR_BODY uint32_t btree_inserts_below(const btree_update_params *p, uint32_t low, uint32_t high, kr_key key,
                                     const uint32_t *row)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const kr_key found = kr_load(p->inserts + middle);
        if (found < key || (found == key && kr_load(p->insert_rows + middle) < *row))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the deletes, or the inserts, of leaf i begin, which lies between low and high. An insert that is
 * equal to the first entry of a leaf goes behind it. The first leaf takes all that is smaller, too. Element
 * n_leaves is the end. */
KR_BODY uint32_t btree_deletes_from(const btree_update_params *p, uint64_t i, uint32_t low, uint32_t high)
{
    if (i == p->tree.n_leaves)
        return p->n_deletes;
    return btree_deletes_below(p, low, high, kr_load(btree_separator(&p->tree, (uint32_t)i)));
}

KR_BODY uint32_t btree_inserts_from(const btree_update_params *p, uint64_t i, uint32_t low, uint32_t high)
{
    const btree_tree *tree = &p->tree;
    if (i == tree->n_leaves)
        return p->n_inserts;
    return i ? btree_inserts_below(p, low, high, kr_load(btree_separator(tree, (uint32_t)i)),
                                   tree->rows + btree_slot(tree, tree->node_bits, (uint32_t)i))
             : 0;
}

/* The first leaf of each tile searches the whole batch, so that the others have little left to search.
 * Element n_tiles is the end. */
KR_BODY void btree_route_tile(const btree_update_params *p, uint64_t t)
{
    const uint64_t i = t < p->n_tiles ? t * BTREE_TILE : p->tree.n_leaves;
    if (p->n_deletes)
        p->delete_tiles[t] = btree_deletes_from(p, i, 0, p->n_deletes);
    if (p->n_inserts)
        p->insert_tiles[t] = btree_inserts_from(p, i, 0, p->n_inserts);
}
KR_MAP_PROGRAM(btree_route_tiles, btree_update_params, btree_route_tile);

KR_BODY void btree_route_leaf(const btree_update_params *p, uint64_t i)
{
    const uint64_t t = i < p->tree.n_leaves ? i / BTREE_TILE : p->n_tiles - 1;
    if (p->n_deletes)
        p->delete_from[i] =
            btree_deletes_from(p, i, kr_load(p->delete_tiles + t), kr_load(p->delete_tiles + t + 1));
    if (p->n_inserts)
        p->insert_from[i] =
            btree_inserts_from(p, i, kr_load(p->insert_tiles + t), kr_load(p->insert_tiles + t + 1));
}
KR_MAP_PROGRAM(btree_route, btree_update_params, btree_route_leaf);

typedef struct btree_range {
    uint32_t from, to;
} btree_range;

KR_BODY btree_range btree_inserts_of(const btree_update_params *p, uint32_t ordinal)
{
    btree_range range = {0, 0};
    if (p->n_inserts) {
        range.from = kr_load(p->insert_from + ordinal);
        range.to = kr_load(p->insert_from + ordinal + 1);
    }
    return range;
}

/* With the first of the next leaf's, as a leaf may end with the key that the next one begins with. */
KR_BODY btree_range btree_deletes_near(const btree_update_params *p, uint32_t ordinal)
{
    btree_range range = {0, 0};
    if (p->n_deletes) {
        range.from = kr_load(p->delete_from + ordinal);
        range.to = kr_load(p->delete_from + ordinal + 1);
        range.to += range.to < p->n_deletes;
    }
    return range;
}

/* Without it, if that key is not the same. */
KR_BODY btree_range btree_deletes_of(const btree_update_params *p, uint32_t ordinal)
{
    btree_range range = btree_deletes_near(p, ordinal);
    if (ordinal + 1 < p->tree.n_leaves && range.from < range.to &&
        kr_load(p->deletes + range.to - 1) > kr_load(btree_separator(&p->tree, ordinal + 1)))
        --range.to;
    return range;
}

KR_BODY int btree_is_deleted(const btree_update_params *p, btree_range range, kr_key key)
{
    const uint32_t end = range.to;
    while (range.from < range.to) {
        const uint32_t middle = range.from + (range.to - range.from) / 2;
        if (kr_load(p->deletes + middle) < key)
            range.from = middle + 1;
        else
            range.to = middle;
    }
    return range.from < end && kr_load(p->deletes + range.from) == key;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Groups take leaves in turn: bit r of `waiting` stands for the leaf that thread r of the warp knows. */
KR_BODY uint32_t btree_skip(uint32_t waiting, uint32_t n)
{
    while (n-- && waiting)
        waiting &= waiting - 1;
    return waiting;
}

KR_BODY kr_group btree_part_of(kr_group group)
{
    const kr_group part = {group.rank % BTREE_LANES, BTREE_LANES};
    return part;
}

/* Bits of the slots that the threads of a group ask about, BTREE_LANES at a time, from slot `first` on. */
KR_BODY uint64_t btree_vote(kr_group part, int condition, uint32_t first)
{
    return (uint64_t)kr_group_ballot(part, condition) << first;
}

KR_BODY uint32_t btree_popcount(uint64_t bits)
{
    return kr_popcount32((uint32_t)bits) + kr_popcount32((uint32_t)(bits >> 32));
}

KR_BODY uint64_t btree_below(uint64_t bits, uint32_t slot)
{
    return bits & (((uint64_t)1 << slot) - 1);
}

/* ---- Plan ------------------------------------------------------------------------------------ */

KR_BODY uint32_t btree_leaves_for(uint32_t count, uint32_t bits)
{
    return (count >> bits) + ((count & ((1u << bits) - 1)) != 0);
}

KR_BODY uint32_t btree_count_deleted(kr_group part, const btree_update_params *p, uint32_t bits,
                                     uint32_t ordinal)
{
    const btree_tree *tree = &p->tree;
    const btree_range deletes = btree_deletes_of(p, ordinal);
    const uint32_t count = kr_load(tree->starts + ordinal + 1) - kr_load(tree->starts + ordinal);
    const kr_key *keys = btree_keys(tree, btree_slot(tree, bits, ordinal));
    uint32_t deleted = 0;
    KR_UNROLL
    for (uint32_t first = 0; first < 1u << bits; first += BTREE_LANES) {
        const uint32_t s = first + part.rank;
        deleted += kr_popcount32(
            kr_group_ballot(part, s < count && btree_is_deleted(p, deletes, kr_load(keys + s))));
    }
    return deleted;
}

/* For the thread that knows leaf `ordinal`, if it asks: how many of its entries are deleted. */
KR_BODY uint32_t btree_deleted(kr_group group, const btree_update_params *p, uint32_t bits, uint32_t ordinal,
                               int asks)
{
    const kr_group part = btree_part_of(group);
    const uint32_t parts = group.size / BTREE_LANES, below = ((uint32_t)1 << group.rank) - 1;
    uint32_t waiting = kr_group_ballot(group, asks), deleted = 0;
    while (waiting) {
        const uint32_t mine = btree_skip(waiting, group.rank / BTREE_LANES),
                       owner = mine ? kr_ctz32(mine) : 0;
        const uint32_t theirs = (uint32_t)kr_group_share(group, ordinal, owner);
        const uint32_t found = mine ? btree_count_deleted(part, p, bits, theirs) : 0;
        const uint32_t turn = kr_popcount32(waiting & below);
        const uint32_t answer = (uint32_t)kr_group_share(group, found, turn * BTREE_LANES % group.size);
        if (waiting >> group.rank & 1 && turn < parts)
            deleted = answer;
        waiting = btree_skip(waiting, parts);
    }
    return deleted;
}

/* Adds up over the group. */
KR_BODY void btree_add_sums(kr_group group, btree_sums *to, uint64_t rows_and_leaves, uint64_t moved,
                            uint32_t changed)
{
    for (uint32_t distance = group.size / 2; distance; distance /= 2) {
        rows_and_leaves += kr_group_other(group, rows_and_leaves, distance);
        moved += kr_group_other(group, moved, distance);
        changed += (uint32_t)kr_group_other(group, changed, distance);
    }
    if (group.rank)
        return;
    kr_atomic_take32(&to->entries, (uint32_t)rows_and_leaves);
    kr_atomic_take32(&to->leaves, (uint32_t)(rows_and_leaves >> 32));
    if (changed)
        kr_atomic_take32(&to->changed, changed);
    if (moved) {
        kr_atomic_take32(&to->taken, (uint32_t)moved);
        kr_atomic_take32(&to->freed, (uint32_t)(moved >> 32));
    }
}

KR_BODY void btree_plan_leaf(kr_group group, const btree_update_params *p, uint32_t bits, uint64_t i,
                             uint64_t n)
{
    const btree_tree *tree = &p->tree;
    const uint32_t ordinal = (uint32_t)(i < n ? i : n - 1);
    const btree_range inserts = btree_inserts_of(p, ordinal), deletes = btree_deletes_of(p, ordinal);
    const uint32_t old = kr_load(tree->starts + ordinal + 1) - kr_load(tree->starts + ordinal);
    const uint32_t deleted = btree_deleted(group, p, bits, ordinal, i < n && deletes.from < deletes.to);
    const uint32_t count = old + (inserts.to - inserts.from) - deleted,
                   leaves = btree_leaves_for(count, bits);
    uint64_t sums = 0, moved = 0;
    uint32_t changed = 0;
    if (i < n) {
        const int changes = inserts.from < inserts.to || deleted;
        p->counts[i] = count | (changes ? BTREE_CHANGED : 0);
        changed = changes ? leaves : 0;
        sums = count | (uint64_t)leaves << 32;
        moved = (leaves > 1 ? leaves : 0) | (uint64_t)(leaves != 1) << 32;
    }
    btree_add_sums(group, p->sums + ordinal / BTREE_TILE, sums, moved, changed);
}

/* ---- Sum ------------------------------------------------------------------------------------- */

/* One block: each thread adds up a run of tiles. */
KR_BODY void btree_sum_tiles(kr_block block, char *shared, const btree_update_params *p, uint64_t n)
{
    const uint32_t run = (p->n_tiles + block.size) / block.size, all = p->n_tiles + 1;
    const uint32_t first = block.rank * run < all ? block.rank * run : all;
    const uint32_t end = first + run < all ? first + run : all;
    btree_sums sum = {0, 0, 0, 0, 0, 0};
    (void)shared, (void)n;
    for (uint32_t t = first; t < end; ++t) {
        sum.entries += p->sums[t].entries;
        sum.leaves += p->sums[t].leaves;
        sum.taken += p->sums[t].taken;
        sum.freed += p->sums[t].freed;
        sum.changed += p->sums[t].changed;
    }
    sum.entries = kr_block_sum_before(block, sum.entries, NULL);
    sum.leaves = kr_block_sum_before(block, sum.leaves, NULL);
    sum.taken = kr_block_sum_before(block, sum.taken, NULL);
    sum.freed = kr_block_sum_before(block, sum.freed, NULL);
    sum.changed = kr_block_sum_before(block, sum.changed, NULL);
    for (uint32_t t = first; t < end; ++t) {
        const btree_sums own = p->sums[t];
        p->sums[t] = sum;
        sum.entries += own.entries;
        sum.leaves += own.leaves;
        sum.taken += own.taken;
        sum.freed += own.freed;
        sum.changed += own.changed;
    }
}
KR_BLOCK_PROGRAM(btree_sum, btree_update_params, btree_sum_tiles);

/* ---- Direct ---------------------------------------------------------------------------------- */

enum { BTREE_DIRECT_SHARED = 4 * (BTREE_TILE + 1) * sizeof(uint32_t) };

/* Shared memory of a block: what of its tile lies before each leaf. */
typedef struct btree_room {
    uint32_t *entries, *leaves, *taken, *changed;
} btree_room;

KR_BODY btree_room btree_room_of(char *shared)
{
    uint32_t *words = (uint32_t *)shared;
    const btree_room room = {words, words + BTREE_TILE + 1, words + 2 * (BTREE_TILE + 1),
                             words + 3 * (BTREE_TILE + 1)};
    return room;
}

KR_BODY uint32_t btree_count_at(const btree_update_params *p, uint64_t i)
{
    return i < p->tree.n_leaves ? kr_load(p->counts + i) & ~BTREE_CHANGED : 0;
}

KR_BODY int btree_changes(const btree_update_params *p, uint64_t i)
{
    return i < p->tree.n_leaves && kr_load(p->counts + i) & BTREE_CHANGED;
}

/* Counts what lies before each leaf, and frees leaves. */
KR_BODY void btree_count_tile(kr_block block, const btree_update_params *p, uint64_t t,
                              const btree_room *room)
{
    const uint32_t run = BTREE_TILE / block.size, first = block.rank * run, bits = p->tree.node_bits;
    btree_sums sum = {0, 0, 0, 0, 0, 0};
    for (uint32_t l = first; l < first + run; ++l) {
        const uint64_t i = t * BTREE_TILE + l;
        const uint32_t count = btree_count_at(p, i), leaves = btree_leaves_for(count, bits);
        sum.entries += count;
        sum.leaves += leaves;
        sum.taken += leaves > 1 ? leaves : 0;
        sum.freed += leaves != 1 && i < p->tree.n_leaves;
        sum.changed += btree_changes(p, i) ? leaves : 0;
    }
    sum.entries = kr_block_sum_before(block, sum.entries, NULL);
    sum.leaves = kr_block_sum_before(block, sum.leaves, NULL);
    sum.taken = kr_block_sum_before(block, sum.taken, NULL);
    sum.changed = kr_block_sum_before(block, sum.changed, NULL) + p->sums[t].changed;
    sum.freed = kr_block_sum_before(block, sum.freed, NULL) + p->sums[t].freed + p->made.n_leaves +
                (p->tree.room - p->tree.n_leaves) - p->sums[p->n_tiles].taken;
    for (uint32_t l = first; l < first + run; ++l) {
        const uint64_t i = t * BTREE_TILE + l;
        const uint32_t count = btree_count_at(p, i), leaves = btree_leaves_for(count, bits);
        room->entries[l] = sum.entries;
        room->leaves[l] = sum.leaves;
        room->taken[l] = sum.taken;
        room->changed[l] = sum.changed;
        sum.entries += count;
        sum.leaves += leaves;
        sum.taken += leaves > 1 ? leaves : 0;
        sum.changed += btree_changes(p, i) ? leaves : 0;
        if (leaves != 1 && i < p->tree.n_leaves)
            p->made.order[sum.freed++] = btree_leaf(&p->tree, (uint32_t)i);
        if (l + 1 == BTREE_TILE) {
            room->entries[BTREE_TILE] = sum.entries;
            room->leaves[BTREE_TILE] = sum.leaves;
        }
    }
    kr_block_sync(block);
}

/* The leaf of the tile that gets the x-th ordinal of the tile. */
KR_BODY uint32_t btree_source_of(const btree_room *room, uint32_t x)
{
    uint32_t low = 0, high = BTREE_TILE;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (room->leaves[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first entry of piece j, from the first of all pieces on. */
KR_BODY uint32_t btree_piece_at(uint32_t count, uint32_t pieces, uint32_t j)
{
    return (uint32_t)((uint64_t)count * j / pieces);
}

KR_BODY void btree_direct_ordinal(const btree_update_params *p, uint64_t t, const btree_room *room,
                                  uint32_t x)
{
    const btree_tree *tree = &p->tree;
    const uint32_t l = btree_source_of(room, x), i = (uint32_t)(t * BTREE_TILE) + l;
    const uint32_t before = p->sums[t].entries + room->entries[l], j = x - room->leaves[l];
    const uint32_t count = room->entries[l + 1] - room->entries[l], o = p->sums[t].leaves + x;
    const uint32_t pieces = room->leaves[l + 1] - room->leaves[l];
    p->made.starts[o] = before + (j ? btree_piece_at(count, pieces, j) : 0);
    p->made.order[o] = pieces == 1
                           ? btree_leaf(tree, i)
                           : kr_load(tree->order + tree->n_leaves + p->sums[t].taken + room->taken[l] + j);
    ((kr_key *)p->made.separators)[o] = kr_load(btree_separator(tree, i)); /* `apply` corrects it */
    p->source[o] = i;
    if (btree_changes(p, i))
        p->changed[room->changed[l] + j] = o;
    if (j == 0)
        p->before[i] = before;
}

KR_BODY void btree_direct_tiles(kr_block block, char *shared, const btree_update_params *p, uint64_t n_tiles)
{
    const btree_room room = btree_room_of(shared);
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        btree_count_tile(block, p, t, &room);
        for (uint32_t x = block.rank; x < room.leaves[BTREE_TILE]; x += block.size)
            btree_direct_ordinal(p, t, &room, x);
        if (t + 1 == n_tiles && block.rank == 0)
            p->made.starts[p->made.n_leaves] = p->made.n;
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(btree_direct, btree_update_params, btree_direct_tiles);

/* Where no leaf is taken or freed, only positions change. */
KR_BODY void btree_restart_tiles(kr_block block, char *shared, const btree_update_params *p, uint64_t n_tiles)
{
    const uint32_t run = BTREE_TILE / block.size;
    (void)shared;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t first = t * BTREE_TILE + block.rank * run;
        uint32_t sum = 0, changed = 0;
        for (uint64_t i = first; i < first + run; ++i) {
            sum += btree_count_at(p, i);
            changed += btree_changes(p, i);
        }
        sum = kr_block_sum_before(block, sum, NULL) + p->sums[t].entries;
        changed = kr_block_sum_before(block, changed, NULL) + p->sums[t].changed;
        for (uint64_t i = first; i < first + run && i < p->tree.n_leaves; ++i) {
            p->made.starts[i] = sum;
            sum += btree_count_at(p, i);
            if (btree_changes(p, i))
                p->changed[changed++] = (uint32_t)i;
        }
        if (t + 1 == n_tiles && block.rank == 0)
            p->made.starts[p->made.n_leaves] = p->made.n;
    }
}
KR_BLOCK_PROGRAM(btree_restart, btree_update_params, btree_restart_tiles);

/* ---- Apply ----------------------------------------------------------------------------------- */

/* Entries that the threads of a group hold: slot j * BTREE_LANES + rank of their leaf is a thread's j-th. */
typedef struct btree_held {
    kr_key keys[BTREE_MINE];
    uint32_t rows[BTREE_MINE];
    uint64_t old, kept; /* slots that hold entries; those of them that are not deleted */
} btree_held;

/* The leaf may be written by this program, so not by kr_load. */
KR_BODY void btree_hold(kr_group part, const btree_update_params *p, uint32_t bits, uint32_t ordinal,
                        uint32_t slot, btree_held *held)
{
    const btree_range deletes = btree_deletes_near(p, ordinal);
    held->old = held->kept = 0;
    KR_UNROLL
    for (uint32_t j = 0; j < (1u << bits) / BTREE_LANES; ++j) {
        const uint32_t s = j * BTREE_LANES + part.rank;
        held->keys[j] = ((const kr_key *)p->tree.keys)[slot + s];
        held->rows[j] = p->tree.rows[slot + s];
    }
    KR_UNROLL
    for (uint32_t j = 0; j < (1u << bits) / BTREE_LANES; ++j) {
        const int old = held->rows[j] != KR_NO_ROW;
        held->old |= btree_vote(part, old, j * BTREE_LANES);
        held->kept |= btree_vote(part, old && !btree_is_deleted(p, deletes, held->keys[j]), j * BTREE_LANES);
    }
}

/* A piece of a leaf's entries after the batch: those from `from` on, which are `count`. */
typedef struct btree_piece {
    uint32_t slot, to; /* the first of the leaf, and of the leaf that gets the piece */
    uint32_t from, count;
    uint32_t ordinal; /* of the latter */
    btree_range inserts;
} btree_piece;

KR_BODY void btree_store(const btree_update_params *p, const btree_piece *piece, uint32_t s, kr_key key,
                         uint32_t row)
{
    ((kr_key *)p->made.keys)[piece->to + s] = key;
    p->made.rows[piece->to + s] = row;
    if (s == 0)
        ((kr_key *)p->made.separators)[piece->ordinal] = key;
}

/* Kept entries go where the kept ones and the inserts before them leave off; inserts take the slots between,
 * in their order. All loads of entries come before the first store. */
KR_BODY void btree_merge_piece(kr_group part, const btree_update_params *p, uint32_t bits,
                               const btree_piece *piece, const btree_held *held)
{
    const uint32_t node = 1u << bits, mine = node / BTREE_LANES;
    uint32_t at[BTREE_MINE], before = 0; /* kept entries before the piece */
    uint64_t occupied = 0;
    KR_UNROLL
    for (uint32_t j = 0; j < mine; ++j) {
        const uint32_t s = j * BTREE_LANES + part.rank;
        const int kept = (int)(held->kept >> s & 1);
        const uint32_t inserts =
            btree_inserts_below(p, piece->inserts.from, piece->inserts.to, held->keys[j], &held->rows[j]) -
            piece->inserts.from;
        const uint32_t position = btree_popcount(btree_below(held->kept, s)) + inserts;
        at[j] = kept && position - piece->from < piece->count ? position - piece->from : BTREE_NONE;
        before += kr_popcount32(kr_group_ballot(part, kept && position < piece->from));
        occupied |= at[j] == BTREE_NONE ? 0 : (uint64_t)1 << at[j];
    }
    for (uint32_t distance = BTREE_LANES / 2; distance; distance /= 2)
        occupied |= kr_group_other(part, occupied, distance);
    kr_group_sync(part);
    KR_UNROLL
    for (uint32_t j = 0; j < mine; ++j)
        if (at[j] != BTREE_NONE && piece->to + at[j] != piece->slot + j * BTREE_LANES + part.rank)
            btree_store(p, piece, at[j], held->keys[j], held->rows[j]);
    for (uint32_t s = part.rank; s < node; s += BTREE_LANES) {
        const uint32_t insert =
            piece->inserts.from + piece->from + s - before - btree_popcount(btree_below(occupied, s));
        if (s >= piece->count && (piece->to != piece->slot || held->old >> s & 1))
            btree_store(p, piece, s, BTREE_LARGEST, KR_NO_ROW);
        else if (s < piece->count && !(occupied >> s & 1))
            btree_store(p, piece, s, kr_load(p->inserts + insert), kr_load(p->insert_rows + insert));
    }
}

/* Ordinal o afterwards comes from leaf `ordinal`. */
KR_BODY void btree_apply_to(kr_group part, const btree_update_params *p, uint32_t bits, uint32_t o,
                            uint32_t ordinal)
{
    const uint32_t start = kr_load(p->made.starts + o);
    btree_piece piece = {btree_slot(&p->tree, bits, ordinal), 0, 0, 0, o, btree_inserts_of(p, ordinal)};
    btree_held held;
    piece.to = p->moves ? kr_load(p->made.order + o) << bits : piece.slot;
    piece.from = p->moves ? start - kr_load(p->before + ordinal) : 0;
    piece.count = kr_load(p->made.starts + o + 1) - start;
    btree_hold(part, p, bits, ordinal, piece.slot, &held);
    btree_merge_piece(part, p, bits, &piece, &held);
}

/* Element i is a thread's: BTREE_LANES neighbours take one of the leaves that change. */
KR_BODY void btree_apply_changed(kr_group group, const btree_update_params *p, uint32_t bits, uint64_t i,
                                 uint64_t n)
{
    if (i >= n)
        return;
    const uint32_t o = kr_load(p->changed + i / BTREE_LANES);
    btree_apply_to(btree_part_of(group), p, bits, o, p->moves ? kr_load(p->source + o) : o);
}

/* The size of a node is a constant in each program. */
#define BTREE_UPDATES(node, bits)                                                                            \
    KR_BODY void btree_plan_of_##node(kr_group group, const btree_update_params *p, uint64_t i, uint64_t n)  \
    {                                                                                                        \
        btree_plan_leaf(group, p, bits, i, n);                                                               \
    }                                                                                                        \
    KR_GROUP_PROGRAM(btree_plan_##node, btree_update_params, btree_plan_of_##node);                          \
    KR_BODY void btree_apply_of_##node(kr_group group, const btree_update_params *p, uint64_t i, uint64_t n) \
    {                                                                                                        \
        btree_apply_changed(group, p, bits, i, n);                                                           \
    }                                                                                                        \
    KR_GROUP_PROGRAM(btree_apply_##node, btree_update_params, btree_apply_of_##node)
BTREE_UPDATES(8, 3);
BTREE_UPDATES(16, 4);
BTREE_UPDATES(32, 5);
BTREE_UPDATES(64, 6);

#endif
