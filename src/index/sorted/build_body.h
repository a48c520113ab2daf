/* The bodies of build.c. */
#ifndef KEYRAY_INDEX_SORTED_BUILD_BODY_H
#define KEYRAY_INDEX_SORTED_BUILD_BODY_H

#include "base/program/block.h"

/* Adds to *repeats how many of the sorted keys are equal to the key before; element t is a tile. */
enum { REPEATS_TILE = 16384 };
typedef struct repeats_params {
    const void *keys;
    uint64_t *repeats;
    uint64_t n;
    uint32_t key_bits, reserved;
    kr_blocks blocks;
} repeats_params;
kr_assert_size(repeats_params, 40);

KR_BODY int sorted_repeats_at(const repeats_params *p, uint64_t i)
{
    return p->key_bits == 64
               ? kr_load((const uint64_t *)p->keys + i) == kr_load((const uint64_t *)p->keys + i - 1)
               : kr_load((const uint32_t *)p->keys + i) == kr_load((const uint32_t *)p->keys + i - 1);
}

KR_BODY void sorted_repeats_tiles(kr_block block, char *shared, const repeats_params *p, uint64_t n_tiles)
{
    (void)shared;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t first = t * REPEATS_TILE + 1 + block.rank;
        const uint64_t end = (t + 1) * REPEATS_TILE + 1 < p->n ? (t + 1) * REPEATS_TILE + 1 : p->n;
        uint32_t mine = 0, all;
        for (uint64_t i = first; i < end; i += block.size)
            mine += (uint32_t)sorted_repeats_at(p, i);
        (void)kr_block_sum_before(block, mine, &all);
        if (block.rank == 0 && all)
            kr_atomic_add64(p->repeats, all);
    }
}
KR_BLOCK_PROGRAM(sorted_repeats, repeats_params, sorted_repeats_tiles);

/* Row ids 0, 1, 2, ... */
typedef struct number_params {
    uint32_t *rows;
} number_params;

KR_BODY void sorted_number_row(const number_params *p, uint64_t i)
{
    p->rows[i] = (uint32_t)i;
}
KR_MAP_PROGRAM(sorted_number_rows, number_params, sorted_number_row);

#endif
