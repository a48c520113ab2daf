/* The bodies of apply=split: a thread takes a list and applies its share of the batch key by key, with
 * neither locks nor atomics (Henneberg, Schuhknecht, Kharal and Brown, "cgRX", 4).
 *
 * bound   how many nodes each list may get, which are then set aside for it
 * apply   deletes shift the entries behind them to the left; then nearly empty nodes are merged with their
 *         neighbours; then inserts shift to the right, and split full nodes
 * give    the nodes that are left over become spare
 *
 * Invariant between batches: entries ascend along a list by (key, row id), and a node is empty only if it is
 * the first of an empty list. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_SPLIT_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_SPLIT_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/cgrx/cgrx_list_runs.h"
#include "index/families/cgrx/cgrx_nodes_batch.h"

/* What a full node keeps when it is split; the rest moves. Two nodes become one if no more is in both. */
KR_BODY uint32_t cgrx_split_half(const split_params *p)
{
    return p->update.lists.node - p->update.lists.node / 2;
}

/* A split moves node / 2 entries from a full node, which then has half, to an empty one. So it takes node / 2
 * from the sum of what nodes have beyond half, and an insert adds at most 1 to it: there are at most as many
 * splits as this sum and the inserts hold node / 2. Deletes and merges make the sum no larger. */
KR_BODY void cgrx_split_bound(const split_params *p, uint64_t b)
{
    const cgrx_lists *lists = &p->update.lists;
    const uint32_t half = cgrx_split_half(p);
    uint64_t most = 0;
    if (b < lists->n) {
        const list_batch batch = cgrx_update_batch_of(&p->update, (uint32_t)b);
        most = batch.insert_to - batch.insert_from;
        for (uint32_t node = most ? (uint32_t)b : CGRX_NO_NODE; node != CGRX_NO_NODE;
             node = kr_load(lists->next + node)) {
            const uint32_t size = kr_load(lists->sizes + node);
            most += size > half ? size - half : 0;
        }
    }
    p->update.moves[b] = most / (lists->node / 2);
}
KR_MAP_PROGRAM(cgrx_nodes_split_bound, split_params, cgrx_split_bound);

/* ---- Apply ----------------------------------------------------------------------------------
 *
 * Everything that the program writes (entries, sizes, links) is read by plain loads. */

/* A list while its share is applied. */
typedef struct split_state {
    uint32_t node; /* where the search for the next key begins: keys ascend */
    uint32_t used; /* of the nodes set aside */
    uint32_t back, n_back;
} split_state;

KR_BODY uint64_t cgrx_split_slot(const split_params *p, uint32_t node, uint32_t at)
{
    return (uint64_t)node * p->update.lists.node + at;
}

KR_BODY void cgrx_split_move(const split_params *p, uint64_t from, uint64_t to)
{
    const kr_entries *store = &p->update.store;
    kr_entries_put(store, to, cgrx_update_own_key(store, from), cgrx_update_own_row(store, from));
}

KR_BODY void cgrx_split_give_back(const split_params *p, split_state *s, uint32_t node)
{
    p->update.next[node] = s->back;
    s->back = node;
    ++s->n_back;
}

/* The first place of a node that is not below `key`. */
KR_BODY uint32_t cgrx_split_key_at(const split_params *p, uint32_t node, kr_key key)
{
    uint32_t low = 0, high = p->sizes[node];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (cgrx_update_own_key(&p->update.store, cgrx_split_slot(p, node, middle)) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first place of a node that is above an entry. */
KR_BODY uint32_t cgrx_split_behind(const split_params *p, uint32_t node, kr_key key, uint32_t row)
{
    const kr_entries *store = &p->update.store;
    uint32_t low = 0, high = p->sizes[node];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t slot = cgrx_split_slot(p, node, middle);
        const kr_key other = cgrx_update_own_key(store, slot);
        if (other < key || (other == key && cgrx_update_own_row(store, slot) <= row))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Removes all entries of a key: from the first node whose largest key is not below it, and from those behind
 * that it runs over to. */
KR_BODY void cgrx_split_delete(const split_params *p, split_state *s, kr_key key)
{
    const kr_entries *store = &p->update.store;
    const uint32_t *next = p->update.next;
    while (next[s->node] != CGRX_NO_NODE &&
           (!p->sizes[s->node] ||
            cgrx_update_own_key(store, cgrx_split_slot(p, s->node, p->sizes[s->node] - 1)) < key))
        s->node = next[s->node];
    for (uint32_t node = s->node; node != CGRX_NO_NODE; node = next[node]) {
        const uint32_t at = cgrx_split_key_at(p, node, key);
        while (at < p->sizes[node] && cgrx_update_own_key(store, cgrx_split_slot(p, node, at)) == key) {
            const uint32_t left = --p->sizes[node];
            for (uint32_t i = at; i < left; ++i)
                cgrx_split_move(p, cgrx_split_slot(p, node, i + 1), cgrx_split_slot(p, node, i));
        }
        if (at < p->sizes[node])
            return;
    }
}

/* Empties behind their neighbours, and nodes that fit half of one together: the second moves into the first,
 * so that a list keeps its first node. */
KR_BODY void cgrx_split_merge(const split_params *p, split_state *s, uint32_t b)
{
    uint32_t node = b;
    while (p->update.next[node] != CGRX_NO_NODE) {
        const uint32_t after = p->update.next[node], size = p->sizes[node], more = p->sizes[after];
        if (size && more && size + more > cgrx_split_half(p)) {
            node = after;
            continue;
        }
        for (uint32_t i = 0; i < more; ++i)
            cgrx_split_move(p, cgrx_split_slot(p, after, i), cgrx_split_slot(p, node, size + i));
        p->sizes[node] = size + more;
        p->update.next[node] = p->update.next[after];
        cgrx_split_give_back(p, s, after);
    }
}

/* Moves the upper half of a full node to a new node behind it. */
KR_BODY void cgrx_split_node(const split_params *p, split_state *s, uint32_t b)
{
    const uint32_t half = cgrx_split_half(p), more = p->update.lists.node - half;
    const uint32_t made = cgrx_update_node_taken(&p->update, kr_load(p->update.moves + b) + s->used++);
    for (uint32_t i = 0; i < more; ++i)
        cgrx_split_move(p, cgrx_split_slot(p, s->node, half + i), cgrx_split_slot(p, made, i));
    p->sizes[made] = more;
    p->sizes[s->node] = half;
    p->update.next[made] = p->update.next[s->node];
    p->update.next[s->node] = made;
}

/* To the first node whose largest entry is not below this one, or to the last node. */
KR_BODY void cgrx_split_seek(const split_params *p, split_state *s, kr_key key, uint32_t row)
{
    const kr_entries *store = &p->update.store;
    while (p->update.next[s->node] != CGRX_NO_NODE) {
        const uint64_t last = cgrx_split_slot(p, s->node, p->sizes[s->node] - 1);
        if (!cgrx_pair_less(cgrx_update_own_key(store, last), cgrx_update_own_row(store, last), key, row))
            return;
        s->node = p->update.next[s->node];
    }
}

KR_BODY void cgrx_split_insert(const split_params *p, split_state *s, uint32_t b, kr_key key, uint32_t row)
{
    cgrx_split_seek(p, s, key, row);
    if (p->sizes[s->node] == p->update.lists.node) {
        cgrx_split_node(p, s, b);
        cgrx_split_seek(p, s, key, row);
    }
    const uint32_t at = cgrx_split_behind(p, s->node, key, row);
    for (uint32_t i = p->sizes[s->node]++; i > at; --i)
        cgrx_split_move(p, cgrx_split_slot(p, s->node, i - 1), cgrx_split_slot(p, s->node, i));
    kr_entries_put(&p->update.store, cgrx_split_slot(p, s->node, at), key, row);
}

KR_BODY void cgrx_split_change(const split_params *p, split_state *s, uint32_t b)
{
    const update_params *u = &p->update;
    const list_batch batch = cgrx_update_batch_of(u, b);
    for (uint32_t i = batch.delete_from; i < batch.delete_to; ++i)
        cgrx_split_delete(p, s, kr_load(u->deletes + i));
    if (batch.delete_from < batch.delete_to)
        cgrx_split_merge(p, s, b);
    s->node = b;
    for (uint32_t i = batch.insert_from; i < batch.insert_to; ++i)
        cgrx_split_insert(p, s, b, kr_load(u->inserts + i),
                          kr_changes_insert_row(cgrx_update_inserts_of(u), i));
    const uint64_t first = kr_load(u->moves + b), set_aside = kr_load(u->moves + b + 1) - first;
    for (uint64_t k = s->used; k < set_aside; ++k)
        cgrx_split_give_back(p, s, cgrx_update_node_taken(u, first + k));
}

/* Element n_lists is for the sums. */
KR_BODY void cgrx_split_apply(const split_params *p, uint64_t b)
{
    split_state state = {(uint32_t)b, 0, CGRX_NO_NODE, 0};
    if (b < p->update.lists.n) {
        uint32_t length = 0;
        cgrx_split_change(p, &state, (uint32_t)b);
        for (uint32_t node = (uint32_t)b; node != CGRX_NO_NODE; node = p->update.next[node])
            ++length;
        p->lengths[b] = length;
        p->back[b] = state.back;
    }
    p->back_count[b] = state.n_back;
}
KR_MAP_PROGRAM(cgrx_nodes_split_apply, split_params, cgrx_split_apply);

/* ---- Give ------------------------------------------------------------------------------------ */

KR_BODY void cgrx_split_give(kr_group group, const split_params *p, uint64_t i, uint64_t n)
{
    if (i < n) {
        const uint64_t end = kr_load(p->back_count + i + 1);
        uint32_t node = kr_load(p->back + i);
        for (uint64_t at = kr_load(p->back_count + i); at < end; ++at) {
            p->update.given_back[at] = node;
            node = kr_load(p->update.next + node);
        }
    }
    kr_group_max64(group, i < n ? kr_load(p->lengths + i) : 0, p->update.longest);
}
KR_GROUP_PROGRAM(cgrx_nodes_split_give, split_params, cgrx_split_give);

#endif
