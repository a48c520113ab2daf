/* The tests' random numbers: a seed gives the same data on every machine. */
#ifndef KEYRAY_TESTS_RANDOM_H
#define KEYRAY_TESTS_RANDOM_H

#include <stdint.h>

typedef struct kr_rng {
    uint64_t state;
} kr_rng;

/* splitmix64 */
static inline uint64_t kr_rng_next(kr_rng *rng)
{
    uint64_t x = rng->state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* 0 .. n - 1; n is small, so the remainder's bias does not matter. */
static inline uint64_t kr_rng_below(kr_rng *rng, uint64_t n)
{
    return n ? kr_rng_next(rng) % n : 0;
}

/* A seed of its own for part `part` of something with this seed. */
static inline uint64_t kr_rng_split(uint64_t seed, uint64_t part)
{
    kr_rng rng = {seed ^ part * UINT64_C(0xD6E8FEB86659FD93)};
    return kr_rng_next(&rng);
}

#endif
