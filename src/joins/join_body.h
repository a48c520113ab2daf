/* The bodies of join.c: which rows of a side found a partner, and the list of those that did or did not. */
#ifndef KEYRAY_JOINS_JOIN_BODY_H
#define KEYRAY_JOINS_JOIN_BODY_H

#include "core/batch.h"
#include "program/program.h"

/* Sets bit partners[i] of a bitmap. */
typedef struct mark_params {
    const uint32_t *partners;
    uint32_t *bitmap;
} mark_params;
kr_assert_size(mark_params, 16);

KR_BODY void mark_partner(const mark_params *p, uint64_t i)
{
    const uint32_t row = kr_load(p->partners + i);
    kr_atomic_or32(p->bitmap + row / 32, (uint32_t)1 << row % 32);
}
KR_MAP_PROGRAM(join_mark, mark_params, mark_partner);

/* Rows whose having a partner equals `wanted`, told by the offsets of their matches or by the bitmap. */
typedef struct select_params {
    const uint64_t *matched; /* offsets, or NULL */
    const uint32_t *bitmap;
    uint64_t *places; /* 1 where a row is wanted; after a prefix sum, where it goes */
    uint32_t *rows;
    uint32_t wanted, reserved;
} select_params;
kr_assert_size(select_params, 40);

KR_BODY int select_wants(const select_params *p, uint64_t i)
{
    const int found = p->matched ? kr_load(p->matched + i) != kr_load(p->matched + i + 1)
                                 : (int)(kr_load(p->bitmap + i / 32) >> (i % 32) & 1u);
    return found == (int)p->wanted;
}

KR_BODY void select_count(const select_params *p, uint64_t i)
{
    p->places[i] = (uint64_t)select_wants(p, i);
}
KR_MAP_PROGRAM(join_select_count, select_params, select_count);

KR_BODY void select_write(const select_params *p, uint64_t i)
{
    if (select_wants(p, i))
        p->rows[p->places[i]] = (uint32_t)i;
}
KR_MAP_PROGRAM(join_select_write, select_params, select_write);

#endif
