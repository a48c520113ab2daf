/* Comparisons of two codes of one type. */
#ifndef KEYRAY_TABLE_CONDITION_COMPARE_H
#define KEYRAY_TABLE_CONDITION_COMPARE_H

#include "base/program/program.h"

/* `order`: 0, 1, 2 for less, equal, greater; `compare`: KR_LESS ... KR_NOT_EQUAL. */
KR_BODY int kr_compare_holds(uint32_t compare, uint32_t order)
{
    /* Bit `order` says whether the comparison holds. */
    const uint32_t holds = compare == KR_LESS            ? 1
                           : compare == KR_LESS_EQUAL    ? 3
                           : compare == KR_GREATER       ? 4
                           : compare == KR_GREATER_EQUAL ? 6
                           : compare == KR_EQUAL         ? 2
                                                         : 5;
    return (int)(holds >> order & 1);
}

#endif
