/* All of a kr_scan call with checked arguments: plans, bitmaps, results, where they go. */
#ifndef KEYRAY_TABLE_RUN_ANSWER_H
#define KEYRAY_TABLE_RUN_ANSWER_H

#include "table/storage/table.h"

/* A sink in this version's form, and whether the device reaches its pointers; it does if they are NULL. */
typedef struct kr_answer_sink {
    kr_scan_sink asked;
    int reaches_out, reaches_valid, reaches_rows;
} kr_answer_sink;

typedef struct kr_answer {
    const kr_table *table;
    const kr_condition *const *conditions; /* or NULL; elements may be NULL */
    const kr_plan *plans; /* of the conditions, made beforehand; or NULL. What looks for texts waits */
    const kr_answer_sink *sinks;
    uint32_t n;
    const uint32_t *alive;
    int reaches_alive;
    int leaves_out; /* 1: row ids that do not fit are left out on every device; 0: only where nothing waits */
    kr_scan_notes notes;
} kr_answer;

/* The plans of all conditions, one after the other; the error says which condition is wrong. */
kr_status kr_scan_make_plans(const kr_answer *answer, kr_plan *plans, kr_error *err);

/* Waits only if an array is in host memory that the device does not reach. */
void kr_scan_answer_all(kr_work *work, const kr_answer *answer);

/* Bytes of kr_scan_sink.out. */
uint64_t kr_scan_out_nbytes(const kr_table *table, const kr_scan_sink *sink);

#endif
