/* The parameters of the programs of kind `full`. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_PARAMS_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_PARAMS_H

#include "base/program/program.h"

/* A tile is what a group works on at a time: its rows are the bits of 32 words. */
enum { FULL_TILE = 1024, FULL_LEAVES = 32, FULL_CODE = 2 * FULL_LEAVES, FULL_STACK = 6 };

/* How a leaf is decided. */
enum {
    FULL_INTERVAL, /* value - base <= span, modulo the key width, is not `negate` */
    FULL_SEARCH,   /* by binary search among intervals */
    FULL_COLUMNS   /* compared with another column */
};

/* How a thread of a GPU loads four values; constants where they are used: no loop asks for the type. */
enum { FULL_LOAD_ONE_BY_ONE, FULL_LOAD_1, FULL_LOAD_2, FULL_LOAD_4, FULL_LOAD_8 };

typedef struct full_leaf {
    const void *data;
    const void *other;             /* COLUMNS */
    const uint8_t *validity;       /* or NULL */
    const uint8_t *other_validity; /* COLUMNS: or NULL */
    const void *lows, *highs;      /* SEARCH: codes of the key width, ascending */
    const void *zones;             /* NULL, or the lowest code of each tile, of the type's key width, */
    const void *zone_highs;        /* and the highest */
    uint64_t base, span;           /* INTERVAL */
    uint32_t validity_offset, other_offset;
    uint32_t type, form;
    uint32_t n_intervals, compare;
    uint32_t negate, nulls; /* nulls: 1 if NULL belongs to the leaf */
    uint32_t load;          /* FULL_LOAD_* */
    uint32_t reserved;
} full_leaf;
kr_assert_size(full_leaf, 120);

/* The condition as operations on a stack of bitmaps: of each a tile has a word for each thread of a warp. */
enum {
    FULL_PUSH,     /* push leaf */
    FULL_AND_LEAF, /* top &= leaf */
    FULL_OR_LEAF,
    FULL_AND, /* the two topmost become one */
    FULL_OR
};

/* Which rows, none of which is left, a leaf does not read. */
enum {
    FULL_SKIPS_NOTHING, /* a logical AND */
    FULL_SKIPS_PARTS,   /* of tiles (full_tile.h) */
    FULL_SKIPS_GROUPS   /* of four rows on a GPU, words of 32 on the CPU: a branching AND */
};

typedef struct full_params {
    uint32_t *bitmap;
    const uint32_t *alive;       /* or NULL */
    uint64_t *compared, *spared; /* NULL, or counters of rows */
    uint64_t n;                  /* rows */
    uint32_t n_code, skips;      /* FULL_SKIPS_* */
    uint8_t code[2 * FULL_CODE]; /* an operation and its leaf, each */
    full_leaf leaves[FULL_LEAVES];
} full_params;
kr_assert_size(full_params, 4016);

#endif
