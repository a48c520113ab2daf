/* Bits, ranks and row ids of distinct keys, which need no order: a bit is set for each key, then the bits
 * before it are its position. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_SCATTER_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_SCATTER_SIMD_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_build_params.h"

KR_BODY void direct_make_spot(const direct_scatter_params *p, uint64_t i)
{
    const direct_view *v = &p->view;
    const kr_key above = (kr_key)(kr_load(p->keys + i) - (kr_key)v->lowest);
    const direct_spot spot = direct_spot_of(direct_quotient(v, above));
    p->spots[i] = spot.block << DIRECT_SPOT_BITS | spot.bit;
}
KR_MAP_PROGRAM(direct_spots, direct_scatter_params, direct_make_spot);

/* ---- Bits ----------------------------------------------------------------------------------------- */

KR_BODY uint32_t *direct_spot_word(const direct_scatter_params *p, uint32_t spot)
{
    return p->view.blocks + (spot >> 5) + 1;
}

/* Threads that see early that a key is there twice leave the rest. */
KR_BODY void direct_mark_row(const direct_scatter_params *p, uint64_t i)
{
    const uint32_t spot = kr_load(p->spots + i), bit = (uint32_t)1 << (spot & 31);
    if (!kr_atomic_load64(p->found) && kr_atomic_or32(direct_spot_word(p, spot), bit) & bit)
        kr_atomic_max64(p->found, 1);
}

/* The first row from `at` on with which a part begins. */
KR_BODY uint64_t direct_part_begin(const direct_scatter_params *p, uint64_t at)
{
    if (at == 0 || at >= p->n || p->part_bits >= 32)
        return at ? p->n : 0;
    const uint32_t part = p->spots[at - 1] >> p->part_bits;
    uint64_t low = at, high = p->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->spots[middle] >> p->part_bits > part)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A CPU's atomics would cost more than all else. No two parts share a word, so the thread that has a part's
 * first row sets the bits of all of its rows. */
KR_BODY void direct_mark_parts(const direct_scatter_params *p, uint64_t first, uint64_t end)
{
    const uint64_t from = direct_part_begin(p, first), to = direct_part_begin(p, end);
    uint32_t repeats = 0;
    for (uint64_t i = from; i < to && !kr_atomic_load64(p->found);) {
        const uint64_t stop = to - i > 4096 ? i + 4096 : to;
        for (; i < stop; ++i) {
            uint32_t *word = direct_spot_word(p, p->spots[i]);
            const uint32_t bit = (uint32_t)1 << (p->spots[i] & 31), old = *word;
            *word = old | bit;
            repeats |= old & bit;
        }
        if (repeats)
            kr_atomic_max64(p->found, 1);
    }
}
KR_MAP_OR_RUN_PROGRAM(direct_mark, direct_scatter_params, direct_mark_row, direct_mark_parts);

/* ---- Ranks and row ids ---------------------------------------------------------------------------- */

KR_BODY void direct_count_block(const direct_scatter_params *p, uint64_t b)
{
    uint64_t words[4];
    direct_load_block(&p->view, (uint32_t)b, words);
    p->counts[b] = direct_count(words);
}
KR_MAP_PROGRAM(direct_counts, direct_scatter_params, direct_count_block);

KR_BODY void direct_put_rank(const direct_scatter_params *p, uint64_t b)
{
    p->view.blocks[b * DIRECT_WORDS] = (uint32_t)p->counts[b];
}
KR_MAP_PROGRAM(direct_put_ranks, direct_scatter_params, direct_put_rank);

KR_BODY void direct_place_row(const direct_scatter_params *p, uint64_t i)
{
    const uint32_t spot = kr_load(p->spots + i);
    uint32_t has;
    const uint32_t at =
        direct_look_at(&p->view, spot >> DIRECT_SPOT_BITS, spot & ((1u << DIRECT_SPOT_BITS) - 1), &has);
    p->view.rows[at] = p->row_ids ? kr_load(p->row_ids + i) : (uint32_t)i;
}

/* Row ids of a part go to the places that its rows have. A CPU asks for them a part ahead. */
enum { DIRECT_PLACES_AHEAD = 1 << 16, DIRECT_PLACES_LINE = 16 };

KR_BODY void direct_place_rows(const direct_scatter_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; ++i) {
        if (i % DIRECT_PLACES_LINE == 0 && i + DIRECT_PLACES_AHEAD < p->n)
            kr_prefetch_write(p->view.rows + i + DIRECT_PLACES_AHEAD);
        direct_place_row(p, i);
    }
}
KR_MAP_OR_RUN_PROGRAM(direct_place, direct_scatter_params, direct_place_row, direct_place_rows);

#endif
