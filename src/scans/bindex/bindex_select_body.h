/* The program that answers conjunctions: a block takes a tile of rows.
 *
 * For each leaf it reads the leaf's vectors, and turns the bits of the rows over for which they are wrong, in
 * shared memory. Invariant at the end of a tile: vectors XOR turned bits is the truth of the leaf for each
 * row. So leaves need not know of each other, and nothing of a tile is written but its words of the result.
 */
#ifndef KEYRAY_SCANS_BINDEX_BINDEX_SELECT_BODY_H
#define KEYRAY_SCANS_BINDEX_BINDEX_SELECT_BODY_H

#include "key/key.h"
#include "scans/bindex/bindex_params.h"

enum { BINDEX_MINE = KR_MINE(BINDEX_WORDS) };

KR_BODY bindex_run bindex_run_of(const bindex_params *p, uint32_t r)
{
    return p->more_runs ? p->more_runs[r] : p->runs[r];
}

KR_BODY uint64_t bindex_edge_of(const bindex_params *p, uint32_t e)
{
    return p->more_edges ? kr_load(p->more_edges + e) : p->edges[e];
}

/* Where the rows of each run begin among the tile's positions, and how many there are. */
KR_BODY void bindex_find_runs(kr_block block, const bindex_params *p, uint64_t tile, uint64_t n_tiles,
                              uint32_t *ranges)
{
    for (uint32_t r = block.rank; r < p->n_runs; r += block.size) {
        const bindex_run run = bindex_run_of(p, r);
        const uint32_t *starts = p->leaves[run.leaf].starts + tile;
        const uint32_t first = kr_load(starts + run.first_cell * n_tiles);
        ranges[2 * r] = first;
        ranges[2 * r + 1] = kr_load(starts + run.end_cell * n_tiles) - first;
    }
}

KR_BODY const uint32_t *bindex_vector_of(const bindex_params *p, const bindex_leaf *leaf, uint32_t i,
                                         uint64_t tile, uint64_t n_tiles)
{
    const uint32_t v = p->more_vectors ? kr_load(p->more_vectors + i) : p->vectors[i];
    return leaf->vectors + (v * n_tiles + tile) * p->words;
}

/* A word past the tile is another's, or behind the vectors: it is not stored. The first vectors of all leaves
 * come before others, so that their reads overlap. */
KR_BODY void bindex_read_vectors(kr_block block, const bindex_params *p, uint64_t tile, uint64_t n_tiles,
                                 uint32_t words[BINDEX_LEAVES][BINDEX_MINE])
{
    KR_UNROLL
    for (uint32_t l = 0; l < BINDEX_LEAVES; ++l) {
        const bindex_leaf *leaf = p->leaves + l;
        if (l >= p->n_leaves)
            continue;
        if (leaf->first_vector == leaf->end_vector) {
            for (uint32_t m = 0; m < BINDEX_MINE; ++m)
                words[l][m] = leaf->invert;
            continue;
        }
        const uint32_t *vector = bindex_vector_of(p, leaf, leaf->first_vector, tile, n_tiles);
        for (uint32_t m = 0; m < BINDEX_MINE; ++m)
            words[l][m] = kr_load_once(vector + block.rank + m * block.size) ^ leaf->invert;
    }
    KR_UNROLL
    for (uint32_t l = 0; l < BINDEX_LEAVES; ++l) {
        const bindex_leaf *leaf = p->leaves + l;
        if (l >= p->n_leaves)
            continue;
        for (uint32_t i = leaf->first_vector + 1; i < leaf->end_vector; ++i) {
            const uint32_t *vector = bindex_vector_of(p, leaf, i, tile, n_tiles);
            for (uint32_t m = 0; m < BINDEX_MINE; ++m)
                words[l][m] ^= kr_load_once(vector + block.rank + m * block.size);
        }
    }
}

/* Whether the row is one of those that the run turns over. */
KR_BODY int bindex_turns(const bindex_params *p, const bindex_run *run, const bindex_leaf *leaf, uint64_t row)
{
    const uint64_t code = kr_load_code(leaf->type, leaf->data, row);
    uint32_t low = run->first_edge, high = run->end_edge;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (bindex_edge_of(p, middle) <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return (int)((low - run->first_edge + run->even) & 1);
}

/* The rows of all runs are dealt out to the threads in turn. */
KR_BODY void bindex_turn_rows(kr_block block, const bindex_params *p, uint64_t tile, const uint32_t *ranges,
                              uint32_t *turned)
{
    const uint64_t first_row = tile * p->words * 32;
    uint32_t before = 0;
    for (uint32_t r = 0; r < p->n_runs; ++r) {
        const uint32_t n = ranges[2 * r + 1];
        uint32_t i = (block.rank - before) & (block.size - 1);
        before += n;
        if (i >= n)
            continue;
        const bindex_run run = bindex_run_of(p, r);
        const bindex_leaf *leaf = p->leaves + run.leaf;
        const uint16_t *positions = leaf->positions + first_row + ranges[2 * r];
        uint32_t *words = turned + run.leaf * BINDEX_WORDS;
        const int tests = run.first_edge != run.end_edge;
        for (; i < n; i += block.size) {
            const uint32_t at = kr_load(positions + i);
            if (!tests || bindex_turns(p, &run, leaf, first_row + at))
                kr_block_xor(block, words, at / 32, (uint32_t)1 << at % 32);
        }
    }
}

KR_BODY void bindex_store(kr_block block, const bindex_params *p, uint64_t tile,
                          uint32_t words[BINDEX_LEAVES][BINDEX_MINE], const uint32_t *turned)
{
    const uint64_t first = tile * p->words, left = (p->n + 31) / 32 - first;
    const uint32_t n = left < p->words ? (uint32_t)left : p->words;
    const uint32_t last = (uint32_t)((p->n - 1) % 32), rows = 0xFFFFFFFFu >> (31 - last);
    uint32_t *bitmap = p->bitmap + first;
    KR_UNROLL
    for (uint32_t l = 0; l < BINDEX_LEAVES; ++l) {
        if (l >= p->n_leaves)
            continue;
        const uint32_t *mine = turned + l * BINDEX_WORDS + block.rank;
        for (uint32_t m = 0; m < BINDEX_MINE; ++m) {
            const uint32_t word = words[l][m] ^ mine[m * block.size];
            words[0][m] = l ? words[0][m] & word : word;
        }
    }
    for (uint32_t m = 0; m < BINDEX_MINE; ++m) {
        const uint32_t w = block.rank + m * block.size;
        if (w < n)
            bitmap[w] = words[0][m] & (p->alive ? p->alive[first + w] : 0xFFFFFFFFu) &
                        (w + 1 == left ? rows : 0xFFFFFFFFu);
    }
}

KR_BODY void bindex_select_tiles(kr_block block, char *shared, const bindex_params *p, uint64_t n_tiles)
{
    uint32_t *turned = (uint32_t *)shared, *ranges = turned + p->n_leaves * BINDEX_WORDS;
    for (uint64_t tile = block.index; tile < n_tiles; tile += block.count) {
        uint32_t words[BINDEX_LEAVES][BINDEX_MINE];
        bindex_find_runs(block, p, tile, n_tiles, ranges);
        bindex_read_vectors(block, p, tile, n_tiles, words);
        for (uint32_t w = block.rank; w < p->n_leaves * BINDEX_WORDS; w += block.size)
            turned[w] = 0;
        kr_block_sync(block);
        bindex_turn_rows(block, p, tile, ranges, turned);
        kr_block_sync(block);
        bindex_store(block, p, tile, words, turned);
    }
}
KR_BLOCK_PROGRAM(bindex_select, bindex_params, bindex_select_tiles);

#endif
