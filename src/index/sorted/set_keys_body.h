/* The bodies of set_keys.c. */
#ifndef KEYRAY_INDEX_SORTED_SET_KEYS_BODY_H
#define KEYRAY_INDEX_SORTED_SET_KEYS_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"

/* Keys in another order: to[i] := from[index[i]]. */
typedef struct reorder_params {
    const void *from;
    const uint32_t *index;
    void *to;
    uint64_t key_bits;
} reorder_params;

KR_BODY void sorted_reorder_key(const reorder_params *p, uint64_t i)
{
    const uint64_t at = kr_load(p->index + i);
    if (p->key_bits == 64)
        ((uint64_t *)p->to)[i] = kr_load((const uint64_t *)p->from + at);
    else
        ((uint32_t *)p->to)[i] = kr_load((const uint32_t *)p->from + at);
}
KR_MAP_PROGRAM(sorted_reorder, reorder_params, sorted_reorder_key);

/* Entries are in the order of their row ids; given ids ascend, and value i belongs to element index[i] of
 * the column of new keys. */
typedef struct replace_params {
    const uint32_t *rows; /* of all entries */
    void *keys;           /* of all entries, to be changed */
    const uint32_t *given, *index;
    const void *values;
    uint64_t *found; /* one more than the largest id that is [0] given twice, [1] not there */
    uint64_t n;
    uint32_t type, reserved;
} replace_params;

KR_BODY void sorted_replace_key(const replace_params *p, uint64_t i)
{
    const uint32_t id = kr_load(p->given + i);
    uint64_t low = 0, high = p->n;
    if (i > 0 && kr_load(p->given + i - 1) == id)
        kr_atomic_max64(p->found, (uint64_t)id + 1);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (kr_load(p->rows + middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->n || kr_load(p->rows + low) != id) {
        kr_atomic_max64(p->found + 1, (uint64_t)id + 1);
        return;
    }
    const uint64_t code = kr_code_load(p->type, p->values, kr_load(p->index + i));
    if (kr_type_key_bits(p->type) == 64)
        ((uint64_t *)p->keys)[low] = code;
    else
        ((uint32_t *)p->keys)[low] = (uint32_t)code;
}
KR_MAP_PROGRAM(sorted_set_keys, replace_params, sorted_replace_key);

#endif
