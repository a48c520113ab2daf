/* The bodies of keys.c. */
#ifndef KEYRAY_JOIN_KEYS_BODY_H
#define KEYRAY_JOIN_KEYS_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

/* ---- The lowest and the highest code of a column --------------------------------------------- */

typedef struct keys_extent_params {
    const void *data;
    const uint8_t *validity;
    uint64_t validity_offset;
    uint64_t *ends;   /* the complement of the lowest code, and the highest code: both begin at 0 */
    uint64_t n, each; /* rows, and rows of one thread */
    uint64_t type;
} keys_extent_params;
kr_assert_size(keys_extent_params, 56);

/* NULL rows have no code. On a CPU a thread's rows are neighbours, on a GPU neighbours have them. */
KR_BODY void keys_extent_of(kr_group group, const keys_extent_params *p, uint64_t i, uint64_t n)
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
KR_GROUP_PROGRAM(keys_extent, keys_extent_params, keys_extent_of);

/* ---- Several columns become one key ---------------------------------------------------------- */

enum { KEYS_COLUMNS = 9 };

/* The key's bits from `shift` on are the column's code - lowest, 0 .. span. */
typedef struct keys_part {
    const void *data;
    const uint8_t *validity;
    uint64_t validity_offset;
    uint64_t lowest, span;
    uint32_t type, shift;
} keys_part;

typedef struct keys_fold_params {
    void *out;
    uint64_t absent;            /* the key of a row that has no partner: NULL, or a group of one side only */
    uint32_t n_parts, out_type; /* KR_U32 or KR_U64 */
    keys_part parts[KEYS_COLUMNS]; /* the first in the highest bits */
} keys_fold_params;
kr_assert_size(keys_fold_params, 24 + 48 * KEYS_COLUMNS);

KR_BODY void keys_fold_row(const keys_fold_params *p, uint64_t i)
{
    uint64_t key = 0;
    int whole = 1;
    for (uint32_t j = 0; j < p->n_parts; ++j) {
        const keys_part *part = &p->parts[j];
        const uint64_t code = kr_code_load(part->type, part->data, i);
        whole = whole && kr_code_is_valid(part->validity, part->validity_offset, i) &&
                code - part->lowest <= part->span;
        key |= (code - part->lowest) << part->shift;
    }
    kr_code_store(p->out_type, p->out, i, whole ? key : p->absent);
}
KR_MAP_PROGRAM(keys_fold, keys_fold_params, keys_fold_row);

#endif
