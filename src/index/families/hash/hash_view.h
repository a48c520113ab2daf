/* A table as bodies see it; hash_nodes.h says how nodes lie in memory. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_VIEW_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_VIEW_H

#include "index/results/match.h"

typedef struct hash_view {
    char *heads, *more; /* the buckets; the nodes behind them (kind chain) */
    kr_match *spans;    /* of the keys with several rows: where in `aside`, and how many; {0, 0}: no key */
    uint32_t *aside;    /* their row ids, ascending; KR_NO_ROW where no span is */
    uint64_t seed;      /* of kr_mix */
    uint32_t n_heads, slots;
    uint32_t linked; /* 1: kind chain */
    uint32_t twice;  /* 1: double hashing */
    uint32_t plain;  /* 1: kind hash without filter and reach */
    uint32_t reserved;
} hash_view;
kr_assert_size(hash_view, 64);

/* Bytes of a node: a multiple of 16. 64 in kind hash; 128 or 192 in kind chain. */
KR_BOTH uint32_t hash_node_nbytes(uint32_t key_nbytes, uint32_t slots, uint32_t linked)
{
    return (slots * (key_nbytes + 4) + 4 + 4 * linked + 15) & ~15u;
}

#endif
