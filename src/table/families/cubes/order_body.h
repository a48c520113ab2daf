/* The bodies of order.c: places on a Hilbert curve, and back (Skilling, "Programming the Hilbert curve",
 * 2004).
 *
 * Coordinates of `bits` bits on `n` axes, a constant. Skilling's "transpose" of a place on the curve has its
 * bits dealt out to the axes, the highest to the first. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_ORDER_BODY_H
#define KEYRAY_TABLE_FAMILIES_CUBES_ORDER_BODY_H

#include "table/families/cubes/cubes_params.h"

typedef struct cubes_order_params {
    uint64_t *records; /* of rows; become places. Or places, which become records again */
    uint64_t n_rows;
    uint32_t n_axes, bits;
    uint32_t axes[CUBES_AXES]; /* those on which rows differ */
    uint32_t reserved;
} cubes_order_params;
kr_assert_size(cubes_order_params, 40);

/* Where the bit is set, turns the first axis around below it; elsewhere swaps it with this one. */
KR_BODY void cubes_turn(uint32_t *first, uint32_t *here, uint32_t bit)
{
    const uint32_t below = bit - 1, other = *here & bit ? below : (*first ^ *here) & below;
    const uint32_t swapped = *here & bit ? 0 : other;
    *first ^= other;
    *here ^= swapped;
}

KR_BODY void cubes_to_transpose(uint32_t *x, uint32_t n, uint32_t bits)
{
    uint32_t parity = 0;
    for (uint32_t bit = (uint32_t)1 << (bits - 1); bit > 1; bit >>= 1) {
        KR_UNROLL
        for (uint32_t i = 0; i < n; ++i)
            cubes_turn(x, x + i, bit);
    }
    KR_UNROLL
    for (uint32_t i = 1; i < n; ++i)
        x[i] ^= x[i - 1];
    for (uint32_t bit = (uint32_t)1 << (bits - 1); bit > 1; bit >>= 1)
        parity ^= x[n - 1] & bit ? bit - 1 : 0;
    KR_UNROLL
    for (uint32_t i = 0; i < n; ++i)
        x[i] ^= parity;
}

KR_BODY void cubes_from_transpose(uint32_t *x, uint32_t n, uint32_t bits)
{
    const uint32_t last = x[n - 1] >> 1;
    KR_UNROLL
    for (uint32_t i = n - 1; i > 0; --i)
        x[i] ^= x[i - 1];
    x[0] ^= last;
    for (uint32_t b = 1; b < bits; ++b) {
        KR_UNROLL
        for (uint32_t i = n; i-- > 0;)
            cubes_turn(x, x + i, (uint32_t)1 << b);
    }
}

KR_BODY uint64_t cubes_to_place(const cubes_order_params *p, uint64_t record, uint32_t n)
{
    uint32_t x[CUBES_AXES];
    uint64_t place = 0;
    KR_UNROLL
    for (uint32_t i = 0; i < n; ++i)
        x[i] = (uint32_t)cubes_record_cell(record, p->axes[i]);
    if (n > 1)
        cubes_to_transpose(x, n, p->bits);
    for (uint32_t bit = p->bits; bit-- > 0;) {
        KR_UNROLL
        for (uint32_t i = 0; i < n; ++i)
            place = place << 1 | (x[i] >> bit & 1);
    }
    return place;
}

KR_BODY uint64_t cubes_from_place(const cubes_order_params *p, uint64_t place, uint32_t n)
{
    uint32_t x[CUBES_AXES] = {0, 0, 0};
    uint64_t record = 0;
    for (uint32_t bit = 0; bit < p->bits; ++bit) {
        KR_UNROLL
        for (uint32_t i = n; i-- > 0; place >>= 1)
            x[i] |= (uint32_t)(place & 1) << bit;
    }
    if (n > 1)
        cubes_from_transpose(x, n, p->bits);
    KR_UNROLL
    for (uint32_t i = 0; i < n; ++i)
        record |= (uint64_t)x[i] << p->axes[i] * CUBES_RECORD_BITS;
    return record;
}

KR_BODY void cubes_make_place(const cubes_order_params *p, uint64_t row)
{
    const uint64_t record = p->records[row];
    p->records[row] = p->n_axes == 3   ? cubes_to_place(p, record, 3)
                      : p->n_axes == 2 ? cubes_to_place(p, record, 2)
                                       : cubes_to_place(p, record, 1);
}
KR_MAP_PROGRAM(cubes_make_places, cubes_order_params, cubes_make_place);

KR_BODY void cubes_make_record(const cubes_order_params *p, uint64_t slot)
{
    const uint64_t place = p->records[slot];
    p->records[slot] = slot >= p->n_rows ? CUBES_NOWHERE
                       : p->n_axes == 3  ? cubes_from_place(p, place, 3)
                       : p->n_axes == 2  ? cubes_from_place(p, place, 2)
                                         : cubes_from_place(p, place, 1);
}
KR_MAP_PROGRAM(cubes_make_records, cubes_order_params, cubes_make_record);

/* ---- Check ----------------------------------------------------------------------------------- */

typedef struct cubes_slots_params {
    const uint64_t *records;
    const uint32_t *rows;
    uint64_t *found; /* 1 + a slot that names no row, or lies somewhere and has none */
    uint64_t n_rows;
} cubes_slots_params;
kr_assert_size(cubes_slots_params, 32);

KR_BODY void cubes_check_slot(const cubes_slots_params *p, uint64_t slot)
{
    if (slot < p->n_rows ? kr_load(p->rows + slot) >= p->n_rows : kr_load(p->records + slot) != CUBES_NOWHERE)
        kr_atomic_max64(p->found, slot + 1);
}
KR_MAP_PROGRAM(cubes_check_slots, cubes_slots_params, cubes_check_slot);

#endif
