/* The bodies that apply a sorted batch to the leaves, in place, after those of btree_plan.h.
 *
 * direct   the new directory: what becomes of each leaf, and where its entries begin
 * apply    merges the batch into its leaves
 *
 * A leaf whose entries will fit stays where it is. One that overflows is cut into equal pieces, as many as
 * are needed: all of them go to leaves that were free, and its own becomes free, as does one that becomes
 * empty. So pieces can be written independently of each other, and a group of threads takes one at a time. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_UPDATE_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_UPDATE_WIDTH_BODY_H

#include "index/families/btree/btree_plan.h"

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

KR_BODY void btree_direct_ordinal(const btree_update_params *p, uint64_t t, const btree_room *room, int moves,
                                  uint32_t x)
{
    const btree_tree *tree = &p->tree;
    const uint32_t l = moves ? btree_source_of(room, x) : x, i = (uint32_t)(t * BTREE_TILE) + l;
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
        const int moves =
            p->sums[t].freed != p->sums[t + 1].freed; /* in most tiles leaves keep their order */
        for (uint32_t x = block.rank; x < room.leaves[BTREE_TILE]; x += block.size)
            btree_direct_ordinal(p, t, &room, moves, x);
        if (t + 1 == p->n_tiles && block.rank == 0)
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
        if (t + 1 == p->n_tiles && block.rank == 0)
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
    btree_range deletes = btree_deletes_of(p, ordinal);
    deletes.to += deletes.to < p->n_deletes; /* that of the next leaf, whose separator others may write now */
    held->old = held->kept = 0;
    KR_UNROLL
    for (uint32_t j = 0; j < (1u << bits) / BTREE_LANES; ++j) {
        const uint32_t s = j * BTREE_LANES + part.rank;
        held->keys[j] = ((const kr_key *)p->tree.keys)[slot + s];
        held->rows[j] = p->tree.rows[slot + s];
    }
    const uint64_t found = btree_find_deleted(p, deletes, held->keys, (1u << bits) / BTREE_LANES);
    KR_UNROLL
    for (uint32_t j = 0; j < (1u << bits) / BTREE_LANES; ++j) {
        const int old = held->rows[j] != KR_NO_ROW;
        held->old |= btree_vote(part, old, j * BTREE_LANES);
        held->kept |= btree_vote(part, old && !(found >> j & 1), j * BTREE_LANES);
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
    btree_count_inserts(p, piece->inserts, held->keys, held->rows, mine, at);
    KR_UNROLL
    for (uint32_t j = 0; j < mine; ++j) {
        const uint32_t s = j * BTREE_LANES + part.rank;
        const int kept = (int)(held->kept >> s & 1);
        const uint32_t position = btree_popcount(btree_below(held->kept, s)) + at[j];
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
