/* Zones: the lowest and the highest code of each tile of a column, NULLs aside.
 *
 * Invariant: of a tile without values, the lowest code is above the highest. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_ZONES_SIMD_WIDTH_BODY_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_ZONES_SIMD_WIDTH_BODY_H

#include "base/key/key.h"
#include "table/families/full/full_zones_params.h"

/* Rows first .. end - 1 of integers without validity, at the width that they have in memory: loops that
 * compilers make vectors of. */
#define FULL_ZONES_OF(name, value_t)                                                                    \
    KR_BODY void name(kr_group group, const zones_params *p, uint64_t first, uint64_t end, kr_key *low, \
                      kr_key *high)                                                                     \
    {                                                                                                   \
        const value_t *values = (const value_t *)p->data;                                               \
        const value_t bias = (value_t)kr_type_bias(p->type);                                            \
        value_t least = (value_t) ~(value_t)0, most = 0;                                                \
        for (uint64_t row = first + group.rank; row < end; row += group.size) {                         \
            const value_t code = (value_t)(kr_load(values + row) ^ bias);                               \
            least = code < least ? code : least;                                                        \
            most = code > most ? code : most;                                                           \
        }                                                                                               \
        *low = first + group.rank < end ? least : *low;                                                 \
        *high = most;                                                                                   \
    }
#if KR_KEY_BITS == 32
FULL_ZONES_OF(full_zones_of_bytes, uint8_t)
FULL_ZONES_OF(full_zones_of_halves, uint16_t)
FULL_ZONES_OF(full_zones_of_words, uint32_t)
#else
FULL_ZONES_OF(full_zones_of_longs, uint64_t)
#endif

KR_BODY void full_zones_of_integers(kr_group group, const zones_params *p, uint64_t first, uint64_t end,
                                    kr_key *low, kr_key *high)
{
#if KR_KEY_BITS == 32
    const uint32_t width = kr_type_width(p->type);
    if (width == 1)
        full_zones_of_bytes(group, p, first, end, low, high);
    else if (width == 2)
        full_zones_of_halves(group, p, first, end, low, high);
    else
        full_zones_of_words(group, p, first, end, low, high);
#else
    full_zones_of_longs(group, p, first, end, low, high);
#endif
}

/* Floats, and columns with validity. */
KR_BODY void full_zones_of_codes(kr_group group, const zones_params *p, uint64_t first, uint64_t end,
                                 kr_key *low, kr_key *high)
{
    for (uint64_t row = first + group.rank; row < end; row += group.size) {
        if (!kr_code_is_valid(p->validity, p->validity_offset, row))
            continue;
        const kr_key code = kr_code_load_key(p->type, p->data, row);
        *low = code < *low ? code : *low;
        *high = code > *high ? code : *high;
    }
}

/* The rows of a tile, by all threads of the group. */
KR_BODY void full_zones_find(kr_group group, const zones_params *p, uint64_t tile, kr_key *low, kr_key *high)
{
    const uint64_t first = tile * FULL_TILE;
    const uint64_t end = first + FULL_TILE < p->n ? first + FULL_TILE : p->n;
    *low = ~(kr_key)0;
    *high = 0;
    if (p->validity || p->type == KR_F32 || p->type == KR_F64)
        full_zones_of_codes(group, p, first, end, low, high);
    else
        full_zones_of_integers(group, p, first, end, low, high);
    for (uint32_t distance = group.size / 2; distance; distance /= 2) {
        const kr_key other_low = (kr_key)kr_group_other(group, *low, distance);
        const kr_key other_high = (kr_key)kr_group_other(group, *high, distance);
        *low = other_low < *low ? other_low : *low;
        *high = other_high > *high ? other_high : *high;
    }
}

KR_BODY void full_zones_tile(kr_group group, const zones_params *p, uint64_t i, uint64_t n)
{
    const uint64_t tile = i / group.size;
    kr_key low, high;
    (void)n;
    full_zones_find(group, p, tile, &low, &high);
    if (group.rank)
        return;
    p->lows[tile] = low;
    p->highs[tile] = high;
}
KR_GROUP_PROGRAM(full_zones, zones_params, full_zones_tile);

KR_BODY void full_zones_check_tile(kr_group group, const zones_params *p, uint64_t i, uint64_t n)
{
    const uint64_t tile = i / group.size;
    kr_key low, high;
    (void)n;
    full_zones_find(group, p, tile, &low, &high);
    if (group.rank == 0 && (low != kr_load(p->lows + tile) || high != kr_load(p->highs + tile)))
        kr_atomic_add64(p->wrong, 1);
}
KR_GROUP_PROGRAM(full_zones_check, zones_params, full_zones_check_tile);

#endif
