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

/* The run of thread i (kr_group_runs); a CPU reads each key once. */
#define KR_ORDER_CHECK_RUN(name, params_t, count, key_at, row_at)                                 \
    KR_BODY void name(kr_group group, const params_t *p, uint64_t i)                              \
    {                                                                                             \
        uint64_t keys_fall = 0, rows_fall = 0, repeats = 0, last = 0;                             \
        for (uint32_t round = 0; round < KR_RUN; ++round) {                                       \
            const uint64_t at = kr_group_run_at(group, i, round);                                 \
            if (at >= p->count)                                                                   \
                break;                                                                            \
            const uint64_t key = key_at(p, at);                                                   \
            const uint64_t before = group.size == 1 && round ? last : key_at(p, at ? at - 1 : 0); \
            last = key;                                                                           \
            if (at == 0)                                                                          \
                p->found[KR_ORDER_LOWEST] = key;                                                  \
            if (at + 1 == p->count)                                                               \
                p->found[KR_ORDER_HIGHEST] = key;                                                 \
            if (key > before || at == 0)                                                          \
                continue;                                                                         \
            if (key < before)                                                                     \
                keys_fall = at + 1;                                                               \
            else                                                                                  \
                repeats = 1;                                                                      \
            if (key == before && row_at(p, at) <= row_at(p, at - 1))                              \
                rows_fall = at + 1;                                                               \
        }                                                                                         \
        kr_group_max64(group, keys_fall, p->found + KR_ORDER_KEYS_FALL);                          \
        kr_group_max64(group, rows_fall, p->found + KR_ORDER_ROWS_FALL);                          \
        kr_group_max64(group, repeats, p->found + KR_ORDER_KEYS_REPEAT);                          \
    }

#define KR_ORDER_CHECK_PROGRAM(name, params_t, count, key_at, row_at)                   \
    KR_ORDER_CHECK_RUN(name##_run, params_t, count, key_at, row_at)                     \
    KR_BODY void name##_runs(kr_group group, const params_t *p, uint64_t i, uint64_t n) \
    {                                                                                   \
        (void)n;                                                                        \
        name##_run(group, p, i);                                                        \
    }                                                                                   \
    KR_GROUP_PROGRAM(name, params_t, name##_runs)

#endif
