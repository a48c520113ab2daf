/* Points of a batch that is partitioned by even parts of the range of keys (index/partition/partition.h). A
 * block of threads takes a segment of one part's probes. It copies the part to shared memory first: its bits,
 * each word of them beside the number of keys before it, and its row ids where they fit. So a probe reads
 * nothing else out of order. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_POINTS_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_POINTS_WIDTH_BODY_H

#include "base/program/block.h"
#include "index/families/direct/direct_point.h"

/* Probes of a thread whose loads are under way together. */
enum { DIRECT_POINTS_AT_ONCE = 4 };
#define DIRECT_NO_BIT UINT32_MAX

typedef struct direct_points_params {
    direct_find_params find;
    kr_partition_view partition;
    kr_blocks blocks;
    uint64_t even;                   /* codes of a part */
    uint32_t most_blocks, most_rows; /* that shared memory has room for: those of every part; row ids, 0
                                        where no rows are asked for */
} direct_points_params;
kr_assert_size(direct_points_params, 256);

/* A part in shared memory. */
typedef struct direct_piece {
    uint64_t *words;          /* bits of 32 values, and << 32 the ordinal of the first key from there on */
    uint32_t *rows;           /* of ordinals from `row` on; NULL: they are not there */
    uint32_t block, n_blocks; /* of the index: the first, and how many */
    uint32_t row;
    uint64_t first; /* value */
    uint32_t n_bits;
} direct_piece;

/* Ordinals of the keys in it. */
KR_BODY uint32_t direct_piece_ordinal(const direct_view *v, uint64_t block)
{
    return block < v->n_blocks ? (uint32_t)direct_rank(v, (uint32_t)block) : v->n_keys;
}

KR_BODY direct_piece direct_piece_of(const direct_points_params *p, char *shared, uint32_t part)
{
    const direct_view *v = &p->find.view;
    const uint64_t first = part * p->even, last = v->span - first < p->even ? v->span : first + p->even - 1;
    direct_piece piece = {.words = (uint64_t *)shared};
    if (first > v->span)
        return piece;
    piece.block = direct_spot_of(direct_quotient(v, (kr_key)first)).block;
    piece.n_blocks = direct_spot_of(direct_quotient(v, (kr_key)last)).block + 1 - piece.block;
    piece.first = (uint64_t)piece.block * DIRECT_VALUES;
    piece.n_bits = piece.n_blocks * DIRECT_VALUES;
    return piece;
}

KR_BODY void direct_piece_load_block(const direct_view *v, const direct_piece *piece, uint32_t b)
{
    uint64_t words[4], *to = piece->words + (uint64_t)b * DIRECT_BIT_WORDS;
    direct_load_block(v, piece->block + b, words);
    uint32_t rank = (uint32_t)words[0];
    KR_UNROLL
    for (uint32_t w = 1; w < DIRECT_WORDS; ++w) {
        const uint32_t bits = (uint32_t)(words[w / 2] >> 32 * (w % 2));
        to[w - 1] = (uint64_t)rank << 32 | bits;
        rank += kr_popcount32(bits);
    }
}

/* From a multiple of four on, as kr_block_copy asks; what is behind the last such multiple, one by one. */
KR_BODY void direct_piece_load_rows(kr_block block, const direct_points_params *p, direct_piece *piece)
{
    const direct_view *v = &p->find.view;
    const uint32_t end = direct_piece_ordinal(v, (uint64_t)piece->block + piece->n_blocks);
    piece->row = direct_piece_ordinal(v, piece->block) & ~3u;
    if (end - piece->row > p->most_rows)
        return;
    piece->rows = (uint32_t *)((char *)piece->words + direct_piece_words_nbytes(p->most_blocks));
    const uint32_t n = end - piece->row, whole = n & ~3u;
    kr_block_copy(block, piece->rows, v->rows + piece->row, whole);
    for (uint32_t i = whole + block.rank; i < n; i += block.size)
        piece->rows[i] = kr_load(v->rows + piece->row + i);
}

KR_BODY direct_piece direct_piece_open(kr_block block, char *shared, const direct_points_params *p,
                                       uint32_t part)
{
    direct_piece piece = direct_piece_of(p, shared, part);
    if (p->most_rows && piece.n_blocks)
        direct_piece_load_rows(block, p, &piece);
    for (uint32_t b = block.rank; b < piece.n_blocks; b += block.size)
        direct_piece_load_block(&p->find.view, &piece, b);
    kr_block_copied(block);
    kr_block_sync(block);
    return piece;
}

/* The probe's bit among those of the part; DIRECT_NO_BIT: the part has no such value. No bit lies behind the
 * highest value, so codes above it find none. */
KR_BODY uint32_t direct_piece_aim(const direct_points_params *p, const direct_piece *piece, uint64_t i)
{
    const direct_view *v = &p->find.view;
    kr_key code, upper;
    const int any = kr_batch_load_code(&p->find.batch, i, &code, &upper);
    const kr_key above = (kr_key)(code - (kr_key)v->lowest), value = direct_quotient(v, above),
                 bit = value - (kr_key)piece->first;
    return any && (kr_key)(value * (kr_key)v->step) == above && bit < piece->n_bits ? (uint32_t)bit
                                                                                    : DIRECT_NO_BIT;
}

KR_BODY uint32_t direct_piece_look(const direct_piece *piece, uint32_t bit, uint32_t *has)
{
    const uint64_t word = bit != DIRECT_NO_BIT ? piece->words[bit / 32] : 0;
    *has = (uint32_t)word >> bit % 32 & 1;
    return (uint32_t)(word >> 32) + kr_popcount32((uint32_t)word & (((uint32_t)1 << bit % 32) - 1));
}

KR_BODY void direct_piece_answer(const direct_points_params *p, const direct_piece *piece, uint64_t i,
                                 uint32_t ordinal, uint32_t has)
{
    const direct_find_params *find = &p->find;
    if (piece->rows)
        kr_put_first(&find->put, i, (int)has, has ? piece->rows[ordinal - piece->row] : 0);
    else if (has && find->view.starts && find->put.what != KR_PUT_FLAG)
        direct_put(find, i, kr_load(find->view.starts + ordinal), kr_load(find->view.starts + ordinal + 1));
    else
        direct_put(find, i, ordinal, ordinal + has);
}

/* Probes first, first + size, ... below end. */
KR_BODY void direct_piece_some(kr_block block, const direct_points_params *p, const direct_piece *piece,
                               uint64_t first, uint64_t end)
{
    uint32_t bits[DIRECT_POINTS_AT_ONCE];
    KR_UNROLL
    for (uint32_t j = 0; j < DIRECT_POINTS_AT_ONCE; ++j) {
        const uint64_t i = first + j * block.size;
        bits[j] = direct_piece_aim(p, piece, i < end ? i : first);
    }
    KR_UNROLL
    for (uint32_t j = 0; j < DIRECT_POINTS_AT_ONCE; ++j) {
        const uint64_t i = first + j * block.size;
        uint32_t has;
        const uint32_t ordinal = direct_piece_look(piece, bits[j], &has);
        if (i < end)
            direct_piece_answer(p, piece, i, ordinal, has);
    }
}

KR_BODY void direct_points_all(kr_block block, char *shared, const direct_points_params *p,
                               uint64_t most_segments)
{
    for (uint64_t t = block.index; t < most_segments && t < *p->partition.n_segments; t += block.count) {
        const kr_segment segment = p->partition.segments[t];
        const uint32_t stop = p->partition.starts[segment.part + 1], left = stop - segment.first;
        const uint64_t end = segment.first + (left < p->partition.segment ? left : p->partition.segment);
        const direct_piece piece = direct_piece_open(block, shared, p, segment.part);
        for (uint64_t i = (uint64_t)segment.first + block.rank; i < end;
             i += (uint64_t)block.size * DIRECT_POINTS_AT_ONCE)
            direct_piece_some(block, p, &piece, i, end);
        kr_block_sync(block);
    }
}
KR_BLOCK_PAIR_PROGRAM(direct_points, direct_points_params, direct_points_all);

#endif
