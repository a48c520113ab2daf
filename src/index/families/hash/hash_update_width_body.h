/* The rest of an update where the table stands.
 *
 *   erase    takes deleted keys out of their slots
 *   settle   writes the rows of inserted keys
 *
 * Nothing fails after the claims. Erasing comes after them, so that they can be taken back. A key that is
 * deleted and inserted keeps its slot. Both programs do nothing if a claim failed. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_UPDATE_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_UPDATE_WIDTH_BODY_H

#include "index/families/hash/hash_update_claim.h"

/* ---- Rows aside, of many keys by one thread each, or of one key by all threads of a group ----------- */

/* The rows of one key: those it had, and those inserted. */
typedef struct hash_merge {
    uint32_t where;      /* in `aside` */
    uint32_t first, run; /* inserts */
    uint32_t old, at;    /* how many it had; one: its row, several: where they are */
} hash_merge;

KR_BODY uint32_t hash_old_row(const hash_view *t, const hash_merge *m, uint32_t i)
{
    return m->old == 1 ? m->at : t->aside[(uint64_t)m->at + i];
}

/* Thread r of n places rows r, r + n, ... of both; old rows come before equal new ones. */
KR_BODY void hash_merge_rows(const hash_update_params *p, const hash_merge *m, uint32_t rank, uint32_t size)
{
    const hash_view *t = &p->table;
    for (uint64_t i = rank; i < m->old; i += size) {
        const uint32_t row = hash_old_row(t, m, (uint32_t)i);
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
            if (hash_old_row(t, m, middle) <= row)
                low = middle + 1;
            else
                high = middle;
        }
        t->aside[(uint64_t)m->where + i + low] = row;
    }
}

KR_BODY void hash_forget_rows(const hash_view *t, kr_match span, uint32_t rank, uint32_t size)
{
    for (uint64_t i = rank; i < span.count; i += size)
        t->aside[(uint64_t)span.where + i] = KR_NO_ROW;
}

/* Forgets the spans of all threads of the group. */
KR_BODY void hash_forget(kr_group group, const hash_view *t, kr_match span)
{
    const int alone = group.size == 1 || span.count <= TABLE_ALONE;
    if (alone)
        hash_forget_rows(t, span, 0, 1);
    for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
        const uint64_t both =
            kr_group_share(group, span.where | (uint64_t)span.count << 32, kr_ctz32(waiting));
        const kr_match theirs = {(uint32_t)both, (uint32_t)(both >> 32)};
        hash_forget_rows(t, theirs, group.rank, group.size);
    }
}

/* Merges the rows of all threads of the group. */
KR_BODY void hash_merge_all(kr_group group, const hash_update_params *p, const hash_merge *mine)
{
    const int alone = group.size == 1 || mine->old + mine->run <= TABLE_ALONE;
    if (alone)
        hash_merge_rows(p, mine, 0, 1);
    for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const uint64_t inserts = kr_group_share(group, mine->first | (uint64_t)mine->run << 32, owner);
        const uint64_t olds = kr_group_share(group, mine->at | (uint64_t)mine->old << 32, owner);
        const hash_merge theirs = {(uint32_t)kr_group_share(group, mine->where, owner), (uint32_t)inserts,
                                   (uint32_t)(inserts >> 32), (uint32_t)(olds >> 32), (uint32_t)olds};
        hash_merge_rows(p, &theirs, group.rank, group.size);
    }
}

/* The target of a key of the batch, if claims have moved it: home, or where it goes in step 1. No program
 * that comes after them writes keys. */
KR_BODY uint64_t hash_follow(const hash_view *t, uint64_t target, kr_key key)
{
    const uint32_t at = (uint32_t)(target >> 8);
    if (t->linked || kr_load(hash_keys(hash_node(t, at)) + (target >> 4 & 15)) == key)
        return target;
    for (uint32_t steps = 0; steps < 2; ++steps) {
        const uint32_t to = steps ? hash_way(t, key, 1) : hash_home(t, key);
        char *node = hash_node(t, to);
        const uint32_t meta = kr_atomic_load32(hash_meta(node, t->slots));
        for (uint32_t live = meta & hash_all(t); live; live &= live - 1)
            if (kr_load(hash_keys(node) + kr_ctz32(live)) == key)
                return hash_target(to, kr_ctz32(live), target & 15);
    }
    return target;
}

/* Steps to a deleted key were counted where `doom` found it. */
KR_BODY void hash_count_moved(const hash_update_params *p, uint64_t i, kr_key key, uint64_t from, uint64_t to)
{
    uint64_t *counts = p->counts + (i >> 5) % TABLE_STRIPES * TABLE_CHANGES;
    const uint32_t home = hash_home(&p->table, key);
    if (from == to || (to & 15) != TABLE_PLAN_ERASE)
        return;
    if ((uint32_t)(from >> 8) != home)
        kr_atomic_add64(counts + TABLE_CHANGE_MOVED, hash_steps_to(&p->table, key, (uint32_t)(from >> 8)));
    if ((uint32_t)(to >> 8) != home)
        kr_atomic_add64(counts + TABLE_CHANGE_MOVED_FROM, 1);
}

/* Gives up the span of a slot, and returns it. */
KR_BODY kr_match hash_take_span(const hash_view *t, uint32_t word)
{
    const kr_match span = t->spans[word], none = {0, 0};
    t->spans[word] = none;
    return span;
}

KR_BODY void hash_erase_one(kr_group group, const hash_update_params *p, uint64_t i, uint64_t n)
{
    const hash_view *t = &p->table;
    const uint64_t doomed = i < n && !hash_failed(p) ? p->doomed[i] : TABLE_PLAN_NOTHING;
    kr_match span = {0, 0};
    if ((doomed & 15) != TABLE_PLAN_NOTHING) {
        const kr_key key = kr_load(p->deletes + i);
        const uint64_t target = hash_follow(t, doomed, key);
        hash_count_moved(p, i, key, doomed, target);
        char *node = hash_node(t, (uint32_t)(target >> 8));
        const uint32_t slot = (uint32_t)(target >> 4 & 15), several = hash_several(t->linked, slot);
        uint32_t *meta = hash_meta(node, t->slots);
        if (kr_atomic_load32(meta) & several) /* other threads change the bits of other slots */
            span = hash_take_span(t, hash_words(node, t->slots)[slot]);
        kr_atomic_and32(meta, ~(several | ((target & 15) == TABLE_PLAN_ERASE ? 1u << slot : 0)));
    }
    hash_forget(group, t, span);
}
KR_GROUP_PROGRAM(hash_erase, hash_update_params, hash_erase_one);

/* After erasing: a key that is replaced has its slot, and no span. */
KR_BODY void hash_settle_one(kr_group group, const hash_update_params *p, uint64_t i, uint64_t n)
{
    const hash_view *t = &p->table;
    uint64_t target = i < n && !hash_failed(p) ? p->targets[i] : TABLE_PLAN_NOTHING;
    if ((target & 15) == TABLE_PLAN_CLAIMED && hash_run(p, i) == 1) /* its slot has all of it */
        target = TABLE_PLAN_NOTHING;
    hash_merge merge = {0, 0, 0, 0, 0};
    kr_match span = {0, 0};
    if ((target & 15) != TABLE_PLAN_NOTHING) {
        if ((target & 15) != TABLE_PLAN_CLAIMED)
            target = hash_follow(t, target, kr_load(p->inserts + i));
        char *node = hash_node(t, (uint32_t)(target >> 8));
        const uint32_t slot = (uint32_t)(target >> 4 & 15), several = hash_several(t->linked, slot);
        uint32_t *meta = hash_meta(node, t->slots), *word = hash_words(node, t->slots) + slot;
        merge.first = (uint32_t)i;
        merge.run = hash_run(p, i);
        if ((target & 15) == TABLE_PLAN_ADD && kr_atomic_load32(meta) & several)
            span = hash_take_span(t, *word);
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
    hash_merge_all(group, p, &merge);
    kr_group_sync(group);
    hash_forget(group, t, span);
}
KR_GROUP_PROGRAM(hash_settle, hash_update_params, hash_settle_one);

/* For a rebuild: the slot of a deleted key. */
KR_BODY void hash_mark_one(const hash_update_params *p, uint64_t i)
{
    const uint64_t doomed = p->doomed[i];
    if ((doomed & 15) == TABLE_PLAN_NOTHING)
        return;
    const uint64_t target = hash_follow(&p->table, doomed, kr_load(p->deletes + i)), node = target >> 8;
    kr_atomic_or32(p->marks + node / 2, (uint32_t)1 << (node % 2 * 16 + (target >> 4 & 15)));
}
KR_MAP_PROGRAM(hash_mark, hash_update_params, hash_mark_one);

/* ---- All entries, to build anew from ----------------------------------------------------------------- */

typedef struct hash_gather_params {
    hash_view table;
    const uint32_t *marks; /* NULL, or slots whose keys are left out: 16 bits per node */
    kr_key *keys;          /* in any order, but the rows of a key side by side, ascending */
    uint32_t *rows;
    uint32_t *taken; /* places in both, from `end` down */
    uint64_t end;
} hash_gather_params;
kr_assert_size(hash_gather_params, 104);

/* Slots of node i whose keys stay. */
KR_BODY uint32_t hash_gather_live(const hash_gather_params *p, uint32_t meta, uint64_t i)
{
    const uint32_t gone = p->marks ? kr_load(p->marks + i / 2) >> (i % 2 * 16) : 0;
    return meta & hash_all(&p->table) & ~gone;
}

KR_BODY kr_match hash_gather_span(const hash_gather_params *p, char *node, uint32_t several, uint32_t j)
{
    const uint32_t word = hash_words(node, p->table.slots)[j];
    const kr_match one = {word, 1};
    return several >> j & 1 ? p->table.spans[word] : one;
}

/* Takes places for the rows of all threads of the group, which ask the counter once; returns the first of
 * this thread. */
KR_BODY uint32_t hash_gather_take(kr_group group, const hash_gather_params *p, uint32_t rows)
{
    uint32_t before = 0, sum = rows, first = 0;
    for (uint32_t distance = 1; distance < group.size; distance *= 2) {
        const uint32_t other = (uint32_t)kr_group_other(group, sum, distance);
        before += group.rank & distance ? other : 0;
        sum += other;
    }
    if (group.rank == 0 && sum)
        first = kr_atomic_take32(p->taken, sum);
    sum = (uint32_t)kr_group_share(group, sum, 0);
    return (uint32_t)p->end - sum - (uint32_t)kr_group_share(group, first, 0) + before;
}

/* Copies the slots `stay` of each thread's node to its places. 8 or 16 threads work on one node, so what they
 * read and write lies side by side. */
KR_BODY void hash_gather_slots(kr_group group, const hash_gather_params *p, uint64_t first_node,
                               uint32_t stay, uint32_t at)
{
    const hash_view *t = &p->table;
    const uint32_t threads = t->slots <= 8 ? 8 : 16;
    for (uint32_t k = group.rank; k < group.size * threads; k += group.size) {
        const uint64_t theirs = kr_group_share(group, at | (uint64_t)stay << 32, k / threads);
        const uint32_t live = (uint32_t)(theirs >> 32), j = k % threads;
        if (live >> j & 1) {
            char *node = hash_node(t, (uint32_t)(first_node + k / threads));
            const uint64_t to = (uint32_t)theirs + (uint64_t)kr_popcount32(live & ((1u << j) - 1));
            p->keys[to] = kr_load(hash_keys(node) + j);
            p->rows[to] = kr_load(hash_words(node, t->slots) + j);
        }
    }
}

KR_BODY void hash_gather_copy(const hash_gather_params *p, kr_key key, kr_match span, uint32_t several,
                              uint64_t at, uint32_t rank, uint32_t size)
{
    for (uint64_t k = rank; k < span.count; k += size) {
        p->keys[at + k] = key;
        p->rows[at + k] = several ? p->table.aside[(uint64_t)span.where + k] : span.where;
    }
}

/* The same for nodes with keys of several rows. Long spans are the work of all threads. */
KR_BODY void hash_gather_spans(kr_group group, const hash_gather_params *p, char *node, uint32_t stay,
                               uint32_t several, uint32_t at)
{
    for (uint32_t j = 0; j < p->table.slots; ++j) {
        const uint32_t spanned = several >> j & 1;
        kr_match span = {0, 0};
        kr_key key = 0;
        if (stay >> j & 1) {
            span = hash_gather_span(p, node, several, j);
            key = hash_keys(node)[j];
        }
        const int alone = group.size == 1 || span.count <= TABLE_ALONE;
        if (alone)
            hash_gather_copy(p, key, span, spanned, at, 0, 1);
        for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
            const uint32_t owner = kr_ctz32(waiting);
            const uint64_t both = kr_group_share(group, span.where | (uint64_t)span.count << 32, owner);
            const kr_match theirs = {(uint32_t)both, (uint32_t)(both >> 32)};
            hash_gather_copy(p, (kr_key)kr_group_share(group, key, owner), theirs, 1,
                             kr_group_share(group, at, owner), group.rank, group.size);
        }
        at += span.count;
    }
}

KR_BODY void hash_gather_one(kr_group group, const hash_gather_params *p, uint64_t i, uint64_t n)
{
    const hash_view *t = &p->table;
    char *node = i < n ? hash_node(t, (uint32_t)i) : NULL;
    const uint32_t meta = node ? *hash_meta(node, t->slots) : 0;
    const uint32_t stay = node ? hash_gather_live(p, meta, i) : 0;
    const uint32_t several = stay & meta >> (t->linked ? 16 : 7);
    uint32_t rows = kr_popcount32(stay & ~several);
    for (uint32_t left = several; left; left &= left - 1)
        rows += hash_gather_span(p, node, several, kr_ctz32(left)).count;
    const uint32_t at = hash_gather_take(group, p, rows);
    hash_gather_slots(group, p, i - group.rank, several ? 0 : stay, at);
    if (kr_group_ballot(group, several != 0))
        hash_gather_spans(group, p, node, several ? stay : 0, several, at);
}
KR_GROUP_PROGRAM(hash_gather, hash_gather_params, hash_gather_one);

/* Codes mixed by another seed. */
typedef struct hash_remix_params {
    kr_key *keys;
    uint64_t from_seed, to_seed;
} hash_remix_params;
kr_assert_size(hash_remix_params, 24);

KR_BODY void hash_remix_one(const hash_remix_params *p, uint64_t i)
{
    p->keys[i] = kr_mix(kr_unmix(p->keys[i], p->from_seed), p->to_seed);
}
KR_MAP_PROGRAM(hash_remix, hash_remix_params, hash_remix_one);

#endif
