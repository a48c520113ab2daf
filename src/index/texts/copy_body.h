/* Copies texts to one place behind the other. */
#ifndef KEYRAY_INDEX_TEXTS_COPY_BODY_H
#define KEYRAY_INDEX_TEXTS_COPY_BODY_H

#include "index/texts/strings.h"

/* Text i of the result is that of row rows[i]; KR_NO_ROW: an empty one. */
typedef struct texts_copy_params {
    kr_strings strings;
    const uint32_t *rows;
    uint64_t *offsets; /* n + 1 */
    uint8_t *bytes;
    uint64_t *bad; /* one more than the last i whose row is not below n_rows */
    uint64_t n, n_rows;
} texts_copy_params;
kr_assert_size(texts_copy_params, 112);

/* Lengths, which a prefix sum makes offsets of; the last is 0. */
KR_BODY void texts_measure_row(const texts_copy_params *p, uint64_t i)
{
    const uint32_t row = i < p->n ? kr_load(p->rows + i) : KR_NO_ROW;
    p->offsets[i] = 0;
    if (row == KR_NO_ROW)
        return;
    if (row < p->n_rows)
        p->offsets[i] = kr_strings_get(&p->strings, row).n;
    else
        kr_atomic_max64(p->bad, i + 1);
}
KR_MAP_PROGRAM(texts_measure, texts_copy_params, texts_measure_row);

/* Whether the offset of row i is what it would be if all texts had `each` bytes. */
typedef struct texts_even_params {
    const void *offsets; /* of 64 bits, or 32 */
    uint64_t *uneven;    /* begins as 0 */
    uint64_t first, each;
    uint64_t is_wide;
} texts_even_params;
kr_assert_size(texts_even_params, 40);

KR_BODY void texts_even_row(const texts_even_params *p, uint64_t i)
{
    const int64_t offset = p->is_wide ? kr_load((const int64_t *)p->offsets + i)
                                      : (int64_t)kr_load((const int32_t *)p->offsets + i);
    if ((uint64_t)offset != p->first + i * p->each && !kr_atomic_load64(p->uneven))
        kr_atomic_max64(p->uneven, 1);
}
KR_MAP_PROGRAM(texts_even, texts_even_params, texts_even_row);

/* Texts longer than this are copied by a group together. */
enum { COPY_ALONE = 64 };

/* Asks for texts that are copied soon; rows have been checked. */
KR_BODY void texts_copy_ask(const texts_copy_params *p, uint64_t i)
{
    if (KR_ON_CUDA || i + KR_STRINGS_AHEAD >= p->n)
        return;
    const uint32_t far = kr_load(p->rows + i + KR_STRINGS_AHEAD),
                   near = kr_load(p->rows + i + KR_STRINGS_BYTES_AHEAD);
    if (far != KR_NO_ROW)
        kr_strings_ask(&p->strings, far);
    if (near != KR_NO_ROW)
        kr_strings_ask_bytes(&p->strings, near, 0, COPY_ALONE);
}

KR_BODY void texts_copy_row(kr_group group, const texts_copy_params *p, uint64_t i, uint64_t n)
{
    const uint32_t row = i < n ? kr_load(p->rows + i) : KR_NO_ROW;
    kr_strings_text text = {NULL, 0};
    if (row != KR_NO_ROW)
        text = kr_strings_get(&p->strings, row);
    uint8_t *to = p->bytes + (i < n ? kr_load(p->offsets + i) : 0);
    texts_copy_ask(p, i);
    const int together = group.size > 1 && text.n > COPY_ALONE;
    if (text.n && !together)
        kr_copy_bytes(to, text.bytes, text.n);
    for (uint32_t left = kr_group_ballot(group, together); left; left &= left - 1) {
        const uint32_t rank = kr_ctz32(left);
        const uint8_t *from = (const uint8_t *)(uintptr_t)kr_group_share(group, (uintptr_t)text.bytes, rank);
        uint8_t *place = (uint8_t *)(uintptr_t)kr_group_share(group, (uintptr_t)to, rank);
        const uint64_t nbytes = kr_group_share(group, text.n, rank);
        for (uint64_t j = group.rank; j < nbytes; j += group.size)
            place[j] = from[j];
    }
}
KR_GROUP_PROGRAM(texts_copy, texts_copy_params, texts_copy_row);

#endif
