/* An index of kind `dense` as bodies see it.
 *
 * A code is lowest + value * step. Block b has the bits of values 224 b to 224 b + 223: eight words of 32
 * bits, of which the first is the number of keys in blocks before (its rank), and bit v % 32 of word
 * 1 + v / 32 says whether a key has value 224 b + v. So a key's ordinal, its number among the distinct keys,
 * is a rank and a count of bits. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_VIEW_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_VIEW_H

#include "base/program/lang.h"

enum { DIRECT_WORDS = 8, DIRECT_BIT_WORDS = 7, DIRECT_VALUES = 224, DIRECT_BLOCK_NBYTES = 32 };

/* A value has at most so many bits, so that the number of its word has 32. */
enum { DIRECT_VALUE_BITS = 37 };

typedef struct direct_view {
    uint32_t *blocks;
    uint32_t
        *starts; /* of each distinct key and one more: the position of its first row; NULL: no key repeats */
    uint32_t *rows;        /* in the order of positions; NULL: they are first_row, first_row + 1, ... */
    uint64_t lowest, span; /* the lowest code, and the highest less it */
    uint64_t step, magic;  /* of kr_code_divide */
    uint32_t shift;
    uint32_t n, n_keys; /* rows; distinct keys */
    uint32_t n_blocks;
    uint32_t first_row;
    uint32_t is_full; /* of lookups: 1: all values have keys, so that a value is an ordinal */
} direct_view;
kr_assert_size(direct_view, 80);

/* In shared memory, of blocks whose words of bits have 8 bytes each (direct_points_width_body.h). What
 * follows begins at 16 bytes. */
KR_BOTH uint64_t direct_piece_words_nbytes(uint64_t n_blocks)
{
    return (n_blocks * DIRECT_BIT_WORDS * sizeof(uint64_t) + 15) & ~(uint64_t)15;
}

#endif
