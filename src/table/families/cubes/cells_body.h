/* The bodies of cells.c. */
#ifndef KEYRAY_TABLE_FAMILIES_CUBES_CELLS_BODY_H
#define KEYRAY_TABLE_FAMILIES_CUBES_CELLS_BODY_H

#include "base/key/codes.h"
#include "base/key/key.h"
#include "base/program/program.h"

enum { CELLS_FIELD = 20 };

/* The cell of a code that is not encoded; host and devices round alike. */
KR_BOTH uint32_t cubes_cells_by_scale(uint64_t code, uint64_t lowest, double scale, uint32_t n)
{
    const uint32_t cell = (uint32_t)((double)(code - lowest) * scale);
    return cell < n ? cell : n - 1;
}

/* ---- Encoded --------------------------------------------------------------------------------- */

typedef struct marks_params {
    kr_codes codes;
    uint64_t *marks;
    uint32_t low_bits, reserved;
} marks_params;
kr_assert_size(marks_params, 40);

KR_BODY void cubes_cells_mark_of(const marks_params *p, uint64_t cell)
{
    p->marks[cell] = kr_code_at(&p->codes, cell << p->low_bits);
}
KR_MAP_PROGRAM(cubes_cells_mark, marks_params, cubes_cells_mark_of);

typedef struct spread_params {
    kr_codes codes;       /* of the values */
    const uint32_t *rows; /* in their order */
    uint64_t *records;
    uint32_t shift, low_shift, low_bits, shuffles_ties;
} spread_params;
kr_assert_size(spread_params, 56);

/* Where a permutation of 0 .. n - 1 moves `at`: one of the numbers below the next power of two, repeated
 * until it ends below n. Each axis has its own. */
KR_BODY uint64_t cubes_cells_shuffled(uint64_t at, uint64_t n, uint32_t axis)
{
    const uint32_t bits = 32 - kr_clz32((uint32_t)n); /* rows have 32 bits */
    const uint64_t mask = ((uint64_t)1 << bits) - 1,
                   factor = axis == 1 ? 0x9E3779B97F4A7C15u : 0xC2B2AE3D27D4EB4Fu;
    do {
        at ^= at >> (bits + 1) / 2;
        at = at * factor & mask;
        at ^= at >> (bits + 1) / 2;
    } while (at >= n);
    return at;
}

/* Rows are sorted in a stable order, so that rows which are equal in two columns lie along a line of the
 * scene. Shuffled, they lie evenly. */
KR_BODY uint64_t cubes_cells_rank(const spread_params *p, uint64_t rank)
{
    const uint32_t axis = p->shift / CELLS_FIELD;
    if (axis == 0 || !p->shuffles_ties)
        return rank;
    const uint64_t code = kr_code_at(&p->codes, rank);
    if ((rank == 0 || kr_code_at(&p->codes, rank - 1) != code) &&
        (rank + 1 == p->codes.n || kr_code_at(&p->codes, rank + 1) != code))
        return rank;
    const uint64_t first = kr_code_rank(&p->codes, code, 0), end = kr_code_rank(&p->codes, code, 1);
    return first + cubes_cells_shuffled(rank - first, end - first, axis);
}

KR_BODY void cubes_cells_spread_of(const spread_params *p, uint64_t at)
{
    const uint64_t rank = cubes_cells_rank(p, at), low = rank & (((uint64_t)1 << p->low_bits) - 1);
    p->records[kr_load(p->rows + at)] |=
        rank >> p->low_bits << p->shift | (p->low_shift ? low << p->low_shift : 0);
}
KR_MAP_PROGRAM(cubes_cells_spread, spread_params, cubes_cells_spread_of);

/* ---- Not encoded ----------------------------------------------------------------------------- */

typedef struct ends_params {
    const void *data;
    const uint8_t *validity;
    uint64_t *found; /* the largest code, the largest complement of a code, the number of values */
    uint32_t validity_offset, type;
} ends_params;
kr_assert_size(ends_params, 32);

KR_BODY void cubes_cells_ends_of(kr_group group, const ends_params *p, uint64_t i, uint64_t n)
{
    const int is_value = i < n && kr_code_is_valid(p->validity, p->validity_offset, i);
    const uint64_t code = is_value ? kr_code_load(p->type, p->data, i) : 0;
    kr_group_max64(group, is_value ? code : 0, p->found);
    kr_group_max64(group, is_value ? ~code : 0, p->found + 1);
    kr_group_add64(group, (uint64_t)is_value, p->found + 2);
}
KR_GROUP_PROGRAM(cubes_cells_ends, ends_params, cubes_cells_ends_of);

typedef struct scale_params {
    const void *data;
    const uint8_t *validity;
    uint64_t *records;
    uint64_t lowest;
    double scale;
    uint32_t validity_offset, type;
    uint32_t shift, n;
} scale_params;
kr_assert_size(scale_params, 56);

KR_BODY void cubes_cells_scale_of(const scale_params *p, uint64_t row)
{
    if (kr_code_is_valid(p->validity, p->validity_offset, row))
        p->records[row] |=
            (uint64_t)cubes_cells_by_scale(kr_code_load(p->type, p->data, row), p->lowest, p->scale, p->n)
            << p->shift;
}
KR_MAP_PROGRAM(cubes_cells_scale, scale_params, cubes_cells_scale_of);

/* ---- NULLs ----------------------------------------------------------------------------------- */

typedef struct nulls_params {
    const uint8_t *validity;
    uint64_t *records;
    uint64_t n_rows;
    uint32_t validity_offset, shift;
    uint32_t first, n; /* cells */
} nulls_params;
kr_assert_size(nulls_params, 40);

KR_BODY void cubes_cells_nulls_of(const nulls_params *p, uint64_t row)
{
    if (!kr_code_is_valid(p->validity, p->validity_offset, row))
        p->records[row] |= (p->first + row * p->n / p->n_rows) << p->shift;
}
KR_MAP_PROGRAM(cubes_cells_nulls, nulls_params, cubes_cells_nulls_of);

/* ---- Validate -------------------------------------------------------------------------------- */

typedef struct cells_check_params {
    const void *data;
    const uint8_t *validity;
    const uint64_t *records; /* of slots, */
    const uint32_t *rows;    /* which have these rows */
    const uint64_t *marks;   /* or NULL */
    uint64_t *bad;
    uint64_t lowest, highest;
    double scale;
    uint32_t validity_offset, type;
    uint32_t shift, n, n_nulls, reserved;
} cells_check_params;
kr_assert_size(cells_check_params, 96);

/* An encoded value is between the marks of its cell and of the next. */
KR_BODY int cubes_cells_fits(const cells_check_params *p, uint64_t code, uint32_t cell)
{
    if (cell >= p->n || code < p->lowest || code > p->highest)
        return 0;
    if (!p->marks)
        return cubes_cells_by_scale(code, p->lowest, p->scale, p->n) == cell;
    return kr_load(p->marks + cell) <= code &&
           code <= (cell + 1 < p->n ? kr_load(p->marks + cell + 1) : p->highest);
}

KR_BODY void cubes_cells_check_of(const cells_check_params *p, uint64_t slot)
{
    const uint64_t row = kr_load(p->rows + slot);
    const uint32_t cell =
        (uint32_t)(kr_load(p->records + slot) >> p->shift) & (((uint32_t)1 << CELLS_FIELD) - 1);
    const int fits = kr_code_is_valid(p->validity, p->validity_offset, row)
                         ? cubes_cells_fits(p, kr_code_load(p->type, p->data, row), cell)
                         : cell >= p->n && cell - p->n < p->n_nulls;
    if (!fits)
        kr_atomic_max64(p->bad, row + 1);
}
KR_MAP_PROGRAM(cubes_cells_check_rows, cells_check_params, cubes_cells_check_of);

#endif
