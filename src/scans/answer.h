/* All of a kr_scan call with checked arguments: plans, bitmaps, results, where they go. */
#ifndef KEYRAY_SCANS_ANSWER_H
#define KEYRAY_SCANS_ANSWER_H

#include "scans/table.h"

typedef struct kr_answer {
    const kr_table *table;
    const kr_condition *const *conditions; /* or NULL; elements may be NULL */
    const kr_scan_sink *sinks;             /* in this version's form */
    uint32_t n;
    const uint32_t *alive;
    kr_scan_context context;
} kr_answer;

/* Waits only if an array is in host memory that the device does not reach. */
kr_status kr_answer_all(const kr_answer *answer, kr_error *err);

/* Bytes of kr_scan_sink.out. */
uint64_t kr_scan_out_nbytes(const kr_table *table, const kr_scan_sink *sink);

#endif
