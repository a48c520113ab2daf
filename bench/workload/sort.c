#include "bench/workload/workload.h"

#include <stdlib.h>
#include <string.h>

typedef struct pass {
    kr_ints ints;
    const void *from;
    void *to;
    const uint32_t *rows_from;
    uint32_t *rows_to;
    uint64_t (*digits)[256];
    uint32_t shift;
} pass;

kr_status kr_sorter_open(uint32_t order, kr_ints ints, uint64_t count, uint32_t with_rows, uint32_t threads,
                         kr_sorter *sorter, kr_error *err)
{
    if (order > KR_PROBES_HALF)
        return kr_workload_fail(
            err, KR_ERR_ARGUMENT,
            "order is %u: use 0 (random), 1 (ascending), 2 (descending) or 3 (half ascending)", order);
    /* The half at even positions is sorted within the spare memory, which holds it twice. */
    const uint64_t sorts = order == KR_PROBES_HALF ? count - count / 2 : count;
    const uint64_t spare = order == KR_PROBES_HALF ? 2 * sorts : sorts;
    *sorter =
        (kr_sorter){.ints = ints, .order = order, .sorts = sorts, .parts = kr_workload_parts(threads, sorts)};
    if (order == KR_PROBES_RANDOM)
        return KR_OK;
    sorter->data = kr_workload_alloc(spare, ints.nbytes, "sorting a workload", err);
    sorter->rows = with_rows ? kr_workload_alloc(spare, sizeof(uint32_t), "sorting a workload", err) : NULL;
    sorter->digits = kr_workload_alloc(sorter->parts, sizeof *sorter->digits, "sorting a workload", err);
    if (sorter->data && (sorter->rows || !with_rows) && sorter->digits)
        return KR_OK;
    kr_sorter_close(sorter);
    return KR_ERR_HOST_MEMORY;
}

void kr_sorter_close(kr_sorter *sorter)
{
    free(sorter->digits);
    free(sorter->rows);
    free(sorter->data);
    sorter->digits = NULL;
    sorter->rows = NULL;
    sorter->data = NULL;
}

static void count_digits(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const pass *p = ctx;
    uint64_t *digits = p->digits[part];
    memset(digits, 0, sizeof p->digits[part]);
    for (uint64_t i = first; i < end; i++)
        digits[(kr_ints_get(p->ints, p->from, i) >> p->shift) & 255]++;
}

/* Turns counts into places: by digit, then by part, which keeps the sort stable. Returns 1 when all
 * elements have the same digit, so that the pass would change nothing. */
static int place_digits(const kr_sorter *sorter)
{
    uint64_t place = 0;
    for (uint32_t digit = 0; digit < 256; digit++) {
        uint64_t before = place;
        for (uint32_t part = 0; part < sorter->parts; part++) {
            uint64_t n = sorter->digits[part][digit];
            sorter->digits[part][digit] = place;
            place += n;
        }
        if (place - before == sorter->sorts)
            return 1;
    }
    return 0;
}

static void scatter(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const pass *p = ctx;
    uint64_t *places = p->digits[part];
    for (uint64_t i = first; i < end; i++) {
        uint64_t value = kr_ints_get(p->ints, p->from, i);
        uint64_t place = places[(value >> p->shift) & 255]++;
        kr_ints_put(p->ints, p->to, place, value);
        if (p->rows_to)
            p->rows_to[place] = p->rows_from[i];
    }
}

static void reverse(const kr_sorter *sorter, void *data, uint32_t *rows)
{
    for (uint64_t i = 0, j = sorter->sorts; i + 1 < j--; i++) {
        uint64_t value = kr_ints_get(sorter->ints, data, i);
        kr_ints_put(sorter->ints, data, i, kr_ints_get(sorter->ints, data, j));
        kr_ints_put(sorter->ints, data, j, value);
        if (rows) {
            uint32_t row = rows[i];
            rows[i] = rows[j];
            rows[j] = row;
        }
    }
}

/* Sorts data and rows, with as much memory again. */
static void ascend(const kr_sorter *sorter, void *data, uint32_t *rows, void *spare, uint32_t *rows_spare)
{
    void *from = data, *to = spare;
    uint32_t *rows_from = rows, *rows_to = rows_spare;
    for (uint32_t shift = 0; shift < 8 * sorter->ints.nbytes; shift += 8) {
        pass p = {sorter->ints, from, to, rows_from, rows_to, sorter->digits, shift};
        kr_workload_run(sorter->parts, sorter->sorts, count_digits, &p);
        if (place_digits(sorter))
            continue;
        kr_workload_run(sorter->parts, sorter->sorts, scatter, &p);
        void *swap = from;
        uint32_t *rows_swap = rows_from;
        from = to;
        to = swap;
        rows_from = rows_to;
        rows_to = rows_swap;
    }
    if (from != data) {
        memcpy(data, from, sorter->sorts * sorter->ints.nbytes);
        if (rows)
            memcpy(rows, rows_from, sorter->sorts * sizeof *rows);
    }
}

static void ascend_even(const kr_sorter *sorter, void *data, uint32_t *rows)
{
    const uint64_t n = sorter->sorts;
    char *even = sorter->data;
    uint32_t *even_rows = rows ? sorter->rows : NULL;
    for (uint64_t i = 0; i < n; i++) {
        kr_ints_put(sorter->ints, even, i, kr_ints_get(sorter->ints, data, 2 * i));
        if (rows)
            even_rows[i] = rows[2 * i];
    }
    ascend(sorter, even, even_rows, even + n * sorter->ints.nbytes, rows ? even_rows + n : NULL);
    for (uint64_t i = 0; i < n; i++) {
        kr_ints_put(sorter->ints, data, 2 * i, kr_ints_get(sorter->ints, even, i));
        if (rows)
            rows[2 * i] = even_rows[i];
    }
}

void kr_sorter_run(const kr_sorter *sorter, void *data, uint32_t *rows)
{
    if (sorter->order == KR_PROBES_RANDOM || sorter->sorts == 0)
        return;
    if (sorter->order == KR_PROBES_HALF)
        ascend_even(sorter, data, rows);
    else
        ascend(sorter, data, rows, sorter->data, rows ? sorter->rows : NULL);
    if (sorter->order == KR_PROBES_DESCENDING)
        reverse(sorter, data, rows);
}

kr_status kr_sort_keys(kr_type type, uint64_t n, void *keys, uint32_t *rows, uint32_t threads, kr_error *err)
{
    kr_ints ints;
    kr_sorter sorter;
    kr_status status = kr_ints_open(type, n, keys, &ints, err);
    if (status == KR_OK)
        status = kr_sorter_open(KR_PROBES_ASCENDING, ints, n, 1, threads, &sorter, err);
    if (status != KR_OK)
        return status;
    kr_sorter_run(&sorter, keys, rows);
    kr_sorter_close(&sorter);
    return KR_OK;
}
