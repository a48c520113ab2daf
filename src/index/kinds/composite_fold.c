/* Keys of rows and of probes, level by level. */
#include "base/key/key.h"
#include "index/kinds/composite.h"
#include "index/results/bitmap.h"

/* Columns of levels before `level`. */
static uint32_t columns_before(const kr_composite *c, uint32_t level)
{
    uint32_t n = 0;
    while (n < c->n && c->columns[n].level < level)
        ++n;
    return n;
}

/* Of all columns before the level, equal values are asked for. */
static int is_exact_before(const kr_composite *c, const kr_composite_rows *rows, uint32_t level)
{
    const uint32_t n = columns_before(c, level);
    return rows->n > n || (rows->n == n && rows->last == KR_FOLD_ONLY);
}

static int is_bound(const kr_composite_rows *rows, uint32_t j)
{
    return j + 1 == rows->n && rows->last != KR_FOLD_ONLY;
}

/* A part of rows to be indexed has no number in the margins. */
static void fix(kr_fold_part *part, uint64_t margin)
{
    const uint64_t top = ~(uint64_t)0 >> (64 - kr_type_significant_bits(part->type));
    part->how = KR_FOLD_ONLY;
    part->first = part->lowest ? margin : 0;
    part->span -= part->lowest + part->span < top ? margin : 0;
}

static kr_fold_part part_of(const kr_composite *c, const kr_composite_rows *rows, uint32_t j)
{
    const kr_composite_column *column = &c->columns[j];
    kr_fold_part part = kr_fold_part_of(&rows->columns[j]);
    part.lowest = column->lowest;
    part.span = column->span;
    part.ranks = column->ranks.data;
    part.n_ranks = column->n_ranks;
    part.shift = column->shift;
    part.how = is_bound(rows, j) ? rows->last : part.ranks ? KR_FOLD_ONLY : KR_FOLD_LEAST;
    if (rows->not_nan && j + 1 == rows->n)
        part.how |= KR_FOLD_NOT_NAN;
    if (rows->is_fixed && !part.ranks)
        fix(&part, column->margin);
    return part;
}

static kr_fold_part head_of(const kr_composite *c, const kr_composite_rows *rows, uint32_t level,
                            const void *keys)
{
    const kr_composite_head *head = &c->heads[level];
    return (kr_fold_part){.data = keys,
                          .ranks = head->ranks.data,
                          .n_ranks = head->n_ranks,
                          .type = KR_U64,
                          .shift = head->shift,
                          .how = is_exact_before(c, rows, level) ? KR_FOLD_ONLY
                                 : rows->fills                   ? KR_FOLD_MOST
                                                                 : KR_FOLD_LEAST};
}

/* The parts of a level, of which at least one is there. */
static void add_parts(const kr_composite *c, const kr_composite_rows *rows, uint32_t level, const void *keys,
                      kr_fold_job *job)
{
    if (level)
        job->parts[job->n_parts++] = head_of(c, rows, level, keys);
    for (uint32_t j = columns_before(c, level); j < rows->n && c->columns[j].level == level; ++j)
        job->parts[job->n_parts++] = part_of(c, rows, j);
    if (rows->fills)
        job->fill = ((uint64_t)1 << job->parts[job->n_parts - 1].shift) - 1;
}

/* 1: a row may have no key. */
static int has_absent(const kr_composite *c, const kr_composite_rows *rows)
{
    int has = rows->is_fixed != 0;
    for (uint32_t j = 0; j < rows->n; ++j)
        has |= rows->columns[j].validity || (c->columns[j].ranks.data && !is_bound(rows, j));
    const uint32_t type = c->columns[rows->n - 1].type;
    for (uint32_t l = 1; l < c->n_levels; ++l)
        has |= is_exact_before(c, rows, l);
    return has || (rows->not_nan && (type == KR_F32 || type == KR_F64));
}

static uint8_t *pack(kr_work *w, uint8_t *flags, uint64_t n, const char *help)
{
    uint8_t *bitmap = kr_work_take_or(w, n / 8 + 1, "which rows have keys", help);
    kr_bitmap_pack(w, flags, n, bitmap);
    kr_work_give(w, flags);
    return bitmap;
}

kr_column kr_composite_fold(kr_work *w, const kr_composite *c, const kr_composite_rows *rows,
                            const char *help)
{
    const uint64_t n = rows->columns[0].count;
    uint8_t *flags = has_absent(c, rows) ? kr_work_take_or(w, n, "which rows have keys", help) : NULL;
    kr_column keys = {.count = n};
    for (uint32_t l = 0; l < c->n_levels; ++l) {
        const void *before = keys.data;
        keys.type = l + 1 == c->n_levels ? c->type : KR_U64;
        keys.data = kr_work_take_or(w, n * kr_type_width(keys.type), "one key of several columns", help);
        kr_fold_job job = {.out = (void *)keys.data,
                           .flags = flags,
                           .misfits = rows->misfits,
                           .out_type = keys.type,
                           .goes_on = l > 0 && flags};
        add_parts(c, rows, l, before, &job);
        kr_fold_run(w, &job, n);
        kr_work_give(w, before);
    }
    if (flags)
        keys.validity = pack(w, flags, n, help);
    return keys;
}

void kr_composite_give(kr_work *w, const kr_column *keys)
{
    kr_work_give(w, keys->validity);
    kr_work_give(w, keys->data);
}

int kr_composite_has_margin(const kr_composite *c, uint32_t i, uint64_t distance)
{
    return kr_composite_is_whole(c, i) || (!c->columns[i].n_ranks && distance < c->columns[i].margin);
}

int kr_composite_is_last(const kr_composite *c, uint32_t i)
{
    return i + 1 == c->n && !c->columns[i].n_ranks;
}

int kr_composite_is_whole(const kr_composite *c, uint32_t i)
{
    const kr_composite_column *column = &c->columns[i];
    const uint64_t top = ~(uint64_t)0 >> (64 - kr_type_significant_bits(column->type));
    return !column->n_ranks && column->lowest == 0 && column->span == top;
}
