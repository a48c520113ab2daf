/* The order of a group's rows in its scene: along a Hilbert curve, so that rows which follow each other are
 * near each other on all axes. A row's place in this order is its slot. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_ORDER_H
#define KEYRAY_TABLE_FAMILIES_CUBES_ORDER_H

#include "base/devices/work.h"
#include "table/families/cubes/cubes_params.h"

typedef struct cubes_order_job {
    uint64_t n_rows; /* at least 1 */
    uint32_t pack;   /* slots of a primitive */
    uint32_t extents[CUBES_AXES];
} cubes_order_job;

/* Slots, with those behind the last row that fill its primitive. */
uint64_t cubes_slots(uint64_t n_rows, uint32_t pack);
/* Replaces the records of rows by those of slots, and fills `rows`, those of the slots that have one.
 * Enqueues. On failure the records are of no use. */
void cubes_order_make(kr_work *work, const cubes_order_job *job, kr_buffer *records, kr_buffer *rows);
/* Whether each slot names a row, and those behind the last row are nowhere: 0, or a slot plus 1. Blocks. */
uint64_t cubes_order_check(kr_work *work, const kr_buffer *records, const kr_buffer *rows, uint64_t n_rows);
/* Memory that it takes meanwhile, beyond what it keeps. */
uint64_t cubes_order_scratch(kr_device *device, uint64_t n_rows);

#endif
