/* From sorted columns to where entries stand: one load and one store an entry, none needs another. */
#ifndef KEYRAY_SEARCH_STORE_BODY_H
#define KEYRAY_SEARCH_STORE_BODY_H

#include "core/lists.h"
#include "program/program.h"

typedef struct kr_place_params {
    const void *sorted_keys; /* codes of either width */
    const uint32_t *sorted_rows;
    void *keys;     /* soa: codes; aos: entries of a code and a row id */
    uint32_t *rows; /* NULL: aos */
    kr_lists lists; /* which slot a rank is */
} kr_place_params;
kr_assert_size(kr_place_params, 88);

#if defined(KR_KEY_BITS)
#include "search/entries_body.h"

KR_BODY void kr_place_in(const kr_place_params *p, uint64_t slot, kr_key key, uint32_t row)
{
    if (p->rows) {
        ((kr_key *)p->keys)[slot] = key;
        p->rows[slot] = row;
    } else {
        kr_entry_store(p->keys, slot, key, row);
    }
}

/* Threads take ranks, not slots as in the paper: neighbours then read the sorted columns side by side and
 * write to the ends of a few runs, whereas neighbouring slots of all but the lowest level of a tree would
 * each read a line of their own. */
KR_BODY void kr_place_rank(const kr_place_params *p, uint64_t rank)
{
    if (rank == 0 && kr_eytzinger_first(p->lists.tree.k))
        kr_place_in(p, 0, (kr_key) ~(kr_key)0, KR_NO_ROW);
    kr_place_in(p, kr_lists_slot(&p->lists, rank), kr_load((const kr_key *)p->sorted_keys + rank),
                kr_load(p->sorted_rows + rank));
}
KR_MAP_PROGRAM(kr_store_place, kr_place_params, kr_place_rank);
#endif

#endif
