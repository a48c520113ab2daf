/* The rows of a column that are indexed, in ascending order of their row ids: a stable sort by key then gives
 * (key, row id) order. */
#ifndef KEYRAY_SORTED_ROWS_H
#define KEYRAY_SORTED_ROWS_H

#include "kinds/family.h"

typedef struct kr_row_list {
    uint64_t n;
    kr_buffer index;      /* positions in the column; none: 0 .. n - 1 */
    kr_buffer ids;        /* row ids, when they had to be made */
    const uint32_t *rows; /* row ids; NULL: 0 .. n - 1. Points into ids, index or the caller's */
} kr_row_list;

kr_status kr_row_list_make(const kr_build *build, kr_row_list *list, kr_error *err);
void kr_row_list_release(kr_device *device, kr_row_list *list, kr_stream *stream);

#endif
