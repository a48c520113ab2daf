#include "index/results/reduce.h"
#include "index/results/reduce_body.h"

/* Enough slices for every multiprocessor's warps, or every core's thread, a few times over. */
enum { GPU_SLICE_BITS = 17, CPU_SLICE_BITS = 10, MOST_SLICE_BITS = 12 };

kr_spread kr_reduce_spread_of(const kr_device *device, uint64_t n_matches)
{
    const uint64_t wanted = (uint64_t)1
                            << (device->ops->group_threads == 1 ? CPU_SLICE_BITS : GPU_SLICE_BITS);
    kr_spread spread = {0, 1};
    while (spread.slice_bits < MOST_SLICE_BITS && n_matches << (spread.slice_bits + 1) <= wanted)
        ++spread.slice_bits;
    if (spread.slice_bits)
        spread.threads = device->ops->group_threads;
    return spread;
}

kr_status kr_reduce_wide_sum_check(kr_type type, const char *what, kr_error *err)
{
    return type == KR_F32 || type == KR_F64
               ? kr_fail(err, KR_ERR_TYPE,
                         "%s are %s: a wide sum is of integers; use SUM, which adds floats as doubles", what,
                         kr_type_name(type))
               : KR_OK;
}

static uint32_t operation(kr_result result, const kr_column *values)
{
    switch (result) {
    case KR_RESULT_ROW: return KR_REDUCE_MIN_ROW;
    case KR_RESULT_SUM_ROWS: return KR_REDUCE_SUM_ROWS;
    case KR_RESULT_SUM_WIDE: return KR_REDUCE_SUM_WIDE;
    case KR_RESULT_MIN: return KR_REDUCE_MIN;
    case KR_RESULT_MAX: return KR_REDUCE_MAX;
    default:
        return values->type == KR_F32 || values->type == KR_F64 ? KR_REDUCE_SUM_FLOATS
                                                                : KR_REDUCE_SUM_INTEGERS;
    }
}

kr_reduction kr_reduce_of(const kr_rows *rows, kr_result result, const kr_column *values)
{
    const uint32_t op = operation(result, values);
    reduce_params params = {
        .view = rows->view, .op = op, .alone = rows->by_one ? REDUCE_ALL_ALONE : REDUCE_ALONE};
    if (values) {
        params.values = values->data;
        params.validity = values->validity;
        params.validity_offset = values->validity_offset;
        params.n_values = values->count;
        params.type = values->type;
    }
    return (kr_reduction){params, (rows->any_order ? rows->any_order : rows->walk)->reduce[op]};
}

/* One total per slice, then one answer per match. */
static void reduce_slices(kr_work *w, const kr_program *program, reduce_params *params, uint64_t n)
{
    const uint64_t count = n << params->spread.slice_bits;
    params->totals = kr_work_take(w, count * sizeof(reduce_total), "totals of slices");
    kr_work_run(w, program, params, count * params->spread.threads);
    kr_work_run(w, &reduce_merge_slices, params, n);
    kr_work_give(w, params->totals);
}

void kr_reduce(kr_work *w, const kr_reduction *reduction, const kr_match *matches, const uint32_t *order,
               uint64_t n, void *out, uint8_t *any)
{
    reduce_params params = reduction->params;
    params.matches = matches;
    params.order = order;
    params.out = out;
    params.any = any;
    params.spread = (kr_spread){0, 1};
    if (params.alone != REDUCE_ALL_ALONE)
        params.spread = kr_reduce_spread_of(w->device, n);
    if (params.spread.slice_bits)
        reduce_slices(w, reduction->program, &params, n);
    else
        kr_work_run(w, reduction->program, &params, n);
}
