/* Buckets as lists of fixed-size nodes, which batches of inserts and deletes change (Henneberg, Schuhknecht,
 * Kharal and Brown, "cgRX", 4). List b begins in node b (the representative region) and goes on in nodes of
 * the linked region behind it; cgrx_lists.h defines how positions map to slots.
 *
 * apply=split is the paper's way: a thread applies a list's share of a batch key by key. Full nodes are
 * split, nearly empty ones merged with their neighbours. A node's largest key is read where it lies.
 *
 * apply=merge differs: one worker applies all of it. Deletes pack the list from its front, inserts are merged
 * in from its back, which leaves all nodes except the last full. Nodes need neither a maximum nor a size:
 * both follow from the number of entries of the list.
 *
 * The first node of a list stays; nodes that become free are kept for other lists. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_H

#include "index/families/cgrx/cgrx.h"
#include "index/families/cgrx/cgrx_entries.h"
#include "index/sorted/sorted.h"

/* The slots of all entries, in one layout: with lists, of `room` nodes. */
typedef struct cgrx_storage {
    kr_buffer keys, rows; /* rows is empty unless layout=soa */
    uint32_t layout;
} cgrx_storage;

/* The entries as bodies see them. `n`: entries in order from slot 0 on; 0 with lists. */
kr_entries KR_W(cgrx_storage_entries)(const cgrx_storage *storage, uint64_t n);
/* Scratch memory of the work. */
cgrx_storage KR_W(cgrx_storage_take)(kr_work *work, uint32_t layout, uint64_t n);
void cgrx_storage_release(kr_device *device, kr_stream *stream, cgrx_storage *storage);

typedef struct cgrx_nodes {
    kr_buffer next;     /* uint32_t[room] */
    kr_buffer starts;   /* uint32_t[n_lists + 1] */
    kr_buffer hints;    /* uint32_t[n / CGRX_LISTS_STRIDE + 2] at least */
    kr_buffer ends;     /* kr_key[n_lists]: the largest key that the list owns (cgrx_owns_to), ascending */
    kr_buffer end_rows; /* uint32_t[n_lists]: the largest row id of that key that it owns; KR_NO_ROW: all */
    kr_buffer spare;    /* uint32_t[n_spare] at least: nodes that lists gave back */
    kr_buffer sizes;    /* uint32_t[room]: entries of nodes; none with apply=merge */
    uint32_t n_lists, node;
    uint64_t n_used; /* nodes below it belong to a list or are spare */
    uint64_t n_spare;
    uint64_t room;
    uint64_t n_rows;     /* entries */
    uint32_t longest;    /* entries of the longest list */
    uint32_t most_nodes; /* of a list */
} cgrx_nodes;

/* The source of lists: sorted entries, cut into lists of design->bucket entries. */
typedef struct cgrx_nodes_source {
    const cgrx_design *design;
    const kr_sorted *sorted; /* at least one entry */
} cgrx_nodes_source;

/* Upper bounds of storage and nodes together: the footprint, and the peak of the build without the sorted
 * arrays. */
void KR_W(cgrx_nodes_estimate)(const kr_shape *shape, const cgrx_design *design, kr_need *estimate);

/* Makes both anew, as scratch memory of the work until it is kept. */
void KR_W(cgrx_nodes_build)(kr_work *work, const cgrx_nodes_source *source, cgrx_storage *storage,
                            cgrx_nodes *nodes);
void cgrx_nodes_keep(kr_work *work, cgrx_storage *storage, cgrx_nodes *nodes);
/* The same in the memory of existing lists: reuses buffers that are large enough and first allocates the
 * others, so that on failure the old lists are unchanged. The sorted entries must not lie in that memory. */
void KR_W(cgrx_nodes_rebuild)(kr_work *work, const cgrx_nodes_source *source, cgrx_storage *storage,
                              cgrx_nodes *nodes);
void cgrx_nodes_release(kr_device *device, kr_stream *stream, cgrx_nodes *nodes);
uint64_t cgrx_nodes_nbytes(const cgrx_nodes *nodes);
/* The lists as bodies see them; all zero if there are none. */
cgrx_lists cgrx_nodes_lists(const cgrx_nodes *nodes);

/* What lists may become: entries of all, at least and at most, and of the longest. */
typedef struct cgrx_bounds {
    double fewest, most, longest;
} cgrx_bounds;

/* A batch, sorted and without NULLs. Deletes may repeat keys. Row ids of inserts are first_row + rows[i]. */
typedef struct cgrx_batch {
    const kr_sorted *deletes, *inserts;
    uint32_t first_row;
    const cgrx_bounds *within; /* NULL: no bounds */
} cgrx_batch;

/* Applies deletes, then inserts. Afterwards lists are as cgrx_lists.h says, and starts, hints and longest
 * new. Blocks. *is_beyond: 1 if that would leave entries beyond the bounds; then nothing is changed. NULL
 * without bounds. On failure everything is as it was: KR_ERR_LIMIT when there would be more than 2^32 - 2
 * entries, KR_ERR_DEVICE_MEMORY when nodes do not fit. If nodes run out, all nodes move to memory for an
 * eighth more than are needed. */
void KR_W(cgrx_nodes_update)(kr_work *work, const cgrx_batch *batch, cgrx_storage *storage, cgrx_nodes *nodes,
                             int *is_beyond);

/* All entries in order, with lowest and highest: scratch memory of the work. Blocks. */
kr_sorted KR_W(cgrx_nodes_flatten)(kr_work *work, const cgrx_storage *storage, const cgrx_nodes *nodes);

/* Checks the lists: starts ascend to n, every node is in one list or spare, nodes are filled as cgrx_lists.h
 * says, ends ascend, entries lie between the ends around them, hints are right. KR_ERR_INVARIANT
 * names the first violation. Blocks. (kr_sorted_validate checks that all entries ascend.) */
void KR_W(cgrx_nodes_validate)(kr_work *work, const cgrx_storage *storage, const cgrx_nodes *nodes);

#endif
