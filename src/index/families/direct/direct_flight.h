/* Points on a CPU: 32 probes go through side by side, step by step. Each step is a loop over all of them,
 * which the compiler makes vectors of where it can, and asks for what the next step reads. While that is on
 * its way, the groups before take their steps. Where the values from the lowest key to the highest all have
 * keys, a key's value is its ordinal, and no block is read. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FLIGHT_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FLIGHT_H

#include "base/key/several.h"
#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_find_params.h"

enum { DIRECT_FLIGHT = 32, DIRECT_FLIGHTS = 4 };

typedef struct direct_flight {
    kr_key values[DIRECT_FLIGHT]; /* 0 where no key can have the code */
    uint32_t blocks[DIRECT_FLIGHT], bits[DIRECT_FLIGHT];
    uint32_t hits[DIRECT_FLIGHT];                   /* 1: there is a key */
    uint32_t at[DIRECT_FLIGHT], end[DIRECT_FLIGHT]; /* ordinals, then positions; 0, 0 without a key */
} direct_flight;

/* ---- From probes to values ------------------------------------------------------------------------ */

/* Codes become values. */
KR_BODY void direct_fly_values(const direct_view *v, uint32_t n, direct_flight *f)
{
    const kr_key lowest = (kr_key)v->lowest, span = (kr_key)v->span, step = (kr_key)v->step;
    for (uint32_t j = 0; j < n; ++j) {
        const kr_key above = (kr_key)(f->values[j] - lowest), value = direct_quotient(v, above);
        const uint32_t is_value = (uint32_t)(above <= span) & (uint32_t)((kr_key)(value * step) == above);
        f->hits[j] = is_value;
        f->values[j] = value & (0 - (kr_key)is_value);
    }
}

KR_BODY void direct_fly_nulls(const kr_batch *b, uint64_t first, uint32_t n, direct_flight *f)
{
    for (uint32_t j = 0; b->lower_validity && j < n; ++j)
        f->hits[j] &= (uint32_t)kr_code_is_valid(b->lower_validity, b->lower_offset,
                                                 kr_answer_place(b->order, first + j));
}

/* ---- From values to ordinals ---------------------------------------------------------------------- */

/* The bits are counted with those of the rank, which are then taken off again: so no word is another than the
 * others, and the count of one is shifted to where a product adds it up. */
KR_BODY uint32_t direct_look_in(const uint32_t *block, uint32_t bit, uint32_t *has)
{
    const uint64_t *words = (const uint64_t *)block;
    const uint32_t place = bit + 32, at = place >> 6, in = place & 63;
    const uint32_t each =
        kr_popcount64(words[0]) | kr_popcount64(words[1]) << 8 | kr_popcount64(words[2]) << 16;
    const uint32_t before = each * 0x01010100u >> 8 * at & 0xFF;
    const uint64_t word = words[at];
    *has = (uint32_t)(word >> in) & 1;
    return block[0] - kr_popcount32(block[0]) + before + kr_popcount64(word & (((uint64_t)1 << in) - 1));
}

KR_BODY void direct_fly_to_blocks(const direct_view *v, uint32_t n, direct_flight *f)
{
    for (uint32_t j = 0; j < n; ++j) {
        const direct_spot spot = direct_spot_of(f->values[j]);
        f->blocks[j] = spot.block;
        f->bits[j] = spot.bit;
    }
    for (uint32_t j = 0; j < n; ++j)
        kr_prefetch(direct_block_at(v, f->blocks[j]));
}

KR_BODY void direct_fly_ordinals(const direct_view *v, uint32_t n, direct_flight *f)
{
    for (uint32_t j = 0; j < n && v->is_full; ++j)
        f->at[j] = (uint32_t)f->values[j];
    for (uint32_t j = 0; j < n && !v->is_full; ++j) {
        uint32_t has;
        f->at[j] = direct_look_in(direct_block_at(v, f->blocks[j]), f->bits[j], &has);
        f->hits[j] &= has;
    }
    for (uint32_t j = 0; j < n; ++j) {
        f->at[j] &= 0 - f->hits[j];
        f->end[j] = f->at[j] + f->hits[j];
    }
}

/* ---- From ordinals to rows ------------------------------------------------------------------------ */

KR_BODY void direct_fly_ahead(const uint32_t *next, uint32_t n, const direct_flight *f)
{
    for (uint32_t j = 0; j < n; ++j)
        kr_prefetch(next + f->at[j]);
}

/* starts[0] is 0. */
KR_BODY void direct_fly_starts(const direct_view *v, uint32_t n, direct_flight *f)
{
    for (uint32_t j = 0; j < n; ++j) {
        f->end[j] = kr_load(v->starts + f->end[j]);
        f->at[j] = kr_load(v->starts + f->at[j]);
    }
}

/* First rows, in the order of the probes: a loop without branches. */
KR_BODY void direct_fly_rows(const direct_view *v, uint32_t *out, uint32_t n, const direct_flight *f)
{
    if (v->rows)
        for (uint32_t j = 0; j < n; ++j)
            out[j] = kr_load(v->rows + f->at[j]) | (0 - (f->hits[j] ^ 1));
    else
        for (uint32_t j = 0; j < n; ++j)
            out[j] = (v->first_row + f->at[j]) | (0 - (f->hits[j] ^ 1));
}

#endif
