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
#include "key/key.h"

KR_BODY void kr_pack_entry(const kr_pack_params *p, uint64_t i)
{
    const uint32_t key_words = sizeof(kr_key) / 4;
    uint32_t *entry = p->entries + i * (key_words + 1);
    const kr_key key = kr_load((const kr_key *)p->keys + i);
    entry[0] = (uint32_t)key;
#if KR_KEY_BITS == 64
    entry[1] = (uint32_t)(key >> 32);
#endif
    entry[key_words] = kr_load(p->rows + i);
}
KR_MAP_PROGRAM(kr_store_pack, kr_pack_params, kr_pack_entry);
#endif

#endif
