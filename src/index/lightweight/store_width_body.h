/* From sorted columns to packed entries, each independent of the others. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_STORE_WIDTH_BODY_H
#define KEYRAY_INDEX_LIGHTWEIGHT_STORE_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/lightweight/store_params.h"

KR_BODY void kr_store_pack_entry(const kr_pack_params *p, uint64_t i)
{
    kr_entries_put(&p->entries, i, kr_load((const kr_key *)p->sorted_keys + i), kr_load(p->sorted_rows + i));
}
KR_MAP_PROGRAM(kr_store_pack, kr_pack_params, kr_store_pack_entry);

#endif
