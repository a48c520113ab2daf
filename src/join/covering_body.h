/* The bodies of covering.c. */
#ifndef KEYRAY_JOIN_COVERING_BODY_H
#define KEYRAY_JOIN_COVERING_BODY_H

#include "base/key/key.h"
#include "base/program/program.h"
#include "join/covering_view.h"

/* Ranges as codes. */
typedef struct covering_codes_params {
    const void *lower, *upper;
    const uint8_t *lower_validity, *upper_validity;
    uint64_t lower_offset, upper_offset; /* of the bitmaps */
    void *lowers, *uppers;
    uint8_t *flags;          /* whether the range holds any value */
    uint32_t type, out_type; /* KR_U32 or KR_U64 */
} covering_codes_params;
kr_assert_size(covering_codes_params, 80);

KR_BODY void covering_code(const covering_codes_params *p, uint64_t i)
{
    const uint64_t lower = kr_code_load(p->type, p->lower, i), upper = kr_code_load(p->type, p->upper, i);
    kr_code_store(p->out_type, p->lowers, i, lower);
    kr_code_store(p->out_type, p->uppers, i, upper);
    p->flags[i] = (uint8_t)(lower <= upper && kr_code_is_valid(p->lower_validity, p->lower_offset, i) &&
                            kr_code_is_valid(p->upper_validity, p->upper_offset, i));
}
KR_MAP_PROGRAM(covering_codes, covering_codes_params, covering_code);

KR_BODY uint64_t covering_get(const kr_covering_view *v, const void *codes, uint64_t i)
{
    return v->is_wide ? kr_load((const uint64_t *)codes + i) : kr_load((const uint32_t *)codes + i);
}

KR_BODY void covering_put(const kr_covering_view *v, void *codes, uint64_t i, uint64_t code)
{
    kr_code_store(v->is_wide ? KR_U64 : KR_U32, codes, i, code);
}

/* ---- The levels ------------------------------------------------------------------------------- */

typedef struct covering_level_params {
    kr_covering_view view;
    const void *uppers;   /* in the order of the right rows */
    const uint32_t *rows; /* sorted: right rows in the order of their lower bounds */
    uint32_t level, reserved;
} covering_level_params;

/* Level 0: the upper bounds in the order of the lower ones. Above: the largest of 32 below. */
KR_BODY void covering_largest_of(const covering_level_params *p, uint64_t i)
{
    const kr_covering_view *v = &p->view;
    if (!p->level) {
        covering_put(v, v->largest, i, covering_get(v, p->uppers, p->rows[i]));
        return;
    }
    const uint64_t from = i * COVERING_FAN, all = v->first[p->level] - v->first[p->level - 1];
    const uint64_t end = from + COVERING_FAN < all ? from + COVERING_FAN : all;
    uint64_t most = 0;
    for (uint64_t k = from; k < end; ++k) {
        const uint64_t code = covering_get(v, v->largest, v->first[p->level - 1] + k);
        most = code > most ? code : most;
    }
    covering_put(v, v->largest, v->first[p->level] + i, most);
}
KR_MAP_PROGRAM(covering_largest, covering_level_params, covering_largest_of);

/* The largest up to this one, from that of the level above. */
KR_BODY void covering_reach_of(const covering_level_params *p, uint64_t i)
{
    const kr_covering_view *v = &p->view;
    const uint64_t block = i / COVERING_FAN;
    uint64_t most =
        block && p->level + 1 < v->levels ? covering_get(v, v->reach, v->first[p->level + 1] + block - 1) : 0;
    for (uint64_t k = block * COVERING_FAN; k <= i; ++k) {
        const uint64_t code = covering_get(v, v->largest, v->first[p->level] + k);
        most = code > most ? code : most;
    }
    covering_put(v, v->reach, v->first[p->level] + i, most);
}
KR_MAP_PROGRAM(covering_reach, covering_level_params, covering_reach_of);

/* ---- Parts of ranges, of which no two hold the same value ------------------------------------ */

typedef struct covering_part_params {
    kr_covering_view view;
    const void *keys; /* sorted lower bounds, codes */
    void *lower, *upper;
    uint32_t type, reserved; /* of lower and upper */
} covering_part_params;
kr_assert_size(covering_part_params, 120);

/* What the ranges before this one hold at or above its lower bound goes up to their reach without a gap: one
 * of them begins at or below that bound and ends there. An empty part is one from the highest value to zero;
 * other codes may be of no value of floats. */
KR_BODY void covering_part_of(const covering_part_params *p, uint64_t i)
{
    const kr_covering_view *v = &p->view;
    const uint64_t begin = covering_get(v, p->keys, i), end = covering_get(v, v->largest, i);
    const uint64_t reach = i ? covering_get(v, v->reach, i - 1) : 0;
    const int is_behind = i && reach >= begin, is_empty = is_behind && reach >= end;
    const uint64_t from = is_behind && !is_empty ? reach + 1 : begin;
    const uint64_t highest = ~(uint64_t)0 >> (64 - kr_type_significant_bits(p->type));
    kr_code_store(p->type, p->lower, i, is_empty ? highest : from);
    kr_code_store(p->type, p->upper, i, is_empty ? kr_code_zero(p->type) : end);
}
KR_MAP_PROGRAM(covering_part, covering_part_params, covering_part_of);

/* ---- The search ------------------------------------------------------------------------------- */

typedef struct covering_scan_params {
    kr_covering_view view;
    const void *keys;      /* codes of the left side */
    const uint32_t *ranks; /* how many lower bounds are not above each; KR_NO_ROW: NULL */
    uint32_t *rests;       /* how many of these are left to slices */
    uint64_t *offsets;     /* how many ranges hold each key; after a prefix sum, where its pairs go */
    uint64_t *counts;      /* of keys in several ranges, if there is any; of those with a rest */
    uint64_t *slices;      /* of each key; after a prefix sum, its first */
    uint64_t *found;       /* of each slice; after a prefix sum, before it */
    const uint32_t *rows;  /* of the lists: right rows in the order of their lower bounds, and the pairs */
    uint32_t *left, *right;
    uint64_t first; /* 1: whether any range holds a key is all that is asked */
    uint64_t n;     /* keys */
    uint64_t most;  /* slices of a key */
} covering_scan_params;

/* Past all ranges that end below the key, from place `at` (the end of a block) downwards. */
KR_BODY uint32_t covering_skip(const kr_covering_view *v, uint32_t at, uint64_t key)
{
    uint32_t level = 0, block = at;
    while (level + 1 < v->levels && block % COVERING_FAN == 0 && block &&
           covering_get(v, v->largest, v->first[level + 1] + block / COVERING_FAN - 1) < key) {
        block /= COVERING_FAN;
        ++level;
    }
    return level ? (block - 1) << level * COVERING_FAN_BITS : at;
}

/* Reads the ranges below place *at, down to `end` or for so many steps; *at is where it stopped, or `end`
 * where none before reaches the key. Writes the pairs of key i from `to` on, unless `left` is NULL; returns
 * how many. */
KR_BODY uint64_t covering_scan(const covering_scan_params *p, uint64_t i, uint32_t *at, uint32_t end,
                               uint32_t steps, uint64_t to)
{
    const kr_covering_view *v = &p->view;
    const uint64_t key = covering_get(v, p->keys, i);
    uint64_t n = 0;
    for (; *at > end && steps; --steps) {
        if (covering_get(v, v->reach, *at - 1) < key)
            break;
        const uint32_t next = covering_skip(v, *at, key);
        if (next != *at) {
            *at = next;
            continue;
        }
        --*at;
        if (covering_get(v, v->largest, *at) < key)
            continue;
        if (p->left) {
            p->left[to + n] = (uint32_t)i;
            p->right[to + n] = p->rows[*at];
        }
        ++n;
    }
    *at = steps || *at < end ? end : *at;
    return n;
}

KR_BODY uint32_t covering_rank(const covering_scan_params *p, uint64_t i)
{
    const uint32_t rank = p->ranks[i];
    return rank == KR_NO_ROW ? 0 : rank;
}

KR_BODY uint64_t covering_is_held(const covering_scan_params *p, uint64_t i)
{
    const uint32_t rank = covering_rank(p, i);
    return rank && covering_get(&p->view, p->view.reach, rank - 1) >= covering_get(&p->view, p->keys, i);
}

KR_BODY void covering_note_several(const covering_scan_params *p, uint64_t n)
{
    if (n > 1 && !kr_atomic_load32((const uint32_t *)p->counts))
        kr_atomic_or32((uint32_t *)p->counts, 1);
}

/* The first steps of a key, which are all that most keys take. */
KR_BODY void covering_count_of(const covering_scan_params *p, uint64_t i)
{
    uint32_t at = covering_rank(p, i);
    if (p->first) {
        p->offsets[i] = covering_is_held(p, i);
        return;
    }
    const uint64_t n = covering_scan(p, i, &at, 0, COVERING_STEPS, 0);
    p->offsets[i] = n;
    p->rests[i] = at;
    covering_note_several(p, n);
    if (at)
        kr_atomic_add64(p->counts + 1, 1);
}
KR_MAP_PROGRAM(covering_count, covering_scan_params, covering_count_of);

KR_BODY void covering_list_of(const covering_scan_params *p, uint64_t i)
{
    const uint64_t to = kr_load(p->offsets + i);
    uint32_t at = covering_rank(p, i);
    if (kr_load(p->offsets + i + 1) > to)
        covering_scan(p, i, &at, p->rests[i], UINT32_MAX, to);
}
KR_MAP_PROGRAM(covering_list, covering_scan_params, covering_list_of);

/* ---- Slices: keys under which many ranges lie are the work of many threads ------------------------ */

/* The first of the ranges below `rest` from which on their reach, which never falls, is not below the key. */
KR_BODY uint32_t covering_rest_begin(const covering_scan_params *p, uint64_t i, uint32_t rest)
{
    const uint64_t key = covering_get(&p->view, p->keys, i);
    uint32_t low = 0, high = rest;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (covering_get(&p->view, p->view.reach, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KR_BODY void covering_slices_of(const covering_scan_params *p, uint64_t i)
{
    const uint32_t rest = p->rests[i], length = rest ? rest - covering_rest_begin(p, i, rest) : 0;
    const uint64_t slices = ((uint64_t)length + COVERING_STEPS - 1) / COVERING_STEPS;
    p->slices[i] = slices < p->most ? slices : p->most;
}
KR_MAP_PROGRAM(covering_slices, covering_scan_params, covering_slices_of);

/* The key of slice t, and the slice's ranges: those below *at, down to *end. */
KR_BODY uint64_t covering_slice(const covering_scan_params *p, uint64_t t, uint32_t *at, uint32_t *end)
{
    uint64_t low = 0, high = p->n; /* the last key whose first slice is not above t */
    while (low + 1 < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->slices[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    const uint32_t rest = p->rests[low], length = rest - covering_rest_begin(p, low, rest);
    const uint64_t slices = p->slices[low + 1] - p->slices[low], s = t - p->slices[low];
    *at = rest - (uint32_t)(length * s / slices);
    *end = rest - (uint32_t)(length * (s + 1) / slices);
    return low;
}

KR_BODY void covering_slice_count_of(const covering_scan_params *p, uint64_t t)
{
    uint32_t at, end;
    const uint64_t i = covering_slice(p, t, &at, &end);
    p->found[t] = covering_scan(p, i, &at, end, UINT32_MAX, 0);
}
KR_MAP_PROGRAM(covering_slice_count, covering_scan_params, covering_slice_count_of);

KR_BODY void covering_slice_add_of(const covering_scan_params *p, uint64_t i)
{
    const uint64_t n = p->offsets[i] + p->found[p->slices[i + 1]] - p->found[p->slices[i]];
    p->offsets[i] = n;
    covering_note_several(p, n);
}
KR_MAP_PROGRAM(covering_slice_add, covering_scan_params, covering_slice_add_of);

/* The pairs of a key's slices come behind those of its first steps. */
KR_BODY void covering_slice_list_of(const covering_scan_params *p, uint64_t t)
{
    uint32_t at, end;
    const uint64_t i = covering_slice(p, t, &at, &end);
    const uint64_t behind = p->found[p->slices[i + 1]] - p->found[t];
    if (p->found[t + 1] > p->found[t])
        covering_scan(p, i, &at, end, UINT32_MAX, kr_load(p->offsets + i + 1) - behind);
}
KR_MAP_PROGRAM(covering_slice_list, covering_scan_params, covering_slice_list_of);

#endif
