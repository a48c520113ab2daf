/* The two walks over the rows of ranks: in the order of ranks, and level by level. */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_WALK_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_WALK_H

#include "index/families/eytzinger/eytzinger_tree.h"
#include "index/results/match.h"

typedef struct eytzinger_walk_view {
    const char *rows; /* that of entry e is at e * stride */
    uint64_t stride;
    eytzinger_tree tree;
} eytzinger_walk_view;

extern const kr_walk eytzinger_by_rank, eytzinger_by_level;

#endif
