/* Bitmaps of rows, merged. */
#ifndef KEYRAY_TABLE_RESULTS_MERGE_H
#define KEYRAY_TABLE_RESULTS_MERGE_H

#include "base/devices/work.h"

/* to |= from */
void kr_selected_or(kr_work *work, uint32_t *to, const uint32_t *from, uint64_t n_words);
/* to &= from */
void kr_selected_and(kr_work *work, uint32_t *to, const uint32_t *from, uint64_t n_words);
/* to &= ~from; no progress callback can cancel it. */
void kr_selected_clear(kr_work *work, uint32_t *to, const uint32_t *from, uint64_t n_words);
/* The bits of rows below n: all of them, or those of `alive`. */
void kr_selected_begin(kr_work *work, uint32_t *to, const uint32_t *alive, uint64_t n);

#endif
