/* Numbers in the place of columns, for joins whose columns take more than 64 bits together: each value gets
 * the first right row that has it. Equal values get equal numbers, on both sides. */
#ifndef KEYRAY_JOINS_NUMBERS_H
#define KEYRAY_JOINS_NUMBERS_H

#include "joins/keys.h"

/* Two columns of numbers, one number for each row, of 4 or 8 bytes; scratch memory. */
typedef struct numbers {
    void *left, *right;
} numbers;

numbers numbers_take(const keyed *k, uint32_t nbytes, const char *what);
void numbers_give(const keyed *k, const numbers *ids);

/* The uint32_t numbers of the first n columns together, n at least 1; KR_NO_ROW for rows with a NULL and for
 * values that the right side lacks. */
numbers numbers_make(keyed *k, uint32_t n);

/* The same of column j alone. */
numbers numbers_of(keyed *k, uint32_t j);

/* out[i] := high[i], then low[i] in low_bits bits, a uint64_t; `absent` where either is KR_NO_ROW. */
void numbers_pair(const keyed *k, const uint32_t *high, const uint32_t *low, uint32_t low_bits,
                  uint64_t absent, uint64_t *out, uint64_t n);
/* The same on both sides. A row without a number gets a key of its side: `high` numbers are below `most`. */
void numbers_pair_sides(const keyed *k, const numbers *high, const numbers *low, uint32_t low_bits,
                        uint64_t most, const numbers *keys);

/* Keys of both sides that pair one number with another; gives these back. */
numbers numbers_keys(keyed *k, const numbers *ids, const numbers *more);

/* The column of such pairs. */
kr_column numbers_column(const void *keys, uint64_t count);

#endif
