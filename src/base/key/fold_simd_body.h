/* Keys of rows (base/key/fold.h), compiled for each instruction set. On a CPU a run of rows goes column by
 * column, so that what is the same for all values of a column is asked once. */
#ifndef KEYRAY_BASE_KEY_FOLD_SIMD_BODY_H
#define KEYRAY_BASE_KEY_FOLD_SIMD_BODY_H

#include "base/key/fold_params.h"
#include "base/key/key.h"
#include "base/program/program.h"

/* The ranks below the code, or not above it. */
KR_BODY uint64_t fold_count_ranks(const kr_fold_part *part, uint64_t code, int not_above)
{
    uint64_t low = 0, high = part->n_ranks;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, rank = kr_load(part->ranks + middle);
        if (rank < code || (not_above && rank == code))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

KR_BODY int fold_number_of_rank(const kr_fold_part *part, uint64_t code, uint32_t how, uint64_t *number)
{
    if (how == KR_FOLD_MOST) {
        *number = fold_count_ranks(part, code, 1);
        return 1;
    }
    const uint64_t below = fold_count_ranks(part, code, 0);
    *number = below + 1;
    return how == KR_FOLD_LEAST || (below < part->n_ranks && kr_load(part->ranks + below) == code);
}

KR_BODY int fold_is_nan(uint32_t type, uint64_t code)
{
    return (type == KR_F32 && code == 0xFFFFFFFFu) || (type == KR_F64 && code == ~(uint64_t)0);
}

/* 0: the code has no number. */
KR_BODY int fold_number(const kr_fold_part *part, uint64_t code, uint64_t *number)
{
    const uint32_t how = part->how & KR_FOLD_NUMBER;
    if (part->how & KR_FOLD_NOT_NAN && fold_is_nan(part->type, code))
        return 0;
    if (part->ranks)
        return fold_number_of_rank(part, code, how, number);
    *number = code - part->lowest;
    if (*number <= part->span)
        return *number >= part->first;
    *number = code < part->lowest ? 0 : part->span;
    return how != KR_FOLD_ONLY;
}

#if KR_ON_CUDA
/* A thread for each row. */
KR_BODY void fold_rows_of(kr_group group, const kr_fold_job *p, uint64_t i, uint64_t n)
{
    (void)group;
    if (i >= n)
        return;
    uint64_t key = p->fill;
    int is_whole = !p->goes_on || p->flags[i], fits = 1;
    for (uint32_t j = 0; j < p->n_parts; ++j) {
        const kr_fold_part *part = &p->parts[j];
        uint64_t number = 0;
        fits &= fold_number(part, kr_code_load(part->type, part->data, i), &number);
        is_whole &= kr_code_is_valid(part->validity, part->validity_offset, i);
        key |= number << part->shift;
    }
    if (p->misfits && is_whole && !fits)
        kr_atomic_add64(p->misfits, 1);
    if (p->flags)
        p->flags[i] = (uint8_t)(is_whole && fits);
    kr_code_store(p->out_type, p->out, i, is_whole && fits ? key : p->absent);
}
#else
/* Rows from `first` on. */
typedef struct fold_tile {
    uint64_t first, n;
    uint64_t keys[KR_RUN], codes[KR_RUN];
    uint8_t is_whole[KR_RUN], fits[KR_RUN];
} fold_tile;

#define FOLD_LOAD(element_t, code_of)                                       \
    do {                                                                    \
        const element_t *values = (const element_t *)part->data + t->first; \
        for (uint64_t r = 0; r < n; ++r)                                    \
            codes[r] = code_of(values[r]);                                  \
    } while (0)
#define FOLD_INTEGER(value) ((uint64_t)(value) ^ bias)

KR_BODY void fold_load(fold_tile *t, const kr_fold_part *part)
{
    const uint64_t n = t->n, bias = kr_type_bias(part->type);
    uint64_t *codes = t->codes;
    if (part->type == KR_F32)
        FOLD_LOAD(uint32_t, kr_encode_f32);
    else if (part->type == KR_F64)
        FOLD_LOAD(uint64_t, kr_encode_f64);
    else if (kr_type_width(part->type) == 8)
        FOLD_LOAD(uint64_t, FOLD_INTEGER);
    else if (kr_type_width(part->type) == 4)
        FOLD_LOAD(uint32_t, FOLD_INTEGER);
    else if (kr_type_width(part->type) == 2)
        FOLD_LOAD(uint16_t, FOLD_INTEGER);
    else
        FOLD_LOAD(uint8_t, FOLD_INTEGER);
}

/* Of a plain job: codes outside of the range get the number at its end. */
KR_BODY void fold_add_clamped(fold_tile *t, const kr_fold_part *part)
{
    const uint64_t lowest = part->lowest, highest = lowest + part->span, n = t->n;
    const uint32_t shift = part->shift;
    for (uint64_t r = 0; r < n; ++r) {
        const uint64_t code = t->codes[r], above = code < lowest ? lowest : code;
        t->keys[r] |= ((above > highest ? highest : above) - lowest) << shift;
    }
}

KR_BODY void fold_add(fold_tile *t, const kr_fold_part *part)
{
    for (uint64_t r = 0; r < t->n; ++r) {
        uint64_t number = 0;
        t->fits[r] &= (uint8_t)fold_number(part, t->codes[r], &number);
        t->keys[r] |= number << part->shift;
    }
    for (uint64_t r = 0; part->validity && r < t->n; ++r)
        t->is_whole[r] &= (uint8_t)kr_code_is_valid(part->validity, part->validity_offset, t->first + r);
}

/* Rows that have no key get that of such rows. */
KR_BODY void fold_judge(fold_tile *t, const kr_fold_job *p)
{
    uint64_t misfits = 0;
    for (uint64_t r = 0; r < t->n; ++r) {
        const int has_key = t->is_whole[r] && t->fits[r];
        t->keys[r] = has_key ? t->keys[r] : p->absent;
        if (p->flags)
            p->flags[t->first + r] = (uint8_t)has_key;
        misfits += t->is_whole[r] && !t->fits[r];
    }
    if (p->misfits && misfits)
        kr_atomic_add64(p->misfits, misfits);
}

KR_BODY void fold_store(const fold_tile *t, const kr_fold_job *p)
{
    const uint64_t n = t->n;
    if (p->out_type == KR_U64) {
        uint64_t *out = (uint64_t *)p->out + t->first;
        for (uint64_t r = 0; r < n; ++r)
            out[r] = t->keys[r];
    } else {
        uint32_t *out = (uint32_t *)p->out + t->first;
        for (uint64_t r = 0; r < n; ++r)
            out[r] = (uint32_t)t->keys[r];
    }
}

/* A run of rows. */
KR_BODY void fold_rows_of(kr_group group, const kr_fold_job *p, uint64_t i, uint64_t n)
{
    fold_tile t;
    (void)group;
    (void)n;
    t.first = i * KR_RUN;
    t.n = p->n - t.first < KR_RUN ? p->n - t.first : KR_RUN;
    for (uint64_t r = 0; r < t.n; ++r)
        t.keys[r] = p->fill;
    for (uint64_t r = 0; !p->is_plain && r < t.n; ++r) {
        t.is_whole[r] = !p->goes_on || p->flags[t.first + r];
        t.fits[r] = 1;
    }
    for (uint32_t j = 0; j < p->n_parts; ++j) {
        fold_load(&t, &p->parts[j]);
        (p->is_plain ? fold_add_clamped : fold_add)(&t, &p->parts[j]);
    }
    if (!p->is_plain)
        fold_judge(&t, p);
    fold_store(&t, p);
}
#endif
KR_GROUP_PROGRAM(fold_rows, kr_fold_job, fold_rows_of);

#endif
