/* Comparisons of 32 neighbouring values with an interval on a CPU, at the width that they have in memory: bit
 * i of the result says whether values[i] - base <= span, modulo that width. Each instruction set has its own.
 */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_INTERVAL_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_INTERVAL_H

#include "base/key/key.h"

#if !KR_ON_CUDA

#if defined(KR_ISA) && KR_ISA > 0
#include <immintrin.h>
#endif

#if defined(KR_ISA) && KR_ISA == 2

KR_BODY uint32_t full_in_bytes(const uint8_t values[32], uint8_t base, uint8_t span)
{
    const __m256i from = _mm256_set1_epi8((char)base), most = _mm256_set1_epi8((char)span);
    const __m256i x = _mm256_loadu_si256((const __m256i *)values);
    return _mm256_cmple_epu8_mask(_mm256_sub_epi8(x, from), most);
}

KR_BODY uint32_t full_in_halves(const uint16_t values[32], uint16_t base, uint16_t span)
{
    const __m512i from = _mm512_set1_epi16((short)base), most = _mm512_set1_epi16((short)span);
    return _mm512_cmple_epu16_mask(_mm512_sub_epi16(_mm512_loadu_si512(values), from), most);
}

KR_BODY uint32_t full_in_words(const uint32_t values[32], uint32_t base, uint32_t span)
{
    const __m512i from = _mm512_set1_epi32((int)base), most = _mm512_set1_epi32((int)span);
    const uint32_t low = _mm512_cmple_epu32_mask(_mm512_sub_epi32(_mm512_loadu_si512(values), from), most);
    const uint32_t high =
        _mm512_cmple_epu32_mask(_mm512_sub_epi32(_mm512_loadu_si512(values + 16), from), most);
    return low | high << 16;
}

KR_BODY uint32_t full_in_longs(const uint64_t values[32], uint64_t base, uint64_t span)
{
    const __m512i from = _mm512_set1_epi64((long long)base), most = _mm512_set1_epi64((long long)span);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; i += 8)
        bits |=
            (uint32_t)_mm512_cmple_epu64_mask(_mm512_sub_epi64(_mm512_loadu_si512(values + i), from), most)
            << i;
    return bits;
}

#elif defined(KR_ISA) && KR_ISA == 1

KR_BODY uint32_t full_in_bytes(const uint8_t values[32], uint8_t base, uint8_t span)
{
    const __m256i from = _mm256_set1_epi8((char)base), most = _mm256_set1_epi8((char)span);
    const __m256i x = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)values), from);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(x, most), x));
}

/* Two vectors of truths become one of bytes, whose middle quarters then lie crosswise. */
KR_BODY uint32_t full_in_halves(const uint16_t values[32], uint16_t base, uint16_t span)
{
    const __m256i from = _mm256_set1_epi16((short)base), most = _mm256_set1_epi16((short)span);
    const __m256i x = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)values), from);
    const __m256i y = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(values + 16)), from);
    const __m256i low = _mm256_cmpeq_epi16(_mm256_min_epu16(x, most), x);
    const __m256i high = _mm256_cmpeq_epi16(_mm256_min_epu16(y, most), y);
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8);
    return (uint32_t)_mm256_movemask_epi8(both);
}

KR_BODY uint32_t full_in_words(const uint32_t values[32], uint32_t base, uint32_t span)
{
    const __m256i from = _mm256_set1_epi32((int)base), most = _mm256_set1_epi32((int)span);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; i += 8) {
        const __m256i x = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)(values + i)), from);
        const __m256i holds = _mm256_cmpeq_epi32(_mm256_min_epu32(x, most), x);
        bits |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(holds)) << i;
    }
    return bits;
}

/* AVX2 compares signed integers only: flipping the sign bits gives the order of unsigned ones. */
KR_BODY uint32_t full_in_longs(const uint64_t values[32], uint64_t base, uint64_t span)
{
    const uint64_t sign = (uint64_t)1 << 63;
    const __m256i from = _mm256_set1_epi64x((long long)(base ^ sign));
    const __m256i most = _mm256_set1_epi64x((long long)(span ^ sign));
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; i += 4) {
        const __m256i x = _mm256_sub_epi64(_mm256_loadu_si256((const __m256i *)(values + i)), from);
        bits |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(x, most))) << i;
    }
    return ~bits;
}

#else

#define FULL_IN(name, value_t)                                                  \
    KR_BODY uint32_t name(const value_t values[32], value_t base, value_t span) \
    {                                                                           \
        uint32_t bits = 0;                                                      \
        for (uint32_t i = 0; i < 32; ++i)                                       \
            bits |= (uint32_t)((value_t)(values[i] - base) <= span) << i;       \
        return bits;                                                            \
    }
FULL_IN(full_in_bytes, uint8_t)
FULL_IN(full_in_halves, uint16_t)
FULL_IN(full_in_words, uint32_t)
FULL_IN(full_in_longs, uint64_t)
#undef FULL_IN

#endif

/* The same of values of the key width. */
#if KR_KEY_BITS == 32
KR_BODY uint32_t full_in_interval(const uint32_t values[32], uint32_t base, uint32_t span)
{
    return full_in_words(values, base, span);
}
#else
KR_BODY uint32_t full_in_interval(const uint64_t values[32], uint64_t base, uint64_t span)
{
    return full_in_longs(values, base, span);
}
#endif

#endif

#endif
