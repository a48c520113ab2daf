/* Division of codes by a number that is known only at run time, by a multiplication and shifts. Granlund and
 * Montgomery, "Division by Invariant Integers using Multiplication": the multiplier has one bit more than a
 * word, which kr_code_divide adds. */
#ifndef KEYRAY_BASE_KEY_DIVIDE_H
#define KEYRAY_BASE_KEY_DIVIDE_H

#include "base/key/key.h"

/* Of the divisor, which is not 0: *magic, 0 where the divisor is 2^shift, and the shift. Of codes of 32 or 64
 * bits. */
void kr_code_divisor(uint64_t divisor, uint32_t key_bits, uint64_t *magic, uint32_t *shift);

/* Rounded down. */
KR_BODY uint64_t kr_code_divide64(uint64_t code, uint64_t magic, uint32_t shift)
{
    if (!magic)
        return code >> shift;
    const uint64_t high = kr_product_high64(code, magic);
    return (((code - high) >> 1) + high) >> shift;
}

#if defined(KR_KEY_BITS)
KR_BODY kr_key kr_code_divide(kr_key code, uint64_t magic, uint32_t shift)
{
#if KR_KEY_BITS == 32
    if (!magic)
        return code >> shift;
    const kr_key high = (kr_key)((uint64_t)code * (uint32_t)magic >> 32);
    return (((code - high) >> 1) + high) >> shift;
#else
    return kr_code_divide64(code, magic, shift);
#endif
}
#endif

#endif
