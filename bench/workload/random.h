/* Random numbers without state: the i-th number of a stream is a function of (seed, stream, i), so any
 * thread can compute any of them and the result does not depend on who does. */
#ifndef KEYRAY_BENCH_WORKLOAD_RANDOM_H
#define KEYRAY_BENCH_WORKLOAD_RANDOM_H

#include <stdint.h>

__extension__ typedef unsigned __int128 kr_u128;

/* What a stream of numbers is for; numbers of different streams are independent. */
typedef enum kr_stream_use {
    KR_USE_KEY_SHUFFLE = 1,
    KR_USE_KEY_SPREAD,
    KR_USE_PROBE_MISSES,
    KR_USE_PROBE_DRAW,
    KR_USE_PROBE_WITHIN,
    KR_USE_PROBE_RANKS,
    KR_USE_RANGE_DRAW,
    KR_USE_SWAPS,
    KR_USE_VALUES,
    KR_USE_CONSTANTS,
    KR_USE_TPCH
} kr_stream_use;

/* The finalizer of splitmix64: a bijection of 64-bit numbers. */
static inline uint64_t kr_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Where a stream begins; seed 0 is the default seed 42. */
static inline uint64_t kr_random_stream(uint64_t seed, kr_stream_use use)
{
    return kr_mix(kr_mix(seed ? seed : 42) + (uint64_t)use);
}

static inline uint64_t kr_random(uint64_t stream, uint64_t i)
{
    return kr_mix(stream + (i + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

/* Maps a random number to [0, n). A value's share differs from 1/n by at most 2^-64. */
static inline uint64_t kr_scale(uint64_t random, uint64_t n)
{
    return (uint64_t)(((kr_u128)random * n) >> 64);
}

#define KR_PERMUTATION_ROUNDS 6

/* A keyed permutation of [0, last]. Every round is a bijection of the smallest power of two above
 * `last`; values that land outside walk on along their cycle until they are inside. */
typedef struct kr_permutation {
    uint64_t last, mask;
    uint64_t add[KR_PERMUTATION_ROUNDS], multiply[KR_PERMUTATION_ROUNDS];
    uint32_t shift;
} kr_permutation;

static inline kr_permutation kr_permutation_make(uint64_t last, uint64_t seed, kr_stream_use use)
{
    uint64_t stream = kr_random_stream(seed, use);
    uint32_t bits = last ? 64 - (uint32_t)__builtin_clzll(last) : 0;
    kr_permutation p = {.last = last, .mask = bits ? UINT64_MAX >> (64 - bits) : 0, .shift = (bits + 2) / 2};
    for (uint32_t r = 0; r < KR_PERMUTATION_ROUNDS; r++) {
        p.add[r] = kr_random(stream, 2 * r);
        p.multiply[r] = kr_random(stream, 2 * r + 1) | 1;
    }
    return p;
}

static inline uint64_t kr_permute(const kr_permutation *p, uint64_t x)
{
    do {
        for (uint32_t r = 0; r < KR_PERMUTATION_ROUNDS; r++) {
            x = ((x + p->add[r]) * p->multiply[r]) & p->mask;
            x ^= x >> p->shift;
        }
    } while (x > p->last);
    return x;
}

#endif
