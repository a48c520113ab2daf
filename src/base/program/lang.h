/* The words a program body may use: the same source is compiled by gcc, clang and nvcc, as host code and
 * as device code. nvcc refuses restrict, _Static_assert, _Generic and _Atomic, and device code has no
 * __builtin_*, so bodies use these words instead, and no other extension of either compiler. */
#ifndef KEYRAY_BASE_PROGRAM_LANG_H
#define KEYRAY_BASE_PROGRAM_LANG_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define KR_ON_CUDA 1
#define KR_BODY static __device__ __forceinline__          /* a function of a body */
#define KR_BOTH static __host__ __device__ __forceinline__ /* one that host code calls too */
#define kr_restrict __restrict__
#define KR_UNROLL _Pragma("unroll") /* before a loop whose arrays must become registers */
#define kr_assert_size(type, nbytes) static_assert(sizeof(type) == (nbytes), #type)
#define kr_assert_fits(type, nbytes) static_assert(sizeof(type) <= (nbytes), #type)
#else
#define KR_ON_CUDA 0
#define KR_BODY static inline __attribute__((always_inline, unused))
#define KR_BOTH static inline __attribute__((always_inline, unused))
#define kr_restrict restrict
#define KR_UNROLL _Pragma("GCC unroll 8")
#define kr_assert_size(type, nbytes) _Static_assert(sizeof(type) == (nbytes), #type)
#define kr_assert_fits(type, nbytes) _Static_assert(sizeof(type) <= (nbytes), #type)
#endif

/* Files named *_simd_width.c and *_simd.c are compiled once more for every instruction set: KR_ISA is then 1
 * or 2, and names get its suffix. */
#if defined(KR_ISA) && KR_ISA == 1
#define KR_ISA_SUFFIX _avx2
#elif defined(KR_ISA) && KR_ISA == 2
#define KR_ISA_SUFFIX _avx512
#else
#define KR_ISA_SUFFIX
#endif

/* Appends the key width to a name, in files compiled once per width: array_point -> array_point_u32. */
#define KR_PASTE_(a, b) a##b
#define KR_PASTE(a, b) KR_PASTE_(a, b)
#if !defined(KR_KEY_BITS)
#define KR_W(name) KR_PASTE(name, KR_ISA_SUFFIX)
#elif KR_KEY_BITS == 32
#define KR_W(name) KR_PASTE(KR_PASTE(name, _u32), KR_ISA_SUFFIX)
#else
#define KR_W(name) KR_PASTE(KR_PASTE(name, _u64), KR_ISA_SUFFIX)
#endif

#if KR_ON_CUDA

/* For data that no thread writes while the program runs: loads through the read-only cache. */
#define kr_load(pointer) __ldg(pointer)
#define kr_prefetch(pointer) ((void)(pointer))
#define kr_prefetch_write(pointer) ((void)(pointer))
/* Two words at a multiple of 16 bytes, in one access. */
#define kr_load_pair(pointer, pair)                                     \
    do {                                                                \
        const ulonglong2 kr_two = __ldg((const ulonglong2 *)(pointer)); \
        (pair)[0] = kr_two.x;                                           \
        (pair)[1] = kr_two.y;                                           \
    } while (0)
#define kr_copy_bytes(to, from, nbytes) memcpy((to), (from), (nbytes))
/* For data read or written once: it should not evict other data from the caches. */
#define kr_load_once(pointer) __ldcs(pointer)
#define kr_store_once(pointer, x) __stcs((pointer), (x))

KR_BODY uint32_t kr_clz32(uint32_t x)
{
    return (uint32_t)__clz((int)x);
}
KR_BODY uint32_t kr_ctz32(uint32_t x)
{
    return (uint32_t)__ffs((int)x) - 1;
}
KR_BODY uint32_t kr_popcount32(uint32_t x)
{
    return (uint32_t)__popc(x);
}
KR_BODY uint32_t kr_popcount64(uint64_t x)
{
    return (uint32_t)__popcll((long long)x);
}
KR_BODY void kr_atomic_add64(uint64_t *at, uint64_t x)
{
    atomicAdd((unsigned long long *)at, (unsigned long long)x);
}
KR_BODY void kr_atomic_max64(uint64_t *at, uint64_t x)
{
    atomicMax((unsigned long long *)at, (unsigned long long)x);
}
/* While other threads change it. */
KR_BODY uint32_t kr_atomic_load32(const uint32_t *at)
{
    return *(const volatile uint32_t *)at;
}
KR_BODY uint64_t kr_atomic_load64(const uint64_t *at)
{
    return *(const volatile uint64_t *)at;
}
/* All of these return the value before. `take` adds, `swap` stores. */
KR_BODY uint32_t kr_atomic_or32(uint32_t *at, uint32_t x)
{
    return atomicOr(at, x);
}
KR_BODY uint32_t kr_atomic_and32(uint32_t *at, uint32_t x)
{
    return atomicAnd(at, x);
}
/* Stores x if *at is `old`. */
KR_BODY uint32_t kr_atomic_replace32(uint32_t *at, uint32_t old, uint32_t x)
{
    return atomicCAS(at, old, x);
}
KR_BODY uint32_t kr_atomic_take32(uint32_t *at, uint32_t x)
{
    return atomicAdd(at, x);
}
KR_BODY uint32_t kr_atomic_swap32(uint32_t *at, uint32_t x)
{
    return atomicExch(at, x);
}
KR_BODY double kr_bits_f64(uint64_t bits)
{
    return __longlong_as_double((long long)bits);
}
KR_BODY uint64_t kr_bits_of_f64(double x)
{
    return (uint64_t)__double_as_longlong(x);
}
/* The upper half of a product. */
KR_BODY uint64_t kr_product_high64(uint64_t a, uint64_t b)
{
    return __umul64hi(a, b);
}
/* A quotient that need not be exact. */
KR_BODY float kr_quotient_near(float a, float b)
{
    return __fdividef(a, b);
}
KR_BODY float kr_bits_f32(uint32_t bits)
{
    return __uint_as_float(bits);
}

#else

#define kr_load(pointer) (*(pointer))
/* To the second-level cache: a core waits for few lines of its first-level cache at a time (24 of Zen 4), for
 * more of the second. */
#define kr_prefetch(pointer) __builtin_prefetch((pointer), 0, 2)
#define kr_prefetch_write(pointer) __builtin_prefetch((pointer), 1, 3)
#define kr_load_pair(pointer, pair) ((pair)[0] = (pointer)[0], (pair)[1] = (pointer)[1])
#define kr_copy_bytes(to, from, nbytes) __builtin_memcpy((to), (from), (nbytes))
#define kr_load_once(pointer) (*(pointer))
#define kr_store_once(pointer, x) (*(pointer) = (x))

KR_BODY uint32_t kr_clz32(uint32_t x)
{
    return x ? (uint32_t)__builtin_clz(x) : 32;
}
KR_BODY uint32_t kr_ctz32(uint32_t x)
{
    return (uint32_t)__builtin_ctz(x);
}
/* Without an instruction for it, the compiler's function would be called, and loops of it would be no
 * vectors. */
KR_BODY uint32_t kr_popcount32(uint32_t x)
{
#if defined(__POPCNT__) || !defined(__x86_64__)
    return (uint32_t)__builtin_popcount(x);
#else
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
#endif
}
KR_BODY uint32_t kr_popcount64(uint64_t x)
{
#if defined(__POPCNT__) || !defined(__x86_64__)
    return (uint32_t)__builtin_popcountll(x);
#else
    return kr_popcount32((uint32_t)x) + kr_popcount32((uint32_t)(x >> 32));
#endif
}
KR_BODY void kr_atomic_add64(uint64_t *at, uint64_t x)
{
    __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
}
KR_BODY void kr_atomic_max64(uint64_t *at, uint64_t x)
{
    uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (old < x && !__atomic_compare_exchange_n(at, &old, x, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}
KR_BODY uint32_t kr_atomic_load32(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}
KR_BODY uint64_t kr_atomic_load64(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}
KR_BODY uint32_t kr_atomic_or32(uint32_t *at, uint32_t x)
{
    return __atomic_fetch_or(at, x, __ATOMIC_RELAXED);
}
KR_BODY uint32_t kr_atomic_and32(uint32_t *at, uint32_t x)
{
    return __atomic_fetch_and(at, x, __ATOMIC_RELAXED);
}
KR_BODY uint32_t kr_atomic_replace32(uint32_t *at, uint32_t old, uint32_t x)
{
    __atomic_compare_exchange_n(at, &old, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return old;
}
KR_BODY uint32_t kr_atomic_take32(uint32_t *at, uint32_t x)
{
    return __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
}
KR_BODY uint32_t kr_atomic_swap32(uint32_t *at, uint32_t x)
{
    return __atomic_exchange_n(at, x, __ATOMIC_RELAXED);
}
KR_BODY double kr_bits_f64(uint64_t bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
KR_BODY uint64_t kr_bits_of_f64(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
KR_BODY uint64_t kr_product_high64(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 kr_wide;
    return (uint64_t)((kr_wide)a * b >> 64);
}
KR_BODY float kr_quotient_near(float a, float b)
{
    return a / b;
}
KR_BODY float kr_bits_f32(uint32_t bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

#endif

/* A group of threads that work on one thing together. On a GPU it is a warp, or a part of one: its size is a
 * power of two, and it begins at a multiple of it. On the CPU it is one thread, and every function below is
 * the identity. All threads of the group must reach each call; other groups of the warp need not. */
typedef struct kr_group {
    uint32_t rank, size;
} kr_group;

#if KR_ON_CUDA
#define KR_WARP 0xFFFFFFFFu
/* The lane of the group's first thread, and the lanes of all. Constants for a whole warp. */
KR_BODY uint32_t kr_group_first(kr_group group)
{
    return group.size == 32 ? 0 : threadIdx.x & 31u & (0u - group.size);
}
KR_BODY uint32_t kr_group_lanes(kr_group group)
{
    return KR_WARP >> (32 - group.size) << kr_group_first(group);
}
/* Bit r: thread r's condition. */
KR_BODY uint32_t kr_group_ballot(kr_group group, int condition)
{
    const uint32_t lanes = kr_group_lanes(group);
    return (__ballot_sync(lanes, condition) & lanes) >> kr_group_first(group);
}
KR_BODY uint64_t kr_group_share(kr_group group, uint64_t x, uint32_t rank)
{
    return __shfl_sync(kr_group_lanes(group), (unsigned long long)x, (int)rank, (int)group.size);
}
KR_BODY uint64_t kr_group_other(kr_group group, uint64_t x, uint32_t distance)
{
    return __shfl_xor_sync(kr_group_lanes(group), (unsigned long long)x, (int)distance, (int)group.size);
}
/* Waits for the group: what its threads read and wrote before comes before what follows, for all of them. */
KR_BODY void kr_group_sync(kr_group group)
{
    __syncwarp(kr_group_lanes(group));
}
#else
KR_BODY uint32_t kr_group_ballot(kr_group group, int condition)
{
    (void)group;
    return condition ? 1 : 0;
}
KR_BODY uint64_t kr_group_share(kr_group group, uint64_t x, uint32_t rank)
{
    (void)group, (void)rank;
    return x;
}
KR_BODY uint64_t kr_group_other(kr_group group, uint64_t x, uint32_t distance)
{
    (void)group, (void)distance;
    return x;
}
KR_BODY void kr_group_sync(kr_group group)
{
    (void)group;
}
#endif

/* Runs: programs over many small things, whose threads take KR_RUN of them each and then add to a counter
 * once. In each round the threads of a group have neighbours. */
enum { KR_RUN = 64 };

/* How many threads n things need: what kr_work_run is given. */
KR_BOTH uint64_t kr_group_runs(uint64_t n)
{
    return n / KR_RUN + (n % KR_RUN != 0);
}
/* What thread i takes in a round; n or more: nothing. */
KR_BODY uint64_t kr_group_run_at(kr_group group, uint64_t i, uint32_t round)
{
    return (i - group.rank) * KR_RUN + (uint64_t)round * group.size + group.rank;
}

/* *at := the largest of *at and every thread's x */
KR_BODY void kr_group_max64(kr_group group, uint64_t x, uint64_t *at)
{
    for (uint32_t distance = group.size / 2; distance; distance /= 2) {
        const uint64_t other = kr_group_other(group, x, distance);
        x = other > x ? other : x;
    }
    if (group.rank == 0 && x > kr_atomic_load64(at)) /* most are not: threads would wait for each other */
        kr_atomic_max64(at, x);
}

/* *at += the sum of every thread's x */
KR_BODY void kr_group_add64(kr_group group, uint64_t x, uint64_t *at)
{
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        x += kr_group_other(group, x, distance);
    if (group.rank == 0 && x)
        kr_atomic_add64(at, x);
}

#endif
