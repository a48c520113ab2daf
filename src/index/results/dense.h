/* The walk of families whose rows lie side by side: row j of a match is at where + j. */
#ifndef KEYRAY_INDEX_RESULTS_DENSE_H
#define KEYRAY_INDEX_RESULTS_DENSE_H

#include "index/results/match.h"

extern const kr_walk kr_dense_walk;

/* n rows in n slots: slot s's row id lies at rows + s * stride, a multiple of 4. */
kr_rows kr_dense_rows(const void *rows, uint64_t stride, uint64_t n);

/* The walk of families whose row ids follow the order of their entries, so that none is kept: row j of a
 * match is first + where + j. */
extern const kr_walk kr_numbered_walk;

/* n rows in n slots: slot s holds row first + s. */
kr_rows kr_row_numbers(uint32_t first, uint64_t n);

#endif
