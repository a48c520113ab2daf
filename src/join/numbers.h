/* Numbers in the place of columns, for joins whose columns take more than 64 bits together: each value gets
 * the first right row that has it. Equal values get equal numbers, on both sides. */
#ifndef KEYRAY_JOIN_NUMBERS_H
#define KEYRAY_JOIN_NUMBERS_H

#include "join/keys.h"

/* One number for each row of both sides; scratch memory. */
typedef struct numbers {
    uint32_t *left, *right;
} numbers;

numbers numbers_take(const keyed *k, const char *what);
void numbers_give(const keyed *k, const numbers *ids);

/* The numbers of the first n columns together, n at least 1; KR_NO_ROW for rows with a NULL and for values
 * that the right side lacks. */
numbers numbers_make(keyed *k, uint32_t n);

/* The same of column j alone. */
numbers numbers_of(keyed *k, uint32_t j);

/* Two numbers for each row of both sides, as one key; scratch memory. */
typedef struct numbers_pairs {
    uint64_t *left, *right;
} numbers_pairs;

/* out[i] := high[i], then low[i] in low_bits bits; `absent` where either is KR_NO_ROW. */
void numbers_pair(const keyed *k, const uint32_t *high, const uint32_t *low, uint32_t low_bits,
                  uint64_t absent, uint64_t *out, uint64_t n);
/* The same of both sides. A row without a number gets a key of its side: `high` numbers are below `most`. */
numbers_pairs numbers_pair_sides(const keyed *k, const numbers *high, const numbers *low, uint32_t low_bits,
                                 uint64_t most, const char *what);
/* The same where both are numbers of values; gives them back. */
numbers_pairs numbers_pair_values(const keyed *k, const numbers *high, const numbers *low);
/* The column of such pairs. */
kr_column numbers_column(const uint64_t *pairs, uint64_t count);

#endif
