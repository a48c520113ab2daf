/* The parameters of the program that packs entries, for both widths of keys. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_STORE_PARAMS_H
#define KEYRAY_INDEX_LIGHTWEIGHT_STORE_PARAMS_H

#include "index/sorted/entries.h"

typedef struct kr_pack_params {
    const void *sorted_keys; /* codes of either width */
    const uint32_t *sorted_rows;
    kr_entries entries;
} kr_pack_params;
kr_assert_size(kr_pack_params, 48);

#endif
