/* From sorted columns to packed entries, each independent of the others. */
#ifndef KEYRAY_LIGHTWEIGHT_STORE_BODY_H
#define KEYRAY_LIGHTWEIGHT_STORE_BODY_H

#include "program/program.h"
#include "sorted/entries.h"

typedef struct kr_pack_params {
    const void *sorted_keys; /* codes of either width */
    const uint32_t *sorted_rows;
    kr_entries entries;
} kr_pack_params;
kr_assert_size(kr_pack_params, 48);

#if defined(KR_KEY_BITS)

KR_BODY void kr_pack_entry(const kr_pack_params *p, uint64_t i)
{
    kr_entries_put(&p->entries, i, kr_load((const kr_key *)p->sorted_keys + i), kr_load(p->sorted_rows + i));
}
KR_MAP_PROGRAM(kr_store_pack, kr_pack_params, kr_pack_entry);
#endif

#endif
