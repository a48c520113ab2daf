/* The fastest search of kind `pivot` for the first match. If no levels were cut off, every probe goes down
 * through the same number of nodes. So a CPU can take groups of probes level by level, and none finishes
 * early; a thread of a GPU keeps no state of where it is. Otherwise, and where options say how a GPU launches
 * lookups, the search is that of pivot_search.h. */
#ifndef KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_PIVOT_PIVOT_SIMD_WIDTH_BODY_H

#include "index/families/pivot/pivot_search.h"

typedef struct pivot_descent {
    kr_key lower, upper; /* lower > upper: nothing can match */
    uint32_t at;         /* a node within its level; after the last round a position */
} pivot_descent;

KR_BODY void pivot_descend(const pivot_params *p, uint64_t i, pivot_descent *s)
{
    s->at = 0;
    if (!kr_batch_load(&p->batch, i, &s->lower, &s->upper)) {
        s->lower = 1;
        s->upper = 0;
    }
}

/* Round r searches the r-th level from the top, the last round the leaves. If there are few probes, all row
 * ids of a leaf are fetched with its keys, so that memory is waited for once; many hide the second wait. */
KR_BODY void pivot_round(const pivot_params *p, uint32_t k, uint32_t r, int few, pivot_descent *s)
{
    const uint32_t n_keys = k - 1, leaf = k == 2 ? 2 : k - 1, left = p->shape.n_levels - r;
    const int aos = (int)p->entries.layout, fetches = !aos && p->entries.rows;
    if (left) {
        const kr_key *node = pivot_slot(p, p->shape.starts[left - 1] + s->at * n_keys);
        s->at = s->at * k + kr_node_rank(node, n_keys, s->lower);
        if (left > 1) {
            kr_node_prefetch_run(pivot_slot(p, p->shape.starts[left - 2] + s->at * n_keys),
                                 n_keys * (uint32_t)sizeof(kr_key));
            return;
        }
        kr_node_prefetch_entries(&p->entries, aos, (uint64_t)s->at * leaf, leaf);
        for (uint32_t j = 0; j < leaf && few && fetches; j += 16)
            kr_prefetch((const uint32_t *)p->entries.rows + s->at * leaf + j);
        return;
    }
    const uint32_t slot = s->at * leaf, room = p->entries.n - slot;
    s->at = slot + (room >= leaf ? kr_node_entries_rank(&p->entries, aos, slot, leaf, s->lower)
                                 : kr_node_entries_rank(&p->entries, aos, slot, room, s->lower));
    if (fetches && !few)
        kr_prefetch((const uint32_t *)p->entries.rows + s->at);
}

KR_BODY void pivot_arrive(const pivot_params *p, uint64_t i, pivot_descent *s)
{
    const int aos = (int)p->entries.layout;
    pivot_put_first(p, &p->put, i, s->at < p->entries.n && kr_entry_key(&p->entries, aos, s->at) <= s->upper,
                    s->at);
}

/* Probes enter in groups, each a round behind the one before. So at any time some groups are in upper levels,
 * which lie in a cache, while others wait for memory. 32 probes are the best by measurement: smaller groups
 * come back before their lines do, larger ones ask for too many lines at once. */
enum { PIVOT_GROUP = 32, PIVOT_GROUPS = PIVOT_LEVELS + 2 };

/* Round r of a group that begins with probe i. */
KR_BODY void pivot_work(const pivot_params *p, uint32_t k, uint32_t r, int few, uint64_t i, uint32_t count,
                        pivot_descent *group)
{
    if (r == p->shape.n_levels + 1) {
        for (uint32_t j = 0; j < count; ++j)
            pivot_arrive(p, i + j, &group[j]);
        return;
    }
    if (r == 0)
        for (uint32_t j = 0; j < count; ++j)
            pivot_descend(p, i + j, &group[j]);
    for (uint32_t j = 0; j < count; ++j)
        pivot_round(p, k, r, few, &group[j]);
}

KR_BODY void pivot_flights(const pivot_params *p, uint32_t k, uint64_t first, uint64_t end)
{
    pivot_descent groups[PIVOT_GROUPS][PIVOT_GROUP];
    const uint32_t last = p->shape.n_levels + 1;
    const uint64_t n = (end - first + PIVOT_GROUP - 1) / PIVOT_GROUP;
    uint32_t entering = 0; /* the place in `groups` of the group that enters */
    for (uint64_t step = 0; step < n + last; ++step) {
        for (uint32_t r = step < last ? (uint32_t)step + 1 : last + 1; r-- > 0;) {
            const uint64_t g = step - r, i = first + g * PIVOT_GROUP;
            if (g < n)
                pivot_work(p, k, r, n == 1, i, end - i < PIVOT_GROUP ? (uint32_t)(end - i) : PIVOT_GROUP,
                           groups[entering >= r ? entering - r : entering + last + 1 - r]);
        }
        entering = entering < last ? entering + 1 : 0;
    }
}

/* The entries of a leaf below the bound, and the key behind those, wherever it lies. */
KR_BODY kr_ranked pivot_search_leaf(const pivot_params *p, uint32_t leaf, uint32_t slot, kr_key bound)
{
    const int aos = (int)p->entries.layout;
    const uint32_t room = p->entries.n - slot, n = room < leaf ? room : leaf;
    kr_ranked ranked = {0, 0};
    if (leaf == 8 && n == 8 && !aos) {
        ranked = kr_node_eight_ranked((const kr_key *)p->entries.keys + slot, bound);
        if (ranked.below < 8)
            return ranked;
    } else if (n == leaf) {
        ranked.below = kr_node_entries_rank(&p->entries, aos, slot, leaf, bound);
    } else {
        while (ranked.below < n && kr_entry_key(&p->entries, aos, slot + ranked.below) < bound)
            ++ranked.below;
    }
    if (ranked.below < room)
        ranked.next = kr_entry_key(&p->entries, aos, slot + ranked.below);
    return ranked;
}

/* By a thread of a GPU, or of one probe alone. What it keeps while it searches is little, so that 32
 * registers of a GPU suffice: the upper bound is loaded at the end, and a leaf that the entries do not fill
 * is searched by a plain loop. */
KR_BODY void pivot_find_first(const pivot_params *p, uint32_t k, uint64_t i)
{
    const uint32_t leaf = k == 2 ? 2 : k - 1;
    const kr_key lower = kr_code_load_key(p->batch.lower_type, p->batch.lower, i);
    kr_key upper;
    uint32_t at = 0;
    for (uint32_t left = p->shape.n_levels; left-- > 0;)
        at = at * k + kr_node_rank(pivot_slot(p, p->shape.starts[left] + at * (k - 1)), k - 1, lower);
    if (!KR_ON_CUDA && !p->entries.layout && p->entries.rows) /* so that a CPU waits for memory once */
        for (uint32_t j = 0; j < leaf; j += 16)
            kr_prefetch((const uint32_t *)p->entries.rows + at * leaf + j);
    const kr_ranked ranked = pivot_search_leaf(p, leaf, at * leaf, lower);
    at = at * leaf + ranked.below;
    const int any = kr_batch_load_upper(&p->batch, i, &lower, &upper);
    pivot_put_first(p, &p->put, i, any && at < p->entries.n && ranked.next <= upper, at);
}

#define PIVOT_ROUNDS(name, k)                                                    \
    KR_BODY void name##_one(const pivot_params *p, uint64_t i)                   \
    {                                                                            \
        pivot_find_first(p, k, i);                                               \
    }                                                                            \
    KR_BODY void name##_run(const pivot_params *p, uint64_t first, uint64_t end) \
    {                                                                            \
        if (end - first == 1)                                                    \
            pivot_find_first(p, k, first);                                       \
        else                                                                     \
            pivot_flights(p, k, first, end);                                     \
    }                                                                            \
    KR_MAP_OR_RUN_PROGRAM(name, pivot_params, name##_one, name##_run)
PIVOT_ROUNDS(pivot_first_k0, p->shape.k);
PIVOT_ROUNDS(pivot_first_k2, 2);
PIVOT_ROUNDS(pivot_first_k3, 3);
PIVOT_ROUNDS(pivot_first_k5, 5);
PIVOT_ROUNDS(pivot_first_k9, 9);
PIVOT_ROUNDS(pivot_first_k17, 17);
PIVOT_ROUNDS(pivot_first_k33, 33);

#endif
