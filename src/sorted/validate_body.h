/* The bodies of validate.c. */
#ifndef KEYRAY_SORTED_VALIDATE_BODY_H
#define KEYRAY_SORTED_VALIDATE_BODY_H

#include "core/batch.h"
#include "program/program.h"

/* For validate. found[0], found[1]: one more than the largest position where keys fall, where row ids fall
 * within a key; found[2]: the largest row id. */
typedef struct check_order_params {
    const char *keys;
    uint64_t key_stride;
    kr_rows_view rows;
    uint64_t *found;
    uint32_t key_bits, reserved;
} check_order_params;

KR_BODY uint64_t check_key_at(const check_order_params *p, uint64_t i)
{
    const uint32_t *words = (const uint32_t *)(p->keys + kr_lists_slot(&p->rows.lists, i) * p->key_stride);
    return p->key_bits == 32 ? kr_load(words) : kr_load(words) | (uint64_t)kr_load(words + 1) << 32;
}

KR_BODY void check_order(kr_group group, const check_order_params *p, uint64_t i, uint64_t n)
{
    const uint64_t row = i < n ? kr_row_at(&p->rows, i) : 0;
    if (i > 0 && i < n) {
        const uint64_t key = check_key_at(p, i), key_before = check_key_at(p, i - 1);
        if (key < key_before)
            kr_atomic_max64(p->found, i + 1);
        else if (key == key_before && row <= kr_row_at(&p->rows, i - 1))
            kr_atomic_max64(p->found + 1, i + 1);
    }
    kr_group_max64(group, row, p->found + 2);
}
KR_GROUP_PROGRAM(sorted_check_order, check_order_params, check_order);

/* Sets bit `row id` of a bitmap; count_marked then counts the distinct ids. */
typedef struct mark_rows_params {
    kr_rows_view rows;
    uint32_t *bitmap;
    uint64_t *marked;
} mark_rows_params;

KR_BODY void mark_rows(const mark_rows_params *p, uint64_t i)
{
    const uint32_t row = kr_row_at(&p->rows, i);
    kr_atomic_or32(p->bitmap + row / 32, (uint32_t)1 << row % 32);
}
KR_MAP_PROGRAM(sorted_mark_rows, mark_rows_params, mark_rows);

KR_BODY void count_marked(kr_group group, const mark_rows_params *p, uint64_t i, uint64_t n)
{
    uint64_t count = i < n ? kr_popcount32(p->bitmap[i]) : 0;
    for (uint32_t distance = group.size / 2; distance; distance /= 2)
        count += kr_group_other(group, count, distance);
    if (group.rank == 0 && count)
        kr_atomic_add64(p->marked, count);
}
KR_GROUP_PROGRAM(sorted_count_marked, mark_rows_params, count_marked);

/* Row ids side by side, to be sorted. */
typedef struct list_rows_params {
    kr_rows_view rows;
    uint32_t *ids;
} list_rows_params;

KR_BODY void list_rows(const list_rows_params *p, uint64_t i)
{
    p->ids[i] = kr_row_at(&p->rows, i);
}
KR_MAP_PROGRAM(sorted_list_rows, list_rows_params, list_rows);

#endif
