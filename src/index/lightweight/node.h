/* Ranks: how many of a few adjacent sorted keys are smaller than a key.
 *
 * A node of a K-ary search has K - 1 keys. If its size divides 64 bytes and its address is a multiple of its
 * size, it lies in one cache line. The CPU compares all keys of a node at once, in the instruction set that
 * the file is compiled for (KR_ISA); a thread of a GPU loads 16 bytes at a time. In hot programs n_keys is a
 * compile-time constant. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_NODE_H
#define KEYRAY_INDEX_LIGHTWEIGHT_NODE_H

#include "index/sorted/entries.h"

#include <stdbool.h>

#if KR_ON_CUDA || !defined(KR_ISA)
#define KR_NODE_ISA 0
#else
#define KR_NODE_ISA KR_ISA
#endif
#if KR_NODE_ISA > 0
#include <immintrin.h>
#endif

/* A bit for each of the first n words (at most 16) that holds a key < `key`. */
#if KR_NODE_ISA == 2 && KR_KEY_BITS == 32
#define KR_NODE_BLOCK 16
KR_BODY uint32_t kr_node_less(const uint32_t *at, uint32_t n, uint32_t key)
{
    const uint32_t lanes = 0xFFFFu >> (16 - n);
    if (n > 8) /* a load wider than the node would cross a cache line */
        return _mm512_mask_cmplt_epu32_mask((__mmask16)lanes, _mm512_maskz_loadu_epi32((__mmask16)lanes, at),
                                            _mm512_set1_epi32((int)key));
    if (n > 4)
        return _mm256_mask_cmplt_epu32_mask((__mmask8)lanes, _mm256_maskz_loadu_epi32((__mmask8)lanes, at),
                                            _mm256_set1_epi32((int)key));
    return _mm_mask_cmplt_epu32_mask((__mmask8)lanes, _mm_maskz_loadu_epi32((__mmask8)lanes, at),
                                     _mm_set1_epi32((int)key));
}
#elif KR_NODE_ISA == 2
#define KR_NODE_BLOCK 8
KR_BODY uint32_t kr_node_less(const uint64_t *at, uint32_t n, uint64_t key)
{
    const __mmask8 lanes = (__mmask8)(0xFFu >> (8 - n));
    if (n > 4)
        return _mm512_mask_cmplt_epu64_mask(lanes, _mm512_maskz_loadu_epi64(lanes, at),
                                            _mm512_set1_epi64((long long)key));
    return _mm256_mask_cmplt_epu64_mask(lanes, _mm256_maskz_loadu_epi64(lanes, at),
                                        _mm256_set1_epi64x((long long)key));
}
#elif KR_NODE_ISA == 1 && KR_KEY_BITS == 32
/* AVX2 compares signed integers only: flipping the sign bits gives the order of unsigned ones. */
#define KR_NODE_BLOCK 8
KR_BODY uint32_t kr_node_less(const uint32_t *at, uint32_t n, uint32_t key)
{
    const int turn = (int)0x80000000u;
    if (n == 4) {
        const __m128i keys = _mm_xor_si128(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi32(turn));
        return (uint32_t)_mm_movemask_ps(
            _mm_castsi128_ps(_mm_cmpgt_epi32(_mm_set1_epi32((int)key ^ turn), keys)));
    }
    const __m256i lanes =
        _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i loaded =
        n == 8 ? _mm256_loadu_si256((const __m256i *)at) : _mm256_maskload_epi32((const int *)at, lanes);
    const __m256i less = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)key ^ turn),
                                            _mm256_xor_si256(loaded, _mm256_set1_epi32(turn)));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(n == 8 ? less : _mm256_and_si256(less, lanes)));
}
#elif KR_NODE_ISA == 1
#define KR_NODE_BLOCK 4
KR_BODY uint32_t kr_node_less(const uint64_t *at, uint32_t n, uint64_t key)
{
    const long long turn = (long long)((uint64_t)1 << 63);
    const __m256i lanes =
        _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i loaded = n == 4 ? _mm256_loadu_si256((const __m256i *)at)
                                  : _mm256_maskload_epi64((const long long *)at, lanes);
    const __m256i less = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)key ^ turn),
                                            _mm256_xor_si256(loaded, _mm256_set1_epi64x(turn)));
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(n == 4 ? less : _mm256_and_si256(less, lanes)));
}
#endif

/* The rank in keys at any address. */
KR_BODY uint32_t kr_node_run_rank(const kr_key *keys, uint32_t n_keys, kr_key key)
{
    uint32_t rank = 0;
#if KR_NODE_ISA > 0
    uint32_t j = 0;
    if (n_keys == 1)
        return *keys < key;
    for (; n_keys - j > KR_NODE_BLOCK; j += KR_NODE_BLOCK)
        rank += kr_popcount32(kr_node_less(keys + j, KR_NODE_BLOCK, key));
    return n_keys ? rank + kr_popcount32(kr_node_less(keys + j, n_keys - j, key)) : 0;
#else
    for (uint32_t j = 0; j < n_keys; ++j)
        rank += kr_load(keys + j) < key ? 1 : 0;
    return rank;
#endif
}

#if KR_ON_CUDA
/* The rank in n_vectors * 16 bytes of keys, at an address that is a multiple of 16. */
KR_BODY uint32_t kr_node_vector_rank(const kr_key *keys, uint32_t n_vectors, kr_key key)
{
    uint32_t rank = 0;
#pragma unroll 8
    for (uint32_t j = 0; j < n_vectors; ++j) {
#if KR_KEY_BITS == 32
        const uint4 four = __ldg((const uint4 *)keys + j);
        rank += (four.x < key) + (four.y < key) + (four.z < key) + (four.w < key);
#else
        const ulonglong2 two = __ldg((const ulonglong2 *)keys + j);
        rank += (two.x < key) + (two.y < key);
#endif
    }
    return rank;
}
#endif

typedef struct kr_ranked {
    uint32_t below; /* of a few adjacent keys: < bound */
    kr_key next;    /* the key behind those, if it is among the few */
} kr_ranked;

/* Loads 8 keys, at an address that is a multiple of 16. */
KR_BODY void kr_node_eight_load(const kr_key *keys, kr_key *k)
{
#if KR_ON_CUDA && KR_KEY_BITS == 32
    const uint4 a = __ldg((const uint4 *)keys), b = __ldg((const uint4 *)keys + 1);
    k[0] = a.x, k[1] = a.y, k[2] = a.z, k[3] = a.w, k[4] = b.x, k[5] = b.y, k[6] = b.z, k[7] = b.w;
#elif KR_ON_CUDA
    const ulonglong2 a = __ldg((const ulonglong2 *)keys), b = __ldg((const ulonglong2 *)keys + 1);
    const ulonglong2 c = __ldg((const ulonglong2 *)keys + 2), d = __ldg((const ulonglong2 *)keys + 3);
    k[0] = a.x, k[1] = a.y, k[2] = b.x, k[3] = b.y, k[4] = c.x, k[5] = c.y, k[6] = d.x, k[7] = d.y;
#else
    for (int j = 0; j < 8; ++j)
        k[j] = keys[j];
#endif
}

/* The rank in 8 keys, at an address that is a multiple of 16. By halves in registers, which takes a GPU fewer
 * instructions than to count. */
KR_BODY kr_ranked kr_node_eight_ranked(const kr_key *keys, kr_key bound)
{
#if KR_ON_CUDA
    kr_key k[8];
    kr_node_eight_load(keys, k);
#else
    const kr_key *k = keys;
#endif
    const bool four = k[3] < bound;
    const kr_key h[4] = {four ? k[4] : k[0], four ? k[5] : k[1], four ? k[6] : k[2], four ? k[7] : k[3]};
    const bool two = h[1] < bound;
    const kr_key q[2] = {two ? h[2] : h[0], two ? h[3] : h[1]};
    const bool one = q[0] < bound;
    const kr_key next = one ? q[1] : q[0];
    const kr_ranked ranked = {4u * four + 2u * two + one + (next < bound), next};
    return ranked;
}

/* The rank in a node, whose address is a multiple of its size. */
KR_BODY uint32_t kr_node_rank(const kr_key *node, uint32_t n_keys, kr_key key)
{
#if KR_ON_CUDA
    if (n_keys * sizeof(kr_key) % 16 == 0)
        return kr_node_vector_rank(node, n_keys * (uint32_t)sizeof(kr_key) / 16, key);
#endif
    return kr_node_run_rank(node, n_keys, key);
}

/* The rank in a pinned node, by binary search: in shared memory every access costs the same. */
KR_BODY uint32_t kr_node_pinned_rank(const kr_key *node, uint32_t n_keys, kr_key key)
{
    uint32_t rank = 0;
    for (uint32_t step = 32; step; step >>= 1)
        if (rank + step <= n_keys && node[rank + step - 1] < key)
            rank += step;
    return rank;
}

#if KR_NODE_ISA > 0 && KR_KEY_BITS == 32
/* The rank in pairs of a code and a row id: every other word is a key. */
KR_BODY uint32_t kr_node_pairs_rank(const uint32_t *pairs, uint32_t n, uint32_t key)
{
    uint32_t rank = 0, j = 0;
    for (; 2 * (n - j) > KR_NODE_BLOCK; j += KR_NODE_BLOCK / 2)
        rank += kr_popcount32(kr_node_less(pairs + 2 * (size_t)j, KR_NODE_BLOCK, key) & 0x5555u);
    return n ? rank + kr_popcount32(kr_node_less(pairs + 2 * (size_t)j, 2 * (n - j), key) & 0x5555u) : 0;
}
#elif KR_ON_CUDA && KR_KEY_BITS == 32
KR_BODY uint32_t kr_node_pairs_rank(const uint32_t *pairs, uint32_t n, uint32_t key)
{
    uint32_t rank = 0, j = 0;
    if ((size_t)pairs % 16 == 0)
        for (; j + 2 <= n; j += 2) {
            const uint4 two = __ldg((const uint4 *)(pairs + 2 * (size_t)j));
            rank += (two.x < key) + (two.z < key);
        }
    for (; j < n; ++j)
        rank += kr_load(pairs + 2 * (size_t)j) < key;
    return rank;
}
#endif

/* The rank in the entries slot .. slot + n - 1. */
KR_BODY uint32_t kr_node_entries_rank(const kr_entries *entries, int aos, uint64_t slot, uint32_t n,
                                      kr_key key)
{
    if (!aos) {
        const kr_key *keys = (const kr_key *)entries->keys + slot;
#if KR_ON_CUDA
        if (n * sizeof(kr_key) % 16 == 0 && (size_t)keys % 16 == 0)
            return kr_node_vector_rank(keys, n * (uint32_t)sizeof(kr_key) / 16, key);
#endif
        return kr_node_run_rank(keys, n, key);
    }
#if (KR_NODE_ISA > 0 || KR_ON_CUDA) && KR_KEY_BITS == 32
    return kr_node_pairs_rank(kr_entry(entries, 1, slot), n, key);
#else
    uint32_t rank = 0;
    for (uint32_t j = 0; j < n; ++j)
        rank += kr_entry_key(entries, 1, slot + j) < key ? 1 : 0;
    return rank;
#endif
}

/* The same by all threads of a group: each loads one of group.size adjacent entries. */
KR_BODY uint32_t kr_node_group_rank(kr_group group, const kr_entries *entries, int aos, uint64_t slot,
                                    uint32_t n, kr_key key)
{
    uint32_t rank = 0;
    for (uint32_t first = 0; first < n; first += group.size) {
        const uint32_t j = first + group.rank;
        rank += kr_popcount32(kr_group_ballot(group, j < n && kr_entry_key(entries, aos, slot + j) < key));
    }
    return rank;
}

/* Prefetches every cache line of a short run of bytes. */
KR_BODY void kr_node_prefetch_run(const void *first, uint32_t nbytes)
{
    for (uint32_t at = 0; at < nbytes; at += 64)
        kr_prefetch((const char *)first + at);
}

KR_BODY void kr_node_prefetch_entries(const kr_entries *entries, int aos, uint64_t slot, uint32_t n)
{
    kr_node_prefetch_run(kr_entry(entries, aos, slot), n * ((uint32_t)sizeof(kr_key) + (aos ? 4 : 0)));
}

#endif
