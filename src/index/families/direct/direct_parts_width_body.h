/* Bits, ranks and row ids of distinct keys whose rows are grouped by parts, runs of blocks: a block of
 * threads makes a slice of a part in shared memory. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_PARTS_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_PARTS_WIDTH_BODY_H

#include "base/program/block.h"
#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_build_params.h"

/* Pairs that a thread reads at a time. */
enum { DIRECT_PARTS_AT_ONCE = 8 };

/* What a block of threads makes. In shared memory its bits lie side by side, without ranks between them. */
typedef struct direct_slice {
    uint32_t *bits, *ranks; /* words; of each, the bits before it */
    uint32_t *rows;         /* row ids, in order */
    uint32_t block, n_blocks;
    uint32_t low, n_bits; /* of the part's bits: the first, and how many */
    uint32_t first, end;  /* pairs of the part */
    uint32_t rank, n;     /* rows before it, and its own */
} direct_slice;

KR_BOTH uint32_t direct_slice_words(uint32_t n_blocks)
{
    return (n_blocks * DIRECT_BIT_WORDS + 3) & ~3u;
}

KR_BODY direct_slice direct_slice_at(const direct_parts_params *p, char *shared, uint64_t t)
{
    const uint64_t part = t / p->slices, in = t % p->slices * p->slice_blocks;
    const uint64_t block = part * p->part_blocks + in, all = p->view.n_blocks;
    const uint64_t of_part = in < p->part_blocks ? p->part_blocks - in : 0,
                   of_all = block < all ? all - block : 0;
    const uint64_t left = of_part < of_all ? of_part : of_all;
    direct_slice slice = {.bits = (uint32_t *)shared,
                          .block = (uint32_t)(block < all ? block : all),
                          .n_blocks = left < p->slice_blocks ? (uint32_t)left : p->slice_blocks,
                          .low = (uint32_t)in * DIRECT_VALUES,
                          .first = kr_load(p->starts + part),
                          .end = kr_load(p->starts + part + 1)};
    slice.n_bits = slice.n_blocks * DIRECT_VALUES;
    slice.ranks = slice.bits + direct_slice_words(p->slice_blocks);
    slice.rows = slice.ranks + direct_slice_words(p->slice_blocks);
    return slice;
}

/* Pairs of positions from, from + size, ...: those behind the end become the first. */
KR_BODY uint32_t direct_slice_position(kr_block block, const direct_slice *slice, uint32_t from, uint32_t j)
{
    const uint32_t i = from + j * block.size;
    return i < slice->end ? i : from;
}

/* Of all pairs of the part: those of the slice set their bits, and those before it are counted. */
KR_BODY void direct_slice_mark(kr_block block, const direct_parts_params *p, direct_slice *slice)
{
    const uint32_t stride = DIRECT_PARTS_AT_ONCE * block.size;
    uint32_t before = 0, own = 0;
    kr_block_clear(block, slice->bits, direct_slice_words(slice->n_blocks));
    kr_block_sync(block);
    for (uint32_t from = slice->first + block.rank; from < slice->end; from += stride) {
        uint32_t bits[DIRECT_PARTS_AT_ONCE];
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j)
            bits[j] = (uint32_t)kr_load(p->pairs + direct_slice_position(block, slice, from, j));
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j) {
            const uint32_t bit = bits[j] - slice->low, is_there = from + j * block.size < slice->end;
            before += is_there & (bits[j] < slice->low);
            if (bit < slice->n_bits) {
                own += is_there;
                kr_block_or(block, slice->bits, bit / 32, (uint32_t)1 << bit % 32);
            }
        }
    }
    if (p->slices > 1) {
        kr_block_sum_before(block, before, &before);
        kr_block_sum_before(block, own, &own);
    } else {
        kr_block_sync(block);
        before = 0;
        own = slice->end - slice->first;
    }
    slice->rank = slice->first + before;
    slice->n = own;
}

/* A slice whose keys are distinct has as many bits as rows: 1, for all threads. */
KR_BODY int direct_slice_rank(kr_block block, const direct_parts_params *p, const direct_slice *slice)
{
    uint32_t first, end, sum = 0, all;
    kr_block_share(block, slice->n_blocks * DIRECT_BIT_WORDS, &first, &end);
    for (uint32_t w = first; w < end; ++w)
        sum += kr_popcount32(slice->bits[w]);
    uint32_t rank = kr_block_sum_before(block, sum, &all);
    for (uint32_t w = first; w < end; ++w) {
        slice->ranks[w] = rank;
        rank += kr_popcount32(slice->bits[w]);
    }
    if (block.rank == 0 && all != slice->n)
        kr_atomic_max64(p->found, 1);
    kr_block_sync(block);
    return all == slice->n;
}

KR_BODY void direct_slice_write(kr_block block, const direct_parts_params *p, const direct_slice *slice)
{
    uint32_t *blocks = p->view.blocks + (uint64_t)slice->block * DIRECT_WORDS;
    for (uint32_t w = block.rank; w < slice->n_blocks * DIRECT_WORDS; w += block.size) {
        const uint32_t at = w / DIRECT_WORDS * DIRECT_BIT_WORDS, in = w % DIRECT_WORDS;
        blocks[w] = in ? slice->bits[at + in - 1] : slice->rank + slice->ranks[at];
    }
}

/* What is read twice goes twice to the same place. */
KR_BODY void direct_slice_place(kr_block block, const direct_parts_params *p, const direct_slice *slice)
{
    const uint32_t stride = DIRECT_PARTS_AT_ONCE * block.size;
    const int is_staged = slice->n <= p->slice_rows;
    uint32_t *to = is_staged ? slice->rows : p->view.rows + slice->rank;
    for (uint32_t from = slice->first + block.rank; from < slice->end; from += stride) {
        uint64_t pairs[DIRECT_PARTS_AT_ONCE];
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j)
            pairs[j] = kr_load(p->pairs + direct_slice_position(block, slice, from, j));
        KR_UNROLL
        for (uint32_t j = 0; j < DIRECT_PARTS_AT_ONCE; ++j) {
            const uint32_t bit = (uint32_t)pairs[j] - slice->low, row = (uint32_t)(pairs[j] >> 32),
                           word = bit / 32;
            if (bit >= slice->n_bits)
                continue;
            const uint32_t before = slice->bits[word] & (((uint32_t)1 << bit % 32) - 1);
            to[slice->ranks[word] + kr_popcount32(before)] = p->row_ids ? kr_load(p->row_ids + row) : row;
        }
    }
    kr_block_sync(block);
    for (uint32_t i = block.rank; is_staged && i < slice->n; i += block.size)
        p->view.rows[slice->rank + i] = slice->rows[i];
}

/* Slices of a part are neighbours, so that its pairs are read from memory once. */
KR_BODY void direct_parts_all(kr_block block, char *shared, const direct_parts_params *p, uint64_t n_slices)
{
    for (uint64_t t = block.index; t < n_slices; t += block.count) {
        direct_slice slice = direct_slice_at(p, shared, t);
        direct_slice_mark(block, p, &slice);
        if (direct_slice_rank(block, p, &slice)) {
            direct_slice_write(block, p, &slice);
            direct_slice_place(block, p, &slice);
        }
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(direct_parts, direct_parts_params, direct_parts_all);

#endif
