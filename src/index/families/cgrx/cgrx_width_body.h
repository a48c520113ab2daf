/* The bodies of kind `cgrx` that cast no rays, except those that make the scene: the filter, layouts, and the
 * search in a known bucket. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/cgrx/cgrx_scan.h"
#include "index/families/cgrx/cgrx_scene_params.h"
#include "index/sorted/order_check.h"

/* ---- The filter ------------------------------------------------------------------------------ */

KR_BODY void cgrx_filter_key(const cgrx_filter_params *p, uint64_t i)
{
    cgrx_filter_add(p->words, p->n_words, kr_load((const kr_key *)p->keys + i));
}
KR_MAP_PROGRAM(cgrx_fill_filter, cgrx_filter_params, cgrx_filter_key);

/* found: one more than the largest position whose key is missing in the filter. */
KR_BODY void cgrx_filter_check(const cgrx_filter_check_params *p, uint64_t i)
{
    if (!cgrx_filter_has(p->words, p->n_words, cgrx_key(&p->entries, i)))
        kr_atomic_max64(p->found, i + 1);
}
KR_MAP_PROGRAM(cgrx_check_filter, cgrx_filter_check_params, cgrx_filter_check);

/* ---- Layouts: a key and its row id side by side ----------------------------------------------- */

KR_BODY void cgrx_pack_one(const cgrx_pack_params *p, uint64_t i)
{
    kr_entries_put(&p->store, i, kr_load((const kr_key *)p->keys + i), kr_load(p->rows + i));
}
KR_MAP_PROGRAM(cgrx_pack, cgrx_pack_params, cgrx_pack_one);

KR_BODY void cgrx_read_end(const cgrx_ends_params *p, uint64_t i)
{
    p->ends[i] = cgrx_key(&p->entries, i ? p->entries.store.n - 1 : 0);
}
KR_MAP_PROGRAM(cgrx_read_ends, cgrx_ends_params, cgrx_read_end);

/* ---- The order of entries, for validate ------------------------------------------------------- */

typedef struct cgrx_order_params {
    cgrx_entries entries;
    uint64_t *found;
} cgrx_order_params;

KR_BODY uint64_t cgrx_order_key(const cgrx_order_params *p, uint64_t position)
{
    return cgrx_key(&p->entries, position);
}

KR_BODY uint32_t cgrx_order_row(const cgrx_order_params *p, uint64_t position)
{
    return cgrx_row(&p->entries, position);
}
KR_ORDER_CHECK_PROGRAM(cgrx_check_order, cgrx_order_params, entries.store.n, cgrx_order_key, cgrx_order_row);

/* ---- The search, once rays have found the bucket or none are needed ----------------------------- */

KR_BODY void cgrx_take_found(const cgrx_params *p, uint64_t i, cgrx_state *state)
{
    if (cgrx_begin(p, i, state) && p->found) {
        const uint32_t found = kr_load(p->found + i);
        state->bucket = found;
        state->phase = found < p->n_buckets ? CGRX_FOUND : CGRX_LOST;
    }
}

KR_BODY void cgrx_search_probe(const cgrx_params *p, uint64_t i)
{
    cgrx_state state;
    cgrx_take_found(p, i, &state);
    cgrx_answer(p, i, &state);
}
KR_MAP_PROGRAM(cgrx_search, cgrx_params, cgrx_search_probe);

KR_BODY void cgrx_search_near(const cgrx_params *p, uint64_t i)
{
    cgrx_state state;
    cgrx_take_found(p, i, &state);
    cgrx_answer_nearest(p, i, &state);
}
KR_MAP_PROGRAM(cgrx_search_nearest, cgrx_params, cgrx_search_near);

/* answer=scan without a scene: there is one bucket at most. */
KR_BODY void cgrx_sum_probe(const cgrx_scan_params *p, uint64_t i)
{
    cgrx_state state;
    cgrx_take_found(&p->of, i, &state);
    cgrx_scan_add_up(p, i, &state);
}
KR_MAP_PROGRAM(cgrx_sum_alone, cgrx_scan_params, cgrx_sum_probe);

#endif
