/* The first bodies of an update: what a sorted batch means for each leaf, before anything changes.
 *
 * route    where the batch of every BTREE_ROUTE-th leaf begins
 * plan     which of the batch belongs to each leaf, and how many entries it will have
 * sum      what lies before each tile of leaves */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_PLAN_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_PLAN_H

#include "base/program/block.h"
#include "index/families/btree/btree_params.h"
#include "index/sorted/changes_search.h"

enum {
    BTREE_TILE = 2048, /* leaves of a tile */
    BTREE_ROUTE = 32,  /* leaves that share bounds: those of a group */
    BTREE_LANES_GPU = 8,
    BTREE_LANES = KR_ON_CUDA ? (int)BTREE_LANES_GPU : 1, /* threads that take a leaf together */
    BTREE_MINE = 64 / BTREE_LANES,                       /* slots of the largest leaf, a thread's */
    BTREE_FEW = 16,                                      /* rows of the batch in a leaf */
};
#define BTREE_CHANGED 0x80000000u /* marks a count */
#define BTREE_NONE 0xFFFFFFFFu

/* Of a tile; then of all tiles before it. */
typedef struct btree_sums {
    uint32_t entries, leaves; /* after the batch */
    uint32_t taken, freed;    /* leaves */
    uint32_t changed;         /* leaves after the batch that it inserts into or deletes from */
    uint32_t reserved;
} btree_sums;

typedef struct btree_update_params {
    btree_tree tree; /* as it was, until `apply` changes leaves */
    btree_tree made; /* afterwards: the same leaves; if none is taken or freed, the same directory */
    const kr_key *deletes, *inserts; /* ascending */
    const uint32_t *insert_rows;
    uint32_t *delete_from, *insert_from;     /* where the batch of each leaf begins; and one more */
    uint32_t *delete_bounds, *insert_bounds; /* the same of every BTREE_ROUTE-th leaf, and the end */
    uint32_t *counts;                        /* entries of each leaf afterwards, and BTREE_CHANGED */
    btree_sums *sums;                        /* n_tiles + 1 */
    uint32_t *before;                        /* entries before each leaf afterwards */
    uint32_t *source;                        /* of an ordinal afterwards: that of the leaf it comes from */
    uint32_t *changed;                       /* the ordinals afterwards that change */
    kr_blocks blocks;
    uint32_t n_deletes, n_inserts;
    uint32_t n_tiles;
    uint32_t moves; /* 1: leaves are taken or freed */
} btree_update_params;
kr_assert_size(btree_update_params, 376);

/* ---- Route ----------------------------------------------------------------------------------- */

KR_BODY kr_changes_inserts btree_inserts(const btree_update_params *p)
{
    const kr_changes_inserts inserts = {p->inserts, p->insert_rows, 0};
    return inserts;
}

/* Where the deletes, or the inserts, of leaf i begin, which lies between low and high. An insert that is
 * equal to the first entry of a leaf goes behind it. The first leaf takes all that is smaller, too. Element
 * n_leaves is the end. */
KR_BODY uint32_t btree_deletes_from(const btree_update_params *p, uint64_t i, uint32_t low, uint32_t high)
{
    if (i == p->tree.n_leaves)
        return p->n_deletes;
    if (low == high) /* of a small batch nearly always: its separator is not read */
        return low;
    return kr_changes_delete_at(p->deletes, low, high, kr_load(btree_separator(&p->tree, (uint32_t)i)), 0);
}

KR_BODY uint32_t btree_inserts_from(const btree_update_params *p, uint64_t i, uint32_t low, uint32_t high)
{
    const btree_tree *tree = &p->tree;
    if (i == tree->n_leaves)
        return p->n_inserts;
    if (low == high)
        return low;
    return i ? kr_changes_insert_at(btree_inserts(p), low, high, kr_load(btree_separator(tree, (uint32_t)i)),
                                    tree->rows + btree_slot(tree, tree->node_bits, (uint32_t)i), 0)
             : 0;
}

/* Every BTREE_ROUTE-th leaf searches the whole batch, so that the others have little left to search. */
KR_BODY void btree_route_leaves(const btree_update_params *p, uint64_t b)
{
    const uint64_t leaf = b * BTREE_ROUTE, i = leaf < p->tree.n_leaves ? leaf : p->tree.n_leaves;
    if (p->n_deletes)
        p->delete_bounds[b] = btree_deletes_from(p, i, 0, p->n_deletes);
    if (p->n_inserts)
        p->insert_bounds[b] = btree_inserts_from(p, i, 0, p->n_inserts);
}
KR_MAP_PROGRAM(btree_route, btree_update_params, btree_route_leaves);

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

KR_BODY btree_range btree_deletes_of(const btree_update_params *p, uint32_t ordinal)
{
    btree_range range = {0, 0};
    if (p->n_deletes) {
        range.from = kr_load(p->delete_from + ordinal);
        range.to = kr_load(p->delete_from + ordinal + 1);
    }
    return range;
}

/* With the first delete of the next leaf, if it is the key that this begins with: this leaf may end with it.
 */
KR_BODY btree_range btree_with_next(const btree_update_params *p, uint32_t ordinal, btree_range deletes)
{
    if (deletes.to < p->n_deletes &&
        kr_load(p->deletes + deletes.to) == kr_load(btree_separator(&p->tree, ordinal + 1)))
        ++deletes.to;
    return deletes;
}

/* Which of a thread's slots hold deleted keys, one bit per slot. Few deletes are read one after the other:
 * their loads do not wait for each other, as the steps of a search do. */
KR_BODY uint64_t btree_find_deleted(const btree_update_params *p, btree_range deletes, const kr_key *keys,
                                    uint32_t n)
{
    uint64_t found = 0;
    if (deletes.to - deletes.from > BTREE_FEW) {
        KR_UNROLL
        for (uint32_t j = 0; j < n; ++j)
            found |= (uint64_t)kr_changes_is_deleted(p->deletes, deletes.from, deletes.to, keys[j]) << j;
        return found;
    }
    for (uint32_t i = deletes.from; i < deletes.to; ++i) {
        const kr_key key = kr_load(p->deletes + i);
        KR_UNROLL
        for (uint32_t j = 0; j < n; ++j)
            found |= (uint64_t)(keys[j] == key) << j;
    }
    return found;
}

/* Of a thread's slots: how many of these inserts come before each. */
KR_BODY void btree_count_inserts(const btree_update_params *p, btree_range inserts, const kr_key *keys,
                                 const uint32_t *rows, uint32_t n, uint32_t *below)
{
    KR_UNROLL
    for (uint32_t j = 0; j < n; ++j)
        below[j] =
            inserts.to - inserts.from > BTREE_FEW
                ? kr_changes_insert_at(btree_inserts(p), inserts.from, inserts.to, keys[j], &rows[j], 0) -
                      inserts.from
                : 0;
    for (uint32_t i = inserts.from; i < inserts.to && inserts.to - inserts.from <= BTREE_FEW; ++i) {
        const kr_key key = kr_load(p->inserts + i);
        const uint32_t row = kr_load(p->insert_rows + i);
        KR_UNROLL
        for (uint32_t j = 0; j < n; ++j)
            below[j] += key < keys[j] || (key == keys[j] && row < rows[j]);
    }
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
    const uint32_t lanes =
        (1u << BTREE_LANES) - 1; /* so that masks of small nodes are known to have 32 bits */
    return (uint64_t)(kr_group_ballot(part, condition) & lanes) << first;
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

/* Where the inserts, or else the deletes, of leaf i begin, between the bounds around it. */
KR_BODY uint32_t btree_batch_at(const btree_update_params *p, int inserts, uint64_t i)
{
    const uint32_t *bounds = (inserts ? p->insert_bounds : p->delete_bounds) + i / BTREE_ROUTE;
    const uint32_t low = kr_load(bounds);
    if (i % BTREE_ROUTE == 0)
        return low;
    return inserts ? btree_inserts_from(p, i, low, kr_load(bounds + 1))
                   : btree_deletes_from(p, i, low, kr_load(bounds + 1));
}

/* What the next thread knows; `last` for the last thread. */
KR_BODY uint32_t btree_of_next(kr_group group, uint32_t mine, uint32_t last)
{
    const uint32_t next = group.rank + 1 < group.size ? group.rank + 1 : group.rank;
    const uint32_t theirs = (uint32_t)kr_group_share(group, mine, next);
    return group.rank + 1 < group.size ? theirs : last;
}

/* The inserts, or else the deletes, of leaf i, which each thread finds for its own. Element n_leaves is the
 * end.
 */
KR_BODY btree_range btree_find_batch(kr_group group, const btree_update_params *p, int inserts, uint64_t i)
{
    const uint64_t n = p->tree.n_leaves, next = i < n ? i + 1 : n;
    const uint32_t n_batch = inserts ? p->n_inserts : p->n_deletes;
    uint32_t *from = inserts ? p->insert_from : p->delete_from;
    btree_range range = {0, 0};
    if (n_batch == 0)
        return range;
    range.from = btree_batch_at(p, inserts, i);
    range.to =
        btree_of_next(group, range.from, group.rank + 1 < group.size ? 0 : btree_batch_at(p, inserts, next));
    if (i < n)
        from[i] = range.from;
    if (next == n)
        from[n] = n_batch;
    return range;
}

KR_BODY uint32_t btree_count_deleted(kr_group part, const btree_update_params *p, uint32_t bits,
                                     uint32_t ordinal, btree_range deletes)
{
    const btree_tree *tree = &p->tree;
    const uint32_t count = kr_load(tree->starts + ordinal + 1) - kr_load(tree->starts + ordinal);
    const kr_key *from = btree_keys(tree, btree_slot(tree, bits, ordinal));
    kr_key keys[BTREE_MINE];
    uint32_t deleted = 0;
    KR_UNROLL
    for (uint32_t j = 0; j < (1u << bits) / BTREE_LANES; ++j)
        keys[j] = kr_load(from + j * BTREE_LANES + part.rank);
    const uint64_t found = btree_find_deleted(p, deletes, keys, (1u << bits) / BTREE_LANES);
    KR_UNROLL
    for (uint32_t j = 0; j < (1u << bits) / BTREE_LANES; ++j)
        deleted +=
            kr_popcount32(kr_group_ballot(part, j * BTREE_LANES + part.rank < count && found >> j & 1));
    return deleted;
}

/* For the thread that knows leaf `ordinal`: how many of its entries are deleted. */
KR_BODY uint32_t btree_deleted(kr_group group, const btree_update_params *p, uint32_t bits, uint32_t ordinal,
                               btree_range deletes)
{
    const kr_group part = btree_part_of(group);
    const uint32_t parts = group.size / BTREE_LANES, below = ((uint32_t)1 << group.rank) - 1;
    uint32_t waiting = kr_group_ballot(group, deletes.from < deletes.to), deleted = 0;
    while (waiting) {
        const uint32_t mine = btree_skip(waiting, group.rank / BTREE_LANES),
                       owner = mine ? kr_ctz32(mine) : 0;
        const uint32_t theirs = (uint32_t)kr_group_share(group, ordinal, owner);
        const uint64_t both = kr_group_share(group, deletes.from | (uint64_t)deletes.to << 32, owner);
        const btree_range range = {(uint32_t)both, (uint32_t)(both >> 32)};
        const uint32_t found = mine ? btree_count_deleted(part, p, bits, theirs, range) : 0;
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
    const btree_range inserts = btree_find_batch(group, p, 1, i < n ? i : n);
    const btree_range routed = btree_find_batch(group, p, 0, i < n ? i : n);
    const btree_range deletes = i < n ? btree_with_next(p, ordinal, routed) : routed;
    const uint32_t old = kr_load(tree->starts + ordinal + 1) - kr_load(tree->starts + ordinal);
    const uint32_t deleted = btree_deleted(group, p, bits, ordinal, deletes);
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

#endif
