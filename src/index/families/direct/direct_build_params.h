/* The parameters of programs that build, check and read out the bits, and what they find. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_PARAMS_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_PARAMS_H

#include "base/key/key.h"
#include "base/program/block.h"
#include "index/families/direct/direct_view.h"

typedef struct direct_params {
    direct_view view;
    kr_key *keys;     /* sorted codes, with those that repeat; or the distinct ones */
    kr_key *all;      /* codes of all rows, to be written */
    uint64_t *counts; /* of each block: distinct keys, then those of blocks before; NULL: no key repeats */
    uint64_t *found;  /* DIRECT_FOUND_* */
} direct_params;
kr_assert_size(direct_params, 112);

/* A spot is a block and the number of a bit in it. Bit 0 of a spot's block is 32 bits behind its rank. */
enum { DIRECT_SPOT_BITS = 8, DIRECT_SPOT_BLOCKS_MOST = 1 << (32 - DIRECT_SPOT_BITS) };

/* Of distinct keys in any order. */
typedef struct direct_scatter_params {
    direct_view view;
    const kr_key *keys;      /* codes, of which spots are made */
    uint32_t *spots;         /* of each row */
    const uint32_t *row_ids; /* of each spot; NULL: 0, 1, 2, ... */
    uint64_t *counts;        /* of each block: its keys, then those of blocks before */
    uint64_t *found;         /* one counter: 1 if a key is there twice */
    uint64_t n;              /* rows whose bits are set */
    uint32_t part_bits;      /* spots that are equal above these bits lie side by side, in ascending order of
                                the bits above: a part. 32: all are one part */
    uint32_t reserved;
} direct_scatter_params;
kr_assert_size(direct_scatter_params, 136);

/* The same of rows that are grouped by blocks: part t has those of blocks t * part_blocks on. A part is made
 * in slices, of slice_blocks each: as many as fit shared memory. */
typedef struct direct_parts_params {
    direct_view view;
    kr_blocks blocks;
    const uint64_t *pairs;   /* of each row, part by part: which bit of its part, and its position in
                                the column << 32 */
    const uint32_t *starts;  /* where the rows of parts begin, and end */
    const uint32_t *row_ids; /* of positions in the column; NULL: 0, 1, 2, ... */
    uint64_t *found;         /* one counter: 1 if a key is there twice */
    uint32_t part_blocks, slice_blocks;
    uint32_t slices, slice_rows; /* of a part; rows of a slice whose row ids fit shared memory */
} direct_parts_params;
kr_assert_size(direct_parts_params, 136);

enum {
    DIRECT_FOUND_WRONG, /* when checking: one more than the largest block, start or row that is wrong */
    DIRECT_FOUND
};

#endif
