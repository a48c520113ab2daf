/* Numbers in the place of columns, for joins whose columns take more than 64 bits together: each value gets
 * the first right row that has it. Equal values get equal numbers, on both sides. */
#ifndef KEYRAY_JOINS_NUMBERS_H
#define KEYRAY_JOINS_NUMBERS_H

#include "joins/keys.h"

/* Two columns of numbers, one number for each row, of 4 or 8 bytes. */
typedef struct numbers {
    kr_buffer left, right;
} numbers;

kr_status numbers_allocate(const keyed *k, uint32_t nbytes, const char *what, numbers *made, kr_error *err);
void numbers_release(const keyed *k, numbers *made);

/* The uint32_t numbers of the first n columns together, n at least 1; KR_NO_ROW for rows with a NULL and for
 * values that the right side lacks. Release them, also after a failure. */
kr_status numbers_make(keyed *k, uint32_t n, numbers *ids, kr_error *err);

/* The same of column j alone. */
kr_status numbers_of(keyed *k, uint32_t j, numbers *ids, kr_error *err);

/* out[i] := high[i], then low[i] in low_bits bits, a uint64_t; `absent` where either is KR_NO_ROW. */
kr_status numbers_pair(const keyed *k, const kr_buffer *high, const kr_buffer *low, uint32_t low_bits,
                       uint64_t absent, const kr_buffer *out, uint64_t n, kr_error *err);
/* The same on both sides. A row without a number gets a key of its side: `high` numbers are below `most`. */
kr_status numbers_pair_sides(const keyed *k, const numbers *high, const numbers *low, uint32_t low_bits,
                             uint64_t most, const numbers *keys, kr_error *err);

/* The column of such pairs. */
kr_column numbers_column(const kr_buffer *keys, uint64_t count);

#endif
