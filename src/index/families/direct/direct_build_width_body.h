/* Building, checking and reading out the bits of kind `dense`, from sorted codes and back. */
#ifndef KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_DIRECT_DIRECT_BUILD_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/direct/direct_bits.h"
#include "index/families/direct/direct_build_params.h"
#include "index/kinds/batch.h"

/* ---- From sorted codes ---------------------------------------------------------------------------- */

KR_BODY kr_key direct_sorted_key(const direct_params *p, uint32_t position)
{
    return kr_load(p->keys + position);
}
KR_SEARCHES(direct_sorted, direct_params, direct_sorted_key);

/* The position of the next distinct key: most often the next. */
KR_BODY uint32_t direct_next(const direct_params *p, uint32_t at, kr_key key)
{
    const uint32_t next = at + 1;
    return next < p->view.n && direct_sorted_key(p, next) == key
               ? direct_sorted_behind(p, p->view.n, next, key)
               : next;
}

/* The first position of a block's keys; *at_most: the highest code that the block has a bit for. */
KR_BODY uint32_t direct_first_of(const direct_params *p, uint32_t block, kr_key *at_most)
{
    const direct_view *v = &p->view;
    const uint64_t last = (uint64_t)block * DIRECT_VALUES + (DIRECT_VALUES - 1);
    const int is_last = block + 1 == v->n_blocks;
    *at_most = (kr_key)(v->lowest + (is_last ? v->span : last * v->step));
    return block ? direct_sorted_between(p, 0, v->n, direct_code(v, block, 0)) : 0;
}

/* Each word is written once. */
KR_BODY void direct_fill_block(const direct_params *p, uint64_t b)
{
    const direct_view *v = &p->view;
    uint32_t *block = v->blocks + b * DIRECT_WORDS, word = 1, bits = 0, n = 0;
    kr_key at_most;
    uint32_t at = direct_first_of(p, (uint32_t)b, &at_most);
    block[0] = at;
    for (; at < v->n; ++n) {
        const kr_key key = direct_sorted_key(p, at);
        if (key > at_most)
            break;
        const uint32_t bit =
            (uint32_t)(direct_quotient(v, (kr_key)(key - (kr_key)v->lowest)) - b * DIRECT_VALUES);
        for (; word < 1 + bit / 32; bits = 0)
            block[word++] = bits;
        bits |= (uint32_t)1 << bit % 32;
        at = direct_next(p, at, key);
    }
    for (; word < DIRECT_WORDS; bits = 0)
        block[word++] = bits;
    if (p->counts)
        p->counts[b] = n;
}
KR_MAP_PROGRAM(direct_fill, direct_params, direct_fill_block);

/* Where keys may repeat: ranks, and where keys do, the positions of their first rows. */
KR_BODY void direct_rank_block(const direct_params *p, uint64_t b)
{
    const direct_view *v = &p->view;
    const uint32_t rank = (uint32_t)p->counts[b], end = (uint32_t)p->counts[b + 1];
    kr_key at_most;
    v->blocks[b * DIRECT_WORDS] = rank;
    if (!v->starts)
        return;
    uint32_t at = rank < end ? direct_first_of(p, (uint32_t)b, &at_most) : 0;
    for (uint32_t i = rank; i < end; ++i) {
        v->starts[i] = at;
        at = direct_next(p, at, direct_sorted_key(p, at));
    }
    if (b + 1 == v->n_blocks)
        v->starts[v->n_keys] = v->n;
}
KR_MAP_PROGRAM(direct_ranks, direct_params, direct_rank_block);

/* ---- Back to sorted codes ------------------------------------------------------------------------- */

KR_BODY void direct_list_block(const direct_params *p, uint64_t b)
{
    const direct_view *v = &p->view;
    uint64_t words[4];
    direct_load_block(v, (uint32_t)b, words);
    kr_key *to = p->keys + (uint32_t)words[0];
    KR_UNROLL
    for (uint32_t k = 0; k < 4; ++k)
        for (uint64_t bits = direct_bits_of(words, k); bits; bits &= bits - 1) {
            const uint32_t low = (uint32_t)bits,
                           in = low ? kr_ctz32(low) : 32 + kr_ctz32((uint32_t)(bits >> 32));
            *to++ = direct_code(v, (uint32_t)b, 64 * k + in - 32);
        }
}
KR_MAP_PROGRAM(direct_list, direct_params, direct_list_block);

/* Where keys repeat. */
KR_BODY void direct_repeat_key(const direct_params *p, uint64_t i)
{
    p->all[i] = kr_load(p->keys + direct_ordinal(&p->view, (uint32_t)i));
}
KR_MAP_PROGRAM(direct_repeat, direct_params, direct_repeat_key);

/* ---- Checks --------------------------------------------------------------------------------------- */

/* Ranks count the bits before, the lowest and the highest value have keys, and behind it there is none. */
KR_BODY void direct_check_block(const direct_params *p, uint64_t b)
{
    const direct_view *v = &p->view;
    const int is_last = b + 1 == v->n_blocks;
    uint64_t words[4];
    direct_load_block(v, (uint32_t)b, words);
    const uint32_t all = direct_count(words), rank = (uint32_t)words[0];
    uint32_t has;
    const uint32_t next = is_last ? v->n_keys : (uint32_t)direct_rank(v, (uint32_t)b + 1);
    int good = next >= rank && next - rank == all;
    (void)direct_look(words, 0, &has);
    if (b == 0)
        good = good && rank == 0 && has;
    if (is_last) {
        const uint32_t bit = direct_spot_of(direct_quotient(v, (kr_key)v->span)).bit;
        good = good && direct_look(words, bit, &has) + 1 == v->n_keys && has;
    }
    if (!good)
        kr_atomic_max64(p->found + DIRECT_FOUND_WRONG, b + 1);
}
KR_MAP_PROGRAM(direct_check_blocks, direct_params, direct_check_block);

/* The rows of keys lie one behind the other, and each key has one. */
KR_BODY void direct_check_start(const direct_params *p, uint64_t i)
{
    const direct_view *v = &p->view;
    const uint32_t start = kr_load(v->starts + i);
    const int is_end = i == v->n_keys;
    if ((i == 0 && start) || (is_end ? start != v->n : kr_load(v->starts + i + 1) <= start))
        kr_atomic_max64(p->found + DIRECT_FOUND_WRONG, i + 1);
}
KR_MAP_PROGRAM(direct_check_starts, direct_params, direct_check_start);

/* The row ids of a key ascend. */
KR_BODY void direct_check_row(const direct_params *p, uint64_t i)
{
    const direct_view *v = &p->view;
    if (i && kr_load(v->rows + i) <= kr_load(v->rows + i - 1) &&
        kr_load(v->starts + direct_ordinal(v, (uint32_t)i)) != i)
        kr_atomic_max64(p->found + DIRECT_FOUND_WRONG, i + 1);
}
KR_MAP_PROGRAM(direct_check_rows, direct_params, direct_check_row);

#endif
