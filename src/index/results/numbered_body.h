/* The walk of kr_numbered_walk (index/results/dense.h). */
#ifndef KEYRAY_INDEX_RESULTS_NUMBERED_BODY_H
#define KEYRAY_INDEX_RESULTS_NUMBERED_BODY_H

#include "index/results/match.h"

typedef struct walk_view {
    uint64_t first;
} walk_view;

KR_BODY uint32_t walk_row(const walk_view *view, uint64_t slot)
{
    return (uint32_t)(view->first + slot);
}

#include "index/results/walk_beside.h"

#define KR_WALK kr_numbered_walk
#include "index/results/walk_programs.h"

#endif
