/* Points on a CPU: probes go through in groups. While a group's blocks are on their way, those of the group
 * before are looked at, and the row ids of the one before that are read. Each step is a loop over a group
 * without branches on a probe, which the compiler makes vectors of where it can. Where the values from the
 * lowest key to the highest all have keys, a key's value is its ordinal, and no block is read. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FLIGHT_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_FLIGHT_H

#include "base/key/several.h"
#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_find_params.h"

enum { DIRECT_GROUP = 32, DIRECT_GROUPS = 4 };

typedef struct direct_flight {
    kr_key values[DIRECT_GROUP]; /* 0 where no key can have the code */
    uint32_t blocks[DIRECT_GROUP], bits[DIRECT_GROUP];
    uint32_t hits[DIRECT_GROUP];                  /* 1: there is a key */
    uint32_t at[DIRECT_GROUP], end[DIRECT_GROUP]; /* ordinals, then positions; 0, 0 without a key */
} direct_flight;

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

/* From probes to blocks. */
KR_BODY void direct_fly_aim(const direct_find_params *p, uint64_t first, uint32_t n, direct_flight *f)
{
    const direct_view *v = &p->view;
    kr_code_load_several(p->batch.lower_type, p->batch.lower, first, n, f->values);
    direct_fly_values(v, n, f);
    direct_fly_nulls(&p->batch, first, n, f);
    for (uint32_t j = 0; !v->is_full && j < n; ++j) {
        const direct_spot spot = direct_spot_of(f->values[j]);
        f->blocks[j] = spot.block;
        f->bits[j] = spot.bit;
    }
    for (uint32_t j = 0; !v->is_full && j < n; ++j)
        kr_prefetch(direct_block_at(v, f->blocks[j]));
}

/* To ordinals; `next`: what is read next by them, or NULL. */
KR_BODY void direct_fly_look(const direct_view *v, uint32_t n, const uint32_t *next, direct_flight *f)
{
    if (v->is_full)
        for (uint32_t j = 0; j < n; ++j)
            f->at[j] = (uint32_t)f->values[j];
    else
        for (uint32_t j = 0; j < n; ++j) {
            uint32_t has;
            f->at[j] = direct_look_at(v, f->blocks[j], f->bits[j], &has);
            f->hits[j] &= has;
        }
    for (uint32_t j = 0; j < n; ++j) {
        f->at[j] &= 0 - f->hits[j];
        f->end[j] = f->at[j] + f->hits[j];
    }
    for (uint32_t j = 0; next && j < n; ++j)
        kr_prefetch(next + f->at[j]);
}

/* To positions. starts[0] is 0. */
KR_BODY void direct_fly_starts(const direct_view *v, uint32_t n, const uint32_t *rows, direct_flight *f)
{
    for (uint32_t j = 0; j < n; ++j) {
        f->end[j] = kr_load(v->starts + f->end[j]);
        f->at[j] = kr_load(v->starts + f->at[j]);
    }
    for (uint32_t j = 0; rows && j < n; ++j)
        kr_prefetch(rows + f->at[j]);
}

/* First rows, in the order of the probes. */
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
