/* The hash of a long text, and whether two long texts are equal, by all threads of a block. Programs of rows
 * leave these to the ones here, which run where there are long texts: one row after the other, so that a row
 * of many bytes does not keep its neighbours waiting. */
#ifndef KEYRAY_INDEX_TEXTS_LONG_BODY_H
#define KEYRAY_INDEX_TEXTS_LONG_BODY_H

#include "index/texts/long_params.h"

/* Rows of a tile for which `is_long` holds become shared->rows, in any order. */
#define TEXTS_LONG_LIST(block, shared, p, tile, is_long)                                \
    do {                                                                                \
        if ((block).rank == 0)                                                          \
            (shared)->n = (shared)->differ = 0;                                         \
        kr_block_sync(block);                                                           \
        for (uint32_t r = (block).rank; r < LONG_TILE; r += (block).size) {             \
            const uint64_t row = (tile)*LONG_TILE + r;                                  \
            if (row < (p)->n && is_long(p, row))                                        \
                (shared)->rows[kr_block_count(block, &(shared)->n, 0)] = (uint32_t)row; \
        }                                                                               \
        kr_block_sync(block);                                                           \
    } while (0)

/* ---- Hashes ------------------------------------------------------------------------------------ */

/* Each thread has lanes of its own. */
KR_BODY void texts_long_lanes(kr_block block, kr_strings_text text, kr_strings_seed seed, uint64_t *lanes)
{
    enum { EACH = KR_MINE(KR_STRINGS_LANES), ROUND = 8 * KR_STRINGS_LANES };
    uint64_t mine[EACH], at = 0;
    KR_UNROLL
    for (uint32_t m = 0; m < EACH; ++m)
        mine[m] = kr_strings_lane(text.n, block.rank + m * block.size, seed);
    for (; at + ROUND <= text.n; at += ROUND) {
        KR_UNROLL
        for (uint32_t m = 0; m < EACH; ++m) {
            const uint8_t *word = text.bytes + at + 8 * (block.rank + m * block.size);
            mine[m] = kr_strings_fold(mine[m] ^ kr_strings_load(word), seed.factor);
        }
    }
    KR_UNROLL
    for (uint32_t m = 0; m < EACH; ++m) {
        const uint64_t place = at + 8 * (block.rank + m * block.size);
        if (place < text.n)
            mine[m] = kr_strings_fold(mine[m] ^ kr_strings_word(text, place), seed.factor);
        lanes[block.rank + m * block.size] = mine[m];
    }
}

KR_BODY int texts_long_is_hashed(const texts_long_hash_params *p, uint64_t row)
{
    return kr_strings_get(&p->hash.strings, row).n >= KR_STRINGS_LONG;
}

KR_BODY void texts_long_hash_tiles(kr_block block, char *memory, const texts_long_hash_params *p, uint64_t n)
{
    texts_long_shared *shared = (texts_long_shared *)(void *)memory;
    for (uint64_t tile = block.index; tile < n; tile += block.count) {
        TEXTS_LONG_LIST(block, shared, p, tile, texts_long_is_hashed);
        for (uint32_t j = 0; j < shared->n; ++j) {
            const uint32_t row = shared->rows[j];
            const kr_strings_text text = kr_strings_get(&p->hash.strings, row);
            texts_long_lanes(block, text, p->hash.seed, shared->lanes);
            kr_block_sync(block);
            if (block.rank == 0)
                p->hash.hashes[row] =
                    texts_hash_of(kr_strings_hash_lanes(shared->lanes, text.n, p->hash.seed), p->hash.mask);
            kr_block_sync(block);
        }
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(texts_long_hash, texts_long_hash_params, texts_long_hash_tiles);

/* ---- Comparisons ------------------------------------------------------------------------------- */

/* 1 for all threads: the texts differ. They have one length, which is long. */
KR_BODY int texts_long_differ(kr_block block, texts_long_shared *shared, kr_strings_text a, kr_strings_text b)
{
    uint64_t at = 8 * (uint64_t)block.rank;
    int differ = block.rank == 0 && kr_strings_load(a.bytes + a.n - 8) != kr_strings_load(b.bytes + b.n - 8);
    for (; at + 8 <= a.n && !differ; at += 8 * (uint64_t)block.size)
        differ = kr_strings_load(a.bytes + at) != kr_strings_load(b.bytes + at);
    if (differ)
        kr_block_or(block, &shared->differ, 0, 1);
    kr_block_sync(block);
    differ = (int)shared->differ;
    kr_block_sync(block);
    if (block.rank == 0)
        shared->differ = 0;
    kr_block_sync(block);
    return differ;
}

KR_BODY int texts_long_has_before(const texts_long_first_params *p, uint64_t i)
{
    const kr_strings *strings = &p->first.strings;
    return kr_load(p->first.hashes + i) != ~(uint64_t)0 &&
           kr_strings_get(strings, kr_load(p->first.rows + i)).n >= KR_STRINGS_LONG &&
           texts_first_before(&p->first, i);
}

KR_BODY void texts_long_first_tiles(kr_block block, char *memory, const texts_long_first_params *p,
                                    uint64_t n)
{
    texts_long_shared *shared = (texts_long_shared *)(void *)memory;
    const texts_first_params *first = &p->first;
    for (uint64_t tile = block.index; tile < n; tile += block.count) {
        TEXTS_LONG_LIST(block, shared, p, tile, texts_long_has_before);
        for (uint32_t j = 0; j < shared->n; ++j) {
            const uint64_t i = shared->rows[j], before = texts_first_before(first, i);
            const kr_strings_text a = kr_strings_get(&first->strings, kr_load(first->rows + i));
            const kr_strings_text b = kr_strings_get(&first->strings, kr_load(first->rows + before - 1));
            const int differ = a.n != b.n || texts_long_differ(block, shared, a, b);
            if (differ && block.rank == 0)
                kr_atomic_max64(first->collided, 1);
        }
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(texts_long_firsts, texts_long_first_params, texts_long_first_tiles);

/* Lengths were compared. */
KR_BODY int texts_long_is_found(const texts_long_verify_params *p, uint64_t row)
{
    return p->codes[row] != KR_NO_ROW && kr_strings_get(&p->probes, row).n >= KR_STRINGS_LONG;
}

KR_BODY void texts_long_verify_tiles(kr_block block, char *memory, const texts_long_verify_params *p,
                                     uint64_t n)
{
    texts_long_shared *shared = (texts_long_shared *)(void *)memory;
    for (uint64_t tile = block.index; tile < n; tile += block.count) {
        TEXTS_LONG_LIST(block, shared, p, tile, texts_long_is_found);
        for (uint32_t j = 0; j < shared->n; ++j) {
            const uint32_t row = shared->rows[j];
            const kr_strings_text probe = kr_strings_get(&p->probes, row);
            const kr_strings_text text = kr_strings_get(&p->texts, p->codes[row]);
            const int differ = texts_long_differ(block, shared, probe, text);
            if (differ && block.rank == 0)
                p->codes[row] = KR_NO_ROW;
        }
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(texts_long_verify, texts_long_verify_params, texts_long_verify_tiles);

#endif
