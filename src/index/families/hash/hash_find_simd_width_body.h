/* Lookups in a table: one thread per probe, or threads that compare the slots of a node together, as in the
 * tables that the papers compare with: a group for each probe (WarpCore), or a warp for one after the other
 * of the probes that its threads have (SlabHash). */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_FIND_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_FIND_SIMD_WIDTH_BODY_H

#include "index/families/hash/hash_find_params.h"
#include "index/families/hash/hash_nodes.h"
#include "index/kinds/lookup_program.h"

typedef struct hash_find_state {
    kr_key mixed;
    uint32_t node;
    uint32_t steps; /* from the key's bucket, and how many there may be */
    uint32_t reach;
    uint32_t word;  /* of the slot that was found */
    uint32_t found; /* TABLE_FOUND_* */
} hash_find_state;

enum { TABLE_FOUND_NOTHING, TABLE_FOUND_ONE, TABLE_FOUND_SEVERAL };

KR_BODY int hash_find_begin_key(const hash_find_params *p, uint64_t i, kr_key key, hash_find_state *s)
{
    kr_key upper; /* a point's is the key */
    s->found = TABLE_FOUND_NOTHING;
    s->word = 0;
    if (!kr_batch_load_upper(&p->batch, i, &key, &upper) || !p->table.n_heads)
        return 0;
    s->mixed = kr_mix(key, p->table.seed);
    s->node = hash_home(&p->table, s->mixed);
    s->steps = s->reach = 0;
    kr_prefetch(hash_node(&p->table, s->node));
    return 1;
}

KR_BODY int hash_find_begin(const hash_find_params *p, uint64_t i, hash_find_state *s)
{
    return hash_find_begin_key(p, i, kr_batch_lower(&p->batch, i), s);
}

/* From a node without the key to the next that may have it. */
KR_BODY int hash_find_next(const hash_find_params *p, uint32_t slots, int linked, int plain, uint32_t meta,
                           hash_find_state *s)
{
    if (linked) {
        const uint32_t next = kr_load(hash_next(hash_node(&p->table, s->node), slots));
        if (!next)
            return 0;
        s->node = p->table.n_heads + next - 1;
    } else if (plain) {
        if (hash_never(&p->table, meta) || s->steps++ == TABLE_REACH_MOST)
            return 0;
        s->node = hash_way(&p->table, s->mixed, s->steps);
    } else {
        if (s->steps == 0)
            s->reach = hash_reach(meta, s->mixed);
        if (s->steps++ == s->reach)
            return 0;
        s->node = hash_way(&p->table, s->mixed, s->steps);
    }
    kr_prefetch(hash_node(&p->table, s->node));
    return 1;
}

KR_BODY int hash_find_take(const hash_find_params *p, char *node, uint32_t slots, uint32_t linked,
                           uint32_t slot, uint32_t meta, hash_find_state *s)
{
    if (p->put.what != KR_PUT_FLAG)
        s->word = kr_load(hash_words(node, slots) + slot);
    s->found = meta & hash_several(linked, slot) ? TABLE_FOUND_SEVERAL : TABLE_FOUND_ONE;
    return 0;
}

KR_BODY int hash_find_step(const hash_find_params *p, uint32_t slots, int linked, int plain,
                           hash_find_state *s)
{
    char *node = linked ? hash_node(&p->table, s->node) : p->table.heads + (uint64_t)s->node * 64;
    uint32_t meta;
    const uint32_t equal = hash_equal(node, slots, s->mixed, &meta) & meta;
    return equal ? hash_find_take(p, node, slots, (uint32_t)linked, kr_ctz32(equal), meta, s)
                 : hash_find_next(p, slots, linked, plain, meta, s);
}

KR_BODY void hash_find_put(const hash_find_params *p, const kr_put *put, uint64_t i, const hash_find_state *s)
{
    const hash_view *t = &p->table;
    const int several = s->found == TABLE_FOUND_SEVERAL;
    if (kr_put_wants_first(put)) {
        const int rows = several && put->what == KR_PUT_ROW;
        kr_put_first(put, i, s->found != TABLE_FOUND_NOTHING,
                     rows ? kr_load(t->aside + kr_load(&t->spans[s->word].where)) : s->word);
    } else if (several) {
        kr_put_match(put, i, kr_load(&t->spans[s->word].where), kr_load(&t->spans[s->word].count));
    } else {
        kr_put_match(put, i, s->found ? s->word : 0, s->found ? 1 : 0);
    }
}

KR_BODY void hash_find_end(const hash_find_params *p, uint64_t i, const hash_find_state *s)
{
    hash_find_put(p, &p->put, i, s);
}

/* The kinds' numbers of slots are constants of their programs. */
KR_BODY int hash_find_slots_step(const hash_find_params *p, hash_find_state *s)
{
    return hash_find_step(p, sizeof(kr_key) == 4 ? 7 : 5, 0, 0, s);
}
KR_BODY int hash_find_plain_step(const hash_find_params *p, hash_find_state *s)
{
    return hash_find_step(p, sizeof(kr_key) == 4 ? 7 : 5, 0, 1, s);
}
KR_BODY int hash_find_links_step(const hash_find_params *p, hash_find_state *s)
{
    return hash_find_step(p, 15, 1, 0, s);
}
KR_PROBE_PROGRAM_AHEAD(hash_find_slots, hash_find_params, hash_find_state, hash_find_begin,
                       hash_find_slots_step, hash_find_end);
KR_PROBE_PROGRAM_AHEAD(hash_find_plain, hash_find_params, hash_find_state, hash_find_begin,
                       hash_find_plain_step, hash_find_end);
KR_PROBE_PROGRAM(hash_find_links, hash_find_params, hash_find_state, hash_find_begin, hash_find_links_step,
                 hash_find_end);

/* ---- By groups ----------------------------------------------------------------------------------- */

KR_BODY kr_key hash_find_pinned(const hash_find_params *p, uint32_t j)
{
    (void)p, (void)j;
    return 0;
}

/* Thread r compares slots r, r + size, ...; all learn which slot holds the key. */
KR_BODY int hash_find_group_step(const hash_find_params *p, kr_pin pin, kr_group group, hash_find_state *s)
{
    const uint32_t slots = p->table.slots;
    char *node = hash_node(&p->table, s->node);
    const uint32_t meta = kr_load(hash_meta(node, slots));
    (void)pin;
    for (uint32_t first = 0; first < slots; first += group.size) {
        const uint32_t j = first + group.rank;
        const uint32_t equal =
            kr_group_ballot(group, j < slots && meta >> j & 1 && kr_load(hash_keys(node) + j) == s->mixed);
        if (equal)
            return hash_find_take(p, node, slots, p->table.linked, first + kr_ctz32(equal), meta, s);
    }
    return hash_find_next(p, slots, (int)p->table.linked, (int)p->table.plain, meta, s);
}
KR_LOOKUP_PROGRAM(hash_find_group, hash_find_params, hash_find_state, hash_find_pinned, hash_find_begin_key,
                  hash_find_group_step, hash_find_put, KR_LANES_OF_LAUNCH);

/* ---- By warps, in turn --------------------------------------------------------------------------- */

KR_BODY void hash_find_for_all(kr_group group, const hash_find_params *p, uint64_t i, uint64_t n)
{
    const kr_pin none = {NULL, 0, 0};
    hash_find_state mine = {0, 0, 0, 0, 0, TABLE_FOUND_NOTHING};
    const int searches = i < n && hash_find_begin(p, i, &mine);
    for (uint32_t waiting = kr_group_ballot(group, searches); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        hash_find_state turn = {
            (kr_key)kr_group_share(group, mine.mixed, owner), 0, 0, 0, 0, TABLE_FOUND_NOTHING};
        turn.node = hash_home(&p->table, turn.mixed);
        while (hash_find_group_step(p, none, group, &turn))
            ;
        if (group.rank == owner)
            mine = turn;
    }
    if (i < n)
        hash_find_put(p, &p->put, i, &mine);
}
KR_GROUP_PROGRAM(hash_find_turns, hash_find_params, hash_find_for_all);

#endif
