/* What every lane of `kr_baseline_loads_*` does, on CPUs and on GPUs. */
#ifndef KEYRAY_BENCH_BASELINES_LOADS_BODY_H
#define KEYRAY_BENCH_BASELINES_LOADS_BODY_H

#include "bench/bench.h"

#ifdef __CUDACC__
#define LOADS_BODY static __host__ __device__ __forceinline__
#else
#define LOADS_BODY static inline
#endif

/* Entry i of the array: any mixture of the bits of i will do. */
LOADS_BODY uint32_t loads_entry(uint32_t i)
{
    i = (i ^ (i >> 16)) * UINT32_C(0x7FEB352D);
    i = (i ^ (i >> 15)) * UINT32_C(0x846CA68B);
    return i ^ (i >> 16);
}

/* The first number of a group: never 0, since xorshift would stay there. */
LOADS_BODY uint32_t loads_begin(const kr_loads_spec *spec, uint32_t group)
{
    const uint32_t begin = loads_entry((uint32_t)spec->seed + group * UINT32_C(0x9E3779B9));
    return begin ? begin : 1;
}

/* The next number of a group; cheap, as it is drawn inside the time (Marsaglia's xorshift). */
LOADS_BODY uint32_t loads_next(uint32_t random)
{
    random ^= random << 13;
    random ^= random >> 17;
    return random ^ (random << 5);
}

/* Where the first lane of a group loads. */
LOADS_BODY uint64_t loads_position(const kr_loads_spec *spec, uint32_t random)
{
    const uint64_t position = random * spec->entries >> 32;
    return spec->aligned ? position & ~(uint64_t)(spec->group - 1) : position;
}

/* Where lane `lane` of the group loads; behind the last entry comes the first. */
LOADS_BODY uint64_t loads_neighbour(const kr_loads_spec *spec, uint64_t position, uint32_t lane)
{
    const uint64_t wanted = position + lane;
    return wanted < spec->entries ? wanted : wanted - spec->entries;
}

#endif
