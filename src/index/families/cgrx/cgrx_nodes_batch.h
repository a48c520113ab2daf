/* What the programs that apply a batch to lists of nodes share: its parameters, and each list's share of it.
 */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_BATCH_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_BATCH_H

#include "index/families/cgrx/cgrx_entries.h"
#include "index/sorted/changes_search.h"

typedef struct update_params {
    kr_entries store;
    cgrx_lists lists; /* as they were */
    const kr_key *ends;
    const uint32_t *end_rows;
    const kr_key *deletes, *inserts; /* ascending */
    const uint32_t *insert_rows;     /* less first_row */
    uint32_t *delete_to, *insert_to; /* where list b's share of the batch ends */
    uint64_t *counts;                /* entries of a list after the batch; then where it starts */
    uint64_t *moves; /* nodes a list gets, and << 32 those it gives back; then sums of the lists before. With
                        apply=split those it may get: fewer may do */
    uint64_t *longest;     /* entries of the longest list; with apply=split then nodes of the longest */
    uint32_t *next;        /* that of `lists` */
    uint32_t *before;      /* in a changed list of several nodes: the node before each */
    const uint32_t *spare; /* nodes to take, from the end on */
    uint32_t *given_back;  /* receives the nodes that lists give back */
    uint64_t n_spare;
    uint64_t n_used; /* the next node to take when no spare ones are left */
    uint32_t n_deletes, n_inserts;
    uint32_t first_row, reserved;
} update_params;
kr_assert_size(update_params, 216);

/* apply=split. */
typedef struct split_params {
    update_params update;
    uint32_t *sizes;      /* those of update.lists */
    uint32_t *back;       /* the first node that a list gives back; next[] leads to the others */
    uint64_t *back_count; /* how many these are; then those of the lists before */
    uint32_t *lengths;    /* nodes of a list */
} split_params;
kr_assert_size(split_params, 248);

KR_BODY kr_changes_inserts cgrx_update_inserts_of(const update_params *p)
{
    const kr_changes_inserts inserts = {p->inserts, p->insert_rows, p->first_row};
    return inserts;
}

/* A list's share of a batch. */
typedef struct list_batch {
    uint32_t delete_from, delete_to, insert_from, insert_to;
} list_batch;

/* If the list before is cut within a key, deletes of that key belong to both lists. */
KR_BODY list_batch cgrx_update_batch_of(const update_params *p, uint32_t b)
{
    list_batch batch = {0, kr_load(p->delete_to + b), 0, kr_load(p->insert_to + b)};
    if (b) {
        batch.delete_from = kr_load(p->delete_to + b - 1);
        batch.insert_from = kr_load(p->insert_to + b - 1);
        if (kr_load(p->end_rows + b - 1) != KR_NO_ROW)
            batch.delete_from =
                kr_changes_delete_at(p->deletes, 0, batch.delete_from, kr_load(p->ends + b - 1), 0);
    }
    return batch;
}

/* The k-th node that this batch gives to lists. */
KR_BODY uint32_t cgrx_update_node_taken(const update_params *p, uint64_t k)
{
    return k < p->n_spare ? kr_load(p->spare + p->n_spare - 1 - k) : (uint32_t)(p->n_used + k - p->n_spare);
}

/* Reads what the running program writes, so not by kr_load. */
KR_BODY kr_key cgrx_update_own_key(const kr_entries *store, uint64_t slot)
{
    const char *at = store->keys + slot * store->key_stride;
#if KR_KEY_BITS == 64
    if (store->key_stride == 12)
        return ((const uint32_t *)at)[0] | (kr_key)((const uint32_t *)at)[1] << 32;
#endif
    return *(const kr_key *)at;
}

KR_BODY uint32_t cgrx_update_own_row(const kr_entries *store, uint64_t slot)
{
    return *(const uint32_t *)(store->rows + slot * store->row_stride);
}

#endif
