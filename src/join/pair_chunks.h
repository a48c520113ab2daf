/* Pairs of rows, handed over in host memory chunk by chunk. Two chunks take turns: while one is on its way to
 * the host, or with the caller, the next is made. */
#ifndef KEYRAY_JOIN_PAIR_CHUNKS_H
#define KEYRAY_JOIN_PAIR_CHUNKS_H

#include "index/lookup/query.h"

/* A chunk on its way. */
typedef struct kr_pair_slot {
    uint32_t *rows[2]; /* of the indexed side, of the probing one */
    uint32_t *host[2]; /* the same where the callback reads them */
    kr_stream *stream; /* that fills it */
    uint64_t n;        /* pairs; 0: the slot is free */
    int indexed_is_left;
    int is_silent; /* 1: they are not handed over */
} kr_pair_slot;

enum { KR_PAIR_SLOTS = 2, KR_PAIRS_MOST = 1 << 23 };

typedef struct kr_pair_chunks {
    kr_device *device;
    uint64_t most;        /* pairs of a chunk, at most KR_PAIRS_MOST */
    kr_pairs_chunk chunk; /* NULL: nothing is handed over */
    int is_silent;        /* 1: pairs that are given now are marked, but not handed over */
    void *ctx;
    uint32_t *marks; /* NULL, or a bitmap of indexed rows, in device memory: marks those of the pairs */
    kr_pair_slot slots[KR_PAIR_SLOTS];
    uint32_t next; /* the slot to fill: the one that was filled first */
} kr_pair_chunks;

/* Makes room for c->most pairs per slot: scratch memory of the work, which ends after kr_pair_chunks_close;
 * that is due in any case. */
void kr_pair_chunks_open(kr_work *work, kr_pair_chunks *c);
void kr_pair_chunks_close(kr_pair_chunks *c);

/* The `found` pairs of a query, cut between probes, or within one that has more than a chunk holds. Probes
 * are rows from first_row on. Enqueues on the work's stream, which is the query's; earlier chunks are handed
 * over meanwhile. */
void kr_pair_chunks_give(kr_work *work, kr_pair_chunks *c, const kr_query *query, kr_matches *matches,
                         uint64_t found, int indexed_is_left, uint64_t first_row);
/* Hands over what is on its way. */
void kr_pair_chunks_drain(kr_work *work, kr_pair_chunks *c);

/* n rows of one side that stand alone: `rows` + first_row, beside KR_NO_ROW; with `single` they come without
 * a second column, as left rows. Blocks. */
void kr_pair_chunks_give_alone(kr_work *work, kr_pair_chunks *c, const uint32_t *rows, uint64_t n,
                               int is_left, int single, uint64_t first_row);

#endif
