/* A piece of a query: consecutive probes that are searched together, in the order that the plan gives. */
#ifndef KEYRAY_INDEX_LOOKUP_PIECE_H
#define KEYRAY_INDEX_LOOKUP_PIECE_H

#include "index/lookup/order.h"
#include "index/lookup/query.h"
#include "index/partition/partition.h"

typedef struct kr_piece {
    uint64_t n; /* probes */
    kr_batch batch;
    uint32_t mark;          /* what the work had taken before */
    kr_partition partition; /* answers then come in its order, and go back with kr_piece_back */
} kr_piece;

uint64_t kr_piece_most(const kr_query *query); /* probes of a piece, at most */

/* Puts the probes from `first` on in order. Until the piece is closed, what the work takes is the piece's. */
void kr_piece_open(kr_work *work, const kr_query *query, uint64_t first, kr_piece *piece);
void kr_piece_close(kr_work *work, const kr_piece *piece);

static inline int kr_piece_is_partitioned(const kr_piece *piece)
{
    return piece->partition.codes != NULL;
}

/* Runs the family's program; enqueues. */
void kr_piece_locate(kr_work *work, const kr_query *query, const kr_piece *piece, kr_put put);

/* The same where the family adds up rows itself. */
void kr_piece_sum(kr_work *work, const kr_query *query, const kr_piece *piece, const kr_reduction *how,
                  uint64_t *out);

/* For partitioned pieces: takes room for answers in the order of the search; puts them back in the order of
 * the probes. */
void *kr_piece_take_answers(kr_work *work, const kr_piece *piece, uint32_t nbytes);
void kr_piece_back(kr_work *work, const kr_piece *piece, const void *answers, uint32_t nbytes, void *out);

#endif
