/* The bodies of rows.c. */
#ifndef KEYRAY_INDEX_SORTED_ROWS_BODY_H
#define KEYRAY_INDEX_SORTED_ROWS_BODY_H

#include "base/program/program.h"
#include "index/kinds/batch.h"

/* flags[i] := 1 where row i is NULL; *valid counts the others. */
typedef struct null_flags_params {
    const uint8_t *validity;
    uint64_t offset;
    uint32_t *flags;
    uint64_t *valid;
} null_flags_params;

KR_BODY void sorted_null_flag(kr_group group, const null_flags_params *p, uint64_t i, uint64_t n)
{
    const int valid = i < n && kr_code_is_valid(p->validity, p->offset, i);
    if (i < n)
        p->flags[i] = !valid;
    const uint32_t count = kr_popcount32(kr_group_ballot(group, valid));
    if (group.rank == 0 && count)
        kr_atomic_add64(p->valid, count);
}
KR_GROUP_PROGRAM(sorted_null_flags, null_flags_params, sorted_null_flag);

/* to[i] := from[index[i]] */
typedef struct gather_params {
    const uint32_t *from, *index;
    uint32_t *to;
} gather_params;

KR_BODY void sorted_gather_row(const gather_params *p, uint64_t i)
{
    p->to[i] = kr_load(p->from + kr_load(p->index + i));
}
KR_MAP_PROGRAM(sorted_gather, gather_params, sorted_gather_row);

#endif
