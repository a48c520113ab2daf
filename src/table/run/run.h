/* From a plan to a bitmap, on any kind of scan. */
#ifndef KEYRAY_TABLE_RUN_RUN_H
#define KEYRAY_TABLE_RUN_RUN_H

#include "table/storage/table.h"

/* One condition of a call. */
typedef struct kr_scan_job {
    kr_plan plan;
    uint32_t *bitmap; /* kr_scans_bitmap_words of them in device memory */
    uint64_t *count;  /* as in kr_select */
} kr_scan_job;

/* Fills the bitmaps of all jobs, or adds to their counts; at most KR_SELECTS_MOST jobs; `alive` as in
 * kr_select. Enqueues. */
void kr_scan_run(kr_work *work, const kr_table *table, const kr_scan_job *jobs, uint32_t n,
                 const uint32_t *alive, const kr_scan_notes *notes);

/* KR_ERR_UNSUPPORTED, naming kinds that do, if the kind does not compare columns and the plan does. */
kr_status kr_scan_check_plan(const kr_table *table, const kr_plan *plan, kr_error *err);

#endif
