/* The programs of `refine=scatter`. */
#ifndef KEYRAY_TABLE_FAMILIES_BINDEX_SCATTER_REFINE_BODY_H
#define KEYRAY_TABLE_FAMILIES_BINDEX_SCATTER_REFINE_BODY_H

#include "base/key/key.h"
#include "table/condition/compare.h"
#include "table/families/bindex/scatter_params.h"

/* ---- Tests ----------------------------------------------------------------------------------- */

KR_BODY int bindex_scatter_holds(const bindex_scatter_test *t, uint64_t row)
{
    const int is_valid = kr_code_is_valid(t->validity, t->validity_offset, row);
    if (!is_valid)
        return !t->other && t->nulls;
    const uint64_t code = kr_code_load(t->type, t->data, row);
    if (t->other) {
        if (!kr_code_is_valid(t->other_validity, t->other_offset, row))
            return 0;
        const uint64_t other = kr_code_load(t->type, t->other, row);
        return kr_compare_holds(t->compare, code < other ? 0 : code == other ? 1 : 2);
    }
    /* The first interval that does not end below the code. */
    uint32_t low = 0, high = t->n_intervals;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (kr_load(t->ends + 2 * middle + 1) < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n_intervals && kr_load(t->ends + 2 * low) <= code;
}

KR_BODY int bindex_scatter_all_hold(const bindex_scatter_test *tests, uint32_t n, uint64_t row)
{
    for (uint32_t t = 0; t < n; ++t)
        if (!bindex_scatter_holds(tests + t, row))
            return 0;
    return 1;
}

/* ---- Answers --------------------------------------------------------------------------------- */

KR_BODY void bindex_scatter_word(const bindex_scatter_words_params *p, uint64_t i)
{
    const uint64_t rows = p->n_rows - i * 32;
    uint32_t odd = p->inverts ? 0xFFFFFFFFu : 0;
    for (uint32_t v = 0; v < p->n_vectors; ++v)
        odd ^= kr_load_once(p->words + kr_load(p->vectors + v) * p->stride + i);
    if (rows < 32)
        odd &= ((uint32_t)1 << rows) - 1;
    p->to[i] = p->alive ? odd & kr_load(p->alive + i) : odd;
}
KR_MAP_PROGRAM(bindex_scatter_words, bindex_scatter_words_params, bindex_scatter_word);

/* Rows of a block whose codes are not between vector and constant are right already. A row that several
 * leaves leave wrong is written the same several times. */
KR_BODY void bindex_scatter_position(const bindex_scatter_refine_params *p, uint64_t i)
{
    const uint64_t row = kr_load(p->rows + i);
    const bindex_scatter_test *own = p->tests + p->test;
    const uint64_t code = kr_code_load(own->type, own->data, row);
    if (code < p->low || code > p->high)
        return;
    const uint32_t bit = (uint32_t)1 << row % 32;
    const int lives = !p->alive || (kr_load(p->alive + row / 32) & bit);
    if (lives && bindex_scatter_all_hold(p->tests, p->n_tests, row))
        kr_atomic_or32(p->bitmap + row / 32, bit);
    else
        kr_atomic_and32(p->bitmap + row / 32, ~bit);
}
KR_MAP_PROGRAM(bindex_scatter_refine, bindex_scatter_refine_params, bindex_scatter_position);

KR_BODY void bindex_scatter_keep(const bindex_scatter_compare_params *p, uint64_t i)
{
    const uint32_t before = p->bitmap[i];
    uint32_t kept = before;
    for (uint32_t left = before; left; left &= left - 1) {
        const uint32_t at = kr_ctz32(left);
        if (!bindex_scatter_all_hold(p->tests, p->n_tests, i * 32 + at))
            kept &= ~((uint32_t)1 << at);
    }
    if (kept != before)
        p->bitmap[i] = kept;
}
KR_MAP_PROGRAM(bindex_scatter_compare, bindex_scatter_compare_params, bindex_scatter_keep);

/* ---- Making and checking --------------------------------------------------------------------- */

KR_BODY void bindex_scatter_first(const bindex_scatter_firsts_params *p, uint64_t block)
{
    p->firsts[block] = kr_code_at(&p->codes, block * BINDEX_SCATTER_BLOCK);
}
KR_MAP_PROGRAM(bindex_scatter_firsts, bindex_scatter_firsts_params, bindex_scatter_first);

KR_BODY void bindex_scatter_check_row(const bindex_scatter_rows_params *p, uint64_t i)
{
    if (kr_load(p->rows + i) >= p->n_rows)
        kr_atomic_max64(p->found, i + 1);
}
KR_MAP_PROGRAM(bindex_scatter_check_rows, bindex_scatter_rows_params, bindex_scatter_check_row);

/* After bindex_scatter_check_rows has found nothing. Each position comes behind the one before it; so no two
 * name one row. */
KR_BODY void bindex_scatter_check_at(const bindex_scatter_check_params *p, uint64_t i)
{
    const uint64_t row = kr_load(p->rows + i), before = i ? kr_load(p->rows + i - 1) : 0;
    const uint64_t code = kr_code_load(p->type, p->data, row);
    const uint64_t code_before = i ? kr_code_load(p->type, p->data, before) : 0;
    const int follows = !i || code > code_before || (code == code_before && row > before);
    if (!follows || !kr_code_is_valid(p->validity, p->validity_offset, row))
        kr_atomic_max64(p->found + BINDEX_SCATTER_BAD_ORDER, i + 1);
    if (i % BINDEX_SCATTER_BLOCK == 0 && kr_load(p->firsts + i / BINDEX_SCATTER_BLOCK) != code)
        kr_atomic_max64(p->found + BINDEX_SCATTER_BAD_FIRST, i + 1);
}
KR_MAP_PROGRAM(bindex_scatter_check, bindex_scatter_check_params, bindex_scatter_check_at);

#endif
