/* A batch of deletes and inserts, both sorted by mixed codes, applied to a table where it stands.
 *
 *   doom     counts what the deletes take away
 *   plan     finds each inserted key, and what its rows need aside
 *   crowd    looks at the new keys of each bucket: whether they are too many, and the nodes that they need
 *   claim    puts new keys into free slots; unclaim takes them out again
 *   erase    takes deleted keys out of their slots
 *   settle   writes the rows of inserted keys
 *
 * Until claim nothing changes, and after claim nothing fails. Erasing comes after claiming, so that claims
 * can be taken back. A key that is deleted and inserted keeps its slot. */
#ifndef KEYRAY_HASHED_UPDATE_BODY_H
#define KEYRAY_HASHED_UPDATE_BODY_H

#include "hashed/table_body.h"
#include "sorted/gallop.h"

enum {
    TABLE_CHANGE_ROWS,       /* deleted */
    TABLE_CHANGE_KEYS,       /* deleted and not inserted again */
    TABLE_CHANGE_ASIDE,      /* rows in spans that are given up */
    TABLE_CHANGE_NEW,        /* keys that need a slot */
    TABLE_CHANGE_NODES,      /* kind chain: nodes behind the buckets that they need */
    TABLE_CHANGE_STEPS_GONE, /* to the deleted keys */
    TABLE_CHANGE_STEPS,      /* to the new keys */
    TABLE_CHANGE_FAILED,     /* buckets with too many new keys, or keys that found no slot */
    TABLE_CHANGES
};

/* What becomes of an inserted or deleted key. Of an entry that is not the first of its key: nothing. */
enum { TABLE_PLAN_NOTHING, TABLE_PLAN_NEW, TABLE_PLAN_ADD, TABLE_PLAN_REPLACE, TABLE_PLAN_ERASE };
/* node << 8 | slot << 4 | TABLE_PLAN_* */
KR_BODY uint64_t table_target(uint32_t node, uint32_t slot, uint32_t plan)
{
    return (uint64_t)node << 8 | slot << 4 | plan;
}

typedef struct table_update_params {
    kr_hashed_view table;
    const kr_key *deletes, *inserts; /* mixed codes */
    const uint32_t *rows;            /* of the inserts */
    uint64_t *targets;               /* of the inserts */
    uint64_t *doomed;                /* targets of the deletes */
    uint64_t *needs;                 /* of the inserts: spans << 32 | rows in them; then the sums before */
    uint64_t *counts;                /* TABLE_CHANGE_*, in stripes */
    uint32_t *used;                  /* nodes behind the buckets */
    uint32_t *failed;                /* claims set it to 1 */
    uint32_t n_deletes, n_inserts;
    uint32_t n_spans, n_aside; /* before the update */
} table_update_params;
kr_assert_size(table_update_params, 144);

KR_BODY kr_key table_insert_at(const table_update_params *p, uint32_t i)
{
    return kr_load(p->inserts + i);
}
KR_BODY kr_key table_delete_at(const table_update_params *p, uint32_t i)
{
    return kr_load(p->deletes + i);
}
KR_SEARCHES(table_inserts, table_update_params, table_insert_at);
KR_SEARCHES(table_deletes, table_update_params, table_delete_at);

KR_BODY int table_is_inserted(const table_update_params *p, kr_key key)
{
    const uint32_t at = table_inserts_between(p, 0, p->n_inserts, key);
    return at < p->n_inserts && table_insert_at(p, at) == key;
}

KR_BODY int table_is_deleted(const table_update_params *p, kr_key key)
{
    const uint32_t at = table_deletes_between(p, 0, p->n_deletes, key);
    return at < p->n_deletes && table_delete_at(p, at) == key;
}

/* The first of equal deletes, or of equal inserts. */
KR_BODY int table_is_first(const kr_key *keys, uint64_t i)
{
    return i == 0 || kr_load(keys + i - 1) != kr_load(keys + i);
}

KR_BODY uint32_t table_rows_of(const kr_hashed_view *t, const table_place *place)
{
    return !place->found ? 0 : place->several ? t->spans[place->word].count : 1;
}

/* ---- Before anything is written ------------------------------------------------------------------ */

KR_BODY void table_doom_one(const table_update_params *p, uint64_t i, uint32_t *tally)
{
    const kr_key key = kr_load(p->deletes + i);
    p->doomed[i] = TABLE_PLAN_NOTHING;
    if (!table_is_first(p->deletes, i))
        return;
    const table_place place = table_find(&p->table, key);
    if (!place.found)
        return;
    const int stays = table_is_inserted(p, key);
    const uint32_t rows = table_rows_of(&p->table, &place);
    p->doomed[i] = table_target(place.node, place.slot, stays ? TABLE_PLAN_REPLACE : TABLE_PLAN_ERASE);
    tally[TABLE_CHANGE_ROWS] += rows;
    tally[TABLE_CHANGE_KEYS] += !stays;
    tally[TABLE_CHANGE_ASIDE] += place.several ? rows : 0;
    tally[TABLE_CHANGE_STEPS_GONE] += stays ? 0 : place.steps;
}
TABLE_TALLY_PROGRAM(table_doom, table_update_params, TABLE_CHANGES, table_doom_one);

KR_BODY uint32_t table_run(const table_update_params *p, uint64_t i)
{
    const int alone = i + 1 == p->n_inserts || kr_load(p->inserts + i + 1) != kr_load(p->inserts + i);
    return alone ? 1
                 : table_inserts_behind(p, p->n_inserts, (uint32_t)i + 1, kr_load(p->inserts + i)) -
                       (uint32_t)i;
}

KR_BODY void table_plan_one(const table_update_params *p, uint64_t i, uint32_t *tally)
{
    const kr_key key = kr_load(p->inserts + i);
    p->targets[i] = TABLE_PLAN_NOTHING;
    p->needs[i] = 0;
    if (!table_is_first(p->inserts, i))
        return;
    const table_place place = table_find(&p->table, key);
    const int replaces = place.found && table_is_deleted(p, key), adds = place.found && !replaces;
    const uint32_t old = adds ? table_rows_of(&p->table, &place) : 0, rows = old + table_run(p, i);
    p->targets[i] = table_target(place.node, place.slot,
                                 adds       ? TABLE_PLAN_ADD
                                 : replaces ? TABLE_PLAN_REPLACE
                                            : TABLE_PLAN_NEW);
    p->needs[i] = rows > 1 ? (uint64_t)1 << 32 | rows : 0;
    tally[TABLE_CHANGE_NEW] += !place.found;
    tally[TABLE_CHANGE_ASIDE] += adds && place.several ? old : 0;
}
TABLE_TALLY_PROGRAM(table_plan, table_update_params, TABLE_CHANGES, table_plan_one);

/* Whether entry i is the first of its bucket. */
KR_BODY int table_opens_bucket(const table_update_params *p, uint64_t i)
{
    return i == 0 || table_home(&p->table, kr_load(p->inserts + i - 1)) !=
                         table_home(&p->table, kr_load(p->inserts + i));
}

KR_BODY int table_shares_bucket(const table_update_params *p, uint64_t i, uint32_t home)
{
    return i < p->n_inserts && table_home(&p->table, kr_load(p->inserts + i)) == home;
}

/* Free slots of a bucket and the nodes behind it, and how many nodes these are. */
KR_BODY uint32_t table_vacant(const kr_hashed_view *t, uint32_t node, uint32_t *nodes)
{
    uint32_t vacant = 0, next;
    for (*nodes = 1;; ++*nodes, node = t->n_heads + next - 1) {
        char *at = table_node(t, node);
        vacant += kr_popcount32(~*table_meta(at, t->slots) & table_all(t));
        next = *table_next(at, t->slots);
        if (!next)
            return vacant;
    }
}

KR_BODY void table_crowd_one(const table_update_params *p, uint64_t i, uint32_t *tally)
{
    const uint32_t slots = p->table.slots;
    uint32_t keys = 0;
    if (!table_opens_bucket(p, i))
        return;
    const uint32_t home = table_home(&p->table, kr_load(p->inserts + i));
    for (uint64_t j = i; table_shares_bucket(p, j, home) && keys <= TABLE_CROWD * slots; j += table_run(p, j))
        keys += (p->targets[j] & 15) == TABLE_PLAN_NEW;
    tally[TABLE_CHANGE_FAILED] += keys > TABLE_CROWD * slots;
    if (p->table.linked && keys) {
        uint32_t nodes;
        const uint32_t vacant = table_vacant(&p->table, home, &nodes);
        tally[TABLE_CHANGE_FAILED] += nodes > TABLE_CROWD;
        tally[TABLE_CHANGE_NODES] += keys > vacant ? (keys - vacant + slots - 1) / slots : 0;
    }
}
TABLE_TALLY_PROGRAM(table_crowd, table_update_params, TABLE_CHANGES, table_crowd_one);

/* ---- Slots ----------------------------------------------------------------------------------------- */

/* The new keys of the bucket that entry i opens. */
KR_BODY void table_claim_bucket(const table_update_params *p, uint64_t i, uint32_t *tally)
{
    if (!table_opens_bucket(p, i))
        return;
    const uint32_t home = table_home(&p->table, kr_load(p->inserts + i));
    table_cursor cursor = table_begin(home);
    uint32_t slot;
    for (uint64_t j = i; table_shares_bucket(p, j, home); j += table_run(p, j)) {
        if ((p->targets[j] & 15) != TABLE_PLAN_NEW)
            continue;
        if (!p->table.linked) /* its way is its own */
            cursor = table_begin(home);
        if (table_claim(&p->table, p->used, kr_load(p->inserts + j), kr_load(p->rows + j), 0, &cursor,
                        &slot)) {
            p->targets[j] = table_target(cursor.node, slot, TABLE_PLAN_NEW);
            tally[TABLE_CHANGE_STEPS] += cursor.steps;
        } else {
            p->targets[j] = TABLE_PLAN_NOTHING;
            ++tally[TABLE_CHANGE_FAILED];
            kr_atomic_or32(p->failed, 1);
        }
    }
}
TABLE_TALLY_PROGRAM(table_claim_slots, table_update_params, TABLE_CHANGES, table_claim_bucket);

/* Whether claims failed. */
KR_BODY int table_failed(const table_update_params *p)
{
    return *p->failed != 0;
}

KR_BODY void table_unclaim_one(const table_update_params *p, uint64_t i)
{
    const uint64_t target = p->targets[i];
    if ((target & 15) == TABLE_PLAN_NEW && table_failed(p))
        kr_atomic_and32(table_meta(table_node(&p->table, (uint32_t)(target >> 8)), p->table.slots),
                        ~(1u << (target >> 4 & 15)));
}
KR_MAP_PROGRAM(table_unclaim, table_update_params, table_unclaim_one);

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
    const uint64_t target = i < n && !table_failed(p) ? p->doomed[i] : TABLE_PLAN_NOTHING;
    kr_match span = {0, 0};
    if ((target & 15) != TABLE_PLAN_NOTHING) {
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
    if ((target & 15) == TABLE_PLAN_NEW && table_run(p, i) == 1) /* its slot has all of it */
        target = TABLE_PLAN_NOTHING;
    table_merge merge = {0, 0, 0, 0, 0};
    kr_match span = {0, 0};
    if ((target & 15) != TABLE_PLAN_NOTHING) {
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

/* ---- All entries, to build anew from --------------------------------------------------------------- */

typedef struct table_flat_params {
    kr_hashed_view table;
    const kr_key *deletes;
    uint64_t *before; /* rows of each node: sums, in the order of the nodes */
    kr_key *keys;     /* mixed by `seed` */
    uint32_t *rows;
    uint64_t seed;
    uint32_t n_deletes, reserved;
} table_flat_params;
kr_assert_size(table_flat_params, 104);

KR_BODY int table_flat_stays(const table_flat_params *p, kr_key mixed)
{
    uint32_t low = 0, high = p->n_deletes;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(p->deletes + middle) < mixed)
            low = middle + 1;
        else
            high = middle;
    }
    return low == p->n_deletes || kr_load(p->deletes + low) != mixed;
}

KR_BODY kr_match table_flat_span(const table_flat_params *p, char *node, uint32_t meta, uint32_t j)
{
    const uint32_t word = table_words(node, p->table.slots)[j];
    const kr_match one = {word, 1};
    return meta & table_several(p->table.linked, j) ? p->table.spans[word] : one;
}

KR_BODY void table_flat_count_one(const table_flat_params *p, uint64_t i)
{
    char *node = table_node(&p->table, (uint32_t)i);
    const uint32_t meta = *table_meta(node, p->table.slots);
    uint64_t rows = 0;
    for (uint32_t live = meta & table_all(&p->table); live; live &= live - 1) {
        const uint32_t j = kr_ctz32(live);
        if (table_flat_stays(p, table_keys(node)[j]))
            rows += table_flat_span(p, node, meta, j).count;
    }
    p->before[i] = rows;
}
KR_MAP_PROGRAM(table_flat_count, table_flat_params, table_flat_count_one);

KR_BODY void table_flat_copy(const table_flat_params *p, kr_key key, kr_match span, int several, uint64_t at,
                             uint32_t rank, uint32_t size)
{
    for (uint64_t k = rank; k < span.count; k += size) {
        p->keys[at + k] = key;
        p->rows[at + k] = several ? p->table.aside[(uint64_t)span.where + k] : span.where;
    }
}

KR_BODY void table_flat_one(kr_group group, const table_flat_params *p, uint64_t i, uint64_t n)
{
    const kr_hashed_view *t = &p->table;
    char *node = i < n ? table_node(t, (uint32_t)i) : NULL;
    const uint32_t meta = node ? *table_meta(node, t->slots) : 0;
    uint64_t at = node ? p->before[i] : 0;
    for (uint32_t j = 0; j < t->slots; ++j) {
        kr_match span = {0, 0};
        kr_key key = 0;
        const int several = (meta & table_several(t->linked, j)) != 0;
        if (meta >> j & 1 && table_flat_stays(p, table_keys(node)[j])) {
            span = table_flat_span(p, node, meta, j);
            key = kr_mix(kr_unmix(table_keys(node)[j], t->seed), p->seed);
        }
        const int alone = group.size == 1 || span.count <= TABLE_ALONE;
        if (alone)
            table_flat_copy(p, key, span, several, at, 0, 1);
        for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
            const uint32_t owner = kr_ctz32(waiting);
            const uint64_t both = kr_group_share(group, span.where | (uint64_t)span.count << 32, owner);
            const kr_match theirs = {(uint32_t)both, (uint32_t)(both >> 32)};
            table_flat_copy(p, (kr_key)kr_group_share(group, key, owner), theirs, 1,
                            kr_group_share(group, at, owner), group.rank, group.size);
        }
        at += span.count;
    }
}
KR_GROUP_PROGRAM(table_flat, table_flat_params, table_flat_one);

/* Codes mixed by another seed; and keys in another order. */
typedef struct table_remix_params {
    const kr_key *from;
    kr_key *to;
    const uint32_t *index; /* NULL: the same order */
    uint64_t from_seed, to_seed;
} table_remix_params;
kr_assert_size(table_remix_params, 40);

KR_BODY void table_remix_one(const table_remix_params *p, uint64_t i)
{
    p->to[i] =
        kr_mix(kr_unmix(kr_load(p->from + (p->index ? kr_load(p->index + i) : i)), p->from_seed), p->to_seed);
}
KR_MAP_PROGRAM(table_remix, table_remix_params, table_remix_one);

#endif
