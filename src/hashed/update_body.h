/* The rest of an update where the table stands.
 *
 *   erase    takes deleted keys out of their slots
 *   settle   writes the rows of inserted keys
 *
 * Nothing fails after the claims. Erasing comes after them, so that they can be taken back. A key that is
 * deleted and inserted keeps its slot. Both programs do nothing if a claim failed. */
#ifndef KEYRAY_HASHED_UPDATE_BODY_H
#define KEYRAY_HASHED_UPDATE_BODY_H

#include "hashed/claim_body.h"

/* ---- Rows aside, of many keys by one thread each, or of one key by all threads of a group ----------- */

/* The rows of one key: those it had, and those that come. */
typedef struct table_merge {
    uint32_t where;      /* in `aside` */
    uint32_t first, run; /* inserts */
    uint32_t old, at;    /* how many it had; one: its row, several: where they are */
} table_merge;

KR_BODY uint32_t table_old_row(const kr_hashed_view *t, const table_merge *m, uint32_t i)
{
    return m->old == 1 ? m->at : t->aside[(uint64_t)m->at + i];
}

/* Thread r of n places rows r, r + n, ... of both; old rows come before equal new ones. */
KR_BODY void table_merge_rows(const table_update_params *p, const table_merge *m, uint32_t rank,
                              uint32_t size)
{
    const kr_hashed_view *t = &p->table;
    for (uint64_t i = rank; i < m->old; i += size) {
        const uint32_t row = table_old_row(t, m, (uint32_t)i);
        uint32_t low = 0, high = m->run;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (kr_load(p->rows + m->first + middle) < row)
                low = middle + 1;
            else
                high = middle;
        }
        t->aside[(uint64_t)m->where + i + low] = row;
    }
    for (uint64_t i = rank; i < m->run; i += size) {
        const uint32_t row = kr_load(p->rows + m->first + i);
        uint32_t low = 0, high = m->old;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (table_old_row(t, m, middle) <= row)
                low = middle + 1;
            else
                high = middle;
        }
        t->aside[(uint64_t)m->where + i + low] = row;
    }
}

KR_BODY void table_forget_rows(const kr_hashed_view *t, kr_match span, uint32_t rank, uint32_t size)
{
    for (uint64_t i = rank; i < span.count; i += size)
        t->aside[(uint64_t)span.where + i] = KR_NO_ROW;
}

/* Forgets the spans of all threads of the group. */
KR_BODY void table_forget(kr_group group, const kr_hashed_view *t, kr_match span)
{
    const int alone = group.size == 1 || span.count <= TABLE_ALONE;
    if (alone)
        table_forget_rows(t, span, 0, 1);
    for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
        const uint64_t both =
            kr_group_share(group, span.where | (uint64_t)span.count << 32, kr_ctz32(waiting));
        const kr_match theirs = {(uint32_t)both, (uint32_t)(both >> 32)};
        table_forget_rows(t, theirs, group.rank, group.size);
    }
}

/* Merges the rows of all threads of the group. */
KR_BODY void table_merge_all(kr_group group, const table_update_params *p, const table_merge *mine)
{
    const int alone = group.size == 1 || mine->old + mine->run <= TABLE_ALONE;
    if (alone)
        table_merge_rows(p, mine, 0, 1);
    for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const uint64_t inserts = kr_group_share(group, mine->first | (uint64_t)mine->run << 32, owner);
        const uint64_t olds = kr_group_share(group, mine->at | (uint64_t)mine->old << 32, owner);
        const table_merge theirs = {(uint32_t)kr_group_share(group, mine->where, owner), (uint32_t)inserts,
                                    (uint32_t)(inserts >> 32), (uint32_t)(olds >> 32), (uint32_t)olds};
        table_merge_rows(p, &theirs, group.rank, group.size);
    }
}

/* The target of a key of the batch, if claims have moved it: home, or where it goes in step 1. No program
 * that comes after them writes keys. */
KR_BODY uint64_t table_follow(const kr_hashed_view *t, uint64_t target, kr_key key)
{
    const uint32_t at = (uint32_t)(target >> 8);
    if (t->linked || kr_load(table_keys(table_node(t, at)) + (target >> 4 & 15)) == key)
        return target;
    for (uint32_t steps = 0; steps < 2; ++steps) {
        const uint32_t to = steps ? table_way(t, key, 1) : table_home(t, key);
        char *node = table_node(t, to);
        const uint32_t meta = kr_atomic_load32(table_meta(node, t->slots));
        for (uint32_t live = meta & table_all(t); live; live &= live - 1)
            if (kr_load(table_keys(node) + kr_ctz32(live)) == key)
                return table_target(to, kr_ctz32(live), target & 15);
    }
    return target;
}

/* Steps to a key that goes were counted where `doom` found it. */
KR_BODY void table_count_moved(const table_update_params *p, uint64_t i, kr_key key, uint64_t from,
                               uint64_t to)
{
    uint64_t *counts = p->counts + (i >> 5) % TABLE_STRIPES * TABLE_CHANGES;
    const uint32_t home = table_home(&p->table, key);
    if (from == to || (to & 15) != TABLE_PLAN_ERASE)
        return;
    if ((uint32_t)(from >> 8) != home)
        kr_atomic_add64(counts + TABLE_CHANGE_MOVED, table_steps_to(&p->table, key, (uint32_t)(from >> 8)));
    if ((uint32_t)(to >> 8) != home)
        kr_atomic_add64(counts + TABLE_CHANGE_MOVED_FROM, 1);
}

/* Gives up the span of a slot, and returns it. */
KR_BODY kr_match table_take_span(const kr_hashed_view *t, uint32_t word)
{
    const kr_match span = t->spans[word], none = {0, 0};
    t->spans[word] = none;
    return span;
}

KR_BODY void table_erase_one(kr_group group, const table_update_params *p, uint64_t i, uint64_t n)
{
    const kr_hashed_view *t = &p->table;
    const uint64_t doomed = i < n && !table_failed(p) ? p->doomed[i] : TABLE_PLAN_NOTHING;
    kr_match span = {0, 0};
    if ((doomed & 15) != TABLE_PLAN_NOTHING) {
        const kr_key key = kr_load(p->deletes + i);
        const uint64_t target = table_follow(t, doomed, key);
        table_count_moved(p, i, key, doomed, target);
        char *node = table_node(t, (uint32_t)(target >> 8));
        const uint32_t slot = (uint32_t)(target >> 4 & 15), several = table_several(t->linked, slot);
        uint32_t *meta = table_meta(node, t->slots);
        if (kr_atomic_load32(meta) & several) /* other threads change the bits of other slots */
            span = table_take_span(t, table_words(node, t->slots)[slot]);
        kr_atomic_and32(meta, ~(several | ((target & 15) == TABLE_PLAN_ERASE ? 1u << slot : 0)));
    }
    table_forget(group, t, span);
}
KR_GROUP_PROGRAM(table_erase, table_update_params, table_erase_one);

/* After erasing: a key that is replaced has its slot, and no span. */
KR_BODY void table_settle_one(kr_group group, const table_update_params *p, uint64_t i, uint64_t n)
{
    const kr_hashed_view *t = &p->table;
    uint64_t target = i < n && !table_failed(p) ? p->targets[i] : TABLE_PLAN_NOTHING;
    if ((target & 15) == TABLE_PLAN_CLAIMED && table_run(p, i) == 1) /* its slot has all of it */
        target = TABLE_PLAN_NOTHING;
    table_merge merge = {0, 0, 0, 0, 0};
    kr_match span = {0, 0};
    if ((target & 15) != TABLE_PLAN_NOTHING) {
        if ((target & 15) != TABLE_PLAN_CLAIMED)
            target = table_follow(t, target, kr_load(p->inserts + i));
        char *node = table_node(t, (uint32_t)(target >> 8));
        const uint32_t slot = (uint32_t)(target >> 4 & 15), several = table_several(t->linked, slot);
        uint32_t *meta = table_meta(node, t->slots), *word = table_words(node, t->slots) + slot;
        merge.first = (uint32_t)i;
        merge.run = table_run(p, i);
        if ((target & 15) == TABLE_PLAN_ADD && kr_atomic_load32(meta) & several)
            span = table_take_span(t, *word);
        if ((target & 15) == TABLE_PLAN_ADD) {
            merge.old = span.count ? span.count : 1;
            merge.at = span.count ? span.where : *word;
        }
        if (merge.old + merge.run == 1) {
            *word = kr_load(p->rows + i);
            merge.run = 0;
        } else {
            const kr_match made = {p->n_aside + (uint32_t)p->needs[i], merge.old + merge.run};
            merge.where = made.where;
            *word = p->n_spans + (uint32_t)(p->needs[i] >> 32);
            t->spans[*word] = made;
            kr_atomic_or32(meta, several);
        }
    }
    table_merge_all(group, p, &merge);
    kr_group_sync(group);
    table_forget(group, t, span);
}
KR_GROUP_PROGRAM(table_settle, table_update_params, table_settle_one);

/* For a rebuild: the slot of a deleted key. */
KR_BODY void table_mark_one(const table_update_params *p, uint64_t i)
{
    const uint64_t doomed = p->doomed[i];
    if ((doomed & 15) == TABLE_PLAN_NOTHING)
        return;
    const uint64_t target = table_follow(&p->table, doomed, kr_load(p->deletes + i)), node = target >> 8;
    kr_atomic_or32(p->marks + node / 2, (uint32_t)1 << (node % 2 * 16 + (target >> 4 & 15)));
}
KR_MAP_PROGRAM(table_mark, table_update_params, table_mark_one);

/* ---- All entries in order, to build anew from -------------------------------------------------------- */

/* Buckets are in the order of mixed codes, and so are the keys that are in their own bucket, once those of a
 * bucket are: only the others have to be sorted. */
typedef struct table_flat_params {
    kr_hashed_view table;
    const uint32_t *marks; /* NULL, or slots whose keys are left out: 16 bits a node */
    uint64_t *before;      /* rows of each node: of keys at home << 32 | of others; then their sums */
    kr_key *keys[2];       /* of keys at home; of others, in the order of nodes */
    uint32_t *rows[2];
} table_flat_params;
kr_assert_size(table_flat_params, 104);

KR_BODY kr_match table_flat_span(const table_flat_params *p, char *node, uint32_t meta, uint32_t j)
{
    const uint32_t word = table_words(node, p->table.slots)[j];
    const kr_match one = {word, 1};
    return meta & table_several(p->table.linked, j) ? p->table.spans[word] : one;
}

/* Slots of node i whose keys stay. */
KR_BODY uint32_t table_flat_live(const table_flat_params *p, uint32_t meta, uint64_t i)
{
    const uint32_t gone = p->marks ? kr_load(p->marks + i / 2) >> (i % 2 * 16) : 0;
    return meta & table_all(&p->table) & ~gone;
}

/* Those of them whose keys are at home. */
KR_BODY uint32_t table_flat_home(const kr_hashed_view *t, char *node, uint32_t stay, uint64_t i)
{
    uint32_t home = 0;
    for (uint32_t live = i < t->n_heads ? stay : 0; live; live &= live - 1) {
        const uint32_t j = kr_ctz32(live);
        home |= table_home(t, table_keys(node)[j]) == i ? 1u << j : 0;
    }
    return home;
}

KR_BODY void table_flat_count_one(const table_flat_params *p, uint64_t i)
{
    const kr_hashed_view *t = &p->table;
    char *node = table_node(t, (uint32_t)i);
    const uint32_t meta = *table_meta(node, t->slots), stay = table_flat_live(p, meta, i);
    const uint32_t home = table_flat_home(t, node, stay, i);
    uint64_t rows = 0;
    for (uint32_t live = stay; live; live &= live - 1) {
        const uint32_t j = kr_ctz32(live);
        rows += (uint64_t)table_flat_span(p, node, meta, j).count << (home >> j & 1 ? 32 : 0);
    }
    p->before[i] = rows;
}
KR_MAP_PROGRAM(table_flat_count, table_flat_params, table_flat_count_one);

/* Whether the keys of these slots ascend, as in a bucket that was filled from sorted entries. */
KR_BODY int table_flat_ascends(char *node, uint32_t slots)
{
    const kr_key *keys = table_keys(node);
    int ascends = 1;
    kr_key last = 0;
    for (uint32_t live = slots; live; live &= live - 1) {
        const kr_key key = keys[kr_ctz32(live)];
        ascends &= key >= last;
        last = key;
    }
    return ascends;
}

/* Rows of the keys of these slots that are smaller than that of slot j. */
KR_BODY uint64_t table_flat_below(const table_flat_params *p, char *node, uint32_t meta, uint32_t slots,
                                  uint32_t j)
{
    const kr_key key = table_keys(node)[j];
    uint64_t rows = 0;
    for (uint32_t live = slots; live; live &= live - 1) {
        const uint32_t k = kr_ctz32(live);
        if (table_keys(node)[k] < key)
            rows += table_flat_span(p, node, meta, k).count;
    }
    return rows;
}

KR_BODY void table_flat_copy(const table_flat_params *p, kr_key key, kr_match span, uint32_t where,
                             uint64_t at, uint32_t rank, uint32_t size)
{
    const uint32_t away = where & 1, several = where >> 1;
    for (uint64_t k = rank; k < span.count; k += size) {
        p->keys[away][at + k] = key;
        p->rows[away][at + k] = several ? p->table.aside[(uint64_t)span.where + k] : span.where;
    }
}

KR_BODY void table_flat_one(kr_group group, const table_flat_params *p, uint64_t i, uint64_t n)
{
    const kr_hashed_view *t = &p->table;
    char *node = i < n ? table_node(t, (uint32_t)i) : NULL;
    const uint32_t meta = node ? *table_meta(node, t->slots) : 0;
    const uint32_t stay = node ? table_flat_live(p, meta, i) : 0;
    const uint32_t home = node ? table_flat_home(t, node, stay, i) : 0;
    const uint64_t before = node ? p->before[i] : 0;
    const int ascends = !node || table_flat_ascends(node, home);
    uint64_t home_at = before >> 32, away_at = (uint32_t)before;
    for (uint32_t j = 0; j < t->slots; ++j) {
        const uint32_t away = ~(home >> j) & 1, several = (meta & table_several(t->linked, j)) != 0;
        const uint32_t where = away | several << 1;
        kr_match span = {0, 0};
        kr_key key = 0;
        uint64_t at = away ? away_at : home_at;
        if (stay >> j & 1) {
            span = table_flat_span(p, node, meta, j);
            key = table_keys(node)[j];
            if (!away && !ascends)
                at = (before >> 32) + table_flat_below(p, node, meta, home, j);
            away_at += away ? span.count : 0;
            home_at += away ? 0 : span.count;
        }
        const int alone = group.size == 1 || span.count <= TABLE_ALONE;
        if (alone)
            table_flat_copy(p, key, span, where, at, 0, 1);
        for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
            const uint32_t owner = kr_ctz32(waiting);
            const uint64_t both = kr_group_share(group, span.where | (uint64_t)span.count << 32, owner);
            const kr_match theirs = {(uint32_t)both, (uint32_t)(both >> 32)};
            const uint64_t place = kr_group_share(group, at | (uint64_t)where << 32, owner);
            table_flat_copy(p, (kr_key)kr_group_share(group, key, owner), theirs, (uint32_t)(place >> 32),
                            (uint32_t)place, group.rank, group.size);
        }
    }
}
KR_GROUP_PROGRAM(table_flat, table_flat_params, table_flat_one);

/* Codes mixed by another seed. */
typedef struct table_remix_params {
    kr_key *keys;
    uint64_t from_seed, to_seed;
} table_remix_params;
kr_assert_size(table_remix_params, 24);

KR_BODY void table_remix_one(const table_remix_params *p, uint64_t i)
{
    p->keys[i] = kr_mix(kr_unmix(p->keys[i], p->from_seed), p->to_seed);
}
KR_MAP_PROGRAM(table_remix, table_remix_params, table_remix_one);

#endif
