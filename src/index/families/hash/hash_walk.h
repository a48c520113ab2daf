/* The walk of a table: the match of a key with one row is that row itself. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_WALK_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_WALK_H

#include "index/results/match.h"

extern const kr_walk hash_walk;

/* What the walk reads. */
typedef struct hash_walk_view {
    const char *heads, *more;
    const uint32_t *aside;
    uint64_t n_table;        /* slots of all nodes; the places of `aside` follow */
    uint32_t n_heads, slots; /* `slots` of a node */
    uint32_t node_nbytes;
    uint32_t meta, words; /* where they are in a node, in bytes */
    uint32_t several;     /* the bit of a node's meta for slot 0 */
} hash_walk_view;

#endif
