/* Bitmaps: bit i of word i / 32 or byte i / 8, least significant first. */
#ifndef KEYRAY_INDEX_RESULTS_BITMAP_H
#define KEYRAY_INDEX_RESULTS_BITMAP_H

#include "base/devices/work.h"

/* n flags of one byte become n bits; unused bits of the last byte are 0. Enqueues. */
void kr_bitmap_pack(kr_work *work, const uint8_t *flags, uint64_t n, uint8_t *bitmap);

/* Sets bit ids[i] for every i < n; the caller zeroes the bitmap first. Enqueues. */
void kr_bitmap_mark(kr_work *work, const uint32_t *ids, uint64_t n, uint32_t *bitmap);

/* Which of the rows 0 .. n - 1 to list. */
typedef struct kr_selection {
    const uint32_t *bitmap;  /* those whose bit is `wanted`, or, where it is NULL: */
    const uint64_t *offsets; /* n + 1: those with (1) or without (0) matches */
    uint64_t n;
    uint32_t wanted;
} kr_selection;

/* Their row ids, ascending, in scratch memory; *count is how many there are. Blocks. */
uint32_t *kr_select_list(kr_work *work, const kr_selection *selection, uint64_t *count);

#endif
