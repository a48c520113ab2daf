/* The bodies of totals.c. A group works on slices of the bitmap, each by one group in one order: so float
 * sums are the same in every run. */
#ifndef KEYRAY_TABLE_RESULTS_TOTALS_BODY_H
#define KEYRAY_TABLE_RESULTS_TOTALS_BODY_H

#include "index/results/totals.h"

/* Words of a tile, whose row ids a group writes, and of what a group counts. */
enum { TOTALS_TILE = 32, TOTALS_COUNTED = 1024 };

typedef struct totals_params {
    reduce_params reduce; /* values, type, op, out, any, and a total for each slice */
    const uint32_t *bitmap;
    uint64_t n_words, slice_words, n_slices;
    uint64_t *counts; /* of each tile, then where its rows go */
    uint32_t *rows;
    uint64_t capacity;
} totals_params;
kr_assert_size(totals_params, 216);

KR_BODY void totals_count_words(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    const uint64_t first = i / group.size * TOTALS_COUNTED;
    uint64_t count = 0;
    (void)n;
    for (uint64_t w = first + group.rank; w < first + TOTALS_COUNTED && w < p->n_words; w += group.size)
        count += kr_popcount32(kr_load(p->bitmap + w));
    kr_group_add64(group, count, p->counts);
}
KR_GROUP_PROGRAM(totals_count, totals_params, totals_count_words);

/* A thread has a bit of each word, and reads the values of several words before it adds the first. A thread
 * whose bit is 0 reads some value, too: a branch would wait for each load. */
enum { TOTALS_AHEAD = 8 };

KR_BODY void totals_add_words(kr_group group, const reduce_params *reduce, int op, uint32_t type,
                              const uint32_t *bitmap, uint64_t word, reduce_total *total)
{
    uint64_t codes[TOTALS_AHEAD];
    uint32_t mine[TOTALS_AHEAD];
    KR_UNROLL
    for (uint32_t a = 0; a < TOTALS_AHEAD; ++a)
        mine[a] = kr_load(bitmap + word + a) >> group.rank & 1;
    for (uint32_t a = 0; reduce->validity && a < TOTALS_AHEAD; ++a)
        mine[a] &= (uint32_t)kr_code_is_valid(reduce->validity, reduce->validity_offset,
                                              mine[a] ? (word + a) * 32 + group.rank : 0);
    KR_UNROLL
    for (uint32_t a = 0; a < TOTALS_AHEAD; ++a)
        codes[a] = kr_code_load(type, reduce->values, mine[a] ? (word + a) * 32 + group.rank : 0);
    KR_UNROLL
    for (uint32_t a = 0; a < TOTALS_AHEAD; ++a)
        if (mine[a])
            reduce_merge(op, total, reduce_code(type, op, codes[a]));
}

/* On the CPU one thread has all bits. */
KR_BODY void totals_add_word(kr_group group, const reduce_params *reduce, int op, const uint32_t *bitmap,
                             uint64_t word, reduce_total *total)
{
    uint32_t bits = kr_load(bitmap + word);
    if (group.size > 1)
        bits &= (uint32_t)1 << group.rank;
    for (; bits; bits &= bits - 1)
        reduce_merge(op, total, reduce_one(reduce, op, (uint32_t)(word * 32 + kr_ctz32(bits))));
}

/* The totals of the group's threads, merged in the order of their ranks by halves. */
KR_BODY void totals_merge_group(kr_group group, int op, reduce_total *total)
{
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        reduce_merge(op, total, reduce_other(group, *total, distance));
}

/* `op` and `type` are constants, so that no load waits for a decision. */
KR_BODY void totals_add_slice(kr_group group, const totals_params *p, int op, uint32_t type, uint64_t slice)
{
    const uint64_t first = slice * p->slice_words, left = p->n_words - first;
    const uint64_t end = first + (left < p->slice_words ? left : p->slice_words);
    reduce_total total = reduce_start(op);
    uint64_t w = first;
    for (; group.size > 1 && w + TOTALS_AHEAD <= end; w += TOTALS_AHEAD)
        totals_add_words(group, &p->reduce, op, type, p->bitmap, w, &total);
    for (; w < end; ++w)
        totals_add_word(group, &p->reduce, op, p->bitmap, w, &total);
    totals_merge_group(group, op, &total);
    if (group.rank == 0)
        p->reduce.totals[slice] = total;
}

KR_BODY void totals_slice_of(kr_group group, const totals_params *p, int op, uint64_t slice)
{
    switch (p->reduce.type) {
    case KR_U32: totals_add_slice(group, p, op, KR_U32, slice); break;
    case KR_I32: totals_add_slice(group, p, op, KR_I32, slice); break;
    case KR_F32: totals_add_slice(group, p, op, KR_F32, slice); break;
    case KR_U64: totals_add_slice(group, p, op, KR_U64, slice); break;
    case KR_I64: totals_add_slice(group, p, op, KR_I64, slice); break;
    case KR_F64: totals_add_slice(group, p, op, KR_F64, slice); break;
    default: totals_add_slice(group, p, op, p->reduce.type, slice);
    }
}

KR_BODY void totals_slices(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    const uint64_t slice = i / group.size;
    (void)n;
    switch (p->reduce.op) {
    case KR_REDUCE_SUM_INTEGERS: totals_slice_of(group, p, KR_REDUCE_SUM_INTEGERS, slice); break;
    case KR_REDUCE_SUM_WIDE: totals_slice_of(group, p, KR_REDUCE_SUM_WIDE, slice); break;
    case KR_REDUCE_SUM_FLOATS: totals_slice_of(group, p, KR_REDUCE_SUM_FLOATS, slice); break;
    case KR_REDUCE_MIN: totals_slice_of(group, p, KR_REDUCE_MIN, slice); break;
    default: totals_slice_of(group, p, KR_REDUCE_MAX, slice);
    }
}
KR_GROUP_PROGRAM(totals_slice, totals_params, totals_slices);

/* One group. */
KR_BODY void totals_end(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    const int op = (int)p->reduce.op;
    reduce_total total = reduce_start(op);
    (void)i, (void)n;
    for (uint64_t slice = group.rank; slice < p->n_slices; slice += TOTALS_AHEAD * group.size) {
        reduce_total ahead[TOTALS_AHEAD];
        KR_UNROLL
        for (uint32_t a = 0; a < TOTALS_AHEAD; ++a) {
            const uint64_t at = slice + a * group.size;
            ahead[a] = p->reduce.totals[at < p->n_slices ? at : 0];
        }
        for (uint32_t a = 0; a < TOTALS_AHEAD && slice + a * group.size < p->n_slices; ++a)
            reduce_merge(op, &total, ahead[a]);
    }
    totals_merge_group(group, op, &total);
    if (group.rank)
        return;
    reduce_store(&p->reduce, op, 0, total);
    *p->reduce.any = (uint8_t)(total.any & 1);
}
KR_GROUP_PROGRAM(totals_finish, totals_params, totals_end);

KR_BODY void totals_count_tile(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    const uint64_t tile = i / group.size, first = tile * TOTALS_TILE;
    uint64_t count = 0;
    (void)n;
    for (uint64_t w = first + group.rank; w < first + TOTALS_TILE && w < p->n_words; w += group.size)
        count += kr_popcount32(kr_load(p->bitmap + w));
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        count += kr_group_other(group, count, distance);
    if (group.rank == 0)
        p->counts[tile] = count;
}
KR_GROUP_PROGRAM(totals_tiles, totals_params, totals_count_tile);

/* Word by word: the threads write the rows of a word side by side. */
KR_BODY void totals_write_tile(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    const uint64_t tile = i / group.size, first = tile * TOTALS_TILE;
    uint64_t place = kr_load(p->counts + tile);
    (void)n;
    for (uint64_t w = first; w < first + TOTALS_TILE && w < p->n_words; ++w) {
        const uint32_t word = kr_load(p->bitmap + w);
        uint32_t bits = group.size > 1 ? word & (uint32_t)1 << group.rank : word;
        for (; bits; bits &= bits - 1) {
            const uint32_t bit = kr_ctz32(bits);
            const uint64_t at = place + kr_popcount32(word & (((uint32_t)1 << bit) - 1));
            if (at < p->capacity)
                p->rows[at] = (uint32_t)(w * 32 + bit);
        }
        place += kr_popcount32(word);
    }
}
KR_GROUP_PROGRAM(totals_write, totals_params, totals_write_tile);

#endif
