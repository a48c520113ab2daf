/* The bodies of the sieve: for one conjunction, and for a batch. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_SIEVE_BODY_H
#define KEYRAY_TABLE_FAMILIES_CUBES_SIEVE_BODY_H

#include "table/families/cubes/sieve_params.h"

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

/* ---- Batches --------------------------------------------------------------------------------- */

/* Words of a thread: several, so that it asks once for what is to be done. */
enum { CUBES_SIEVE_MINE = KR_ON_CUDA ? CUBES_SIEVE_CHUNK / 32 : CUBES_SIEVE_CHUNK };

KR_BODY void cubes_sieve_fill(uint32_t words[CUBES_SIEVE_MINE], uint32_t word)
{
    for (uint32_t m = 0; m < CUBES_SIEVE_MINE; ++m)
        words[m] = word;
}

/* Words `at` + m * step, if they are below n, of the leaf's kept bins. */
KR_BODY void cubes_sieve_odd(const cubes_sieve_batch_params *p, const cubes_sieve_leaf *leaf, uint64_t at,
                             uint32_t step, uint64_t n, uint32_t odd[CUBES_SIEVE_MINE])
{
    cubes_sieve_fill(odd, leaf->inverts ? 0xFFFFFFFFu : 0);
    for (uint32_t v = leaf->first_vector; v < leaf->end_vector; ++v) {
        const uint32_t *words = leaf->words + kr_load(p->vectors + v) * leaf->stride;
        for (uint32_t m = 0; m < CUBES_SIEVE_MINE; ++m)
            odd[m] ^= at + m * step < n ? kr_load(words + at + m * step) : 0;
    }
}

/* Element i / group.size: chunk by chunk for all jobs, which share vectors in the caches. */
KR_BODY void cubes_sieve_element(kr_group group, const cubes_sieve_batch_params *p, uint64_t i, uint64_t n)
{
    const uint64_t element = i / group.size, n_words = (p->n_rows + 31) / 32;
    const uint64_t at = element / p->n_jobs * CUBES_SIEVE_CHUNK + group.rank;
    const cubes_sieve_job *job = p->jobs + element % p->n_jobs;
    uint32_t any[CUBES_SIEVE_MINE], all[CUBES_SIEVE_MINE], odd[CUBES_SIEVE_MINE], found = 0;
    (void)n;
    cubes_sieve_fill(any, 0);
    cubes_sieve_fill(all, 0xFFFFFFFFu);
    for (uint32_t l = job->first_leaf; l < job->end_leaf; ++l) {
        cubes_sieve_odd(p, p->leaves + l, at, group.size, n_words, odd);
        for (uint32_t m = 0; m < CUBES_SIEVE_MINE; ++m)
            all[m] &= odd[m];
        if (!p->leaves[l].ends)
            continue;
        for (uint32_t m = 0; m < CUBES_SIEVE_MINE; ++m)
            any[m] |= all[m];
        cubes_sieve_fill(all, 0xFFFFFFFFu);
    }
    for (uint32_t m = 0; m < CUBES_SIEVE_MINE; ++m) {
        const uint64_t word = at + m * group.size, rows = word < n_words ? p->n_rows - word * 32 : 0;
        uint32_t left = rows < 32 ? ((uint32_t)1 << rows) - 1 : 0xFFFFFFFFu;
        if (left && job->alive)
            left &= kr_load(job->alive + word);
        left &= any[m];
        if (rows)
            job->bitmap[word] = left;
        found += kr_popcount32(left);
    }
    if (p->found)
        kr_group_add64(group, found, p->found);
}
KR_GROUP_PROGRAM(cubes_sieve_batch, cubes_sieve_batch_params, cubes_sieve_element);

#endif
