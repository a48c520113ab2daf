/* The bodies that find what a batch of deletes and inserts does to which list, and with apply=merge do it. A
 * group takes a list at a time.
 *
 * route   which of the sorted batch belongs to which list
 * plan    how many entries and nodes each list will have
 * apply   deletes pack a list from its front; then it gets or gives back nodes; then inserts are merged in
 *         from its back. Entries only move down, then only up, so neither pass needs other memory. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_UPDATE_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_UPDATE_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/cgrx/cgrx_list_runs.h"
#include "index/families/cgrx/cgrx_nodes_batch.h"

/* ---- Route --------------------------------------------------------------------------------- */

KR_BODY void cgrx_update_route(const update_params *p, uint64_t b)
{
    const kr_key end = kr_load(p->ends + b);
    const uint32_t row = kr_load(p->end_rows + b);
    p->delete_to[b] = kr_changes_delete_at(p->deletes, 0, p->n_deletes, end, 1);
    p->insert_to[b] = kr_changes_insert_at(cgrx_update_inserts_of(p), 0, p->n_inserts, end, &row, 1);
}
KR_MAP_PROGRAM(cgrx_nodes_route, update_params, cgrx_update_route);

KR_BODY int cgrx_update_is_deleted(const update_params *p, const list_batch *batch, kr_key key)
{
    return kr_changes_is_deleted(p->deletes, batch->delete_from, batch->delete_to, key);
}

/* ---- Plan ---------------------------------------------------------------------------------- */

KR_BODY uint32_t cgrx_update_count_deleted(kr_group group, const update_params *p, uint32_t b)
{
    const list_batch batch = cgrx_update_batch_of(p, b);
    uint32_t deleted = 0;
    for (list_run run = cgrx_list_begin(group, &p->lists, b); run.n;
         cgrx_list_go_on(group, &p->lists, &run)) {
        const uint64_t slot = cgrx_list_run_slot(&p->lists, &run) + group.rank;
        const int gone =
            group.rank < run.n && cgrx_update_is_deleted(p, &batch, kr_entries_key(&p->store, slot));
        deleted += kr_popcount32(kr_group_ballot(group, gone));
    }
    return deleted;
}

/* Element n_lists is for the sums. */
KR_BODY void cgrx_update_plan(kr_group group, const update_params *p, uint64_t i, uint64_t n)
{
    const int here = i < p->lists.n;
    const uint32_t own = here ? (uint32_t)i : 0;
    const list_batch batch = cgrx_update_batch_of(p, own);
    const uint32_t old = kr_load(p->lists.starts + own + 1) - kr_load(p->lists.starts + own);
    uint64_t count = (uint64_t)old + batch.insert_to - batch.insert_from, moves = 0;
    const int deletes = here && old && batch.delete_from < batch.delete_to;
    for (uint32_t todo = kr_group_ballot(group, deletes); todo; todo &= todo - 1) {
        const uint32_t rank = kr_ctz32(todo);
        const uint32_t deleted = cgrx_update_count_deleted(group, p, (uint32_t)(i - group.rank) + rank);
        count -= group.rank == rank ? deleted : 0;
    }
    if (here) {
        const uint64_t before = cgrx_list_nodes(old, p->lists.node);
        const uint64_t after = count ? (count - 1) / p->lists.node + 1 : 1;
        moves = after > before ? after - before : (before - after) << 32;
    } else {
        count = 0;
    }
    if (i < n) {
        p->counts[i] = count;
        p->moves[i] = moves;
    }
    kr_group_max64(group, count, p->longest);
}
KR_GROUP_PROGRAM(cgrx_nodes_plan, update_params, cgrx_update_plan);

/* ---- Apply --------------------------------------------------------------------------------- */

KR_BODY void cgrx_update_remove_deleted(kr_group group, const update_params *p, uint32_t b,
                                        const list_batch *batch)
{
    const uint32_t size = p->lists.node, below = ((uint32_t)1 << group.rank) - 1;
    uint32_t to = b, at = 0; /* where the next entry goes */
    for (list_run run = cgrx_list_begin(group, &p->lists, b); run.n;
         cgrx_list_go_on(group, &p->lists, &run)) {
        const uint64_t slot = cgrx_list_run_slot(&p->lists, &run) + group.rank;
        const int here = group.rank < run.n;
        const kr_key key = here ? cgrx_update_own_key(&p->store, slot) : 0;
        const uint32_t row = here ? cgrx_update_own_row(&p->store, slot) : 0;
        const uint32_t kept = kr_group_ballot(group, here && !cgrx_update_is_deleted(p, batch, key));
        const uint32_t place = at + kr_popcount32(kept & below);
        kr_group_sync(group);
        if (kept >> group.rank & 1) {
            const uint64_t node = place < size ? to : p->next[to];
            const uint64_t goes = node * size + (place < size ? place : place - size);
            if (goes != slot)
                kr_entries_put(&p->store, goes, key, row);
        }
        at += kr_popcount32(kept);
        if (at >= size) {
            at -= size;
            to = p->next[to];
        }
    }
    kr_group_sync(group);
}

/* Turns a list of `before` nodes into one of `after` nodes; returns the last. */
KR_BODY uint32_t cgrx_update_relink(kr_group group, const update_params *p, uint32_t b, uint32_t before,
                                    uint32_t after)
{
    const uint64_t moves = kr_load(p->moves + b), first = moves & 0xFFFFFFFFu, back = moves >> 32;
    const uint32_t more = after > before ? after - before : 0;
    uint32_t last = b;
    for (uint32_t k = cgrx_list_min(before, after); --k;) {
        const uint32_t node = p->next[last];
        if (group.rank == 0)
            p->before[node] = last;
        last = node;
    }
    uint32_t node = p->next[last];
    kr_group_sync(group);
    for (uint64_t k = group.rank; k < more; k += group.size) {
        const uint32_t taken = cgrx_update_node_taken(p, first + k);
        p->before[taken] = k ? cgrx_update_node_taken(p, first + k - 1) : last;
        p->next[taken] = k + 1 < more ? cgrx_update_node_taken(p, first + k + 1) : CGRX_NO_NODE;
    }
    if (group.rank == 0 && before != after)
        p->next[last] = more ? cgrx_update_node_taken(p, first) : CGRX_NO_NODE;
    for (uint32_t k = 0; k + after < before; ++k) {
        if (group.rank == 0)
            p->given_back[back + k] = node;
        node = p->next[node];
    }
    kr_group_sync(group);
    return more ? cgrx_update_node_taken(p, first + more - 1) : last;
}

/* Entries or inserts that the threads of a group hold: one each below n, ascending. */
typedef struct held {
    kr_key key;
    uint32_t row;
    uint32_t n;
} held;

/* How many of `others` come before this thread's own: smaller ones, and with `ties` equal ones, too. A row
 * that already exists is inserted behind its twin, so that validate sees both. */
KR_BODY uint32_t cgrx_update_held_before(kr_group group, const held *others, const held *own, int ties)
{
    uint32_t low = 0;
    for (uint32_t step = others->n ? 1u << (31 - kr_clz32(others->n)) : 0; step; step >>= 1) {
        const uint32_t next = low + step, rank = (next - 1) & (group.size - 1);
        const kr_key key = (kr_key)kr_group_share(group, others->key, rank);
        const uint32_t row = (uint32_t)kr_group_share(group, others->row, rank);
        const int before = ties ? !cgrx_pair_less(own->key, own->row, key, row)
                                : cgrx_pair_less(key, row, own->key, own->row);
        if (next <= others->n && before)
            low = next;
    }
    return low;
}

/* A list while inserts are merged in: its first `entries` entries and its first `inserts` inserts are not
 * placed yet. */
typedef struct merge_state {
    uint32_t from, from_first; /* the node of the last of these entries, and its first position */
    uint32_t to;               /* the node of the last free position */
    uint32_t entries, inserts;
} merge_state;

/* This thread's one of the last n entries. */
KR_BODY held cgrx_update_hold_entry(kr_group group, const update_params *p, const merge_state *m, uint32_t n)
{
    const uint32_t size = p->lists.node;
    held own = {0, 0, n};
    if (group.rank < n) {
        const uint32_t position = m->entries - n + group.rank;
        const uint64_t slot = position >= m->from_first
                                  ? (uint64_t)m->from * size + (position - m->from_first)
                                  : (uint64_t)p->before[m->from] * size + (position + size - m->from_first);
        own.key = cgrx_update_own_key(&p->store, slot);
        own.row = cgrx_update_own_row(&p->store, slot);
    }
    return own;
}

/* Places the last entries and inserts: as many as there are threads, within the last position's node. */
KR_BODY void cgrx_update_merge_some(kr_group group, const update_params *p, const list_batch *batch,
                                    merge_state *m)
{
    const uint32_t size = p->lists.node, end = m->entries + m->inserts, first = (end - 1) / size * size;
    const uint32_t n = cgrx_list_min(end - first, group.size), begin = end - n;
    const held entry = cgrx_update_hold_entry(group, p, m, cgrx_list_min(n, m->entries));
    held insert = {0, 0, cgrx_list_min(n, m->inserts)};
    const uint32_t insert_at = m->inserts - insert.n + group.rank,
                   entry_at = m->entries - entry.n + group.rank;
    if (group.rank < insert.n) {
        insert.key = kr_load(p->inserts + batch->insert_from + insert_at);
        insert.row = kr_changes_insert_row(cgrx_update_inserts_of(p), batch->insert_from + insert_at);
    }
    /* Those that are not among the last n get a position below `begin`. */
    const uint32_t entry_to =
        entry_at + (m->inserts - insert.n) + cgrx_update_held_before(group, &insert, &entry, 0);
    const uint32_t insert_to =
        insert_at + (m->entries - entry.n) + cgrx_update_held_before(group, &entry, &insert, 1);
    const int puts_entry = group.rank < entry.n && entry_to >= begin;
    const uint32_t placed = kr_popcount32(kr_group_ballot(group, puts_entry));
    const uint64_t slot = (uint64_t)m->to * size;
    kr_group_sync(group);
    if (puts_entry)
        kr_entries_put(&p->store, slot + (entry_to - first), entry.key, entry.row);
    if (group.rank < insert.n && insert_to >= begin)
        kr_entries_put(&p->store, slot + (insert_to - first), insert.key, insert.row);
    m->entries -= placed;
    m->inserts -= n - placed;
    if (begin == first && begin)
        m->to = p->before[m->to];
    if (m->entries && m->entries <= m->from_first) {
        m->from = p->before[m->from];
        m->from_first -= size;
    }
}

/* `last` is the list's last node, in which the merged list ends. */
KR_BODY void cgrx_update_merge_inserts(kr_group group, const update_params *p, const list_batch *batch,
                                       uint32_t kept, uint32_t last)
{
    const uint32_t size = p->lists.node, inserts = batch->insert_to - batch->insert_from;
    merge_state m = {last, (kept + inserts - 1) / size * size, last, kept, inserts};
    while (m.entries && m.entries <= m.from_first) {
        m.from = p->before[m.from];
        m.from_first -= size;
    }
    while (m.inserts)
        cgrx_update_merge_some(group, p, batch, &m);
}

KR_BODY void cgrx_update_apply_to(kr_group group, const update_params *p, uint32_t b)
{
    const list_batch batch = cgrx_update_batch_of(p, b);
    const uint32_t old = kr_load(p->lists.starts + b + 1) - kr_load(p->lists.starts + b);
    const uint32_t count = (uint32_t)(kr_load(p->counts + b + 1) - kr_load(p->counts + b));
    const uint32_t kept = count - (batch.insert_to - batch.insert_from);
    const uint32_t before = cgrx_list_nodes(old, p->lists.node),
                   after = cgrx_list_nodes(count, p->lists.node);
    uint32_t last = b;
    if (kept < old)
        cgrx_update_remove_deleted(group, p, b, &batch);
    if (before > 1 || after > 1)
        last = cgrx_update_relink(group, p, b, before, after);
    if (kept < count)
        cgrx_update_merge_inserts(group, p, &batch, kept, last);
}

KR_BODY void cgrx_update_apply(kr_group group, const update_params *p, uint64_t i, uint64_t n)
{
    int changes = 0;
    if (i < n) {
        const uint32_t b = (uint32_t)i, insert_from = b ? kr_load(p->insert_to + b - 1) : 0;
        const uint32_t old = kr_load(p->lists.starts + b + 1) - kr_load(p->lists.starts + b);
        changes = kr_load(p->insert_to + b) != insert_from ||
                  kr_load(p->counts + b + 1) - kr_load(p->counts + b) != old;
    }
    for (uint32_t todo = kr_group_ballot(group, changes); todo; todo &= todo - 1)
        cgrx_update_apply_to(group, p, (uint32_t)(i - group.rank) + kr_ctz32(todo));
}
KR_GROUP_PROGRAM(cgrx_nodes_apply, update_params, cgrx_update_apply);

#endif
