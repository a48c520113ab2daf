/* The bodies of bits.c: right rows set the bits of their values, left rows read those of theirs. Threads take
 * runs of rows; a bit that is set already is not set again, so that frequent keys cost a load. */
#ifndef KEYRAY_JOIN_BITS_SIMD_WIDTH_BODY_H
#define KEYRAY_JOIN_BITS_SIMD_WIDTH_BODY_H

#include "base/program/program.h"
#include "join/bits_set.h"

KR_BODY void join_bits_set_run(kr_group group, const bits_params *p, uint64_t i, uint64_t n)
{
    (void)n;
    for (uint32_t round = 0; round < KR_RUN; ++round) {
        const uint64_t row = kr_group_run_at(group, i, round);
        if (row < p->n)
            join_bits_set_one(p, p->bits, 1, row, kr_code_load_key(p->type, p->values, row));
    }
}
KR_GROUP_PROGRAM(join_bits_set, bits_params, join_bits_set_run);

/* 1: the value of a code has its bit. */
KR_BODY uint32_t join_bits_has(const bits_params *p, kr_key code)
{
    const kr_key above = (kr_key)(code - (kr_key)p->lowest);
    const uint32_t inside = above <= (kr_key)p->span;
    const kr_key at = above & (0 - (kr_key)inside);
    return kr_load(p->bits + (at >> 5)) >> (at & 31) & inside;
}

/* A thread alone: words of 32 rows, from loops that the compiler makes vectors of. */
KR_BODY void join_bits_test_words(const bits_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t row = first; row < end; row += 32) {
        const uint32_t n = end - row < 32 ? (uint32_t)(end - row) : 32;
        kr_key codes[32];
        uint32_t word = 0;
        kr_code_load_several(p->type, p->values, row, n, codes);
        for (uint32_t j = 0; j < n; ++j)
            word |= join_bits_has(p, codes[j]) << j;
        for (uint32_t j = 0; p->validity && j < n; ++j)
            word &= ~((uint32_t)!kr_code_is_valid(p->validity, p->offset, row + j) << j);
        p->found[row / 32] = word;
    }
}

/* The threads of a warp: a word in each round. */
KR_BODY void join_bits_test_round(kr_group group, const bits_params *p, uint64_t row)
{
    const int has = row < p->n && kr_code_is_valid(p->validity, p->offset, row) &&
                    join_bits_has(p, kr_code_load_key(p->type, p->values, row));
    const uint32_t word = kr_group_ballot(group, has);
    if (group.rank == 0 && row < p->n)
        p->found[row / 32] = word;
}

KR_BODY void join_bits_test_run(kr_group group, const bits_params *p, uint64_t i, uint64_t n)
{
    const uint64_t first = (i - group.rank) * KR_RUN;
    (void)n;
    if (group.size == 1)
        join_bits_test_words(p, first, p->n - first < KR_RUN ? p->n : first + KR_RUN);
    else
        for (uint32_t round = 0; round < KR_RUN; ++round)
            join_bits_test_round(group, p, kr_group_run_at(group, i, round));
}
KR_GROUP_PROGRAM(join_bits_test, bits_params, join_bits_test_run);

#endif
