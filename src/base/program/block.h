/* Block programs: work that a block of threads does together, with memory that they share. On the CPU a block
 * is one thread.
 *
 *   KR_BLOCK_PROGRAM(name, params_t, body)
 *       void body(kr_block, char *shared, const params_t *, uint64_t n)
 *       Works on the elements t = block.index, block.index + block.count, ... below n. All threads of the
 *       block enter together. params_t has a member `blocks`.
 *
 *   KR_BLOCK_PAIR_PROGRAM(name, params_t, body)
 *       The same, with registers for as many blocks as a multiprocessor has threads for: two, or one where
 *       it has fewer threads. So one works while the other waits for memory.
 *
 * A block has 1024 threads on a GPU. A NAME.cu may define KR_BLOCK_SIZE before it includes anything: blocks
 * of 256 that are many at a time suit programs that wait for memory more often than they compute.
 *
 * A thread owns the elements block.rank, block.rank + block.size, ... An array of KR_MINE(n) elements holds a
 * thread's share of n, in registers on a GPU: put KR_UNROLL before loops over it. */
#ifndef KEYRAY_BASE_PROGRAM_BLOCK_H
#define KEYRAY_BASE_PROGRAM_BLOCK_H

#include "base/program/program.h"

typedef struct kr_blocks {
    uint32_t shared_nbytes;      /* of shared memory; at most the device's block_nbytes */
    uint32_t per_multiprocessor; /* blocks to launch for each; 0: one for every element */
} kr_blocks;

typedef struct kr_block {
    uint32_t rank, size;
    uint64_t index, count;
} kr_block;

#if !defined KR_BLOCK_SIZE
#define KR_BLOCK_SIZE (KR_ON_CUDA ? 1024 : 1)
#endif
#define KR_IN_BLOCKS (KR_ON_CUDA || KR_BLOCK_SIZE > 1) /* a block is more than one thread */
#define KR_MINE(n) ((n) / KR_BLOCK_SIZE)

/* Shared memory that the functions below use, and what a block gets on the CPU, where it is stack. */
enum { KR_BLOCK_NBYTES_OWN = 1024, KR_BLOCK_NBYTES_CPU = 72 * 1024 };

/* How far a CPU asks for memory that it copies. */
enum { KR_BLOCK_AHEAD_NBYTES = 2048 };

#define KR_BLOCK_PROGRAM(name, params_t, body) \
    KR_APPLY(KR_BLOCK_PROGRAM_, KR_W(name), params_t, body, kr_block_kernel)
#define KR_BLOCK_PAIR_PROGRAM(name, params_t, body) \
    KR_APPLY(KR_BLOCK_PROGRAM_, KR_W(name), params_t, body, kr_block_pair_kernel)

/* The share of n elements that a thread sums up before kr_block_sum_before: from *first to *end - 1. */
KR_BODY void kr_block_share(kr_block block, uint32_t n, uint32_t *first, uint32_t *end)
{
    const uint32_t share = (n + block.size - 1) / block.size, at = block.rank * share;
    *first = at < n ? at : n;
    *end = n - *first < share ? n : *first + share;
}

#if KR_ON_CUDA
#include "base/program/block_cuda.h"
#elif KR_BLOCK_SIZE > 1
#include "base/program/block_threads.h"
#else
#include "base/program/block_cpu.h"
#endif

#endif
