/* The body of index.c. */
#ifndef KEYRAY_CORE_INDEX_BODY_H
#define KEYRAY_CORE_INDEX_BODY_H

#include "program/program.h"

typedef struct largest_params {
    const uint32_t *rows;
    uint64_t *largest;
} largest_params;

KR_BODY void largest(kr_group group, const largest_params *p, uint64_t i, uint64_t n)
{
    uint64_t most = i < n ? kr_load(p->rows + i) : 0;
    for (uint32_t distance = group.size / 2; distance; distance /= 2) {
        const uint64_t other = kr_group_other(group, most, distance);
        most = other > most ? other : most;
    }
    if (group.rank == 0)
        kr_atomic_max64(p->largest, most);
}
KR_GROUP_PROGRAM(index_largest_row, largest_params, largest);

#endif
