/* Joins that are added up: one answer for each left row, and no pairs. */
#ifndef KEYRAY_JOIN_SUMS_H
#define KEYRAY_JOIN_SUMS_H

#include "join/join.h"

typedef struct kr_sums_job {
    kr_join_job how;     /* spec, left, right, index_side */
    const kr_sink *sink; /* COUNT, SUM_ROWS or SUM; SUM of floats only where the right side is indexed */
    int reaches;         /* 1: sink->out is in device memory */
} kr_sums_job;

/* Fills sink->out and *info. Blocks. */
void kr_join_sums_run(kr_work *work, const kr_sums_job *job, kr_join_info *info);

#endif
