/* How rows in lists of nodes are read. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_WALK_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_WALK_H

#include "index/families/cgrx/cgrx_lists.h"
#include "index/results/match.h"

typedef struct cgrx_walk_view {
    const char *rows; /* that of slot s is at s * row_stride */
    cgrx_lists lists;
    uint32_t row_stride, reserved;
} cgrx_walk_view;

extern const kr_walk cgrx_walk;

#endif
