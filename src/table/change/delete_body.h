/* The body of delete.c. */
#ifndef KEYRAY_TABLE_CHANGE_DELETE_BODY_H
#define KEYRAY_TABLE_CHANGE_DELETE_BODY_H

#include "base/program/program.h"

typedef struct delete_mark_params {
    const uint32_t *rows;
    uint32_t *bitmap;
    uint64_t *found; /* 0, or n less the index of the first that is not a row */
    uint64_t n, n_rows;
} delete_mark_params;
kr_assert_size(delete_mark_params, 40);

KR_BODY void change_delete_mark_row(const delete_mark_params *p, uint64_t i)
{
    const uint32_t row = kr_load(p->rows + i);
    if (row < p->n_rows)
        kr_atomic_or32(p->bitmap + row / 32, (uint32_t)1 << row % 32);
    else
        kr_atomic_max64(p->found, p->n - i);
}
KR_MAP_PROGRAM(delete_mark, delete_mark_params, change_delete_mark_row);

#endif
