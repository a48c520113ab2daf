/* Checks that entries are in (key, row id) order, wherever a family keeps them, and finds the end keys.
 *
 *   KR_ORDER_CHECK_PROGRAM(name, params_t, count, key_at, row_at)
 *       count    the member of params_t that has the number of entries
 *       uint64_t key_at(const params_t *, uint64_t position)
 *       uint32_t row_at(const params_t *, uint64_t position)
 *       params_t has a member `uint64_t *found` of KR_ORDER_FOUND counters, which kr_sorted_order_check makes
 */
#ifndef KEYRAY_INDEX_SORTED_ORDER_CHECK_H
#define KEYRAY_INDEX_SORTED_ORDER_CHECK_H

#include "base/program/program.h"

/* One more than the largest position where keys fall, and where row ids fall within a key; 1: a key is there
 * twice; the keys of the first and the last position. */
enum {
    KR_ORDER_KEYS_FALL,
    KR_ORDER_ROWS_FALL,
    KR_ORDER_KEYS_REPEAT,
    KR_ORDER_LOWEST,
    KR_ORDER_HIGHEST,
    KR_ORDER_FOUND
};

#define KR_ORDER_CHECK_PROGRAM(name, params_t, count, key_at, row_at)           \
    KR_BODY void name##_at(const params_t *p, uint64_t i)                       \
    {                                                                           \
        const uint64_t key = key_at(p, i), before = i ? key_at(p, i - 1) : key; \
        if (i == 0)                                                             \
            p->found[KR_ORDER_LOWEST] = key;                                    \
        if (i + 1 == p->count)                                                  \
            p->found[KR_ORDER_HIGHEST] = key;                                   \
        if (key < before)                                                       \
            kr_atomic_max64(p->found + KR_ORDER_KEYS_FALL, i + 1);              \
        if (key != before || i == 0)                                            \
            return;                                                             \
        kr_atomic_max64(p->found + KR_ORDER_KEYS_REPEAT, 1);                    \
        if (row_at(p, i) <= row_at(p, i - 1))                                   \
            kr_atomic_max64(p->found + KR_ORDER_ROWS_FALL, i + 1);              \
    }                                                                           \
    KR_MAP_PROGRAM(name, params_t, name##_at)

#endif
