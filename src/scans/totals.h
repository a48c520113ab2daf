/* Results of a scan from its bitmap. All enqueue. */
#ifndef KEYRAY_SCANS_TOTALS_H
#define KEYRAY_SCANS_TOTALS_H

#include "devices/device.h"

/* A bitmap of n rows in device memory, and the column that is added up, if one is. */
typedef struct kr_selected {
    const uint32_t *bitmap;
    uint64_t n;
    const kr_column *values;
} kr_selected;

/* *count := how many rows there are. */
kr_status kr_selected_count(kr_device *device, const kr_selected *of, uint64_t *count, kr_stream *stream,
                            kr_error *err);
/* *out := the sum, minimum or maximum of the values that are not NULL (kr_scan_sink.out), *any := 1 if there
 * is one, else 0. The same in every run on a device. */
kr_status kr_selected_total(kr_device *device, const kr_selected *of, kr_scan_result result, void *out,
                            uint8_t *any, kr_stream *stream, kr_error *err);

/* Where the row ids of each tile of a bitmap go; the last is how many there are in all. */
typedef struct kr_selected_places {
    kr_buffer places;
    uint64_t n_tiles;
} kr_selected_places;

kr_status kr_selected_places_find(kr_device *device, const kr_selected *of, kr_selected_places *places,
                                  kr_stream *stream, kr_error *err);
static inline const uint64_t *kr_selected_places_total(const kr_selected_places *places)
{
    return (const uint64_t *)places->places.data + places->n_tiles;
}
/* Writes the row ids, ascending; those past `capacity` are left out. */
kr_status kr_selected_rows(kr_device *device, const kr_selected *of, const kr_selected_places *places,
                           uint32_t *rows, uint64_t capacity, kr_stream *stream, kr_error *err);

#endif
