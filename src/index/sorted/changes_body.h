/* The bodies of changes.c. */
#ifndef KEYRAY_INDEX_SORTED_CHANGES_BODY_H
#define KEYRAY_INDEX_SORTED_CHANGES_BODY_H

#include "base/key/hash.h"
#include "base/program/program.h"

/* Adds the first row id to row ids that count from zero. */
typedef struct shift_params {
    uint32_t *rows;
    uint64_t by;
} shift_params;

KR_BODY void changes_shift_row(const shift_params *p, uint64_t i)
{
    p->rows[i] += (uint32_t)p->by;
}
KR_MAP_PROGRAM(sorted_shift_rows, shift_params, changes_shift_row);

/* Both halves of a batch as one column of 33 bits, deletes before inserts; and back, when it is sorted. */
typedef struct pack_params {
    const void *deletes, *inserts;
    uint64_t *packed;
    uint64_t n_deletes, seed;
    uint32_t type, hashed;
} pack_params;

KR_BODY void changes_pack(const pack_params *p, uint64_t i)
{
    const uint64_t inserted = i >= p->n_deletes;
    const uint32_t code =
        kr_code_load_key32(p->type, inserted ? p->inserts : p->deletes, inserted ? i - p->n_deletes : i);
    p->packed[i] = inserted << 32 | (p->hashed ? kr_mix32(code, p->seed) : code);
}
KR_MAP_PROGRAM(sorted_pack_changes, pack_params, changes_pack);

typedef struct unpack_params {
    const uint64_t *packed;
    const uint32_t *order; /* where each was in the column */
    uint32_t *deletes, *inserts, *rows;
    uint64_t n_deletes, first_row;
} unpack_params;

KR_BODY void changes_unpack(const unpack_params *p, uint64_t i)
{
    const uint32_t code = (uint32_t)kr_load(p->packed + i);
    if (i < p->n_deletes) {
        p->deletes[i] = code;
        return;
    }
    p->inserts[i - p->n_deletes] = code;
    p->rows[i - p->n_deletes] = (uint32_t)(kr_load(p->order + i) - p->n_deletes + p->first_row);
}
KR_MAP_PROGRAM(sorted_unpack_changes, unpack_params, changes_unpack);

#endif
