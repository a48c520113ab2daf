/* The body of index.c. */
#ifndef KEYRAY_CORE_INDEX_BODY_H
#define KEYRAY_CORE_INDEX_BODY_H

#include "core/batch.h"
#include "program/program.h"

typedef struct largest_params {
    kr_rows_view rows;
    uint64_t *largest;
} largest_params;
kr_assert_size(largest_params, 24);

KR_BODY void largest(kr_group group, const largest_params *p, uint64_t i, uint64_t n)
{
    kr_group_max64(group, i < n ? kr_row_at(&p->rows, i) : 0, p->largest);
}
KR_GROUP_PROGRAM(index_largest_row, largest_params, largest);

#endif
