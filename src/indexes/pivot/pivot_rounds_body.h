/* The fastest search of kind `pivot` for the first match on a CPU. If no levels were cut off, every probe
 * goes down through the same number of nodes, so a flight of probes can go level by level, and none finishes
 * early. Otherwise the search is that of pivot_body.h. */
#ifndef KEYRAY_INDEXES_PIVOT_PIVOT_ROUNDS_BODY_H
#define KEYRAY_INDEXES_PIVOT_PIVOT_ROUNDS_BODY_H

#include "indexes/pivot/pivot_body.h"

typedef struct pivot_descent {
    kr_key lower, upper;
    uint32_t at; /* a node within its level; after the last round a position */
    uint32_t any;
} pivot_descent;

KR_BODY void pivot_descend(const pivot_params *p, uint64_t i, pivot_descent *s)
{
    s->at = 0;
    s->any = (uint32_t)kr_batch_load(&p->batch, i, &s->lower, &s->upper);
}

/* Round r searches the r-th level from the top, the last round the leaves. */
KR_BODY void pivot_round(const pivot_params *p, uint32_t k, uint32_t r, pivot_descent *s)
{
    const uint32_t n_keys = k - 1, leaf = k == 2 ? 2 : k - 1, left = p->shape.n_levels - r;
    const int aos = (int)p->entries.layout;
    if (left) {
        const kr_key *node = pivot_slot(p, p->shape.starts[left - 1] + s->at * n_keys);
        s->at = s->at * k + kr_node_rank(node, n_keys, s->lower);
        if (left > 1)
            kr_prefetch_run(pivot_slot(p, p->shape.starts[left - 2] + s->at * n_keys),
                            n_keys * (uint32_t)sizeof(kr_key));
        else
            kr_prefetch_entries(&p->entries, aos, (uint64_t)s->at * leaf, leaf);
        return;
    }
    const uint32_t slot = s->at * leaf, room = p->entries.n - slot;
    s->at = slot + (room >= leaf ? kr_entries_rank(&p->entries, aos, slot, leaf, s->lower)
                                 : kr_entries_rank(&p->entries, aos, slot, room, s->lower));
    if (!aos)
        kr_prefetch((const uint32_t *)p->entries.rows + s->at);
}

KR_BODY void pivot_arrive(const pivot_params *p, uint64_t i, pivot_descent *s)
{
    const int aos = (int)p->entries.layout;
    const int found = s->any && s->at < p->entries.n && kr_entry_key(&p->entries, aos, s->at) <= s->upper;
    kr_put_first(&p->put, i, found,
                 found && p->put.what == KR_PUT_ROW ? kr_entry_row(&p->entries, aos, s->at) : 0);
}

/* No probe finishes early, so no list of unfinished probes is needed, and what depends only on the round is
 * computed once for all probes. */
KR_BODY void pivot_flights(const pivot_params *p, uint32_t k, uint64_t first, uint64_t end)
{
    pivot_descent states[KR_MANY_IN_FLIGHT];
    for (uint64_t base = first; base < end; base += KR_MANY_IN_FLIGHT) {
        const uint32_t count = end - base < KR_MANY_IN_FLIGHT ? (uint32_t)(end - base) : KR_MANY_IN_FLIGHT;
        for (uint32_t j = 0; j < count; ++j)
            pivot_descend(p, base + j, &states[j]);
        for (uint32_t r = 0; r <= p->shape.n_levels; ++r)
            for (uint32_t j = 0; j < count; ++j)
                pivot_round(p, k, r, &states[j]);
        for (uint32_t j = 0; j < count; ++j)
            pivot_arrive(p, base + j, &states[j]);
    }
}

#define PIVOT_ROUNDS(name, k)                                                    \
    KR_BODY void name##_run(const pivot_params *p, uint64_t first, uint64_t end) \
    {                                                                            \
        pivot_flights(p, k, first, end);                                         \
    }                                                                            \
    KR_CPU_PROGRAM(name, pivot_params, name##_run)
PIVOT_ROUNDS(pivot_first_k0, p->shape.k);
PIVOT_ROUNDS(pivot_first_k2, 2);
PIVOT_ROUNDS(pivot_first_k3, 3);
PIVOT_ROUNDS(pivot_first_k5, 5);
PIVOT_ROUNDS(pivot_first_k9, 9);
PIVOT_ROUNDS(pivot_first_k17, 17);
PIVOT_ROUNDS(pivot_first_k33, 33);

#endif
