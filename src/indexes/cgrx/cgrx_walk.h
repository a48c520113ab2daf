/* How rows are read that lie in lists of nodes. */
#ifndef KEYRAY_INDEXES_CGRX_CGRX_WALK_H
#define KEYRAY_INDEXES_CGRX_CGRX_WALK_H

#include "indexes/cgrx/cgrx_lists.h"
#include "results/match.h"

typedef struct cgrx_walk_view {
    const char *rows; /* slot s's at s * row_stride */
    cgrx_lists lists;
    uint32_t row_stride, reserved;
} cgrx_walk_view;

extern const kr_walk cgrx_walk;

#endif
