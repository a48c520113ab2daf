/* Searching from a place near the answer: in steps that double, then in steps that halve, so that the cost
 * follows the logarithm of the distance.
 *
 * A search holds `at`, and a step. It asks whether the entry one step away is still before the answer, moves
 * `at` there if it is, and goes on with the next step until kr_gallop returns 0. */
#ifndef KEYRAY_INDEX_SORTED_GALLOP_H
#define KEYRAY_INDEX_SORTED_GALLOP_H

#include "base/key/key.h"

/* Sets *step, at first 1, to the next; *grows, at first 1, is 1 while steps double. 0: the search is over. */
KR_BODY int kr_gallop(uint32_t *step, uint32_t *grows, int moved)
{
    if (*grows && moved && *step < 0x80000000u) {
        *step <<= 1;
        return 1;
    }
    *grows = 0;
    *step >>= 1;
    return *step != 0;
}

/* Searches among n sorted keys:
 *
 *   KR_SEARCHES(name, context_t, key_at)
 *       kr_key key_at(const context_t *, uint32_t position)
 *   uint32_t name_between(c, low, high, key)     the first position >= low whose key is >= `key`, or high
 *   uint32_t name_from(c, n, at, key)            the same, up to n, from `at` on: all keys before it are less
 *   uint32_t name_from_by(c, n, at, step, key)   the same; the first step, a power of two, is a guess
 *   uint32_t name_down_from(c, at, key)          the same, downward: the key at `at`, if any, is >= `key`
 *   uint32_t name_behind(c, n, at, key)          the first position from `at` on whose key is > `key` */
#define KR_SEARCHES(name, context_t, key_at)                                                                \
    KR_BODY uint32_t name##_between(const context_t *c, uint32_t low, uint32_t high, kr_key key)            \
    {                                                                                                       \
        while (low < high) {                                                                                \
            const uint32_t middle = low + (high - low) / 2;                                                 \
            if (key_at(c, middle) < key)                                                                    \
                low = middle + 1;                                                                           \
            else                                                                                            \
                high = middle;                                                                              \
        }                                                                                                   \
        return low;                                                                                         \
    }                                                                                                       \
    KR_BODY uint32_t name##_from_by(const context_t *c, uint32_t n, uint32_t at, uint32_t step, kr_key key) \
    {                                                                                                       \
        uint32_t grows = 1;                                                                                 \
        int moved;                                                                                          \
        do {                                                                                                \
            moved = step <= n - at && key_at(c, at + step - 1) < key;                                       \
            at += moved ? step : 0;                                                                         \
        } while (kr_gallop(&step, &grows, moved));                                                          \
        return at;                                                                                          \
    }                                                                                                       \
    KR_BODY uint32_t name##_from(const context_t *c, uint32_t n, uint32_t at, kr_key key)                   \
    {                                                                                                       \
        return name##_from_by(c, n, at, 1, key);                                                            \
    }                                                                                                       \
    KR_BODY uint32_t name##_down_from(const context_t *c, uint32_t at, kr_key key)                          \
    {                                                                                                       \
        uint32_t step = 1, grows = 1;                                                                       \
        int moved;                                                                                          \
        do {                                                                                                \
            moved = step <= at && key_at(c, at - step) >= key;                                              \
            at -= moved ? step : 0;                                                                         \
        } while (kr_gallop(&step, &grows, moved));                                                          \
        return at;                                                                                          \
    }                                                                                                       \
    KR_BODY uint32_t name##_behind(const context_t *c, uint32_t n, uint32_t at, kr_key key)                 \
    {                                                                                                       \
        const kr_key more = (kr_key)(key + 1);                                                              \
        return more == 0 ? n : name##_from(c, n, at, more);                                                 \
    }                                                                                                       \
    KR_BODY uint32_t name##_between(const context_t *c, uint32_t low, uint32_t high, kr_key key)

#endif
