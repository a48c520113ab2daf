/* Many conditions on a few columns: each value is loaded once and compared with the intervals of all
 * conditions.
 *
 * On a GPU thread r of a warp has row r of each word, so a vote makes the word of a condition. */
#ifndef KEYRAY_SCANS_FULL_FULL_MANY_BODY_H
#define KEYRAY_SCANS_FULL_FULL_MANY_BODY_H

#include "scans/full/full_many_params.h"
#include "scans/full/full_tile.h"

/* The rows of a word that can be in the results. */
KR_BODY uint32_t full_many_rows(const full_many_params *p, uint64_t word)
{
    const uint32_t rows = full_rows(word, p->n);
    return rows && p->alive ? rows & kr_load(p->alive + word) : rows;
}

KR_BODY uint32_t full_many_valid(const full_many_params *p, uint64_t word, uint32_t uses)
{
    uint32_t valid = 0xFFFFFFFFu;
    for (uint32_t c = 0; c < p->n_columns; ++c)
        if (uses >> c & 1 && p->columns[c].validity)
            valid &= full_bytes(p->columns[c].validity, p->columns[c].validity_offset + word * 32,
                                p->columns[c].validity_offset + p->n);
    return valid;
}

#if KR_ON_CUDA

/* n_columns and from_zero are constants. */
KR_BODY void full_many_some(kr_group group, const full_many_params *p, uint64_t tile, uint32_t n_columns,
                            int from_zero)
{
    const uint64_t first = tile * FULL_MANY_WORDS, mine = first + group.rank;
    const uint32_t rows = group.rank < FULL_MANY_WORDS ? full_many_rows(p, mine) : 0;
    kr_key values[FULL_MANY_COLUMNS][FULL_MANY_WORDS];
    KR_UNROLL
    for (uint32_t c = 0; c < n_columns; ++c) {
        KR_UNROLL
        for (uint32_t w = 0; w < FULL_MANY_WORDS; ++w) {
            const uint64_t row = (first + w) * 32 + group.rank;
            values[c][w] = row < p->n ? full_value(p->columns[c].type, p->columns[c].data, row) : 0;
        }
    }
    for (uint32_t q = 0; q < p->n_conditions; ++q) {
        const kr_key *at = (const kr_key *)p->intervals + q * n_columns * 2;
        uint32_t word = 0;
        KR_UNROLL
        for (uint32_t w = 0; w < FULL_MANY_WORDS; ++w) {
            int holds = 1;
            KR_UNROLL
            for (uint32_t c = 0; c < n_columns; ++c)
                holds = holds && (from_zero ? values[c][w] : values[c][w] - at[2 * c]) <= at[2 * c + 1];
            const uint32_t votes = kr_group_ballot(group, holds);
            word = group.rank == w ? votes : word;
        }
        if (p->has_nulls && rows)
            word &= full_many_valid(p, mine, p->uses[q]);
        if (group.rank < FULL_MANY_WORDS && mine * 32 < p->n)
            kr_store_once(p->bitmaps[q] + mine, word & rows);
    }
}

KR_BODY void full_many_columns(kr_group group, const full_many_params *p, uint64_t tile, int from_zero)
{
    switch (p->n_columns) {
    case 1: full_many_some(group, p, tile, 1, from_zero); break;
    case 2: full_many_some(group, p, tile, 2, from_zero); break;
    case 3: full_many_some(group, p, tile, 3, from_zero); break;
    default: full_many_some(group, p, tile, 4, from_zero);
    }
}

KR_BODY void full_many_tile(kr_group group, const full_many_params *p, uint64_t i, uint64_t n)
{
    (void)n;
    if (p->from_zero)
        full_many_columns(group, p, i / group.size, 1);
    else
        full_many_columns(group, p, i / group.size, 0);
}

#else

/* The values of a column in a tile: where they are, or converted into `room`. */
KR_BODY const kr_key *full_many_values(const full_many_params *p, uint32_t c, uint64_t row, kr_key *room)
{
    const full_many_column *column = p->columns + c;
    const uint64_t left = p->n - row;
    const uint32_t n = FULL_MANY_WORDS * 32;
    if (left >= n && !full_is_float(column->type) && kr_type_width(column->type) == sizeof(kr_key))
        return (const kr_key *)column->data + row;
    for (uint32_t k = 0; k < n; k += 32) {
        if (left >= k + 32)
            full_convert(column->type, column->data, row + k, room + k);
        else
            for (uint32_t j = 0; j < 32; ++j)
                room[k + j] = k + j < left ? full_value(column->type, column->data, row + k + j) : 0;
    }
    return room;
}

KR_BODY void full_many_tile(kr_group group, const full_many_params *p, uint64_t i, uint64_t n)
{
    const uint64_t first = i * FULL_MANY_WORDS;
    kr_key room[FULL_MANY_COLUMNS][FULL_MANY_WORDS * 32];
    const kr_key *values[FULL_MANY_COLUMNS];
    uint32_t rows[FULL_MANY_WORDS];
    (void)group, (void)n;
    for (uint32_t c = 0; c < p->n_columns; ++c)
        values[c] = full_many_values(p, c, first * 32, room[c]);
    for (uint32_t w = 0; w < FULL_MANY_WORDS; ++w)
        rows[w] = full_many_rows(p, first + w);
    for (uint32_t q = 0; q < p->n_conditions; ++q) {
        const kr_key *at = (const kr_key *)p->intervals + q * p->n_columns * 2;
        for (uint32_t w = 0; w < FULL_MANY_WORDS && (first + w) * 32 < p->n; ++w) {
            uint32_t word = rows[w];
            for (uint32_t c = 0; c < p->n_columns; ++c)
                word &= full_in_interval(values[c] + 32 * w, at[2 * c], at[2 * c + 1]);
            if (p->has_nulls && word)
                word &= full_many_valid(p, first + w, p->uses[q]);
            p->bitmaps[q][first + w] = word;
        }
    }
}

#endif

KR_GROUP_PROGRAM(full_many, full_many_params, full_many_tile);

#endif
