/* The order of entries whose codes and row ids are in two arrays: what loading a file waits for. */
#ifndef KEYRAY_INDEX_SORTED_VALIDATE_SIMD_WIDTH_BODY_H
#define KEYRAY_INDEX_SORTED_VALIDATE_SIMD_WIDTH_BODY_H

#include "base/key/key.h"
#include "index/sorted/order_check.h"
#include "index/sorted/validate_params.h"

KR_BODY uint64_t sorted_dense_key(const check_dense_params *p, uint64_t i)
{
    return kr_load((const kr_key *)p->keys + i);
}

KR_BODY uint32_t sorted_dense_row(const check_dense_params *p, uint64_t i)
{
    return p->rows ? kr_load((const uint32_t *)p->rows + i) : (uint32_t)i; /* consecutive */
}
KR_ORDER_CHECK_RUN(sorted_dense_slowly, check_dense_params, n, sorted_dense_key, sorted_dense_row)

/* Without branches, so that a CPU compares several entries at once: whether something is wrong among entries
 * first .. first + KR_RUN - 1, and whether keys repeat. */
KR_BODY int sorted_dense_is_wrong(const check_dense_params *p, uint64_t first, uint32_t *repeats)
{
    const kr_key *keys = (const kr_key *)p->keys + first;
    const uint32_t *rows = p->rows ? (const uint32_t *)p->rows + first : NULL;
    uint32_t wrong = 0, same = 0;
    for (int32_t j = 0; !rows && j < KR_RUN; ++j) {
        wrong |= keys[j] < keys[j - 1];
        same |= keys[j] == keys[j - 1];
    }
    for (int32_t j = 0; rows && j < KR_RUN; ++j) {
        const uint32_t falls = keys[j] < keys[j - 1], equal = keys[j] == keys[j - 1];
        wrong |= falls | (equal & (rows[j] <= rows[j - 1]));
        same |= equal;
    }
    *repeats = same;
    return wrong != 0;
}

KR_BODY void sorted_dense_run(kr_group group, const check_dense_params *p, uint64_t i, uint64_t n)
{
    const uint64_t first = i * KR_RUN;
    uint32_t repeats = 0;
    (void)n;
    if (group.size > 1 || first == 0 || first + KR_RUN >= p->n || sorted_dense_is_wrong(p, first, &repeats))
        sorted_dense_slowly(group, p, i);
    else if (repeats)
        kr_atomic_max64(p->found + KR_ORDER_KEYS_REPEAT, 1);
}
KR_GROUP_PROGRAM(sorted_check_dense, check_dense_params, sorted_dense_run);

#endif
