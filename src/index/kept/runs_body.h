/* The body of runs.c. */
#ifndef KEYRAY_INDEX_KEPT_RUNS_BODY_H
#define KEYRAY_INDEX_KEPT_RUNS_BODY_H

#include "base/program/program.h"

typedef struct runs_shift_params {
    uint32_t *rows;
    uint64_t first;
} runs_shift_params;
kr_assert_size(runs_shift_params, 16);

/* Rows of a chunk become rows of the column. */
KR_BODY void runs_shift_row(const runs_shift_params *p, uint64_t i)
{
    p->rows[i] += (uint32_t)p->first;
}
KR_MAP_PROGRAM(runs_shift, runs_shift_params, runs_shift_row);

#endif
