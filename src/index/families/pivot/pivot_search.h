/* The searches of kind `pivot` (Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", sections
 * 3.3, 3.4 and 4.5).
 *
 * A search goes down from the only node of the topmost level: the number of its pivots below the bound is the
 * number of the next child. Below the lowest level lie leaves of the sorted entries; where levels were cut
 * off, the leaves are halved by their last entries. Invariant: the first entry >= the bound lies under the
 * node. It lies behind the node only if the node's last entry is the last of all.
 *
 * The search looks for a match's end in the leaf where the match begins. If the match leaves that leaf, a
 * second descent looks for the code after the upper bound. */
#ifndef KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_SEARCH_H
#define KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_SEARCH_H

#include "index/families/pivot/pivot_params.h"
#include "index/lightweight/nearest.h"
#include "index/lightweight/node.h"
#include "index/lightweight/range.h"

typedef struct pivot_state {
    kr_key lower, upper; /* lower: the bound being searched for */
    uint32_t at;         /* a node within its level; then a position */
    uint32_t left;       /* levels to go; then leaves to choose from */
    uint32_t first;      /* of the match */
    uint32_t phase;      /* PIVOT_* */
} pivot_state;

enum { PIVOT_DOWN, PIVOT_LEAVES, PIVOT_LAST = 2, PIVOT_NOTHING = 4 }; /* LAST: a flag, for the match's end */

/* Up to this many entries are compared at once, without halving. */
enum { PIVOT_AT_ONCE = 16 };

KR_BODY const kr_key *pivot_slot(const pivot_params *p, uint32_t slot)
{
    return (const kr_key *)p->pivots + slot;
}

/* From a node number below the lowest level to the position of its first entry. */
KR_BODY void pivot_reach(const pivot_params *p, uint32_t leaf, pivot_state *s)
{
    s->at *= leaf * p->shape.leaves;
    const uint32_t room = p->entries.n - s->at, leaves = room / leaf + (room % leaf != 0);
    s->left = leaves < p->shape.leaves ? leaves : p->shape.leaves;
    s->phase |= PIVOT_LEAVES;
}

KR_BODY void pivot_aim(const pivot_params *p, uint32_t phase, pivot_state *s)
{
    s->at = 0;
    s->left = p->shape.n_levels;
    s->phase = phase;
    if (!s->left)
        pivot_reach(p, p->shape.leaf, s);
}

KR_BODY int pivot_begin(const pivot_params *p, uint64_t i, kr_key lower, pivot_state *s)
{
    s->lower = lower;
    s->first = s->at = p->entries.n;
    s->phase = PIVOT_NOTHING;
    if (!kr_batch_load_upper(&p->batch, i, &lower, &s->upper) || !p->entries.n)
        return 0;
    pivot_aim(p, PIVOT_DOWN, s);
    return 1;
}

/* The child of a node that the bound belongs to. Only complete nodes are pinned. */
KR_BODY uint32_t pivot_child(const pivot_params *p, uint32_t n_keys, kr_pin pin, kr_group group,
                             uint32_t slot, kr_key bound)
{
    if (slot + n_keys <= pin.n) {
        const kr_key *node = (const kr_key *)pin.words + slot;
        return group.size > 1 ? kr_popcount32(kr_group_ballot(group, node[group.rank] < bound))
                              : kr_node_pinned_rank(node, n_keys, bound);
    }
    if (group.size > 1)
        return kr_popcount32(kr_group_ballot(group, kr_load(pivot_slot(p, slot + group.rank)) < bound));
    return kr_node_rank(pivot_slot(p, slot), n_keys, bound);
}

KR_BODY int pivot_down(const pivot_params *p, uint32_t k, kr_pin pin, kr_group group, pivot_state *s)
{
    const uint32_t n_keys = k - 1, leaf = k == 2 ? 2 : k - 1;
    const uint32_t slot = p->shape.starts[--s->left] + s->at * n_keys;
    s->at = s->at * k + pivot_child(p, n_keys, pin, group, slot, s->lower);
    if (s->left) {
        const uint32_t next = p->shape.starts[s->left - 1] + s->at * n_keys;
        kr_node_prefetch_run(pivot_slot(p, next), n_keys * (uint32_t)sizeof(kr_key));
        return 1;
    }
    pivot_reach(p, leaf, s);
    if (s->left * leaf > PIVOT_AT_ONCE && s->left > 1)
        kr_prefetch(kr_entry(&p->entries, (int)p->entries.layout, s->at + s->left / 2 * leaf - 1));
    else
        kr_node_prefetch_entries(&p->entries, (int)p->entries.layout, s->at, leaf);
    return 1;
}

/* How many of the entries slot .. slot + n - 1 are below the bound; `leaf` is the most common n. */
KR_BODY uint32_t pivot_below(const pivot_params *p, uint32_t leaf, kr_group group, uint32_t slot, uint32_t n,
                             kr_key bound)
{
    const int aos = (int)p->entries.layout;
    if (group.size > 1)
        return kr_node_group_rank(group, &p->entries, aos, slot, n, bound);
    return n == leaf ? kr_node_entries_rank(&p->entries, aos, slot, leaf, bound)
                     : kr_node_entries_rank(&p->entries, aos, slot, n, bound);
}

/* One halving of the leaves; then, in one leaf, the end of a search. */
KR_BODY int pivot_leaves(const pivot_params *p, uint32_t k, kr_group group, pivot_state *s)
{
    const uint32_t leaf = k == 2 ? 2 : k - 1;
    const int aos = (int)p->entries.layout;
    if (s->left * leaf > PIVOT_AT_ONCE && s->left > 1) {
        const uint32_t half = s->left / 2, taken = s->left - half;
        const int beyond = kr_entry_key(&p->entries, aos, s->at + half * leaf - 1) < s->lower;
        s->at += beyond ? half * leaf : 0;
        s->left = beyond ? taken : half;
        kr_prefetch(kr_entry(&p->entries, aos, s->at + s->left / 2 * leaf));
        return 1;
    }
    const uint32_t slot = s->at, room = p->entries.n - slot;
    const uint32_t n = s->left * leaf < room ? s->left * leaf : room;
    s->at += pivot_below(p, leaf, group, slot, n, s->lower);
    if (s->phase & PIVOT_LAST)
        return 0;
    s->first = s->at;
    if (kr_put_wants_first(&p->put)) {
        if (p->put.what == KR_PUT_ROW)
            kr_entry_row_prefetch(&p->entries, aos, s->at);
        return 0;
    }
    s->lower = s->upper + 1;
    s->at = s->lower ? slot + pivot_below(p, leaf, group, slot, n, s->lower) : p->entries.n;
    if (s->at < slot + n || s->at == p->entries.n)
        return 0;
    pivot_aim(p, PIVOT_LAST, s);
    return 1;
}

KR_BODY int pivot_step(const pivot_params *p, uint32_t k, kr_pin pin, kr_group group, pivot_state *s)
{
    if (s->phase & PIVOT_LEAVES)
        return pivot_leaves(p, k, group, s);
    return pivot_down(p, k, pin, group, s);
}

/* The answer of probe i: the match begins at `position`. */
KR_BODY void pivot_put_first(const pivot_params *p, const kr_put *put, uint64_t i, int found,
                             uint32_t position)
{
    const int aos = (int)p->entries.layout;
    kr_put_first(put, i, found,
                 found && put->what == KR_PUT_ROW ? kr_entry_row(&p->entries, aos, position) : 0);
}

KR_BODY void pivot_end(const pivot_params *p, const kr_put *put, uint64_t i, pivot_state *s)
{
    const int aos = (int)p->entries.layout;
    if (put->what != KR_PUT_ROW && put->what != KR_PUT_FLAG) {
        kr_put_match(put, i, s->first, s->at - s->first);
        return;
    }
    const int found = s->at < p->entries.n && kr_entry_key(&p->entries, aos, s->at) <= s->upper;
    pivot_put_first(p, put, i, found, s->at);
}

KR_BODY void pivot_end_nearest(const pivot_params *p, const kr_put *put, uint64_t i, pivot_state *s)
{
    const kr_span span = {s->upper, s->first, s->at, s->phase != PIVOT_NOTHING};
    kr_entries_nearest(&p->entries, &p->batch.near, put, i, p->entries.n, &span);
}

KR_BODY kr_key pivot_pinned(const pivot_params *p, uint32_t j)
{
    return kr_load(pivot_slot(p, j));
}

/* ---- The programs: k is a constant for the most common k; k0 takes any k ------------------- */

#define PIVOT_PROGRAM_ENDING(name, k, lanes, end)                                              \
    KR_BODY int name##_step(const pivot_params *p, kr_pin pin, kr_group group, pivot_state *s) \
    {                                                                                          \
        return pivot_step(p, k, pin, group, s);                                                \
    }                                                                                          \
    KR_LOOKUP_PROGRAM(name, pivot_params, pivot_state, pivot_pinned, pivot_begin, name##_step, end, lanes)
#define PIVOT_PROGRAM(name, k, lanes) PIVOT_PROGRAM_ENDING(name, k, lanes, pivot_end)
PIVOT_PROGRAM(pivot_k0, p->shape.k, 1u);
PIVOT_PROGRAM(pivot_k2, 2, 1u);
PIVOT_PROGRAM(pivot_k3, 3, 1u);
PIVOT_PROGRAM(pivot_k5, 5, 1u);
PIVOT_PROGRAM(pivot_k9, 9, 1u);
PIVOT_PROGRAM(pivot_k17, 17, 1u);
PIVOT_PROGRAM(pivot_k33, 33, 1u);
PIVOT_PROGRAM(pivot_group_k3, 3, 2u);
PIVOT_PROGRAM(pivot_group_k5, 5, 4u);
PIVOT_PROGRAM(pivot_group_k9, 9, 8u);
PIVOT_PROGRAM(pivot_group_k17, 17, 16u);
PIVOT_PROGRAM(pivot_group_k33, 33, 32u);

/* The nearest keys, by one thread per probe, for the k of `best` on GPUs and the default. */
PIVOT_PROGRAM_ENDING(pivot_nearest_k0, p->shape.k, 1u, pivot_end_nearest);
PIVOT_PROGRAM_ENDING(pivot_nearest_k9, 9, 1u, pivot_end_nearest);
PIVOT_PROGRAM_ENDING(pivot_nearest_k17, 17, 1u, pivot_end_nearest);

/* ---- Ranges added up key by key, by one thread or k - 1 --------------------------------------- */

KR_BODY kr_range_run pivot_run(const pivot_sum_params *p, uint32_t k, kr_group tile, uint64_t i)
{
    const kr_pin none = {NULL, 0, 0};
    pivot_state s;
    if (pivot_begin(&p->search, i, kr_batch_lower(&p->search.batch, i), &s))
        while (pivot_step(&p->search, k, none, tile, &s))
            ;
    const kr_range_run run = {s.at, p->search.entries.n, s.upper};
    return run;
}

#define PIVOT_SUM_PROGRAM(name, k)                                                        \
    KR_BODY kr_range_run name##_run(const pivot_sum_params *p, kr_group tile, uint64_t i) \
    {                                                                                     \
        return pivot_run(p, k, tile, i);                                                  \
    }                                                                                     \
    KR_RANGE_PROGRAM(name, pivot_sum_params, name##_run)
PIVOT_SUM_PROGRAM(pivot_sum_k0, p->search.shape.k);
PIVOT_SUM_PROGRAM(pivot_sum_k2, 2);
PIVOT_SUM_PROGRAM(pivot_sum_k9, 9);

#endif
