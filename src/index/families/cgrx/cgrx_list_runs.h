/* What programs over lists share: how a group goes along a list, and the parameters of cgrx_nodes_index. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_LIST_RUNS_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_LIST_RUNS_H

#include "base/key/key.h"
#include "index/families/cgrx/cgrx_lists.h"

/* Starts and hints of all lists (cgrx_nodes_index). */
typedef struct cgrx_index_params {
    const uint64_t *firsts; /* n_lists + 1 starts of lists; NULL: one every `bucket` positions */
    uint32_t *starts, *hints;
    uint64_t n;
    uint32_t n_lists, bucket;
} cgrx_index_params;
kr_assert_size(cgrx_index_params, 40);

/* Entries that a group takes at once, one per thread: all in one node. */
typedef struct list_run {
    uint32_t node, at; /* of the first */
    uint32_t n;        /* 0: the list is over */
    uint32_t position; /* of the first in the list */
    uint32_t count;    /* of the list */
    uint32_t fill;     /* of the node */
} list_run;

KR_BODY uint32_t cgrx_list_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Nodes of a list of so many entries. */
KR_BODY uint32_t cgrx_list_nodes(uint32_t count, uint32_t node)
{
    return count ? (count - 1) / node + 1 : 1;
}

KR_BODY void cgrx_list_take(kr_group group, list_run *run)
{
    run->n = cgrx_list_min(cgrx_list_min(group.size, run->fill - run->at), run->count - run->position);
}

KR_BODY list_run cgrx_list_begin(kr_group group, const cgrx_lists *lists, uint32_t b)
{
    list_run run = {
        b, 0, 0, 0, kr_load(lists->starts + b + 1) - kr_load(lists->starts + b), cgrx_node_fill(lists, b)};
    cgrx_list_take(group, &run);
    return run;
}

/* The running program may write `next`, so it is not loaded through the read-only cache (kr_load). */
KR_BODY void cgrx_list_go_on(kr_group group, const cgrx_lists *lists, list_run *run)
{
    run->at += run->n;
    run->position += run->n;
    if (run->at == run->fill && run->position < run->count) {
        run->node = lists->next[run->node];
        run->at = 0;
        run->fill = cgrx_node_fill(lists, run->node);
    }
    cgrx_list_take(group, run);
}

KR_BODY uint64_t cgrx_list_run_slot(const cgrx_lists *lists, const list_run *run)
{
    return (uint64_t)run->node * lists->node + run->at;
}

#if defined(KR_KEY_BITS)
KR_BODY int cgrx_pair_less(kr_key a, uint32_t a_row, kr_key b, uint32_t b_row)
{
    return a < b || (a == b && a_row < b_row);
}
#endif

#endif
