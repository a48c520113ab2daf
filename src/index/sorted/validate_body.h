/* The body of validate.c. */
#ifndef KEYRAY_INDEX_SORTED_VALIDATE_BODY_H
#define KEYRAY_INDEX_SORTED_VALIDATE_BODY_H

#include "index/sorted/entries.h"
#include "index/sorted/order_check.h"

typedef struct check_order_params {
    kr_entries entries;
    uint64_t *found;
    uint64_t key_bits; /* 32 or 64: this program serves both */
} check_order_params;

KR_BODY uint64_t sorted_check_key_at(const check_order_params *p, uint64_t i)
{
    const uint32_t *words = (const uint32_t *)(p->entries.keys + i * p->entries.key_stride);
    return p->key_bits == 32 ? kr_load(words) : kr_load(words) | (uint64_t)kr_load(words + 1) << 32;
}

KR_BODY uint32_t sorted_check_row_at(const check_order_params *p, uint64_t i)
{
    return kr_load((const uint32_t *)(p->entries.rows + i * p->entries.row_stride));
}
KR_ORDER_CHECK_PROGRAM(sorted_check_order, check_order_params, entries.n, sorted_check_key_at,
                       sorted_check_row_at);

#endif
