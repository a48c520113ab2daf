/* A piece of a query: consecutive probes that are searched together, in the order that the plan gives. */
#ifndef KEYRAY_LOOKUP_PIECE_H
#define KEYRAY_LOOKUP_PIECE_H

#include "lookup/order.h"
#include "lookup/partition.h"
#include "lookup/query.h"

/* Probes first .. first + n - 1. */
typedef struct kr_piece {
    uint64_t first, n;
    kr_batch batch;
    kr_order order;
    kr_partition partition; /* answers then come in its order, and go back with kr_piece_back */
} kr_piece;

uint64_t kr_piece_most(const kr_query *query); /* probes of a piece, at most */

/* Puts the probes from `first` on in order. Call kr_piece_close even after a failure. */
kr_status kr_piece_open(const kr_query *query, uint64_t first, kr_piece *piece, kr_error *err);
void kr_piece_close(const kr_query *query, kr_piece *piece);

static inline int kr_piece_is_partitioned(const kr_piece *piece)
{
    return piece->partition.codes.data != NULL;
}

/* Runs the family's program; enqueues. */
kr_status kr_piece_locate(const kr_query *query, const kr_piece *piece, kr_put put, kr_error *err);

/* For partitioned pieces: allocates room for answers in the order of the search; puts them back in the order
 * of the probes. */
kr_status kr_piece_answers(const kr_query *query, const kr_piece *piece, uint32_t nbytes, kr_buffer *answers,
                           kr_error *err);
kr_status kr_piece_back(const kr_query *query, const kr_piece *piece, const void *answers, uint32_t nbytes,
                        void *out, kr_error *err);

#endif
