/* The walk of indexes that keep no row ids, as these are consecutive in the order of the keys: row j of a
 * match is `first` + where + j. It reads no memory. */
#ifndef KEYRAY_INDEX_RESULTS_CONSECUTIVE_H
#define KEYRAY_INDEX_RESULTS_CONSECUTIVE_H

#include "index/results/match.h"

extern const kr_walk kr_consecutive_walk;

/* n rows: first, first + 1, ... */
kr_rows kr_consecutive_rows(uint32_t first, uint64_t n);

#endif
