/* The parameters of the program that answers many conditions at once. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_PARAMS_H

#include "base/program/block.h"
#include "table/condition/fold.h"

/* A lane is an AND of leaves, at most one for each column; bit `lane` of a mask says whether a row can still
 * be in it. Conditions of one launch have up to FULL_LANES of them. An element of the program has
 * FULL_BATCH_ROWS rows; threads of a GPU take FULL_BATCH_MINE at a time. */
enum {
    FULL_LANES = 64,
    FULL_HALVES = FULL_LANES / 32,
    FULL_BATCH_COLUMNS = 32,
    FULL_BATCH_ROWS = 5120,
    FULL_BATCH_MINE = 8,
    FULL_BATCH_TEAMS = 4,
    FULL_FOLD_NBYTES =
        FULL_LANES * FULL_BATCH_ROWS / 8 /* of a block's shared memory, where lanes are folded */
};

/* A column, or the order of two. Edges cut its codes into slots, and NULL has the last slot: each leaf holds
 * for all codes of a slot or for none. In the tables, from `tables` on: the edges, each the last code of a
 * slot, as a search tree level by level (node 1 first, children of i at 2 i and 2 i + 1, 2^levels words of
 * the key width, nodes that are not needed all ones); then the masks of the slots, lanes 0 to 31 before the
 * others. Two columns have slots for "less", "equal", "greater". */
typedef struct full_batch_column {
    const void *data, *other; /* other: or NULL */
    const uint8_t *validity, *other_validity;
    const void *zones, *zone_highs; /* as in full_leaf */
    uint64_t tables;
    uint32_t uses[FULL_HALVES]; /* lanes that have a leaf on it */
    uint32_t validity_offset, other_offset;
    uint32_t type, load;
    uint32_t levels, n_slots;
    uint64_t buckets, lowest;  /* buckets: where they are in the tables */
    uint32_t shift, n_buckets; /* n_buckets: 0 if the column has none */
    uint64_t end;              /* of its tables */
} full_batch_column;
kr_assert_size(full_batch_column, 120);

/* Buckets of equal width from the lowest edge on: a word of the edge in it, or all ones, and one of the slots
 * before it. With several edges, the slot is FULL_CROWDED and the edge all ones: the tree is searched. */
#define FULL_CROWDED 0xFFFFFFFFu
#define FULL_BUCKET_OF(name, key_t)                                                 \
    KR_BOTH uint32_t name(key_t lowest, uint32_t shift, uint32_t n, key_t code)     \
    {                                                                               \
        const key_t bucket = (code > lowest ? (key_t)(code - lowest) : 0) >> shift; \
        return bucket < n ? (uint32_t)bucket : n - 1;                               \
    }
FULL_BUCKET_OF(full_bucket_of_u32, uint32_t)
FULL_BUCKET_OF(full_bucket_of_u64, uint64_t)

/* The node of a perfect tree that edge s of all stands in. */
KR_BOTH uint32_t full_node_of(uint32_t levels, uint32_t s)
{
    uint32_t below = 0;
    while (!((s + 1) >> below & 1))
        ++below;
    return ((uint32_t)1 << (levels - 1 - below)) + ((s + 1) >> (below + 1));
}

typedef struct full_batch_params {
    /* Where results go, a pointer for each lane, NULL for those that were folded into others; then folds
     * (kr_plan_fold_of); then the tables of columns. */
    const char *tables;
    const uint32_t *alive;       /* or NULL */
    uint64_t *compared, *spared; /* NULL, or counters of rows */
    uint64_t n;                  /* rows */
    kr_blocks blocks;
    uint32_t shared_nbytes;               /* of the tables, from their beginning: what a block keeps */
    uint32_t inverts[FULL_HALVES];        /* lanes that are turned over when all leaves are in */
    uint32_t folds[FULL_BATCH_TEAMS + 1]; /* where those begin that a team does, in order */
    uint32_t n_columns, n_lanes;
    uint32_t skips; /* 1: columns are not read where no row is left */
    uint32_t reserved;
    full_batch_column columns[FULL_BATCH_COLUMNS];
} full_batch_params;
kr_assert_size(full_batch_params, 96 + 120 * FULL_BATCH_COLUMNS);

#endif
