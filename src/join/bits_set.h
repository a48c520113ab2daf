/* How right rows set the bits of their values. */
#ifndef KEYRAY_JOIN_BITS_SET_H
#define KEYRAY_JOIN_BITS_SET_H

#include "base/key/several.h"
#include "join/bits_params.h"

/* `is_shared`: other threads set bits of these words, too. Then a bit that is set already is not set again,
 * so that frequent keys cost a load. */
KR_BODY void join_bits_set_one(const bits_params *p, uint32_t *bits, int is_shared, uint64_t row, kr_key code)
{
    const kr_key above = (kr_key)(code - (kr_key)p->lowest);
    if (above > (kr_key)p->span || !kr_code_is_valid(p->validity, p->offset, row))
        return;
    uint32_t *word = bits + (above >> 5);
    const uint32_t bit = (uint32_t)1 << (above & 31);
    if (!is_shared)
        *word |= bit;
    else if (!(kr_atomic_load32(word) & bit))
        kr_atomic_or32(word, bit);
}

#endif
