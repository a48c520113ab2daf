/* Levels of pivots that an index keeps beside sorted entries, as a search of a partitioned batch uses them.
 */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_PARTS_LEVELS_H
#define KEYRAY_INDEX_LIGHTWEIGHT_PARTS_LEVELS_H

#include "base/program/lang.h"

enum {
    KR_PARTS_NODE = 8,   /* pivots of a node, and entries of a leaf */
    KR_PARTS_LEVELS = 12 /* at most: 8 * 9^11 entries are more than 2^32 */
};

/* Leaves of 8 entries under nodes of 8 pivots, and so on: the levels of kind `pivot` with k=9, none cut off
 * (index/families/pivot/pivot_params.h). */
typedef struct kr_parts_levels {
    const void *pivots; /* kr_key; NULL: the index keeps none */
    uint32_t n_levels, reserved;
    uint32_t starts[KR_PARTS_LEVELS]; /* first pivot of each level, the lowest level first */
} kr_parts_levels;

#endif
