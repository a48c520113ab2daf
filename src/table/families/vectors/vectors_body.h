/* The bodies of vectors.c. */
#ifndef KEYRAY_TABLE_FAMILIES_VECTORS_VECTORS_BODY_H
#define KEYRAY_TABLE_FAMILIES_VECTORS_VECTORS_BODY_H

#include "base/key/codes.h"
#include "base/key/key.h"
#include "base/program/block.h"

/* A block has a tile of rows and up to VECTORS_PASS vectors. A word of a vector is odd words away from the
 * same word of the next, so that threads with rows of one word use different banks of shared memory. */
enum {
    VECTORS_TILE = 2048,
    VECTORS_WORDS = VECTORS_TILE / 32,
    VECTORS_PASS = 128,
    VECTORS_STEP = VECTORS_WORDS + 1,
    VECTORS_PARTS = 16,
    VECTORS_SHARED_NBYTES =
        VECTORS_PASS * 8 + VECTORS_PASS * VECTORS_STEP * 4 + VECTORS_PARTS * VECTORS_WORDS * 4
};

typedef struct vectors_params {
    kr_blocks blocks;
    const void *data;
    const uint8_t *validity;
    const uint64_t *limits;
    uint32_t *words;
    uint64_t stride, n_rows;
    uint32_t validity_offset, type;
    uint32_t n, n_passes;
} vectors_params;
kr_assert_size(vectors_params, 72);

/* The first of n limits that is not below the code. */
KR_BODY uint32_t vectors_bin(const uint64_t *limits, uint32_t n, uint64_t code)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (limits[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The rows of each bin as bits: those of a vector that the one before does not have. */
KR_BODY void vectors_sort_in(kr_block block, const vectors_params *p, uint64_t first, const uint64_t *limits,
                             uint32_t n, uint32_t *bits)
{
    for (uint32_t r = block.rank; r < VECTORS_TILE; r += block.size) {
        const uint64_t row = first + r;
        if (row >= p->n_rows || !kr_code_is_valid(p->validity, p->validity_offset, row))
            continue;
        const uint32_t bin = vectors_bin(limits, n, kr_code_load(p->type, p->data, row));
        if (bin < n)
            kr_block_or(block, bits, bin * VECTORS_STEP + r / 32, (uint32_t)1 << r % 32);
    }
}

/* A part is an equal share of the vectors: first all parts are summed up, then each begins where those before
 * it end. */
KR_BODY void vectors_add_up(kr_block block, const vectors_params *p, uint64_t tile, uint32_t pass,
                            const uint32_t *bits, uint32_t *sums)
{
    const uint32_t each = VECTORS_PASS / VECTORS_PARTS, all = VECTORS_PARTS * VECTORS_WORDS;
    const uint32_t n = p->n - pass * VECTORS_PASS;
    for (uint32_t i = block.rank; i < all; i += block.size) {
        const uint32_t word = i % VECTORS_WORDS, part = i / VECTORS_WORDS;
        uint32_t sum = 0;
        for (uint32_t v = part * each; v < (part + 1) * each; ++v)
            sum |= bits[v * VECTORS_STEP + word];
        sums[i] = sum;
    }
    kr_block_sync(block);
    for (uint32_t i = block.rank; i < all; i += block.size) {
        const uint32_t word = i % VECTORS_WORDS, part = i / VECTORS_WORDS;
        const uint64_t at = tile * VECTORS_WORDS + word;
        uint32_t sum = 0;
        for (uint32_t before = 0; before < part; ++before)
            sum |= sums[before * VECTORS_WORDS + word];
        for (uint32_t v = part * each; v < (part + 1) * each && v < n && at < p->stride; ++v) {
            sum |= bits[v * VECTORS_STEP + word];
            p->words[(pass * (uint64_t)VECTORS_PASS + v) * p->stride + at] = sum;
        }
    }
}

/* Element t: tile t / n_passes, and the vectors of pass t % n_passes. */
KR_BODY void vectors_make(kr_block block, char *shared, const vectors_params *p, uint64_t n)
{
    uint64_t *limits = (uint64_t *)shared;
    uint32_t *bits = (uint32_t *)(limits + VECTORS_PASS), *sums = bits + VECTORS_PASS * VECTORS_STEP;
    for (uint64_t t = block.index; t < n; t += block.count) {
        const uint64_t tile = t / p->n_passes;
        const uint32_t pass = (uint32_t)(t % p->n_passes), first = pass * VECTORS_PASS;
        const uint32_t mine = p->n - first < VECTORS_PASS ? p->n - first : VECTORS_PASS;
        for (uint32_t v = block.rank; v < mine; v += block.size)
            limits[v] = kr_load(p->limits + first + v);
        for (uint32_t i = block.rank; i < VECTORS_PASS * VECTORS_STEP; i += block.size)
            bits[i] = 0;
        kr_block_sync(block);
        vectors_sort_in(block, p, tile * VECTORS_TILE, limits, mine, bits);
        kr_block_sync(block);
        vectors_add_up(block, p, tile, pass, bits, sums);
        kr_block_sync(block);
    }
}
KR_BLOCK_PROGRAM(scan_vectors_make, vectors_params, vectors_make);

/* ---- Validate -------------------------------------------------------------------------------- */

typedef struct vectors_check_params {
    const void *data;
    const uint8_t *validity;
    const uint64_t *limits;
    const uint32_t *words;
    uint64_t *bad;
    uint64_t stride, n_rows;
    uint32_t validity_offset, type;
    uint32_t n, reserved;
} vectors_check_params;
kr_assert_size(vectors_check_params, 72);

/* Rows past the last are looked at, too: their bits are 0. */
KR_BODY void vectors_check(const vectors_check_params *p, uint64_t row)
{
    const int is_value = row < p->n_rows && kr_code_is_valid(p->validity, p->validity_offset, row);
    const uint64_t code = is_value ? kr_code_load(p->type, p->data, row) : 0;
    for (uint32_t v = 0; v < p->n; ++v) {
        const uint32_t bit = kr_load(p->words + v * p->stride + row / 32) >> (row % 32) & 1;
        if (bit != (uint32_t)(is_value && code <= kr_load(p->limits + v)))
            kr_atomic_max64(p->bad, row + 1);
    }
}
KR_MAP_PROGRAM(scan_vectors_check, vectors_check_params, vectors_check);

/* ---- Borders --------------------------------------------------------------------------------- */

typedef struct borders_params {
    kr_codes codes;
    uint64_t *borders; /* limit and rank of each */
    uint32_t k, reserved;
} borders_params;
kr_assert_size(borders_params, 40);

KR_BODY void borders_find(const borders_params *p, uint64_t i)
{
    const uint64_t target = (i + 1) * p->codes.n / p->k, code = kr_code_at(&p->codes, target);
    const uint64_t below = kr_code_rank(&p->codes, code, 0), up_to = kr_code_rank(&p->codes, code, 1);
    const int is_below = target - below < up_to - target;
    p->borders[2 * i] = is_below ? code - 1 : code;
    p->borders[2 * i + 1] = is_below ? below : up_to;
}
KR_MAP_PROGRAM(scan_borders_find, borders_params, borders_find);

#endif
