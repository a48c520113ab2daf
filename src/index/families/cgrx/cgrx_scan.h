/* answer=scan: the thread that casts a probe's rays also searches its bucket, goes through its rows and adds
 * them up (Henneberg, Schuhknecht, Kharal and Brown, "cgRX", 3.2 and 3.4). */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCAN_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_SCAN_H

#include "index/families/cgrx/cgrx_match.h"
#include "index/results/totals.h"

typedef struct cgrx_scan_params {
    kr_scene_view scene; /* that of `of`: tracers look for it here */
    cgrx_params of;
    reduce_params how; /* of sums: what a row adds */
} cgrx_scan_params;
kr_assert_size(cgrx_scan_params, 552);

/* Adds up from a position on, while keys are not above `upper`. */
KR_BODY uint64_t cgrx_scan_run(const cgrx_scan_params *p, uint32_t first, kr_key upper)
{
    const kr_entries *store = &p->of.entries.store;
    uint64_t total = 0;
    for (uint32_t at = first; at < store->n && kr_entries_key(store, at) <= upper; ++at)
        total += reduce_addend(&p->how, kr_entries_row(store, at));
    return total;
}

/* The same along lists: from node to node, and on to the next list that is not empty. */
KR_BODY uint64_t cgrx_scan_lists(const cgrx_scan_params *p, uint32_t first, kr_key upper)
{
    const kr_entries *store = &p->of.entries.store;
    const cgrx_lists *lists = &p->of.entries.lists;
    uint32_t b = cgrx_list_of(lists, first), node = b, fill;
    uint32_t at = first - kr_load(lists->starts + b), left = kr_load(lists->starts + b + 1) - first;
    uint64_t total = 0;
    for (; at >= (fill = cgrx_node_fill(lists, node)); at -= fill)
        node = kr_load(lists->next + node);
    for (;; ++at, --left) {
        while (!left) {
            if (++b >= lists->n)
                return total;
            node = b;
            at = 0;
            left = kr_load(lists->starts + b + 1) - kr_load(lists->starts + b);
            fill = cgrx_node_fill(lists, node);
        }
        if (at == fill) {
            node = kr_load(lists->next + node);
            at = 0;
            fill = cgrx_node_fill(lists, node);
        }
        const uint64_t slot = (uint64_t)node * lists->node + at;
        if (kr_entries_key(store, slot) > upper)
            return total;
        total += reduce_addend(&p->how, kr_entries_row(store, slot));
    }
}

KR_BODY void cgrx_scan_add_up(const cgrx_scan_params *p, uint64_t i, const cgrx_state *s)
{
    uint64_t total = 0;
    int repaired = 0;
    if (s->phase != CGRX_ABSENT) {
        const uint32_t first = cgrx_first_of(&p->of, s, &repaired);
        if (first < p->of.entries.store.n)
            total = p->of.entries.lists.starts ? cgrx_scan_lists(p, first, s->upper)
                                               : cgrx_scan_run(p, first, s->upper);
    }
    kr_put_work_add(&p->of.put, i, KR_WORK_REPAIRED, repaired ? 1 : 0);
    ((uint64_t *)p->of.put.out)[kr_answer_place(p->of.put.order, i)] = total;
}

#endif
