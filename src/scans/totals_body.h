/* The bodies of totals.c. A group works on slices of the bitmap, each by one group in one order: so float
 * sums are the same in every run. */
#ifndef KEYRAY_SCANS_TOTALS_BODY_H
#define KEYRAY_SCANS_TOTALS_BODY_H

#include "results/totals.h"

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

/* Every thread has a bit of each word; on the CPU one thread has all bits. */
KR_BODY void totals_add_word(kr_group group, const totals_params *p, int op, uint64_t word,
                             reduce_total *total)
{
    uint32_t bits = kr_load(p->bitmap + word);
    if (group.size > 1)
        bits &= (uint32_t)1 << group.rank;
    for (; bits; bits &= bits - 1)
        reduce_merge(op, total, reduce_one(&p->reduce, op, (uint32_t)(word * 32 + kr_ctz32(bits))));
}

/* The totals of the group's threads, merged in the order of their ranks by halves. */
KR_BODY void totals_merge_group(kr_group group, int op, reduce_total *total)
{
    for (uint32_t distance = group.size / 2; distance; distance /= 2) {
        reduce_total other;
        other.bits = kr_group_other(group, total->bits, distance);
        other.any = kr_group_other(group, total->any, distance);
        reduce_merge(op, total, other);
    }
}

KR_BODY void totals_add_slice(kr_group group, const totals_params *p, int op, uint64_t slice)
{
    const uint64_t first = slice * p->slice_words;
    reduce_total total = reduce_start(op);
    for (uint64_t w = first; w < first + p->slice_words && w < p->n_words; ++w)
        totals_add_word(group, p, op, w, &total);
    totals_merge_group(group, op, &total);
    if (group.rank == 0)
        p->reduce.totals[slice] = total;
}

KR_BODY void totals_slices(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    (void)n;
    totals_add_slice(group, p, (int)p->reduce.op, i / group.size);
}
KR_GROUP_PROGRAM(totals_slice, totals_params, totals_slices);

/* One group. */
KR_BODY void totals_end(kr_group group, const totals_params *p, uint64_t i, uint64_t n)
{
    const int op = (int)p->reduce.op;
    reduce_total total = reduce_start(op);
    (void)i, (void)n;
    for (uint64_t slice = group.rank; slice < p->n_slices; slice += group.size)
        reduce_merge(op, &total, p->reduce.totals[slice]);
    totals_merge_group(group, op, &total);
    if (group.rank)
        return;
    *p->reduce.any = (uint8_t)total.any;
    if (op == KR_REDUCE_MIN || op == KR_REDUCE_MAX)
        kr_store_code(p->reduce.type, p->reduce.out, 0,
                      total.any ? total.bits : kr_zero_code(p->reduce.type));
    else
        *(uint64_t *)p->reduce.out = total.bits;
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
