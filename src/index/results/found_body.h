/* The bodies of found.c. */
#ifndef KEYRAY_INDEX_RESULTS_FOUND_BODY_H
#define KEYRAY_INDEX_RESULTS_FOUND_BODY_H

#include "base/program/block.h"

#include <keyray/common.h>

enum { FOUND_TILE = 4096, FOUND_WORDS = FOUND_TILE / 32 };

typedef struct found_params {
    const uint32_t *answers;
    const uint32_t *bits;  /* or NULL: bit i in the place of answer i */
    const uint32_t *names; /* or NULL: answer i is of probe i */
    uint64_t *places;      /* of each tile: how many it lists; after a prefix sum, where they go */
    uint32_t *probes;
    uint32_t *rows; /* or NULL */
    uint64_t n;
    uint32_t wanted, reserved;
    kr_blocks blocks;
} found_params;
kr_assert_size(found_params, 72);

KR_BODY int found_wants(const found_params *p, uint32_t answer)
{
    return (answer != KR_NO_ROW) == (int)p->wanted;
}

/* Word w of the bits of those that are wanted. */
KR_BODY uint32_t found_word(const found_params *p, uint64_t w)
{
    const uint64_t first = w * 32;
    if (first >= p->n)
        return 0;
    const uint32_t word = kr_load(p->bits + w), all = p->wanted ? word : ~word;
    return p->n - first < 32 ? all & (((uint32_t)1 << (p->n - first)) - 1) : all;
}

KR_BODY void found_count_tiles(kr_block block, char *shared, const found_params *p, uint64_t n_tiles)
{
    (void)shared;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t end = (t + 1) * FOUND_TILE < p->n ? (t + 1) * FOUND_TILE : p->n;
        uint32_t mine = 0, all;
        for (uint32_t w = block.rank; p->bits && w < FOUND_WORDS; w += block.size)
            mine += kr_popcount32(found_word(p, t * FOUND_WORDS + w));
        for (uint64_t i = p->bits ? end : t * FOUND_TILE + block.rank; i < end; i += block.size)
            mine += (uint32_t)found_wants(p, kr_load(p->answers + i));
        (void)kr_block_sum_before(block, mine, &all);
        if (block.rank == 0)
            p->places[t] = all;
    }
}
KR_BLOCK_PROGRAM(found_count, found_params, found_count_tiles);

/* Numbers the words of a tile's bits: places[w] := bits in words before w. */
KR_BODY void found_number_words(kr_block block, const uint32_t *words, uint32_t *places)
{
    uint32_t first, end, mine = 0;
    kr_block_share(block, FOUND_WORDS, &first, &end);
    for (uint32_t w = first; w < end; ++w)
        mine += kr_popcount32(words[w]);
    uint32_t before = kr_block_sum_before(block, mine, NULL);
    for (uint32_t w = first; w < end; ++w) {
        places[w] = before;
        before += kr_popcount32(words[w]);
    }
}

/* The bits of a tile are known. Neighbours write to neighbouring places; a thread alone goes from bit to bit.
 */
KR_BODY void found_write_bits(kr_block block, const found_params *p, uint64_t tile, const uint32_t *words,
                              const uint32_t *places)
{
    const uint32_t first = (uint32_t)(tile * FOUND_TILE);
    uint32_t *to = p->probes + p->places[tile];
    for (uint32_t w = 0; block.size == 1 && w < FOUND_WORDS; ++w)
        for (uint32_t word = words[w]; word; word &= word - 1)
            *to++ = first + w * 32 + kr_ctz32(word);
    for (uint32_t at = block.size == 1 ? FOUND_TILE : block.rank; at < FOUND_TILE; at += block.size) {
        const uint32_t word = words[at / 32], bit = (uint32_t)1 << at % 32;
        if (word & bit)
            to[places[at / 32] + kr_popcount32(word & (bit - 1))] = first + at;
    }
}

KR_BODY void found_list_bits(kr_block block, char *shared, const found_params *p, uint64_t n_tiles)
{
    uint32_t *words = (uint32_t *)shared, *places = words + FOUND_WORDS;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        for (uint32_t w = block.rank; w < FOUND_WORDS; w += block.size)
            words[w] = found_word(p, t * FOUND_WORDS + w);
        kr_block_sync(block);
        found_number_words(block, words, places);
        kr_block_sync(block);
        found_write_bits(block, p, t, words, places);
        kr_block_sync(block); /* before the next tile writes its bits */
    }
}
KR_BLOCK_PROGRAM(found_bits, found_params, found_list_bits);

/* A thread keeps its answers; neighbours write to neighbouring places. */
KR_BODY void found_write_tiles(kr_block block, char *shared, const found_params *p, uint64_t n_tiles)
{
    uint32_t *words = (uint32_t *)shared, *places = words + FOUND_WORDS;
    for (uint64_t t = block.index; t < n_tiles; t += block.count) {
        const uint64_t first = t * FOUND_TILE, to = p->places[t];
        uint32_t answers[KR_MINE(FOUND_TILE)];
        if (block.size == 1)
            for (uint32_t w = 0; w < FOUND_WORDS; ++w)
                words[w] = 0;
        KR_UNROLL for (uint32_t j = 0; j < KR_MINE(FOUND_TILE); ++j)
        {
            const uint32_t at = block.rank + j * block.size;
            const int is_there = first + at < p->n;
            answers[j] = is_there ? kr_load_once(p->answers + first + at) : 0;
            kr_block_put_bit(block, words, at, is_there && found_wants(p, answers[j]));
        }
        kr_block_sync(block);
        found_number_words(block, words, places);
        kr_block_sync(block);
        KR_UNROLL for (uint32_t j = 0; j < KR_MINE(FOUND_TILE); ++j)
        {
            const uint32_t at = block.rank + j * block.size, word = words[at / 32],
                           bit = (uint32_t)1 << at % 32;
            if (!(word & bit))
                continue;
            const uint64_t place = to + places[at / 32] + kr_popcount32(word & (bit - 1));
            p->probes[place] = p->names ? kr_load_once(p->names + first + at) : (uint32_t)(first + at);
            if (p->rows)
                p->rows[place] = answers[j];
        }
        kr_block_sync(block); /* before the next tile writes its bits */
    }
}
KR_BLOCK_PROGRAM(found_write, found_params, found_write_tiles);

typedef struct number_params {
    uint32_t *numbers;
} number_params;

KR_BODY void found_number_one(const number_params *p, uint64_t i)
{
    p->numbers[i] = (uint32_t)i;
}
KR_MAP_PROGRAM(found_number, number_params, found_number_one);

#endif
