/* The body of join_chunks.c. */
#ifndef KEYRAY_JOIN_JOIN_CHUNKS_BODY_H
#define KEYRAY_JOIN_JOIN_CHUNKS_BODY_H

#include "base/program/program.h"

/* Writes a number to pinned host memory: a copy would wait for the pairs of other pieces on the bus. */
typedef struct join_chunks_params {
    const uint64_t *from;
    uint64_t *to;
} join_chunks_params;
kr_assert_size(join_chunks_params, 16);

KR_BODY void join_chunks_write(const join_chunks_params *p, uint64_t i)
{
    p->to[i] = p->from[i];
}
KR_MAP_PROGRAM(join_chunks_found, join_chunks_params, join_chunks_write);

#endif
