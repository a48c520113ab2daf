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

/* Whether keys, which are not sorted yet, ascend, and whether row ids are consecutive; element t is a tile.
 * Of a column in random order nearly nothing is read: a thread stops at the first key that falls, and tiles
 * that begin later see that one was found. Row ids of keys that fall do not matter. */
enum { ORDER_TILE = 16384, ORDER_AT_ONCE = 64 };
enum { ORDER_FALLS, ORDER_SCATTERED, ORDER_FOUND };
typedef struct order_params {
    const void *keys;     /* NULL: only row ids are looked at */
    const uint32_t *rows; /* NULL: they are consecutive */
    uint64_t *found;      /* ORDER_FOUND counters: whether some pair does not ascend, or is not consecutive */
    uint64_t n;
    uint32_t key_bits, reserved;
    kr_blocks blocks;
} order_params;
kr_assert_size(order_params, 48);

KR_BODY uint32_t sorted_falls_at(const order_params *p, uint64_t i)
{
    return p->key_bits == 64
               ? kr_load((const uint64_t *)p->keys + i) < kr_load((const uint64_t *)p->keys + i - 1)
               : kr_load((const uint32_t *)p->keys + i) < kr_load((const uint32_t *)p->keys + i - 1);
}

/* Pairs first, first + step, ... below end, at most ORDER_AT_ONCE: *falls and *scattered become 1. */
KR_BODY void sorted_order_some(const order_params *p, uint64_t first, uint64_t end, uint32_t step,
                               uint32_t *falls, uint32_t *scattered)
{
    const uint64_t left = (end - first + step - 1) / step;
    const uint32_t count = left < ORDER_AT_ONCE ? (uint32_t)left : (uint32_t)ORDER_AT_ONCE;
    uint32_t fall = 0, scatter = 0;
    for (uint32_t j = 0; p->keys && j < count; ++j)
        fall |= sorted_falls_at(p, first + (uint64_t)j * step);
    for (uint32_t j = 0; p->rows && j < count; ++j)
        scatter |= kr_load(p->rows + first + (uint64_t)j * step) !=
                   kr_load(p->rows + first + (uint64_t)j * step - 1) + 1;
    *falls |= fall;
    *scattered |= scatter;
}

KR_BODY void sorted_order_tiles(kr_block block, char *shared, const order_params *p, uint64_t n_tiles)
{
    (void)shared;
    for (uint64_t t = block.index; t < n_tiles && !kr_atomic_load64(p->found + ORDER_FALLS);
         t += block.count) {
        const uint64_t end = (t + 1) * ORDER_TILE + 1 < p->n ? (t + 1) * ORDER_TILE + 1 : p->n;
        uint64_t at = t * ORDER_TILE + 1 + block.rank;
        uint32_t falls = 0, scattered = 0;
        /* The first pair alone, then many at once. */
        if (at < end)
            sorted_order_some(p, at, at + 1, 1, &falls, &scattered);
        for (at += block.size; at < end && !falls; at += (uint64_t)ORDER_AT_ONCE * block.size)
            sorted_order_some(p, at, end, block.size, &falls, &scattered);
        if (falls)
            kr_atomic_max64(p->found + ORDER_FALLS, 1);
        if (scattered)
            kr_atomic_max64(p->found + ORDER_SCATTERED, 1);
    }
}
KR_BLOCK_PROGRAM(sorted_order, order_params, sorted_order_tiles);

/* Row ids first, first + 1, ... */
typedef struct number_params {
    uint32_t *rows;
    uint64_t first;
} number_params;

KR_BODY void sorted_number_row(const number_params *p, uint64_t i)
{
    p->rows[i] = (uint32_t)(p->first + i);
}
KR_MAP_PROGRAM(sorted_number_rows, number_params, sorted_number_row);

#endif
