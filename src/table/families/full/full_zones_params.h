/* The parameters of the programs that find and check zones. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_ZONES_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_ZONES_PARAMS_H

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

#endif
