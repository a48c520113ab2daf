/* The bodies of partners.c. */
#ifndef KEYRAY_JOIN_PARTNERS_BODY_H
#define KEYRAY_JOIN_PARTNERS_BODY_H

#include "base/program/program.h"

#include <keyray/common.h>

typedef struct partners_params {
    uint32_t *rows; /* answers to ROW: of probes; of the indexed rows */
    uint32_t *marks;
} partners_params;
kr_assert_size(partners_params, 16);

KR_BODY int partners_is_marked(const partners_params *p, uint32_t row)
{
    return row != KR_NO_ROW && (kr_atomic_load32(p->marks + row / 32) >> row % 32 & 1);
}

/* Most probes of a key that many have find it marked, and write nothing. */
KR_BODY void partners_mark_row(const partners_params *p, uint64_t i)
{
    const uint32_t row = kr_load(p->rows + i);
    if (row != KR_NO_ROW && !partners_is_marked(p, row))
        kr_atomic_or32(p->marks + row / 32, (uint32_t)1 << row % 32);
}
KR_MAP_PROGRAM(partners_mark, partners_params, partners_mark_row);

/* The first row of a row's key becomes KR_NO_ROW unless it is marked. */
KR_BODY void partners_keep_row(const partners_params *p, uint64_t i)
{
    if (!partners_is_marked(p, p->rows[i]))
        p->rows[i] = KR_NO_ROW;
}
KR_MAP_PROGRAM(partners_keep, partners_params, partners_keep_row);

#endif
