/* Many conditions in one pass: what all of them say of a value is found at once.
 *
 * The constants of all conditions cut the codes of a column into slots. A value's slot is found by one
 * search, or looked up, and the slot's mask has a bit for each lane. AND of the masks of a row's columns has
 * its answers. Then rows by lanes are turned into lanes by rows.
 *
 * On a GPU a thread has eight rows, and a warp the 256 rows of eight words. On the CPU, where instructions
 * compare 16 values at a time, columns with few edges are compared with each edge instead: a leaf is the XOR
 * of "above the edge" over its edges, which the masks of neighbouring slots tell. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_SIMD_WIDTH_BODY_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_SIMD_WIDTH_BODY_H

#include "table/families/full/full_batch_params.h"
#include "table/families/full/full_tile.h"

/* Rows whose slots are searched side by side. */
enum { FULL_SEARCHED = 4 };

/* ---- Slots and masks ------------------------------------------------------------------------- */

KR_BODY uint32_t full_slot(const kr_key *nodes, uint32_t levels, kr_key code)
{
    uint32_t node = 1;
    for (uint32_t l = 0; l < levels; ++l)
        node = 2 * node + (nodes[node] < code ? 1 : 0);
    return node - ((uint32_t)1 << levels);
}

/* The slots of FULL_SEARCHED rows, side by side. The first two levels are the same words for all rows. */
KR_BODY void full_search_slots(const kr_key *nodes, uint32_t levels, const kr_key codes[FULL_SEARCHED],
                               uint32_t slots[FULL_SEARCHED])
{
    const kr_key root = levels > 0 ? nodes[1] : 0;
    const kr_key low = levels > 1 ? nodes[2] : 0, high = levels > 1 ? nodes[3] : 0;
    KR_UNROLL
    for (uint32_t j = 0; j < FULL_SEARCHED; ++j) {
        const uint32_t right = root < codes[j] ? 1 : 0;
        slots[j] = levels > 0 ? 2 + right : 1;
        if (levels > 1)
            slots[j] = 2 * slots[j] + ((right ? high : low) < codes[j] ? 1 : 0);
    }
    for (uint32_t l = 2; l < levels; ++l) {
        KR_UNROLL
        for (uint32_t j = 0; j < FULL_SEARCHED; ++j)
            slots[j] = 2 * slots[j] + (nodes[slots[j]] < codes[j] ? 1 : 0);
    }
    KR_UNROLL
    for (uint32_t j = 0; j < FULL_SEARCHED; ++j)
        slots[j] -= (uint32_t)1 << levels;
}

/* The slots of values, by the buckets that they fall in; most buckets have one edge or none. */
KR_BODY void full_look_up_slots(const full_batch_column *column, const char *tables,
                                const kr_key codes[FULL_SEARCHED], uint32_t slots[FULL_SEARCHED])
{
    const uint64_t *buckets = (const uint64_t *)(tables + column->buckets);
    const kr_key lowest = (kr_key)column->lowest;
    KR_UNROLL
    for (uint32_t j = 0; j < FULL_SEARCHED; ++j) {
#if KR_KEY_BITS == 32
        const uint64_t bucket =
            buckets[full_bucket_of_u32(lowest, column->shift, column->n_buckets, codes[j])];
        const uint32_t edge = (uint32_t)bucket, slot = (uint32_t)(bucket >> 32);
#else
        const uint32_t at = full_bucket_of_u64(lowest, column->shift, column->n_buckets, codes[j]);
        const uint64_t edge = buckets[2 * at];
        const uint32_t slot = (uint32_t)buckets[2 * at + 1];
#endif
        slots[j] = slot + (edge < codes[j] ? 1 : 0);
    }
    KR_UNROLL
    for (uint32_t j = 0; j < FULL_SEARCHED; ++j)
        if (slots[j] == FULL_CROWDED)
            slots[j] = full_slot((const kr_key *)(tables + column->tables), column->levels, codes[j]);
}

KR_BODY void full_slots(const full_batch_column *column, const char *tables,
                        const kr_key codes[FULL_SEARCHED], uint32_t slots[FULL_SEARCHED])
{
    if (column->n_buckets)
        full_look_up_slots(column, tables, codes, slots);
    else
        full_search_slots((const kr_key *)(tables + column->tables), column->levels, codes, slots);
}

KR_BODY const uint32_t *full_masks(const full_batch_column *column, const char *tables)
{
    return (const uint32_t *)(tables + column->tables + (sizeof(kr_key) << column->levels));
}

/* The slot of a pair of values. */
KR_BODY uint32_t full_order(kr_key a, kr_key b)
{
    return a < b ? 0 : a == b ? 1 : 2;
}

/* The masks of rows from .. from + FULL_SEARCHED - 1 of a thread lose the lanes that the column rules out.
 * Bit j of `valid`: row j is not NULL. `halves` and `from` are constants. */
KR_BODY void full_rule_out(uint32_t halves, uint32_t from, const full_batch_column *column,
                           const char *tables, const uint32_t slots[FULL_SEARCHED], uint32_t valid,
                           uint32_t left[FULL_HALVES][FULL_BATCH_MINE])
{
    const uint32_t *masks = full_masks(column, tables);
    KR_UNROLL
    for (uint32_t j = 0; j < FULL_SEARCHED; ++j) {
        const uint32_t slot = valid >> (from + j) & 1 ? slots[j] : column->n_slots - 1;
        KR_UNROLL
        for (uint32_t h = 0; h < halves; ++h)
            left[h][from + j] &= masks[h * column->n_slots + slot];
    }
}

/* Words j and j + distance exchange bits; distance and mask are constants. */
KR_BODY void full_turn_stage(uint32_t distance, uint32_t mask, uint32_t x[8])
{
    KR_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t j = i / distance * 2 * distance + i % distance;
        const uint32_t t = ((x[j] >> distance) ^ x[j + distance]) & mask;
        x[j + distance] ^= t;
        x[j] ^= t << distance;
    }
}

/* Eight rows by 32 lanes: before, bit 8 b + i of word j is row j of lane 8 b + i; then bit 8 b + j of word i
 * is. */
KR_BODY void full_turn_rows(uint32_t x[8])
{
    full_turn_stage(4, 0x0F0F0F0Fu, x);
    full_turn_stage(2, 0x33333333u, x);
    full_turn_stage(1, 0x55555555u, x);
}

/* ---- Zones ----------------------------------------------------------------------------------- */

/* The slot of all values of a tile, if there is only one; else n_slots. */
KR_BODY uint32_t full_zone_slot(const full_batch_column *column, const char *tables, uint64_t tile)
{
    const kr_key *nodes = (const kr_key *)(tables + column->tables);
    if (!column->zones)
        return column->n_slots;
    const uint32_t low = full_slot(nodes, column->levels, full_zone_end(column->type, column->zones, tile));
    const uint32_t high =
        full_slot(nodes, column->levels, full_zone_end(column->type, column->zone_highs, tile));
    return low == high ? low : column->n_slots;
}

KR_BODY void full_batch_count(kr_group group, const full_batch_params *p, uint64_t *counter, uint64_t rows)
{
    if (p->compared && group.rank == 0)
        kr_atomic_add64(counter, rows);
}

/* The rows of a word that can be in the results. */
KR_BODY uint32_t full_batch_alive(const full_batch_params *p, uint64_t word)
{
    const uint32_t rows = full_rows(word, p->n);
    return rows && p->alive ? rows & kr_load(p->alive + word) : rows;
}

KR_BODY uint32_t *full_batch_result(const char *tables, uint32_t lane)
{
    return ((uint32_t *const *)tables)[lane];
}

KR_BODY uint32_t full_folded(uint32_t fold, uint32_t a, uint32_t b)
{
    return fold >> 16 == KR_FOLD_OR ? a | b : a & b;
}

#if KR_ON_CUDA
#include "table/families/full/full_batch_cuda.h"
#else
#include "table/families/full/full_batch_cpu.h"
#endif

KR_BLOCK_PROGRAM(full_batch, full_batch_params, full_batch_elements);

#endif
