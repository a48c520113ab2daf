/* Tile programs: probe programs whose launch on a GPU can be varied (Henneberg and Schuhknecht, "Is Binary
 * Search Really All You Need?", section 4): blocks scheduled dynamically or one per multiprocessor, probes
 * per thread, words of the search pinned in shared memory, probes reordered within a block, several threads
 * a probe. The CPU runs the same body as it runs a probe program.
 *
 *   KR_TILE_PROGRAM(name, params_t, state_t, pinned, begin, step, end)
 *       kr_key pinned(const params_t *, uint32_t j)              the pinned word j < params.tile.n_pins
 *       int  begin(const params_t *, uint64_t i, state_t *)      0: nothing to search
 *       int  step(const params_t *, kr_pin, state_t *)           0: done
 *       void end(const params_t *, const kr_put *, uint64_t i, state_t *)
 *           i is only where put writes; params.put is not to be used
 *   KR_TILE_GROUP_PROGRAM(name, params_t, state_t, pinned, begin, step, end)
 *       int  step(const params_t *, kr_pin, kr_group, state_t *)
 *           Groups of params.tile.group threads, a power of two up to 32; one thread on the CPU. All of a
 *           group hold the same state, and come here together.
 *
 * params_t has members batch (kr_batch), put (kr_put) and tile (kr_tile). State of at most 32 bytes. */
#ifndef KEYRAY_PROGRAM_TILE_H
#define KEYRAY_PROGRAM_TILE_H

#include "program/program.h"

enum { KR_REORDER_NONE, KR_REORDER_LOOKUP, KR_REORDER_DOUBLE };

typedef struct kr_tile {
    uint32_t threads;    /* of a block, a multiple of 32 up to 1024; 0: KR_TILE_THREADS */
    uint32_t per_thread; /* probes that each thread (or group) takes of a tile, 1 to 32; 0: 1 */
    uint32_t is_static;  /* 1: one block a multiprocessor, which loops over tiles */
    uint32_t n_pins;     /* words that each block copies to shared memory first */
    uint32_t reorder;    /* KR_REORDER_*: tiles then hold at most KR_TILE_ORDER_PROBES probes */
    uint32_t group;      /* threads a probe, for group programs; 0 and else: 1 */
    uint32_t reserved[2];
} kr_tile;
kr_assert_size(kr_tile, 32);

/* KR_TILE_SHARED: bytes of shared memory for pinned words and reordering, which every GPU since compute
 * capability 8.0 gives to a block. */
enum { KR_TILE_THREADS = 256, KR_TILE_ORDER_PROBES = 8192, KR_TILE_SHARED = 96 * 1024 };

/* Pinned words as a body sees them: word j is words[j] for j < n, and must be loaded from the index
 * otherwise. */
typedef struct kr_pin {
    const void *words;
    uint32_t n, reserved;
} kr_pin;

KR_BOTH uint32_t kr_tile_threads(const kr_tile *tile)
{
    return tile->threads ? tile->threads : (uint32_t)KR_TILE_THREADS;
}

/* Probes of one tile. */
KR_BOTH uint32_t kr_tile_probes(const kr_tile *tile)
{
    return kr_tile_threads(tile) / (tile->group ? tile->group : 1) *
           (tile->per_thread ? tile->per_thread : 1);
}

/* Buckets that a tile's probes are sorted into: one a probe or more, a power of two. */
KR_BOTH uint32_t kr_tile_bucket_bits(const kr_tile *tile)
{
    uint32_t bits = 5;
    while (1u << bits < kr_tile_probes(tile))
        ++bits;
    return bits;
}

/* Bytes of shared memory that reordering takes: a place of 2 bytes for each probe, rounded up, then a counter
 * for each bucket and a word for each probe, or 8 bytes for each result instead. */
KR_BOTH uint32_t kr_tile_order_nbytes(const kr_tile *tile)
{
    if (tile->reorder == KR_REORDER_NONE)
        return 0;
    return (2 * kr_tile_probes(tile) + 7) / 8 * 8 + 4 * kr_tile_probes(tile) +
           (4u << kr_tile_bucket_bits(tile));
}

#define KR_TILE_PROGRAM(name, params_t, state_t, pinned, begin, step, end) \
    KR_APPLY(KR_TILE_PROGRAM_, KR_W(name), params_t, state_t, pinned, begin, step, end)
#define KR_TILE_GROUP_PROGRAM(name, params_t, state_t, pinned, begin, step, end) \
    KR_APPLY(KR_TILE_GROUP_PROGRAM_, KR_W(name), params_t, state_t, pinned, begin, step, end)

#if KR_ON_CUDA
#include "program/tile_cuda.h"
#else
#include "program/tile_cpu.h"
#endif

#endif
