/* What a report holds. */
#ifndef KEYRAY_API_REPORT_H
#define KEYRAY_API_REPORT_H

#include "index/lookup/query.h"
#include "table/log.h"

struct kr_report {
    uint64_t probes;
    kr_probe_log log;
    kr_phases phases;
    uint32_t n_counters; /* 0: not counted */
    uint64_t counters[KR_WORK_COUNTS];
    kr_scan_log scan; /* of a scan: its steps and its counters */
    uint32_t has_scan_work;
    uint32_t has_kept; /* of a lookup in a divided index: log.kept */
};

/* Releases what the report holds. */
void kr_report_clear(kr_report *report);

#endif
