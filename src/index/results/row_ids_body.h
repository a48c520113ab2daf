/* The bodies of row_ids.c. */
#ifndef KEYRAY_INDEX_RESULTS_ROW_IDS_BODY_H
#define KEYRAY_INDEX_RESULTS_ROW_IDS_BODY_H

#include "base/program/program.h"
#include <keyray/keyray.h>

/* found[0]: row ids that do not ascend; found[1]: row ids that are KR_NO_ROW. */
typedef struct check_rows_params {
    const uint32_t *rows;
    uint64_t *found;
} check_rows_params;

KR_BODY void row_ids_check_rows(kr_group group, const check_rows_params *p, uint64_t i, uint64_t n)
{
    const int falls = i > 0 && i < n && kr_load(p->rows + i - 1) >= kr_load(p->rows + i);
    const int none = i < n && kr_load(p->rows + i) == KR_NO_ROW;
    const uint32_t n_falls = kr_popcount32(kr_group_ballot(group, falls));
    const uint32_t n_none = kr_popcount32(kr_group_ballot(group, none));
    if (group.rank == 0 && n_falls)
        kr_atomic_add64(p->found, n_falls);
    if (group.rank == 0 && n_none)
        kr_atomic_add64(p->found + 1, n_none);
}
KR_GROUP_PROGRAM(rows_check, check_rows_params, row_ids_check_rows);

typedef struct count_marked_params {
    const uint32_t *bitmap;
    uint64_t *marked;
} count_marked_params;

KR_BODY void row_ids_count_marked(kr_group group, const count_marked_params *p, uint64_t i, uint64_t n)
{
    uint64_t count = i < n ? kr_popcount32(kr_load(p->bitmap + i)) : 0;
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        count += kr_group_other(group, count, distance);
    if (group.rank == 0 && count)
        kr_atomic_add64(p->marked, count);
}
KR_GROUP_PROGRAM(rows_count_marked, count_marked_params, row_ids_count_marked);

#endif
