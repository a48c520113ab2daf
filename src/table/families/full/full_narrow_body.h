/* Narrow copies: of each value of a column the difference to the lowest, in one byte or two; 0 where the row
 * is NULL.
 *
 * Invariant: code - lowest, modulo the width of the copy, is what the low bytes of the value itself tell: a
 * code is a value plus the weight of the sign bit, which `base` has, too. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_NARROW_BODY_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_NARROW_BODY_H

#include "base/key/key.h"
#include "table/families/full/full_params.h"

typedef struct narrow_params {
    const void *data;
    const uint8_t *validity; /* or NULL */
    uint64_t validity_offset, n;
    void *copy;               /* NULL: `check` compares with lowest and highest alone */
    uint64_t lowest, highest; /* codes */
    uint64_t *wrong;          /* `check` counts rows */
    uint32_t type, nbytes;    /* nbytes: of a value of the copy */
} narrow_params;
kr_assert_size(narrow_params, 72);

/* Rows first .. end - 1, by all threads of the group. */
#define FULL_NARROWED(name, value_t, copy_t)                                                \
    KR_BODY void name(kr_group group, const narrow_params *p, uint64_t first, uint64_t end) \
    {                                                                                       \
        const value_t *values = (const value_t *)p->data;                                   \
        copy_t *copy = (copy_t *)p->copy;                                                   \
        const copy_t base = (copy_t)(p->lowest - kr_type_bias(p->type));                    \
        if (!p->validity)                                                                   \
            for (uint64_t row = first + group.rank; row < end; row += group.size)           \
                copy[row] = (copy_t)((copy_t)kr_load(values + row) - base);                 \
        else                                                                                \
            for (uint64_t row = first + group.rank; row < end; row += group.size)           \
                copy[row] = kr_code_is_valid(p->validity, p->validity_offset, row)          \
                                ? (copy_t)((copy_t)kr_load(values + row) - base)            \
                                : (copy_t)0;                                                \
    }
FULL_NARROWED(full_narrow_2_to_1, uint16_t, uint8_t)
FULL_NARROWED(full_narrow_4_to_1, uint32_t, uint8_t)
FULL_NARROWED(full_narrow_8_to_1, uint64_t, uint8_t)
FULL_NARROWED(full_narrow_4_to_2, uint32_t, uint16_t)
FULL_NARROWED(full_narrow_8_to_2, uint64_t, uint16_t)

KR_BODY void full_narrow_tile(kr_group group, const narrow_params *p, uint64_t i, uint64_t n)
{
    const uint64_t first = i / group.size * FULL_TILE;
    const uint64_t end = first + FULL_TILE < p->n ? first + FULL_TILE : p->n;
    const uint32_t width = kr_type_width(p->type);
    (void)n;
    if (p->nbytes == 2 && width == 8)
        full_narrow_8_to_2(group, p, first, end);
    else if (p->nbytes == 2)
        full_narrow_4_to_2(group, p, first, end);
    else if (width == 8)
        full_narrow_8_to_1(group, p, first, end);
    else if (width == 4)
        full_narrow_4_to_1(group, p, first, end);
    else
        full_narrow_2_to_1(group, p, first, end);
}
KR_GROUP_PROGRAM(full_narrow_copy, narrow_params, full_narrow_tile);

/* Whether a row has what it should. */
KR_BODY int full_narrow_is_right(const narrow_params *p, uint64_t row)
{
    const int is_valid = kr_code_is_valid(p->validity, p->validity_offset, row);
    const uint64_t code = kr_code_load(p->type, p->data, row), low = is_valid ? code - p->lowest : 0;
    if (is_valid && (code < p->lowest || code > p->highest))
        return 0;
    return !p->copy || low == (p->nbytes == 2 ? (uint64_t)kr_load((const uint16_t *)p->copy + row)
                                              : (uint64_t)kr_load((const uint8_t *)p->copy + row));
}

KR_BODY void full_narrow_check_row(const narrow_params *p, uint64_t row)
{
    if (!full_narrow_is_right(p, row))
        kr_atomic_add64(p->wrong, 1);
}
KR_MAP_PROGRAM(full_narrow_check, narrow_params, full_narrow_check_row);

#endif
