/* Sorted columns to Eytzinger order: one load and one store an entry, none needs another. */
#ifndef KEYRAY_INDEXES_EYTZINGER_EYTZINGER_BUILD_BODY_H
#define KEYRAY_INDEXES_EYTZINGER_EYTZINGER_BUILD_BODY_H

#include "core/eytzinger.h"
#include "program/program.h"
#include "search/entries_body.h"

typedef struct eytzinger_build_params {
    const kr_key *sorted_keys;
    const uint32_t *sorted_rows;
    void *keys;     /* soa: codes; aos: entries of a code and a row id */
    uint32_t *rows; /* NULL: aos */
    kr_eytzinger tree;
} eytzinger_build_params;
kr_assert_size(eytzinger_build_params, 56);

KR_BODY void eytzinger_store(const eytzinger_build_params *p, uint64_t slot, kr_key key, uint32_t row)
{
    if (p->rows) {
        ((kr_key *)p->keys)[slot] = key;
        p->rows[slot] = row;
    } else {
        kr_entry_store(p->keys, slot, key, row);
    }
}

/* Threads take ranks, not slots as in the paper: neighbours then read the sorted columns side by side and
 * write to the ends of a few runs, whereas neighbouring slots of all but the lowest level would each read a
 * line of their own. */
KR_BODY void eytzinger_place_rank(const eytzinger_build_params *p, uint64_t rank)
{
    const uint32_t first = kr_eytzinger_first(p->tree.k);
    if (rank == 0 && first)
        eytzinger_store(p, 0, (kr_key) ~(kr_key)0, KR_NO_ROW);
    eytzinger_store(p, (uint64_t)first + kr_eytzinger_entry(&p->tree, (uint32_t)rank),
                    kr_load(p->sorted_keys + rank), kr_load(p->sorted_rows + rank));
}
KR_MAP_PROGRAM(eytzinger_place, eytzinger_build_params, eytzinger_place_rank);

#endif
