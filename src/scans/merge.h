/* Bitmaps of whole words, merged. */
#ifndef KEYRAY_SCANS_MERGE_H
#define KEYRAY_SCANS_MERGE_H

#include "devices/device.h"

/* to |= from */
kr_status kr_bitmap_or(kr_device *device, uint32_t *to, const uint32_t *from, uint64_t n_words,
                       kr_stream *stream, kr_error *err);
/* to &= from */
kr_status kr_bitmap_and(kr_device *device, uint32_t *to, const uint32_t *from, uint64_t n_words,
                        kr_stream *stream, kr_error *err);
/* to &= ~from; no progress callback can cancel it. */
kr_status kr_bitmap_clear(kr_device *device, uint32_t *to, const uint32_t *from, uint64_t n_words,
                          kr_stream *stream, kr_error *err);
/* The bits of rows below n: all of them, or those of `alive`. */
kr_status kr_bitmap_begin(kr_device *device, uint32_t *to, const uint32_t *alive, uint64_t n,
                          kr_stream *stream, kr_error *err);

#endif
