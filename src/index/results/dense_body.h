/* The walk of index/results/dense.h. */
#ifndef KEYRAY_INDEX_RESULTS_DENSE_BODY_H
#define KEYRAY_INDEX_RESULTS_DENSE_BODY_H

#include "index/results/match.h"

typedef struct walk_view {
    const char *rows;
    uint64_t stride;
} walk_view;

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return kr_load((const uint32_t *)(view->rows + slot * view->stride));
}

#include "index/results/walk_beside.h"

#define KR_WALK_ROWS(view) ((view)->stride == sizeof(uint32_t) ? (const uint32_t *)(view)->rows : NULL)
#define KR_WALK kr_dense_walk
#include "index/results/walk_programs.h"

#endif
