/* Bits, ranks and row ids of distinct keys whose rows are grouped by parts, runs of blocks: a block of
 * threads makes a part in shared memory. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_PARTS_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_PARTS_WIDTH_BODY_H

#include "base/program/block.h"
#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_build_params.h"

/* Pairs that a thread reads at a time. */
enum { DIRECT_PARTS_AT_ONCE = 8 };
/* A block's words of bits. */
enum { DIRECT_BIT_WORDS = DIRECT_WORDS - 1 };

/* In shared memory the bits of a part lie side by side, without ranks between them. */
typedef struct direct_part {
    uint32_t *bits, *ranks; /* words; of each, the bits before it */
    uint32_t *rows;         /* its row ids; NULL: they do not fit */
    uint32_t block, n_blocks;
    uint32_t first, end; /* of its rows */
} direct_part;

KR_BOTH uint32_t direct_part_words(uint32_t n_blocks)
{
    return (n_blocks * DIRECT_BIT_WORDS + 3) & ~3u;
}

KR_BODY direct_part direct_part_at(const direct_parts_params *p, char *shared, uint64_t t)
{
    const uint64_t block = t * p->part_blocks, all = p->view.n_blocks;
    const uint64_t left = block < all ? all - block : 0;
    direct_part part = {.bits = (uint32_t *)shared,
                        .block = (uint32_t)(block < all ? block : all),
                        .n_blocks = left < p->part_blocks ? (uint32_t)left : p->part_blocks,
                        .first = kr_load(p->starts + t),
                        .end = kr_load(p->starts + t + 1)};
    part.ranks = part.bits + direct_part_words(p->part_blocks);
    part.rows = part.end - part.first <= p->part_rows ? part.ranks + direct_part_words(p->part_blocks) : NULL;
    return part;
}

/* Pairs of positions from, from + size, ...: those behind the end become the first. */
KR_BODY uint32_t direct_part_position(kr_block block, const direct_part *part, uint32_t from, uint32_t j)
{
    const uint32_t i = from + j * block.size;
    return i < part->end ? i : from;
}

KR_BODY void direct_part_mark(kr_block block, const direct_parts_params *p, const direct_part *part)
{
    const uint32_t stride = DIRECT_PARTS_AT_ONCE * block.size;
    kr_block_clear(block, part->bits, direct_part_words(part->n_blocks));
    kr_block_sync(block);
    for (uint32_t from = part->first + block.rank; from < part->end; from += stride) {
        uint32_t bits[DIRECT_PARTS_AT_ONCE];
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j)
            bits[j] = (uint32_t)kr_load(p->pairs + direct_part_position(block, part, from, j));
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j) {
            const uint32_t bit = bits[j];
            kr_block_or(block, part->bits, bit / 32, (uint32_t)1 << bit % 32);
        }
    }
    kr_block_sync(block);
}

/* A part whose keys are distinct has as many bits as rows: 1, for all threads. */
KR_BODY int direct_part_rank(kr_block block, const direct_parts_params *p, const direct_part *part)
{
    uint32_t first, end, sum = 0, all;
    kr_block_share(block, part->n_blocks * DIRECT_BIT_WORDS, &first, &end);
    for (uint32_t w = first; w < end; ++w)
        sum += kr_popcount32(part->bits[w]);
    uint32_t rank = kr_block_sum_before(block, sum, &all);
    for (uint32_t w = first; w < end; ++w) {
        part->ranks[w] = rank;
        rank += kr_popcount32(part->bits[w]);
    }
    const int is_distinct = all == part->end - part->first;
    if (block.rank == 0 && !is_distinct)
        kr_atomic_max64(p->found, 1);
    kr_block_sync(block);
    return is_distinct;
}

KR_BODY void direct_part_write(kr_block block, const direct_parts_params *p, const direct_part *part)
{
    uint32_t *blocks = p->view.blocks + (uint64_t)part->block * DIRECT_WORDS;
    for (uint32_t w = block.rank; w < part->n_blocks * DIRECT_WORDS; w += block.size) {
        const uint32_t at = w / DIRECT_WORDS * DIRECT_BIT_WORDS, in = w % DIRECT_WORDS;
        blocks[w] = in ? part->bits[at + in - 1] : part->first + part->ranks[at];
    }
}

/* What is read twice goes twice to the same place. */
KR_BODY void direct_part_place(kr_block block, const direct_parts_params *p, const direct_part *part)
{
    const uint32_t stride = DIRECT_PARTS_AT_ONCE * block.size;
    uint32_t *to = part->rows ? part->rows : p->view.rows + part->first;
    for (uint32_t from = part->first + block.rank; from < part->end; from += stride) {
        uint64_t pairs[DIRECT_PARTS_AT_ONCE];
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j)
            pairs[j] = kr_load(p->pairs + direct_part_position(block, part, from, j));
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j) {
            const uint32_t bit = (uint32_t)pairs[j], row = (uint32_t)(pairs[j] >> 32), word = bit / 32;
            const uint32_t before = part->bits[word] & (((uint32_t)1 << bit % 32) - 1);
            to[part->ranks[word] + kr_popcount32(before)] = p->row_ids ? kr_load(p->row_ids + row) : row;
        }
    }
    kr_block_sync(block);
    for (uint32_t i = block.rank; part->rows && i < part->end - part->first; i += block.size)
        p->view.rows[part->first + i] = part->rows[i];
}

KR_BODY void direct_parts_all(kr_block block, char *shared, const direct_parts_params *p, uint64_t n_parts)
{
    for (uint64_t t = block.index; t < n_parts; t += block.count) {
        const direct_part part = direct_part_at(p, shared, t);
        direct_part_mark(block, p, &part);
        if (direct_part_rank(block, p, &part)) {
            direct_part_write(block, p, &part);
            direct_part_place(block, p, &part);
        }
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(direct_parts, direct_parts_params, direct_parts_all);

#endif
