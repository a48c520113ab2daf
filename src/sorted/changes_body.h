/* The body of changes.c. */
#ifndef KEYRAY_SORTED_CHANGES_BODY_H
#define KEYRAY_SORTED_CHANGES_BODY_H

#include "program/program.h"

/* Adds the first row id to row ids that count from zero. */
typedef struct shift_params {
    uint32_t *rows;
    uint64_t by;
} shift_params;

KR_BODY void shift_row(const shift_params *p, uint64_t i)
{
    p->rows[i] += (uint32_t)p->by;
}
KR_MAP_PROGRAM(sorted_shift_rows, shift_params, shift_row);

#endif
