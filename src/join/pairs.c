#include "join/pairs.h"

#include <stdio.h>

void kr_join_check_rows(kr_work *w, const kr_column *side, const kr_column *other, const char *help)
{
    char more[32] = "";
    if (side->count < KR_NO_ROW && (!other || other->count < KR_NO_ROW))
        return;
    if (other)
        snprintf(more, sizeof more, " and %llu", (unsigned long long)other->count);
    KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT, "%llu%s rows: a side of a join has at most 4294967294; %s",
                       (unsigned long long)side->count, more, help));
}

void kr_join_give_column(kr_work *w, const kr_column *column)
{
    kr_work_give(w, column->validity);
    kr_work_give(w, column->data);
}

uint32_t *kr_join_take(kr_work *w, uint64_t n, const char *what)
{
    if (n > UINT64_MAX / 16)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT, "%llu pairs are too many: " KR_JOIN_SMALLER,
                           (unsigned long long)n));
    return kr_work_take_or(w, n * sizeof(uint32_t), what, KR_JOIN_SMALLER);
}

void kr_join_sort(kr_work *w, uint64_t rows, uint32_t **keys, uint32_t **others, uint64_t n)
{
    uint32_t *sorted_keys = kr_join_take(w, n, "sorted pairs");
    uint32_t *sorted_others = kr_join_take(w, n, "sorted pairs");
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = rows >> 32 ? 32 : 32 - kr_clz32((uint32_t)rows),
                          .n = n,
                          .keys_in = *keys,
                          .keys_out = sorted_keys,
                          .rows_in = *others,
                          .rows_out = sorted_others};
    kr_work_sort(w, &sort);
    kr_work_give(w, *keys);
    kr_work_give(w, *others);
    *keys = sorted_keys;
    *others = sorted_others;
}

void kr_join_write_alone(kr_work *w, const uint32_t *alone, uint64_t n, uint32_t *rows, uint32_t *partners)
{
    const uint64_t nbytes = n * sizeof *rows;
    if (!n)
        return;
    kr_work_copy(w, rows, alone, nbytes);
    kr_work_fill(w, partners, 0xFF, nbytes); /* the bytes of KR_NO_ROW are all ones */
}

void kr_join_watch(kr_work *w, kr_stopwatch *watch)
{
    kr_stopwatch_start(watch, w->device, w->stream);
    w->watch = watch;
}

void kr_join_unwatch(kr_work *w, kr_join *join)
{
    kr_stopwatch *watch = kr_work_unwatch(w);
    if (!watch)
        return;
    kr_stopwatch_stop(watch);
    kr_phases_add(&join->phases, &watch->phases);
}

void kr_join_before_begin(kr_work *w, kr_join_before *before)
{
    kr_work_peak_begin(w, &before->peak);
    kr_join_watch(w, &before->watch);
}

void kr_join_before_pause(kr_work *w, kr_join *join)
{
    kr_join_unwatch(w, join);
}

void kr_join_before_end(kr_work *w, kr_join_before *before, kr_join *join)
{
    join->info.peak_nbytes = kr_work_peak_end(w, &before->peak);
}

void kr_join_keep(kr_work *w, kr_join *join, const uint32_t *left, const uint32_t *right, uint64_t n)
{
    kr_work_sync(w);
    join->left = kr_work_keep(w, left);
    join->right = kr_work_keep(w, right);
    join->info.pairs = n;
}
