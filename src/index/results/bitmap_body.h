/* The bodies of bitmap.c. */
#ifndef KEYRAY_INDEX_RESULTS_BITMAP_BODY_H
#define KEYRAY_INDEX_RESULTS_BITMAP_BODY_H

#include "base/program/program.h"

typedef struct pack_params {
    const uint8_t *flags;
    uint8_t *bitmap;
    uint64_t n;
} pack_params;

KR_BODY void bitmap_pack_flags(const pack_params *p, uint64_t i)
{
    uint32_t bits = 0;
    for (uint32_t j = 0; j < 8 && i * 8 + j < p->n; ++j)
        bits |= (uint32_t)(p->flags[i * 8 + j] != 0) << j;
    p->bitmap[i] = (uint8_t)bits;
}
KR_MAP_PROGRAM(bitmap_pack, pack_params, bitmap_pack_flags);

typedef struct mark_params {
    const uint32_t *ids;
    uint32_t *bitmap;
} mark_params;

KR_BODY void bitmap_mark_id(const mark_params *p, uint64_t i)
{
    const uint32_t id = kr_load(p->ids + i);
    kr_atomic_or32(p->bitmap + id / 32, (uint32_t)1 << id % 32);
}
KR_MAP_PROGRAM(bitmap_mark, mark_params, bitmap_mark_id);

typedef struct select_params {
    const uint32_t *bitmap;
    const uint64_t *offsets;
    uint64_t *places; /* 1 where a row is wanted; after a prefix sum, where it goes */
    uint32_t *rows;
    uint32_t wanted, reserved;
} select_params;
kr_assert_size(select_params, 40);

KR_BODY int select_wants(const select_params *p, uint64_t i)
{
    const int found = p->bitmap ? (int)(kr_load(p->bitmap + i / 32) >> (i % 32) & 1u)
                                : kr_load(p->offsets + i) != kr_load(p->offsets + i + 1);
    return found == (int)p->wanted;
}

KR_BODY void select_count(const select_params *p, uint64_t i)
{
    p->places[i] = (uint64_t)select_wants(p, i);
}
KR_MAP_PROGRAM(bitmap_select_count, select_params, select_count);

KR_BODY void select_write(const select_params *p, uint64_t i)
{
    if (select_wants(p, i))
        p->rows[p->places[i]] = (uint32_t)i;
}
KR_MAP_PROGRAM(bitmap_select_write, select_params, select_write);

#endif
