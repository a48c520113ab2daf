/* What a scan did, for its report. */
#ifndef KEYRAY_TABLE_LOG_H
#define KEYRAY_TABLE_LOG_H

#include "table/condition/plan.h"

/* Work that kinds count; each kind uses those that it has. */
enum {
    KR_SCAN_RAYS,          /* cast */
    KR_SCAN_PRIMITIVES,    /* met by rays; each stands for one row or several */
    KR_SCAN_INTERSECTIONS, /* rows whose own cubes or triangles rays met */
    KR_SCAN_REFINED,       /* rows whose values were compared one by one */
    KR_SCAN_SPARED,        /* rows that would have been compared, had nothing been known of them */
    KR_SCAN_RAYS_MET,      /* rays that met a row */
    KR_SCAN_WORKS
};

enum { KR_SCAN_STEP_NBYTES = 200 };
#define KR_SCAN_BY_BITMAPS "AND and OR by bitmaps, a conjunction after the other"

typedef struct kr_scan_log {
    uint64_t work[KR_SCAN_WORKS];
    char (*steps)[KR_SCAN_STEP_NBYTES];
    uint64_t n_steps, room_steps;
} kr_scan_log;

/* Adds a line: what answered which predicate. Does nothing without a log; where there is no memory, the line
 * is left out. */
void kr_scans_log_step(kr_scan_log *log, const char *text, ...) __attribute__((format(printf, 2, 3)));
void kr_scans_log_release(kr_scan_log *log);

#endif
