/* How a GPU launches a probe program with launch options (Henneberg and Schuhknecht, "Is Binary Search
 * Really All You Need?", section 4): blocks scheduled dynamically or one per multiprocessor, probes per
 * thread, words of the search pinned in shared memory, probes reordered within a block, several threads per
 * probe. A CPU runs the same body as it runs a probe program: nothing is pinned or reordered, and a group is
 * one thread.
 *
 * index/kinds/lookup_program.h makes such programs. */
#ifndef KEYRAY_BASE_PROGRAM_LAUNCH_H
#define KEYRAY_BASE_PROGRAM_LAUNCH_H

#include "base/program/program.h"

/* LOOKUP and DOUBLE sort a tile by counting leading bits, SORT and SORT_DOUBLE by all bits, in registers. The
 * two DOUBLE put results back in order before they write them. */
enum {
    KR_REORDER_NONE,
    KR_REORDER_LOOKUP,
    KR_REORDER_DOUBLE,
    KR_REORDER_SORT,
    KR_REORDER_SORT_DOUBLE,
    KR_REORDERS
};

typedef struct kr_launch {
    uint32_t threads;    /* of a block, a multiple of 32 up to 1024; 0: KR_LAUNCH_THREADS */
    uint32_t per_thread; /* probes that each thread (or group) takes of a tile, 1 to 32; 0: 1 */
    uint32_t is_static;  /* 1: one block per multiprocessor, which loops over tiles */
    uint32_t n_pins;     /* words that each block copies to shared memory first */
    uint32_t reorder;    /* KR_REORDER_*: tiles must then be small (kr_launch_can_order) */
    uint32_t group;      /* threads per probe; 0: 1 */
    uint32_t
        shared_nbytes; /* shared memory that a block may take for n_pins and reorder; 0: KR_LAUNCH_SHARED */
    uint32_t reserved;
} kr_launch;
kr_assert_size(kr_launch, 32);

/* KR_LAUNCH_SHARED: bytes of shared memory for pinned words and reordering, unless a launch says otherwise.
 * Every GPU since compute capability 8.0 gives them to a block. */
enum { KR_LAUNCH_THREADS = 256, KR_LAUNCH_ORDER_PROBES = 8192, KR_LAUNCH_SHARED = 96 * 1024 };

/* Sorts in registers: keys of a block, and of a thread. */
enum { KR_LAUNCH_SORT_KEYS = 4096, KR_LAUNCH_SORT_EACH = 16 };

/* Pinned words as a body sees them: word j is words[j] for j < n, and must be loaded from the index
 * otherwise. */
typedef struct kr_pin {
    const void *words;
    uint32_t n, reserved;
} kr_pin;

KR_BOTH uint32_t kr_launch_threads(const kr_launch *launch)
{
    return launch->threads ? launch->threads : (uint32_t)KR_LAUNCH_THREADS;
}

/* Probes of one tile: what a block takes at a time. */
KR_BOTH uint32_t kr_launch_probes(const kr_launch *launch)
{
    return kr_launch_threads(launch) / (launch->group ? launch->group : 1) *
           (launch->per_thread ? launch->per_thread : 1);
}

/* log2 of the buckets that a tile's probes are sorted into: at least one bucket for each probe. */
KR_BOTH uint32_t kr_launch_bucket_bits(const kr_launch *launch)
{
    uint32_t bits = 5;
    while (1u << bits < kr_launch_probes(launch))
        ++bits;
    return bits;
}

KR_BOTH int kr_launch_sorts(const kr_launch *launch)
{
    return launch->reorder == KR_REORDER_SORT || launch->reorder == KR_REORDER_SORT_DOUBLE;
}

/* Whether results are put back in order before they are written. */
KR_BOTH int kr_launch_twice(const kr_launch *launch)
{
    return launch->reorder == KR_REORDER_DOUBLE || launch->reorder == KR_REORDER_SORT_DOUBLE;
}

/* Keys that each thread of a block holds when the block sorts a tile in registers: a power of two. */
KR_BOTH uint32_t kr_launch_sort_each(const kr_launch *launch)
{
    uint32_t each = 1;
    while (each * kr_launch_threads(launch) < kr_launch_probes(launch))
        each *= 2;
    return each;
}

/* Whether a block can reorder tiles of this size. */
KR_BOTH int kr_launch_can_order(const kr_launch *launch)
{
    const uint32_t each = kr_launch_sort_each(launch);
    if (kr_launch_sorts(launch))
        return each <= KR_LAUNCH_SORT_EACH && each * kr_launch_threads(launch) <= KR_LAUNCH_SORT_KEYS;
    return launch->reorder == KR_REORDER_NONE || kr_launch_probes(launch) <= KR_LAUNCH_ORDER_PROBES;
}

/* Bytes of shared memory that sorting in registers takes: the keys of a tile, rounded up; 16 counters of 2
 * bytes for each thread, or 8 bytes for each result later; a place of 2 bytes for each key that is sorted. */
KR_BOTH uint32_t kr_launch_sort_nbytes(const kr_launch *launch, uint32_t key_nbytes)
{
    const uint32_t probes = kr_launch_probes(launch), threads = kr_launch_threads(launch);
    const uint32_t counters = 32 * threads, results = kr_launch_twice(launch) ? 8 * probes : 0;
    return (probes * key_nbytes + 7) / 8 * 8 + (counters > results ? counters : results) +
           2 * kr_launch_sort_each(launch) * threads;
}

KR_BOTH uint32_t kr_launch_shared(const kr_launch *launch)
{
    return launch->shared_nbytes ? launch->shared_nbytes : (uint32_t)KR_LAUNCH_SHARED;
}

/* Bytes of shared memory that reordering takes. By buckets: a place of 2 bytes for each probe, rounded up,
 * then a counter for each bucket and a word for each probe, or 8 bytes for each result instead. */
KR_BOTH uint32_t kr_launch_order_nbytes(const kr_launch *launch, uint32_t key_nbytes)
{
    if (launch->reorder == KR_REORDER_NONE)
        return 0;
    if (kr_launch_sorts(launch))
        return kr_launch_sort_nbytes(launch, key_nbytes);
    return (2 * kr_launch_probes(launch) + 7) / 8 * 8 + 4 * kr_launch_probes(launch) +
           (4u << kr_launch_bucket_bits(launch));
}

#if KR_ON_CUDA
#include "base/program/launch_cuda.h"
#endif

#endif
