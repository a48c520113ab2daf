#include "table/results/totals.h"
#include "table/results/totals_body.h"

/* Enough slices for all warps of a GPU. */
enum { SLICES_MOST = 8192 };

static totals_params params_of(const kr_selected *of)
{
    return (totals_params){.bitmap = of->bitmap, .n_words = (of->n + 31) / 32};
}

/* Runs a program for n things, each the work of a group. */
static void run(kr_work *work, const kr_program *program, const totals_params *params, uint64_t n)
{
    kr_work_run(work, program, params, n * work->device->ops->group_threads);
}

void kr_selected_count(kr_work *work, const kr_selected *of, uint64_t *count)
{
    totals_params params = params_of(of);
    params.counts = count;
    kr_work_fill(work, count, 0, sizeof *count);
    run(work, &totals_count, &params, (params.n_words + TOTALS_COUNTED - 1) / TOTALS_COUNTED);
}

static uint32_t operation(kr_scan_result result, kr_type type)
{
    if (result == KR_SCAN_MIN || result == KR_SCAN_MAX)
        return result == KR_SCAN_MIN ? KR_REDUCE_MIN : KR_REDUCE_MAX;
    if (result == KR_SCAN_SUM_WIDE)
        return KR_REDUCE_SUM_WIDE;
    return type == KR_F32 || type == KR_F64 ? KR_REDUCE_SUM_FLOATS : KR_REDUCE_SUM_INTEGERS;
}

void kr_selected_total(kr_work *work, const kr_selected *of, kr_scan_result result, void *out, uint8_t *any)
{
    totals_params params = params_of(of);
    params.slice_words = params.n_words / SLICES_MOST + 1;
    params.n_slices = (params.n_words + params.slice_words - 1) / params.slice_words;
    reduce_total *totals = kr_work_take(work, (params.n_slices + 1) * sizeof *totals, "totals of a scan");
    params.reduce = (reduce_params){.values = of->values->data,
                                    .validity = of->values->validity,
                                    .validity_offset = of->values->validity_offset,
                                    .n_values = of->values->count,
                                    .out = out,
                                    .any = any,
                                    .totals = totals,
                                    .type = of->values->type,
                                    .op = operation(result, of->values->type)};
    run(work, &totals_slice, &params, params.n_slices);
    run(work, &totals_finish, &params, 1);
    kr_work_give(work, totals);
}

kr_selected_places kr_selected_places_find(kr_work *work, const kr_selected *of)
{
    totals_params params = params_of(of);
    kr_selected_places made = {.n_tiles = (params.n_words + TOTALS_TILE - 1) / TOTALS_TILE};
    params.counts = kr_work_take(work, (made.n_tiles + 1) * sizeof *made.places, "places of row ids");
    uint64_t *last = params.counts ? params.counts + made.n_tiles : NULL;
    made.places = params.counts;
    made.total = last; /* it becomes the sum of all */
    kr_work_fill(work, last, 0, sizeof *last);
    run(work, &totals_tiles, &params, made.n_tiles);
    kr_work_sum(work, made.places, made.n_tiles + 1);
    return made;
}

void kr_selected_rows(kr_work *work, const kr_selected *of, const kr_selected_places *places, uint32_t *rows,
                      uint64_t capacity)
{
    totals_params params = params_of(of);
    params.counts = places->places;
    params.rows = rows;
    params.capacity = capacity;
    run(work, &totals_write, &params, places->n_tiles);
}
