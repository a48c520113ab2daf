/* Placing entries, checking their order, and the keys at which batches are cut. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_WIDTH_BODY_H

#include "index/families/eytzinger/eytzinger_params.h"
#include "index/sorted/entries.h"
#include "index/sorted/order_check.h"

/* From sorted columns to their places. Threads take ranks, not slots as in the paper. Neighbouring threads
 * then read adjacent entries of the sorted columns and write to the ends of a few runs. Neighbouring slots
 * would each read a line of their own, except in the lowest level. */
typedef struct eytzinger_place_params {
    const kr_key *sorted_keys;
    const uint32_t *sorted_rows;
    kr_entries entries;
    eytzinger_tree tree;
} eytzinger_place_params;
kr_assert_size(eytzinger_place_params, 72);

KR_BODY void eytzinger_place_rank(const eytzinger_place_params *p, uint64_t rank)
{
    if (rank == 0 && eytzinger_first(p->tree.k))
        kr_entries_put(&p->entries, 0, (kr_key) ~(kr_key)0, KR_NO_ROW);
    kr_entries_put(&p->entries, eytzinger_slot_of_rank(&p->tree, rank), kr_load(p->sorted_keys + rank),
                   kr_load(p->sorted_rows + rank));
}
KR_MAP_PROGRAM(eytzinger_place, eytzinger_place_params, eytzinger_place_rank);

/* Entries by rank, for the order check and the cuts. */
typedef struct eytzinger_ranks_params {
    kr_entries entries;
    eytzinger_tree tree;
    uint64_t *found; /* by the checks */
    kr_key *keys;    /* keys[i] is the key of cut i */
    uint32_t bits, reserved;
} eytzinger_ranks_params;
kr_assert_size(eytzinger_ranks_params, 80);

KR_BODY uint64_t eytzinger_key_at(const eytzinger_ranks_params *p, uint64_t rank)
{
    return kr_entry_key(&p->entries, (int)p->entries.layout, eytzinger_slot_of_rank(&p->tree, rank));
}

KR_BODY uint32_t eytzinger_row_at(const eytzinger_ranks_params *p, uint64_t rank)
{
    return kr_entry_row(&p->entries, (int)p->entries.layout, eytzinger_slot_of_rank(&p->tree, rank));
}
KR_ORDER_CHECK_PROGRAM(eytzinger_check, eytzinger_ranks_params, entries.n, eytzinger_key_at,
                       eytzinger_row_at);

/* *found becomes 1 if two entries have the same code. */
KR_BODY void eytzinger_note_repeat(const eytzinger_ranks_params *p, uint64_t rank)
{
    if (rank && eytzinger_key_at(p, rank) == eytzinger_key_at(p, rank - 1))
        kr_atomic_max64(p->found, 1);
}
KR_MAP_PROGRAM(eytzinger_repeats, eytzinger_ranks_params, eytzinger_note_repeat);

KR_BODY void eytzinger_cut(const eytzinger_ranks_params *p, uint64_t i)
{
    p->keys[i] = (kr_key)eytzinger_key_at(p, kr_batch_cut_at(p->entries.n, p->bits, i));
}
KR_MAP_PROGRAM(eytzinger_cuts, eytzinger_ranks_params, eytzinger_cut);

#endif
