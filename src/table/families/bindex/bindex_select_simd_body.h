/* The program that answers conjunctions: a block takes a tile of rows.
 *
 * In shared memory each leaf has a plane, a bit for each row of the tile. The leaf's first vector is copied
 * there, further ones are XORed into it, and the bits of those rows are turned over for which the vectors are
 * wrong. Invariant when a tile is stored: the bits of a plane, inverted where the leaf says so, are the rows
 * for which the leaf holds. So leaves need not know of each other, and nothing but the words of the result is
 * written. */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_SELECT_SIMD_BODY_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_BINDEX_SELECT_SIMD_BODY_H

#include "base/key/key.h"
#include "table/condition/compare.h"
#include "table/families/bindex/bindex_params.h"

enum {
    BINDEX_MINE = KR_MINE(BINDEX_WORDS),
    BINDEX_CHUNK = BINDEX_MINE < 64 ? BINDEX_MINE : 64, /* words that a thread stores at a time */
    BINDEX_AHEAD = 512,                                 /* positions of a run that are prefetched */
    BINDEX_FEW_EDGES = 2,
    /* A GPU copies a vector while it looks for runs. A CPU copies all vectors at once, a line of each in
     * turn, while the positions of runs come. */
    BINDEX_PIECE = KR_IN_BLOCKS ? (int)BINDEX_WORDS : 16,
    BINDEX_RUNS_FIRST = !KR_IN_BLOCKS
};

KR_BODY bindex_run bindex_run_of(const bindex_params *p, uint32_t r)
{
    return p->more_runs ? p->more_runs[r] : p->runs[r];
}

KR_BODY uint64_t bindex_edge_of(const bindex_params *p, uint32_t e)
{
    return p->more_edges ? kr_load(p->more_edges + e) : p->edges[e];
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Where the rows of each run begin among the tile's positions, and how many there are. */
KR_BODY void bindex_find_runs(kr_block block, const bindex_params *p, uint64_t tile, uint32_t *ranges)
{
    for (uint32_t r = block.rank; r < p->n_runs; r += block.size) {
        const bindex_run run = bindex_run_of(p, r);
        const bindex_leaf *leaf = p->leaves + run.leaf;
        const uint32_t *starts = leaf->starts + tile;
        const uint32_t first = kr_load(starts + run.first_cell * p->n_tiles);
        const uint32_t n = kr_load(starts + run.end_cell * p->n_tiles) - first;
        ranges[2 * r] = first;
        ranges[2 * r + 1] = n;
        for (uint32_t i = 0; i < n && i < BINDEX_AHEAD; i += 32)
            kr_prefetch(leaf->positions + tile * p->words * 32 + first + i);
    }
}

/* The value of the row at a position of the tile that begins at first_row. */
KR_BODY const char *bindex_value_of(const bindex_leaf *leaf, uint64_t first_row, uint32_t position)
{
    const uint32_t at = kr_load(leaf->positions + first_row + position);
    return (const char *)leaf->data + (first_row + at) * kr_type_width(leaf->type);
}

/* For CPUs, which would wait for one code before they ask for the next; elsewhere nothing is left of it. */
KR_BODY void bindex_prefetch_codes(kr_block block, const bindex_params *p, uint64_t tile,
                                   const uint32_t *ranges)
{
    const uint64_t first_row = tile * p->words * 32;
    for (uint32_t r = block.rank; r < p->n_runs; r += block.size) {
        const bindex_run run = bindex_run_of(p, r);
        const uint32_t n = run.first_edge == run.end_edge ? 0 : ranges[2 * r + 1];
        for (uint32_t i = 0; i < n && i < BINDEX_AHEAD; ++i)
            kr_prefetch(bindex_value_of(p->leaves + run.leaf, first_row, ranges[2 * r] + i));
    }
}

/* 1: the row is one of those that the run turns over. */
KR_BODY uint32_t bindex_turns(const bindex_params *p, const bindex_run *run, const bindex_leaf *leaf,
                              uint64_t row)
{
    const uint64_t code = kr_code_load(leaf->type, leaf->data, row);
    uint32_t low = run->first_edge, high = run->end_edge;
    while (high - low > BINDEX_FEW_EDGES) {
        const uint32_t middle = low + (high - low) / 2;
        if (bindex_edge_of(p, middle) <= code)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t edges = low - run->first_edge + run->even;
    for (uint32_t e = low; e < high; ++e)
        edges += bindex_edge_of(p, e) <= code ? 1 : 0;
    return edges & 1;
}

/* The rows of all runs are dealt out to the threads in turn. */
KR_BODY void bindex_turn_rows(kr_block block, const bindex_params *p, uint64_t tile, const uint32_t *ranges,
                              uint32_t *planes)
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
        uint32_t *plane = planes + run.leaf * BINDEX_WORDS;
        if (run.first_edge == run.end_edge)
            for (; i < n; i += block.size) {
                const uint32_t at = kr_load(positions + i);
                kr_block_xor(block, plane, at / 32, (uint32_t)1 << at % 32);
            }
        for (; i < n; i += block.size) {
            const uint32_t at = kr_load(positions + i);
            kr_block_xor(block, plane, at / 32, bindex_turns(p, &run, leaf, first_row + at) << at % 32);
        }
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Begins to copy the first vectors. Words past the end of a small tile are of other tiles, and are not
 * stored. */
KR_BODY void bindex_copy_vectors(kr_block block, const bindex_params *p, uint64_t tile, uint32_t *planes)
{
    for (uint32_t first = 0; first < BINDEX_WORDS; first += BINDEX_PIECE)
        for (uint32_t l = 0; l < p->n_leaves; ++l) {
            uint32_t *plane = planes + l * BINDEX_WORDS + first;
            if (p->leaves[l].vector)
                kr_block_copy(block, plane, p->leaves[l].vector + tile * p->words + first, BINDEX_PIECE);
            else
                kr_block_clear(block, plane, BINDEX_PIECE);
        }
}

KR_BODY void bindex_add_vectors(kr_block block, const bindex_params *p, uint64_t tile, uint32_t *planes)
{
    for (uint32_t l = 0; l < p->n_leaves; ++l) {
        const bindex_leaf *leaf = p->leaves + l;
        uint32_t *plane = planes + l * BINDEX_WORDS;
        for (uint32_t i = leaf->first_more; i < leaf->end_more; ++i) {
            const uint32_t v = p->more_vectors ? kr_load(p->more_vectors + i) : p->vectors[i];
            kr_block_xor_words(block, plane, leaf->vectors + (v * p->n_tiles + tile) * p->words,
                               BINDEX_WORDS);
        }
    }
}

/* Word m of those that this thread stores. */
KR_BODY uint32_t bindex_word(kr_block block, uint32_t m)
{
    return block.rank + m * block.size;
}

/* The rows for which all leaves hold. */
KR_BODY void bindex_and_planes(kr_block block, const bindex_params *p, uint32_t first, const uint32_t *planes,
                               uint32_t rows[BINDEX_CHUNK])
{
    for (uint32_t m = 0; m < BINDEX_CHUNK; ++m)
        rows[m] = planes[bindex_word(block, first + m)] ^ p->leaves[0].invert;
    for (uint32_t l = 1; l < p->n_leaves; ++l) {
        const uint32_t *plane = planes + l * BINDEX_WORDS;
        const uint32_t invert = p->leaves[l].invert;
        for (uint32_t m = 0; m < BINDEX_CHUNK; ++m)
            rows[m] &= plane[bindex_word(block, first + m)] ^ invert;
    }
}

/* Word w of the tile whose first is word `at`, of `left` words: bits of rows that there are, and alive. */
KR_BODY uint32_t bindex_kept(const bindex_params *p, uint64_t at, uint64_t left, uint32_t w)
{
    const uint32_t there = w + 1 == left ? 0xFFFFFFFFu >> (31 - (p->n - 1) % 32) : 0xFFFFFFFFu;
    return there & (p->alive ? p->alive[at + w] : 0xFFFFFFFFu);
}

/* Words of the table's rows alone are stored. */
KR_BODY void bindex_store(kr_block block, const bindex_params *p, uint64_t tile, uint32_t first,
                          const uint32_t rows[BINDEX_CHUNK])
{
    const uint64_t at = tile * p->words, left = (p->n + 31) / 32 - at;
    const uint32_t n = left < p->words ? (uint32_t)left : p->words;
    uint32_t *bitmap = p->bitmap + at;
    if (!p->alive && left != n && bindex_word(block, first + BINDEX_CHUNK - 1) < n) {
        for (uint32_t m = 0; m < BINDEX_CHUNK; ++m)
            bitmap[bindex_word(block, first + m)] = rows[m];
        return;
    }
    for (uint32_t m = 0; m < BINDEX_CHUNK; ++m) {
        const uint32_t w = bindex_word(block, first + m);
        if (w < n)
            bitmap[w] = rows[m] & bindex_kept(p, at, left, w);
    }
}

/* How many rows there are among those that are counted. */
KR_BODY uint32_t bindex_count_rows(kr_block block, const bindex_params *p, uint64_t tile, uint32_t first,
                                   const uint32_t rows[BINDEX_CHUNK])
{
    const uint64_t at = tile * p->words, left = (p->n + 31) / 32 - at;
    const uint64_t most = p->counted > at ? p->counted - at : 0;
    const uint32_t n = most < p->words ? (uint32_t)most : p->words;
    uint32_t count = 0;
    if (!p->alive && left != n && bindex_word(block, first + BINDEX_CHUNK - 1) < n) {
        for (uint32_t m = 0; m < BINDEX_CHUNK; ++m)
            count += kr_popcount32(rows[m]);
        return count;
    }
    for (uint32_t m = 0; m < BINDEX_CHUNK; ++m) {
        const uint32_t w = bindex_word(block, first + m);
        count += w < n ? kr_popcount32(rows[m] & bindex_kept(p, at, left, w)) : 0;
    }
    return count;
}

/* A chunk of the result; returns what is to be added to the count. */
KR_BODY uint32_t bindex_give(kr_block block, const bindex_params *p, uint64_t tile, uint32_t first,
                             const uint32_t rows[BINDEX_CHUNK])
{
    if (p->count)
        return bindex_count_rows(block, p, tile, first, rows);
    bindex_store(block, p, tile, first, rows);
    return 0;
}

/* One addition for a tile and warp: a sum over the block would cost registers, of which none is free. */
KR_BODY void bindex_add_count(kr_block block, const bindex_params *p, uint32_t count)
{
    if (p->count)
        kr_group_add64(kr_block_group(block), count, p->count);
}

/* ---- Two columns ----------------------------------------------------------------------------- */

KR_BODY int bindex_compare(const bindex_leaf *leaf, uint64_t row)
{
    if (!kr_code_is_valid(leaf->validity, leaf->validity_offset, row) ||
        !kr_code_is_valid(leaf->other_validity, leaf->other_offset, row))
        return 0;
    const uint64_t a = kr_code_load(leaf->type, leaf->data, row);
    const uint64_t b = kr_code_load(leaf->type, leaf->other, row);
    return kr_compare_holds(leaf->compare, a < b ? 0 : a == b ? 1 : 2);
}

/* Planes of leaves that compare columns, which were cleared. */
KR_BODY void bindex_compare_columns(kr_block block, const bindex_params *p, uint64_t tile, uint32_t *planes)
{
    const uint64_t first_row = tile * p->words * 32;
    for (uint32_t l = 0; l < p->n_leaves; ++l) {
        const bindex_leaf *leaf = p->leaves + l;
        for (uint32_t i = block.rank; leaf->other && i < p->words * 32; i += block.size)
            kr_block_put_bit(block, planes + l * BINDEX_WORDS, i,
                             first_row + i < p->n && bindex_compare(leaf, first_row + i));
    }
}

KR_BODY void bindex_make_planes(kr_block block, const bindex_params *p, uint64_t tile, uint32_t *planes,
                                uint32_t *ranges)
{
    if (BINDEX_RUNS_FIRST)
        bindex_find_runs(block, p, tile, ranges);
    bindex_copy_vectors(block, p, tile, planes);
    if (!BINDEX_RUNS_FIRST)
        bindex_find_runs(block, p, tile, ranges);
    kr_block_copied(block);
    bindex_add_vectors(block, p, tile, planes);
    kr_block_sync(block);
    bindex_compare_columns(block, p, tile, planes);
    bindex_prefetch_codes(block, p, tile, ranges);
    bindex_turn_rows(block, p, tile, ranges, planes);
    kr_block_sync(block);
}

KR_BODY void bindex_select_tiles(kr_block block, char *shared, const bindex_params *p, uint64_t end)
{
    uint32_t *planes = (uint32_t *)shared, *ranges = planes + p->n_leaves * BINDEX_WORDS;
    for (uint64_t tile = block.index; tile < end; tile += block.count) {
        uint32_t count = 0;
        bindex_make_planes(block, p, tile, planes, ranges);
        for (uint32_t first = 0; first < BINDEX_MINE; first += BINDEX_CHUNK) {
            uint32_t rows[BINDEX_CHUNK];
            bindex_and_planes(block, p, first, planes, rows);
            count += bindex_give(block, p, tile, first, rows);
        }
        bindex_add_count(block, p, count);
        kr_block_sync(block); /* before the next tile is copied */
    }
}
KR_BLOCK_PAIR_PROGRAM(bindex_select, bindex_params, bindex_select_tiles);

/* ---- Batches --------------------------------------------------------------------------------- */

/* A thread folds words of its own. */
KR_BODY void bindex_fold_planes(kr_block block, const bindex_job *job, uint32_t first, uint32_t *planes,
                                uint32_t rows[BINDEX_CHUNK])
{
    for (uint32_t l = 0; l < job->params.n_leaves; ++l)
        for (uint32_t m = 0; job->params.leaves[l].invert && m < BINDEX_CHUNK; ++m)
            planes[l * BINDEX_WORDS + bindex_word(block, first + m)] ^= 0xFFFFFFFFu;
    for (uint32_t i = 0; i < job->n_folds; ++i) {
        uint32_t *to = planes + (job->folds[i] >> 8 & 0xFF) * BINDEX_WORDS;
        const uint32_t *from = planes + (job->folds[i] & 0xFF) * BINDEX_WORDS;
        for (uint32_t m = 0; m < BINDEX_CHUNK; ++m) {
            const uint32_t w = bindex_word(block, first + m);
            to[w] = job->folds[i] >> 16 == KR_FOLD_OR ? to[w] | from[w] : to[w] & from[w];
        }
    }
    for (uint32_t m = 0; m < BINDEX_CHUNK; ++m)
        rows[m] = planes[job->root * BINDEX_WORDS + bindex_word(block, first + m)];
}

KR_BODY void bindex_answer_job(kr_block block, const bindex_job *job, uint64_t tile, uint32_t *planes)
{
    const bindex_params *p = &job->params;
    uint32_t count = 0;
    bindex_make_planes(block, p, tile, planes, planes + p->n_leaves * BINDEX_WORDS);
    for (uint32_t first = 0; first < BINDEX_MINE; first += BINDEX_CHUNK) {
        uint32_t rows[BINDEX_CHUNK];
        if (job->n_folds)
            bindex_fold_planes(block, job, first, planes, rows);
        else
            bindex_and_planes(block, p, first, planes, rows);
        count += bindex_give(block, p, tile, first, rows);
    }
    bindex_add_count(block, p, count);
}

/* A GPU's threads ask for a job's parameters again and again, so the block keeps them. */
KR_BODY const bindex_job *bindex_keep_job(kr_block block, const bindex_job *job, char *shared)
{
    if (block.size == 1)
        return job;
    for (uint32_t i = block.rank; i < sizeof *job / sizeof(uint32_t); i += block.size)
        ((uint32_t *)shared)[i] = ((const uint32_t *)job)[i];
    kr_block_sync(block);
    return (const bindex_job *)shared;
}

/* Element t: tile t / n_jobs and job t % n_jobs, so that blocks at work have few tiles among them, whose
 * vectors, positions and values they find in the caches. */
KR_BODY void bindex_batch_elements(kr_block block, char *shared, const bindex_batch_params *p, uint64_t end)
{
    uint32_t *planes = (uint32_t *)(shared + (block.size == 1 ? 0 : BINDEX_JOB_NBYTES));
    for (uint64_t t = block.index; t < end; t += block.count) {
        const bindex_job *job = p->jobs ? p->jobs + t % p->n_jobs : &p->only;
        bindex_answer_job(block, bindex_keep_job(block, job, shared), t / p->n_jobs, planes);
        kr_block_sync(block);
    }
}
KR_BLOCK_PAIR_PROGRAM(bindex_batch, bindex_batch_params, bindex_batch_elements);

#endif
