/* The rows of a column that are indexed, in ascending order of their row ids: a stable sort by key then gives
 * (key, row id) order. */
#ifndef KEYRAY_INDEX_SORTED_ROWS_H
#define KEYRAY_INDEX_SORTED_ROWS_H

#include "index/kinds/family.h"

typedef struct kr_row_list {
    uint64_t n;
    uint32_t *index;      /* positions in the column; NULL: 0 .. n - 1 */
    uint32_t *ids;        /* row ids, when they had to be made */
    const uint32_t *rows; /* row ids; NULL: 0 .. n - 1. Points into ids, index or the caller's */
} kr_row_list;

/* The lists are scratch memory of the work. */
kr_row_list kr_sorted_rows_make(kr_work *work, const kr_build *build);
void kr_sorted_rows_give(kr_work *work, const kr_row_list *list);

#endif
