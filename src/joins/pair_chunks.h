/* Pairs of rows, handed over in host memory chunk by chunk. */
#ifndef KEYRAY_JOINS_PAIR_CHUNKS_H
#define KEYRAY_JOINS_PAIR_CHUNKS_H

#include "joins/join.h"

typedef struct kr_pair_chunks {
    kr_device *device;
    uint64_t most;        /* pairs of a chunk */
    kr_pairs_chunk chunk; /* NULL: nothing is handed over */
    void *ctx;
    uint32_t *marks;   /* NULL, or a bitmap of indexed rows, in device memory: marks those of the pairs */
    kr_buffer rows[2]; /* of the indexed side, of the probing one */
    uint32_t *host[2]; /* the same where the callback reads them */
} kr_pair_chunks;

/* Makes room for c->most pairs. kr_pair_chunks_close is due in any case. */
kr_status kr_pair_chunks_open(kr_pair_chunks *c, kr_error *err);
void kr_pair_chunks_close(kr_pair_chunks *c);

/* All pairs of a query, cut between probes, or within one that has more than a chunk holds. Probes are rows
 * from first_row on. Blocks. */
kr_status kr_pair_chunks_give(kr_pair_chunks *c, const kr_query *query, const kr_matches *matches,
                              int indexed_is_left, uint64_t first_row, kr_error *err);

/* n rows of one side that stand alone: `rows` + first_row, beside KR_NO_ROW; with `single` they come without
 * a second column, as left rows. Blocks. */
kr_status kr_pair_chunks_give_alone(kr_pair_chunks *c, const kr_buffer *rows, uint64_t n, int is_left,
                                    int single, uint64_t first_row, kr_error *err);

#endif
