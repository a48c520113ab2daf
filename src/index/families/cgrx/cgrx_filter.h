/* A blocked Bloom filter: a key's bits lie in one word of 64, so that a test is one memory access. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_FILTER_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_FILTER_H

#include "base/key/key.h"

/* A finalizer of 64 bits (Stafford's 13th, as in SplitMix64): every bit of the key affects every bit of the
 * hash. */
KR_BODY uint64_t cgrx_hash(uint64_t key)
{
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9u;
    key = (key ^ key >> 27) * 0x94D049BB133111EBu;
    return key ^ key >> 31;
}

/* Four bits of the word, from the hash's low 24. */
KR_BODY uint64_t cgrx_filter_bits(uint64_t hash)
{
    return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63) | (uint64_t)1 << (hash >> 12 & 63) |
           (uint64_t)1 << (hash >> 18 & 63);
}

/* The word of a key, from the high half of the hash. */
KR_BODY uint64_t cgrx_filter_word(uint64_t hash, uint64_t n_words)
{
    return (hash >> 32) * n_words >> 32;
}

KR_BODY int cgrx_filter_has(const uint64_t *words, uint64_t n_words, uint64_t key)
{
    const uint64_t hash = cgrx_hash(key), bits = cgrx_filter_bits(hash);
    return (kr_load(words + cgrx_filter_word(hash, n_words)) & bits) == bits;
}

KR_BODY void cgrx_filter_add(uint64_t *words, uint64_t n_words, uint64_t key)
{
    const uint64_t hash = cgrx_hash(key), bits = cgrx_filter_bits(hash);
    uint32_t *halves = (uint32_t *)(words + cgrx_filter_word(hash, n_words)); /* the low half comes first */
    if ((uint32_t)bits)
        kr_atomic_or32(halves, (uint32_t)bits);
    if (bits >> 32)
        kr_atomic_or32(halves + 1, (uint32_t)(bits >> 32));
}

#endif
