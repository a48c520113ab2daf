/* The body of numbers.c. */
#ifndef KEYRAY_JOIN_NUMBERS_BODY_H
#define KEYRAY_JOIN_NUMBERS_BODY_H

#include "base/program/program.h"
#include <keyray/common.h>

typedef struct numbers_pack_params {
    const uint32_t *high, *low;
    uint64_t *out;
    uint64_t absent; /* where either is KR_NO_ROW */
    uint64_t low_bits;
} numbers_pack_params;
kr_assert_size(numbers_pack_params, 40);

KR_BODY void numbers_pack_row(const numbers_pack_params *p, uint64_t i)
{
    const uint32_t high = kr_load(p->high + i), low = kr_load(p->low + i);
    p->out[i] = high == KR_NO_ROW || low == KR_NO_ROW ? p->absent : (uint64_t)high << p->low_bits | low;
}
KR_MAP_PROGRAM(numbers_pack, numbers_pack_params, numbers_pack_row);

#endif
