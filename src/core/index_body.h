/* The body of index.c. */
#ifndef KEYRAY_CORE_INDEX_BODY_H
#define KEYRAY_CORE_INDEX_BODY_H

#include "core/batch.h"
#include "program/program.h"

typedef struct most_params {
    kr_rows_view rows;
    const uint8_t *validity;
    uint64_t validity_offset;
    uint64_t *most;
} most_params;
kr_assert_size(most_params, 96);

KR_BODY void largest_row(kr_group group, const most_params *p, uint64_t i, uint64_t n)
{
    kr_group_max64(group, i < n ? kr_row_at(&p->rows, i) : 0, p->most);
}
KR_GROUP_PROGRAM(index_largest_row, most_params, largest_row);

/* One more than the position of the last NULL, or 0. */
KR_BODY void last_null(kr_group group, const most_params *p, uint64_t i, uint64_t n)
{
    kr_group_max64(group, i < n && !kr_is_valid(p->validity, p->validity_offset, i) ? i + 1 : 0, p->most);
}
KR_GROUP_PROGRAM(index_last_null, most_params, last_null);

#endif
