/* The slots that the new keys of a batch get, where the table stands.
 *
 *   claim    puts them into free slots of their buckets, or of the nodes behind
 *   make way of kind hash: if the bucket is full, moves other keys, or finds a slot elsewhere
 *   unclaim  takes them out again */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_UPDATE_CLAIM_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_UPDATE_CLAIM_H

#include "index/families/hash/hash_update_plan.h"

/* Steps to a key that is in this node. */
KR_BODY uint32_t hash_steps_to(const hash_view *t, kr_key mixed, uint32_t node)
{
    uint32_t steps = 1;
    while (hash_way(t, mixed, steps) != node && steps < TABLE_REACH_MOST)
        ++steps;
    return steps;
}

#define TABLE_NONE 0xFFFFFFFFu

/* Whether claims failed. */
KR_BODY int hash_failed(const hash_update_params *p)
{
    return kr_atomic_load32(p->failed) != 0;
}

KR_BODY void hash_fail(const hash_update_params *p, uint32_t *tally)
{
    ++tally[TABLE_CHANGE_FAILED];
    kr_atomic_or32(p->failed, 1);
}

/* The bucket that the key of slot j can be moved to: home, if it is from elsewhere, or, of the bucket's own
 * keys, where it goes in step 1. */
KR_BODY uint32_t hash_way_out(const hash_view *t, uint32_t bucket, uint32_t j, int own)
{
    const kr_key key = hash_keys(hash_node(t, bucket))[j];
    const uint32_t home = hash_home(t, key), to = own ? hash_way(t, key, 1) : home;
    if ((home == bucket) != own || !(~kr_atomic_load32(hash_meta(hash_node(t, to), t->slots)) & hash_all(t)))
        return TABLE_NONE;
    return to;
}

/* Moves the key of slot j there, and puts a new one in its place. Only the threads of a bucket move keys out
 * of it. */
KR_BODY int hash_move(const hash_update_params *p, uint32_t bucket, uint32_t j, uint32_t to, kr_key mixed,
                      uint32_t row, uint32_t *tally)
{
    const hash_view *t = &p->table;
    char *node = hash_node(t, bucket);
    uint32_t *meta = hash_meta(node, t->slots), *word = hash_words(node, t->slots) + j, slot;
    const kr_key key = hash_keys(node)[j];
    const uint32_t several = hash_several(0, j);
    if (!hash_claim_in(t, to, key, *word, (kr_atomic_load32(meta) & several) != 0, &slot))
        return 0;
    if (hash_home(t, key) == bucket) {
        hash_mark_home(t, key, 1);
        ++tally[TABLE_CHANGE_MOVED];
    } else {
        tally[TABLE_CHANGE_MOVED_FROM] += hash_steps_to(t, key, bucket);
    }
    kr_atomic_and32(meta, ~several);
    hash_keys(node)[j] = mixed;
    *word = row;
    return 1;
}

/* The slot of a key that was moved out of this full bucket to make room for a new one, or TABLE_NONE.
 * `held`: slots that may be looked at. */
KR_BODY uint32_t hash_take_place(const hash_update_params *p, uint32_t bucket, uint32_t held, int own,
                                 kr_key mixed, uint32_t row, uint32_t *tally)
{
    for (; held; held &= held - 1) {
        const uint32_t j = kr_ctz32(held), to = hash_way_out(&p->table, bucket, j, own);
        if (to != TABLE_NONE && hash_move(p, bucket, j, to, mixed, row, tally))
            return j;
    }
    return TABLE_NONE;
}

/* Kind hash: a place for a key whose bucket is full; 0: there is none. As few steps as other keys allow: if
 * they did not make way, and came home when there is room again, tables would get slower from batch to batch.
 */
KR_BODY int hash_claim_near(const hash_update_params *p, uint32_t held, kr_key mixed, uint32_t row,
                            hash_cursor *cursor, uint32_t *slot, uint32_t *tally)
{
    const hash_view *t = &p->table;
    const hash_cursor home = *cursor;
    *slot = hash_take_place(p, home.node, held, 0, mixed, row, tally);
    if (*slot != TABLE_NONE)
        return 1;
    cursor->node = hash_way(t, mixed, 1);
    cursor->steps = 1;
    if (hash_claim_in(t, cursor->node, mixed, row, 0, slot)) {
        hash_mark_home(t, mixed, 1);
        return 1;
    }
    *slot = hash_take_place(p, home.node, held, 1, mixed, row, tally);
    if (*slot != TABLE_NONE) {
        *cursor = home;
        return 1;
    }
    return !hash_failed(p) && hash_go_on(t, p->used, mixed, cursor) &&
           hash_claim(t, p->used, mixed, row, 0, cursor, slot);
}

/* The keys that wait for a place in the bucket that entry i opens. */
KR_BODY void hash_claim_full(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    const uint32_t home = hash_home(&p->table, kr_load(p->inserts + i));
    uint32_t taken = 0, slot;
    for (uint64_t j = i; hash_shares_bucket(p, j, home) && !hash_failed(p); j += hash_run(p, j)) {
        const uint32_t held = (uint32_t)(p->targets[j] >> 8) & ~taken;
        hash_cursor cursor = hash_begin(home);
        if ((p->targets[j] & 15) != TABLE_PLAN_WAIT)
            continue;
        if (hash_claim_near(p, held, kr_load(p->inserts + j), kr_load(p->rows + j), &cursor, &slot, tally)) {
            p->targets[j] = hash_target(cursor.node, slot, TABLE_PLAN_CLAIMED);
            tally[TABLE_CHANGE_STEPS] += cursor.steps;
            taken |= cursor.steps ? 0 : 1u << slot;
        } else {
            hash_fail(p, tally);
            return;
        }
    }
}

KR_BODY void hash_claim_waiting(const hash_update_params *p, uint64_t w, uint32_t *tally)
{
    const uint64_t places = hash_list_places(p->n_inserts);
    if (w % places < kr_load(p->n_waiting + w / places))
        hash_claim_full(p, kr_load(p->waiting + w), tally);
}
TABLE_TALLY_PROGRAM(hash_make_way, hash_update_params, TABLE_CHANGES, hash_claim_waiting);

/* Kind hash: gives the new keys of the bucket that entry i opens its free slots. Whether keys wait. */
KR_BODY int hash_claim_home(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    const hash_view *t = &p->table;
    const uint32_t home = hash_home(t, kr_load(p->inserts + i));
    uint32_t keys = 0, slot;
    int waits = 0;
    for (uint64_t j = i; hash_shares_bucket(p, j, home); j += hash_run(p, j)) {
        const uint64_t target = p->targets[j];
        if ((target & 15) != TABLE_PLAN_NEW)
            continue;
        if (++keys > TABLE_CROWD * t->slots || hash_failed(p)) {
            hash_fail(p, tally);
            return 0;
        } else if (hash_claim_in(t, home, kr_load(p->inserts + j), kr_load(p->rows + j), 0, &slot)) {
            p->targets[j] = hash_target(home, slot, TABLE_PLAN_CLAIMED);
        } else {
            p->targets[j] = target - TABLE_PLAN_NEW + TABLE_PLAN_WAIT;
            waits = 1;
        }
    }
    return waits;
}

/* Kind chain: one thread works on the nodes of a bucket. */
KR_BODY void hash_claim_chain(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    const uint32_t home = hash_home(&p->table, kr_load(p->inserts + i));
    hash_cursor cursor = hash_begin(home);
    uint32_t slot;
    for (uint64_t j = i; hash_shares_bucket(p, j, home); j += hash_run(p, j)) {
        if ((p->targets[j] & 15) != TABLE_PLAN_NEW)
            continue;
        (void)hash_claim(&p->table, p->used, kr_load(p->inserts + j), kr_load(p->rows + j), 0, &cursor,
                         &slot);
        p->targets[j] = hash_target(cursor.node, slot, TABLE_PLAN_CLAIMED);
        tally[TABLE_CHANGE_STEPS] += cursor.steps;
    }
}

/* Each thread looks at one bucket. Those that are full are listed, so that the threads of a warp that make
 * way in them have alike work. */
KR_BODY void hash_claim_one(kr_group group, const hash_update_params *p, uint64_t i, uint64_t n)
{
    const int opens = i < n && hash_opens_bucket(p, i);
    uint32_t tally[TABLE_CHANGES] = {0}, first = 0;
    int waits = 0;
    if (opens && p->table.linked)
        hash_claim_chain(p, i, tally);
    else if (opens)
        waits = hash_claim_home(p, i, tally);
    const uint32_t waiting = kr_group_ballot(group, waits);
    const uint64_t list = (i >> 5) % TABLE_STRIPES;
    if (waiting && group.rank == 0)
        first = kr_atomic_take32(p->n_waiting + list, kr_popcount32(waiting));
    first = (uint32_t)kr_group_share(group, first, 0);
    if (waits)
        p->waiting[list * hash_list_places(p->n_inserts) + first +
                   kr_popcount32(waiting & (((uint32_t)1 << group.rank) - 1))] = (uint32_t)i;
    hash_tally_add(group, tally, TABLE_CHANGES, i, p->counts);
}
KR_GROUP_PROGRAM(hash_claim_slots, hash_update_params, hash_claim_one);

KR_BODY void hash_unclaim_one(const hash_update_params *p, uint64_t i)
{
    const uint64_t target = p->targets[i];
    if ((target & 15) == TABLE_PLAN_CLAIMED)
        kr_atomic_and32(hash_meta(hash_node(&p->table, (uint32_t)(target >> 8)), p->table.slots),
                        ~(1u << (target >> 4 & 15)));
}
KR_MAP_PROGRAM(hash_unclaim, hash_update_params, hash_unclaim_one);

#endif
