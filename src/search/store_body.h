/* Packing of entries for layout=aos. */
#ifndef KEYRAY_SEARCH_STORE_BODY_H
#define KEYRAY_SEARCH_STORE_BODY_H

#include "program/program.h"

typedef struct kr_pack_params {
    const void *keys; /* codes of either width */
    const uint32_t *rows;
    uint32_t *entries;
} kr_pack_params;
kr_assert_size(kr_pack_params, 24);

#if defined(KR_KEY_BITS)
#include "search/entries_body.h"

KR_BODY void kr_pack_entry(const kr_pack_params *p, uint64_t i)
{
    kr_entry_store(p->entries, i, kr_load((const kr_key *)p->keys + i), kr_load(p->rows + i));
}
KR_MAP_PROGRAM(kr_store_pack, kr_pack_params, kr_pack_entry);
#endif

#endif
