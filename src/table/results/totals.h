/* Results of a scan from its bitmap. All enqueue. */
#ifndef KEYRAY_TABLE_RESULTS_TOTALS_H
#define KEYRAY_TABLE_RESULTS_TOTALS_H

#include "base/devices/work.h"

/* A bitmap of n rows in device memory, and the column that is added up, if one is. */
typedef struct kr_selected {
    const uint32_t *bitmap;
    uint64_t n;
    const kr_column *values;
} kr_selected;

/* *count := how many rows there are. */
void kr_selected_count(kr_work *work, const kr_selected *of, uint64_t *count);
/* *out := the sum, minimum or maximum of the values that are not NULL (kr_scan_sink.out), *any := 1 if there
 * is one, else 0. The same in every run on a device. */
void kr_selected_total(kr_work *work, const kr_selected *of, kr_scan_result result, void *out, uint8_t *any);

/* Where the row ids of each tile of a bitmap go (scratch memory of the work), and how many there are in all,
 * which is behind them. */
typedef struct kr_selected_places {
    uint64_t *places;
    const uint64_t *total;
    uint64_t n_tiles;
} kr_selected_places;

kr_selected_places kr_selected_places_find(kr_work *work, const kr_selected *of);
/* Writes the row ids, ascending; those past `capacity` are left out. */
void kr_selected_rows(kr_work *work, const kr_selected *of, const kr_selected_places *places, uint32_t *rows,
                      uint64_t capacity);

#endif
