/* The body of sieve.c. */
#ifndef KEYRAY_SCANS_CUBES_SIEVE_BODY_H
#define KEYRAY_SCANS_CUBES_SIEVE_BODY_H

#include "program/program.h"

enum { CUBES_SIEVE_AXES = 3, CUBES_SIEVE_VECTORS = 256 };

typedef struct cubes_sieve_axis {
    const uint32_t *words;
    uint64_t stride;
    uint32_t n_vectors, inverts;
    uint16_t vectors[CUBES_SIEVE_VECTORS];
} cubes_sieve_axis;
kr_assert_size(cubes_sieve_axis, 536);

typedef struct cubes_sieve_params {
    uint32_t *bitmap;
    const uint32_t *alive; /* or NULL */
    uint64_t *found;       /* where to count the rows that are left; or NULL */
    uint64_t n_rows;
    uint32_t n_axes, reserved;
    cubes_sieve_axis axes[CUBES_SIEVE_AXES];
} cubes_sieve_params;
kr_assert_size(cubes_sieve_params, 1648);

KR_BODY uint32_t cubes_sieve_word(const cubes_sieve_params *p, uint64_t i)
{
    const uint64_t rows = p->n_rows - i * 32;
    uint32_t left = rows < 32 ? ((uint32_t)1 << rows) - 1 : 0xFFFFFFFFu;
    if (p->alive)
        left &= kr_load(p->alive + i);
    for (uint32_t a = 0; a < p->n_axes; ++a) {
        const cubes_sieve_axis *axis = p->axes + a;
        uint32_t odd = axis->inverts ? 0xFFFFFFFFu : 0;
        for (uint32_t v = 0; v < axis->n_vectors; ++v)
            odd ^= kr_load_once(axis->words + axis->vectors[v] * axis->stride + i);
        left &= odd;
    }
    return left;
}

KR_BODY void cubes_sieve_rows(kr_group group, const cubes_sieve_params *p, uint64_t i, uint64_t n)
{
    const uint32_t left = i < n ? cubes_sieve_word(p, i) : 0;
    if (i < n)
        p->bitmap[i] = left;
    if (p->found)
        kr_group_add64(group, kr_popcount32(left), p->found);
}
KR_GROUP_PROGRAM(cubes_sieve_words, cubes_sieve_params, cubes_sieve_rows);

#endif
