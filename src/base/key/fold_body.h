/* The lowest and the highest code of a column, and whether codes ascend: the other bodies of base/key/fold.h
 * are in fold_simd_body.h. */
#ifndef KEYRAY_BASE_KEY_FOLD_BODY_H
#define KEYRAY_BASE_KEY_FOLD_BODY_H

#include "base/key/fold_params.h"
#include "base/key/key.h"
#include "base/program/program.h"

/* ---- The lowest and the highest code of a column --------------------------------------------- */

typedef struct fold_extent_params {
    const void *data;
    const uint8_t *validity;
    uint64_t validity_offset;
    uint64_t *ends;   /* the complement of the lowest code, and the highest code: both begin at 0 */
    uint64_t n, each; /* rows, and rows of one thread */
    uint64_t type;
} fold_extent_params;
kr_assert_size(fold_extent_params, 56);

/* NULL rows have no code. On a CPU a thread's rows are neighbours, on a GPU neighbours have them. */
KR_BODY void fold_extent_of(kr_group group, const fold_extent_params *p, uint64_t i, uint64_t n)
{
    uint64_t below = 0, above = 0;
    for (uint64_t j = 0; i < n && j < p->each; ++j) {
        const uint64_t row = group.size == 1 ? i * p->each + j : j * n + i;
        if (row >= p->n)
            break;
        const uint64_t code = kr_code_load((uint32_t)p->type, p->data, row);
        if (kr_code_is_valid(p->validity, p->validity_offset, row)) {
            below = ~code > below ? ~code : below;
            above = code > above ? code : above;
        }
    }
    kr_group_max64(group, below, p->ends);
    kr_group_max64(group, above, p->ends + 1);
}
KR_GROUP_PROGRAM(fold_extents, fold_extent_params, fold_extent_of);

/* ---- Lists of codes --------------------------------------------------------------------------- */

typedef struct fold_falls_params {
    const uint64_t *ranks;
    uint64_t *falls;
    uint64_t n;
} fold_falls_params;
kr_assert_size(fold_falls_params, 24);

/* The run of thread i (kr_group_runs). */
KR_BODY void fold_falls_in(kr_group group, const fold_falls_params *p, uint64_t i, uint64_t n)
{
    uint64_t falls = 0;
    (void)n;
    for (uint32_t round = 0; round < KR_RUN; ++round) {
        const uint64_t at = kr_group_run_at(group, i, round);
        if (at && at < p->n && kr_load(p->ranks + at) < kr_load(p->ranks + at - 1))
            falls = at + 1;
    }
    kr_group_max64(group, falls, p->falls);
}
KR_GROUP_PROGRAM(fold_falls, fold_falls_params, fold_falls_in);

#endif
