/* What a batch of deletes and inserts, both sorted by mixed codes, means for a table. Nothing is written.
 *
 *   doom     counts what the deletes take away
 *   early    counts inserts whose row ids may be below old ones
 *   plan     finds each inserted key, and what its rows need aside
 *   crowd    of kind chain: looks at the new keys of each bucket, whether they are too many, and the nodes
 *            that they need */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_UPDATE_PLAN_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_UPDATE_PLAN_H

#include "index/families/hash/hash_nodes.h"
#include "index/sorted/gallop.h"

enum {
    TABLE_CHANGE_ROWS,       /* deleted */
    TABLE_CHANGE_KEYS,       /* deleted and not inserted again */
    TABLE_CHANGE_ASIDE,      /* rows in spans that are given up */
    TABLE_CHANGE_NEW,        /* keys that need a slot */
    TABLE_CHANGE_NODES,      /* kind chain: nodes behind the buckets that they need */
    TABLE_CHANGE_STEPS_GONE, /* to the deleted keys */
    TABLE_CHANGE_STEPS,      /* to the new keys */
    TABLE_CHANGE_MOVED,      /* to other keys, which made way for them, */
    TABLE_CHANGE_MOVED_FROM, /* and to where these were */
    TABLE_CHANGE_EARLY,      /* inserts whose row ids may be below old ones */
    TABLE_CHANGE_FAILED,     /* buckets with too many new keys, or keys that found no slot */
    TABLE_CHANGES
};

/* What becomes of an inserted or deleted key. Of an entry that is not the first of its key: nothing. */
enum {
    TABLE_PLAN_NOTHING,
    TABLE_PLAN_NEW,  /* until it is claimed, the node is the slots of its bucket that hold keys */
    TABLE_PLAN_WAIT, /* the same, of kind hash, whose bucket is full */
    TABLE_PLAN_CLAIMED,
    TABLE_PLAN_ADD,
    TABLE_PLAN_REPLACE,
    TABLE_PLAN_ERASE
};
/* node << 8 | slot << 4 | TABLE_PLAN_* */
KR_BODY uint64_t hash_target(uint32_t node, uint32_t slot, uint32_t plan)
{
    return (uint64_t)node << 8 | slot << 4 | plan;
}

typedef struct hash_update_params {
    hash_view table;
    const kr_key *deletes, *inserts; /* mixed codes */
    const uint32_t *rows;            /* of the inserts */
    uint64_t *targets;               /* of the inserts */
    uint64_t *doomed;                /* targets of the deletes */
    uint64_t *needs;                 /* of the inserts: spans << 32 | rows in them; then the sums before */
    uint64_t *counts;                /* TABLE_CHANGE_*, in stripes */
    uint32_t *used;                  /* nodes behind the buckets */
    uint32_t *failed;                /* claims set it to 1 */
    uint32_t *waiting,
        *n_waiting;  /* inserts that open a full bucket; TABLE_STRIPES lists, and their lengths */
    uint32_t *marks; /* of slots whose keys are deleted, in a rebuild: 16 bits per node */
    uint32_t n_deletes, n_inserts;
    uint32_t n_spans, n_aside; /* before the update */
    uint32_t next_row;         /* above all row ids that are there */
} hash_update_params;
kr_assert_size(hash_update_params, 184);

/* Places of one of the lists. */
KR_BODY uint64_t hash_list_places(uint64_t n_inserts)
{
    return (n_inserts / 32 / TABLE_STRIPES + 1) * 32;
}

KR_BODY kr_key hash_insert_at(const hash_update_params *p, uint32_t i)
{
    return kr_load(p->inserts + i);
}
KR_BODY kr_key hash_delete_at(const hash_update_params *p, uint32_t i)
{
    return kr_load(p->deletes + i);
}
KR_SEARCHES(hash_inserts, hash_update_params, hash_insert_at);
KR_SEARCHES(hash_deletes, hash_update_params, hash_delete_at);

KR_BODY int hash_is_inserted(const hash_update_params *p, kr_key key)
{
    const uint32_t at = hash_inserts_between(p, 0, p->n_inserts, key);
    return at < p->n_inserts && hash_insert_at(p, at) == key;
}

KR_BODY int hash_is_deleted(const hash_update_params *p, kr_key key)
{
    const uint32_t at = hash_deletes_between(p, 0, p->n_deletes, key);
    return at < p->n_deletes && hash_delete_at(p, at) == key;
}

/* The first of equal deletes, or of equal inserts. */
KR_BODY int hash_is_first(const kr_key *keys, uint64_t i)
{
    return i == 0 || kr_load(keys + i - 1) != kr_load(keys + i);
}

KR_BODY uint32_t hash_rows_of(const hash_view *t, const hash_place *place)
{
    return !place->found ? 0 : place->several ? t->spans[place->word].count : 1;
}

/* ---- Before anything is written ------------------------------------------------------------------ */

KR_BODY void hash_doom_one(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    const kr_key key = kr_load(p->deletes + i);
    p->doomed[i] = TABLE_PLAN_NOTHING;
    if (!hash_is_first(p->deletes, i))
        return;
    const hash_place place = hash_find(&p->table, key);
    if (!place.found)
        return;
    const int stays = hash_is_inserted(p, key);
    const uint32_t rows = hash_rows_of(&p->table, &place);
    p->doomed[i] = hash_target(place.node, place.slot, stays ? TABLE_PLAN_REPLACE : TABLE_PLAN_ERASE);
    tally[TABLE_CHANGE_ROWS] += rows;
    tally[TABLE_CHANGE_KEYS] += !stays;
    tally[TABLE_CHANGE_ASIDE] += place.several ? rows : 0;
    tally[TABLE_CHANGE_STEPS_GONE] += stays ? 0 : place.steps;
}
TABLE_TALLY_PROGRAM(hash_doom, hash_update_params, TABLE_CHANGES, hash_doom_one);

KR_BODY void hash_early_one(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    tally[TABLE_CHANGE_EARLY] += kr_load(p->rows + i) < p->next_row;
}
TABLE_TALLY_PROGRAM(hash_early, hash_update_params, TABLE_CHANGES, hash_early_one);

KR_BODY uint32_t hash_run(const hash_update_params *p, uint64_t i)
{
    const int alone = i + 1 == p->n_inserts || kr_load(p->inserts + i + 1) != kr_load(p->inserts + i);
    return alone
               ? 1
               : hash_inserts_behind(p, p->n_inserts, (uint32_t)i + 1, kr_load(p->inserts + i)) - (uint32_t)i;
}

/* The slots of a key's bucket that hold keys. */
KR_BODY uint32_t hash_held(const hash_view *t, kr_key mixed)
{
    return t->n_heads ? *hash_meta(hash_node(t, hash_home(t, mixed)), t->slots) & hash_all(t) : 0;
}

KR_BODY void hash_plan_one(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    const kr_key key = kr_load(p->inserts + i);
    p->targets[i] = TABLE_PLAN_NOTHING;
    p->needs[i] = 0;
    if (!hash_is_first(p->inserts, i))
        return;
    const hash_place place = hash_find(&p->table, key);
    const int replaces = place.found && hash_is_deleted(p, key), adds = place.found && !replaces;
    const uint32_t old = adds ? hash_rows_of(&p->table, &place) : 0, rows = old + hash_run(p, i);
    const uint32_t plan = adds ? TABLE_PLAN_ADD : replaces ? TABLE_PLAN_REPLACE : TABLE_PLAN_NEW;
    const uint32_t at = plan == TABLE_PLAN_NEW ? hash_held(&p->table, key) : place.node;
    p->targets[i] = hash_target(at, place.slot, plan);
    p->needs[i] = rows > 1 ? (uint64_t)1 << 32 | rows : 0;
    tally[TABLE_CHANGE_NEW] += !place.found;
    tally[TABLE_CHANGE_ASIDE] += adds && place.several ? old : 0;
}
TABLE_TALLY_PROGRAM(hash_plan, hash_update_params, TABLE_CHANGES, hash_plan_one);

/* Whether entry i is the first of its bucket. */
KR_BODY int hash_opens_bucket(const hash_update_params *p, uint64_t i)
{
    return i == 0 ||
           hash_home(&p->table, kr_load(p->inserts + i - 1)) != hash_home(&p->table, kr_load(p->inserts + i));
}

KR_BODY int hash_shares_bucket(const hash_update_params *p, uint64_t i, uint32_t home)
{
    return i < p->n_inserts && hash_home(&p->table, kr_load(p->inserts + i)) == home;
}

/* Free slots of a bucket and the nodes behind it, and how many nodes these are. */
KR_BODY uint32_t hash_vacant(const hash_view *t, uint32_t node, uint32_t *nodes)
{
    uint32_t vacant = 0, next;
    for (*nodes = 1;; ++*nodes, node = t->n_heads + next - 1) {
        char *at = hash_node(t, node);
        vacant += kr_popcount32(~*hash_meta(at, t->slots) & hash_all(t));
        next = *hash_next(at, t->slots);
        if (!next)
            return vacant;
    }
}

KR_BODY void hash_crowd_one(const hash_update_params *p, uint64_t i, uint32_t *tally)
{
    const uint32_t slots = p->table.slots;
    uint32_t keys = 0, nodes;
    if (!hash_opens_bucket(p, i))
        return;
    const uint32_t home = hash_home(&p->table, kr_load(p->inserts + i));
    for (uint64_t j = i; hash_shares_bucket(p, j, home) && keys <= TABLE_CROWD * slots; j += hash_run(p, j))
        keys += (p->targets[j] & 15) == TABLE_PLAN_NEW;
    if (!keys)
        return;
    const uint32_t vacant = hash_vacant(&p->table, home, &nodes);
    tally[TABLE_CHANGE_FAILED] += keys > TABLE_CROWD * slots || nodes > TABLE_CROWD;
    tally[TABLE_CHANGE_NODES] += keys > vacant ? (keys - vacant + slots - 1) / slots : 0;
}
TABLE_TALLY_PROGRAM(hash_crowd, hash_update_params, TABLE_CHANGES, hash_crowd_one);

#endif
