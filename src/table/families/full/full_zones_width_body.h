/* Zones: the lowest and the highest code of each tile of a column, NULLs aside.
 *
 * Invariant: of a tile without values, the lowest code is above the highest. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_ZONES_WIDTH_BODY_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_ZONES_WIDTH_BODY_H

#include "base/key/key.h"
#include "table/families/full/full_params.h"

typedef struct zones_params {
    const void *data;
    const uint8_t *validity; /* or NULL */
    uint64_t validity_offset, n;
    kr_key *lows, *highs;
    uint64_t *wrong; /* `check` counts tiles with a value outside of their zone */
    uint32_t type, reserved;
} zones_params;
kr_assert_size(zones_params, 64);

/* The rows of a tile, by all threads of the group. */
KR_BODY void full_zones_find(kr_group group, const zones_params *p, uint64_t tile, kr_key *low, kr_key *high)
{
    const uint64_t first = tile * FULL_TILE;
    *low = ~(kr_key)0;
    *high = 0;
    for (uint64_t row = first + group.rank; row < first + FULL_TILE && row < p->n; row += group.size) {
        if (!kr_code_is_valid(p->validity, p->validity_offset, row))
            continue;
        const kr_key code = kr_code_load_key(p->type, p->data, row);
        *low = code < *low ? code : *low;
        *high = code > *high ? code : *high;
    }
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
