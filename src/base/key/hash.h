/* One seeded hash of codes, for families whose entries have no order and for the batches that look them up.
 * It has 32 bits, and the top ones are as good as any: part p of a batch holds the probes whose hash begins
 * with the bits of p, so a table placed by the top bits is searched part by part, too.
 *
 * Codes are mixed by a bijection of their own width; the hash is the top 32 bits of that. So tables may keep
 * mixed codes instead of codes, and sort by them.
 *
 * With 32-bit codes it is a bijection (the finalizer of MurmurHash3, with the seed added twice): codes never
 * share a hash. With 64-bit codes, collisions can be constructed for a known seed, but not for all. */
#ifndef KEYRAY_BASE_KEY_HASH_H
#define KEYRAY_BASE_KEY_HASH_H

#include "base/key/key.h"

KR_BOTH uint32_t kr_mix32(uint32_t code, uint64_t seed)
{
    uint32_t x = code ^ (uint32_t)seed;
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) + (uint32_t)(seed >> 32);
    x *= 0xC2B2AE35u;
    return x ^ x >> 16;
}

KR_BOTH uint64_t kr_mix64(uint64_t code, uint64_t seed)
{
    uint64_t x = code ^ seed;
    x = (x ^ x >> 32) * (uint64_t)0xD6E8FEB86659FD93;
    return (x ^ x >> 32) * (uint64_t)0xD6E8FEB86659FD93;
}

/* The code behind a mixed one: the steps of kr_mix backwards, with inverse factors modulo 2^32 and 2^64. */
KR_BOTH uint32_t kr_unmix32(uint32_t mixed, uint64_t seed)
{
    uint32_t x = (mixed ^ mixed >> 16) * 0x7ED1B41Du;
    x -= (uint32_t)(seed >> 32);
    x = x ^ x >> 13 ^ x >> 26;
    x *= 0xA5CB9243u;
    return x ^ x >> 16 ^ (uint32_t)seed;
}

KR_BOTH uint64_t kr_unmix64(uint64_t mixed, uint64_t seed)
{
    uint64_t x = mixed * (uint64_t)0xCFEE444D8B59A89B;
    x = (x ^ x >> 32) * (uint64_t)0xCFEE444D8B59A89B;
    return x ^ x >> 32 ^ seed;
}

/* The hash of a mixed code. */
KR_BOTH uint32_t kr_code_hash_of_mixed32(uint32_t mixed)
{
    return mixed;
}

KR_BOTH uint32_t kr_code_hash_of_mixed64(uint64_t mixed)
{
    return (uint32_t)(mixed >> 32);
}

KR_BOTH uint32_t kr_code_hash32(uint32_t code, uint64_t seed)
{
    return kr_code_hash_of_mixed32(kr_mix32(code, seed));
}

KR_BOTH uint32_t kr_code_hash64(uint64_t code, uint64_t seed)
{
    return kr_code_hash_of_mixed64(kr_mix64(code, seed));
}

#if defined(KR_KEY_BITS)
#if KR_KEY_BITS == 32
#define kr_mix kr_mix32
#define kr_unmix kr_unmix32
#define kr_code_hash kr_code_hash32
#define kr_code_hash_of_mixed kr_code_hash_of_mixed32
#else
#define kr_mix kr_mix64
#define kr_unmix kr_unmix64
#define kr_code_hash kr_code_hash64
#define kr_code_hash_of_mixed kr_code_hash_of_mixed64
#endif
#endif

#endif
