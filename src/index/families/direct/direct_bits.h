/* From codes to bits of blocks, and back. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BITS_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BITS_H

#include "base/key/divide.h"
#include "index/families/direct/direct_view.h"
#include "index/sorted/gallop.h"

/* ---- Blocks --------------------------------------------------------------------------------------- */

typedef struct direct_spot {
    uint32_t block, bit; /* bit < DIRECT_VALUES */
} direct_spot;

/* How many steps a code is above the lowest: rounded down. */
KR_BODY kr_key direct_quotient(const direct_view *v, kr_key above)
{
    return kr_code_divide(above, v->magic, v->shift);
}

KR_BODY direct_spot direct_spot_of(uint64_t value)
{
    const uint32_t word = (uint32_t)(value >> 5), block = word / 7;
    return (direct_spot){block, (word - 7 * block) << 5 | ((uint32_t)value & 31)};
}

KR_BODY const uint32_t *direct_block_at(const direct_view *v, uint32_t block)
{
    return v->blocks + (uint64_t)block * DIRECT_WORDS;
}

/* A block in registers: the rank is in the low half of the first word. */
KR_BODY void direct_load_block(const direct_view *v, uint32_t block, uint64_t words[4])
{
    const uint64_t *at = (const uint64_t *)direct_block_at(v, block);
    kr_load_pair(at, words);
    kr_load_pair(at + 2, words + 2);
}

KR_BODY uint64_t direct_bits_of(const uint64_t words[4], uint32_t k)
{
    return k ? words[k] : words[0] & 0xFFFFFFFF00000000u;
}

/* Keys before a bit: those of blocks before, and of this one; *has: whether the bit is set. Masks in place of
 * branches, which would be mispredicted. */
KR_BODY uint32_t direct_look(const uint64_t words[4], uint32_t bit, uint32_t *has)
{
    const uint32_t place = bit + 32, at = place >> 6, in = place & 63;
    uint64_t word = 0;
    uint32_t n = (uint32_t)words[0];
    KR_UNROLL
    for (uint32_t k = 0; k < 4; ++k) {
        const uint64_t bits = direct_bits_of(words, k);
        word |= bits & (0 - (uint64_t)(k == at));
        n += k < 3 ? kr_popcount64(bits & (0 - (uint64_t)(k < at))) : 0;
    }
    *has = (uint32_t)(word >> in) & 1;
    return n + kr_popcount64(word & (((uint64_t)1 << in) - 1));
}

/* The same of a block in memory. A CPU reads the word of the bit once more, which takes fewer instructions
 * than to choose it. */
KR_BODY uint32_t direct_look_at(const direct_view *v, uint32_t block, uint32_t bit, uint32_t *has)
{
#if KR_ON_CUDA
    uint64_t words[4];
    direct_load_block(v, block, words);
    return direct_look(words, bit, has);
#else
    /* From entry 3 - at on: all bits of the words before word `at`. */
    static const uint64_t before[6] = {~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, 0, 0, 0};
    const uint64_t *words = (const uint64_t *)direct_block_at(v, block);
    const uint32_t place = bit + 32, at = place >> 6, in = place & 63;
    const uint64_t word = words[at], bits = (at ? word : word & 0xFFFFFFFF00000000u), *mask = before + 3 - at;
    *has = (uint32_t)(word >> in) & 1;
    return (uint32_t)words[0] + kr_popcount64(direct_bits_of(words, 0) & mask[0]) +
           kr_popcount64(words[1] & mask[1]) + kr_popcount64(words[2] & mask[2]) +
           kr_popcount64(bits & (((uint64_t)1 << in) - 1));
#endif
}

KR_BODY uint32_t direct_count(const uint64_t words[4])
{
    uint32_t n = 0;
    KR_UNROLL
    for (uint32_t k = 0; k < 4; ++k)
        n += kr_popcount64(direct_bits_of(words, k));
    return n;
}

/* The bit of the nth key of a block, counted from 0; there are more than nth. */
KR_BODY uint32_t direct_nth(const uint64_t words[4], uint32_t nth)
{
    uint64_t word = 0;
    uint32_t at = 0, left = nth, is_found = 0;
    KR_UNROLL
    for (uint32_t k = 0; k < 4; ++k) {
        const uint64_t bits = direct_bits_of(words, k);
        const uint32_t n = kr_popcount64(bits);
        const int here = !is_found && left < n;
        word = here ? bits : word;
        at = here ? 64 * k : at;
        is_found |= (uint32_t)here;
        left -= is_found ? 0 : n;
    }
    for (uint32_t width = 32; width; width /= 2) {
        const uint64_t low = word & (((uint64_t)1 << width) - 1);
        const uint32_t n = kr_popcount64(low);
        const int is_above = left >= n;
        word = is_above ? word >> width : low;
        at += is_above ? width : 0;
        left -= is_above ? n : 0;
    }
    return at - 32;
}

/* ---- Ordinals of distinct keys -------------------------------------------------------------------- */

KR_BODY kr_key direct_rank(const direct_view *v, uint32_t block)
{
    return kr_load(direct_block_at(v, block));
}
KR_SEARCHES(direct_ranks, direct_view, direct_rank);

KR_BODY kr_key direct_start(const direct_view *v, uint32_t ordinal)
{
    return kr_load(v->starts + ordinal);
}
KR_SEARCHES(direct_starts, direct_view, direct_start);

/* The block of a distinct key, searched from a block that may be near. Blocks without keys have the rank of
 * the next, so they are skipped without a look at their bits. */
KR_BODY uint32_t direct_block_of(const direct_view *v, uint32_t ordinal, uint32_t near)
{
    const kr_key behind = (kr_key)ordinal + 1;
    const uint32_t next = direct_rank(v, near) >= behind ? direct_ranks_down_from(v, near, behind)
                                                         : direct_ranks_from(v, v->n_blocks, near, behind);
    return next - 1;
}

KR_BODY kr_key direct_code(const direct_view *v, uint32_t block, uint32_t bit)
{
    return (kr_key)(v->lowest + ((uint64_t)block * DIRECT_VALUES + bit) * v->step);
}

KR_BODY kr_key direct_key(const direct_view *v, uint32_t ordinal, uint32_t near)
{
    const uint32_t block = direct_block_of(v, ordinal, near);
    uint64_t words[4];
    direct_load_block(v, block, words);
    return direct_code(v, block, direct_nth(words, ordinal - (uint32_t)words[0]));
}

/* ---- Positions of rows ---------------------------------------------------------------------------- */

KR_BODY uint32_t direct_position(const direct_view *v, uint32_t ordinal)
{
    return v->starts ? kr_load(v->starts + ordinal) : ordinal;
}

/* The distinct key that the row at a position has. */
KR_BODY uint32_t direct_ordinal(const direct_view *v, uint32_t position)
{
    return v->starts ? direct_starts_between(v, 0, v->n_keys, (kr_key)position + 1) - 1 : position;
}

KR_BODY uint32_t direct_row(const direct_view *v, uint32_t position)
{
    return v->rows ? kr_load(v->rows + position) : v->first_row + position;
}

#endif
