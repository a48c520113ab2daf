#include "scans/totals.h"
#include "scans/totals_body.h"

/* Enough slices for all warps of a GPU. */
enum { SLICES_MOST = 8192 };

static totals_params params_of(const kr_selected *of)
{
    return (totals_params){.bitmap = of->bitmap, .n_words = (of->n + 31) / 32};
}

/* Runs a program for n things, each the work of a group. */
static kr_status run(kr_device *device, const kr_program *program, const totals_params *params, uint64_t n,
                     kr_stream *stream, kr_error *err)
{
    return kr_device_run(device, program, params, n * device->ops->group_threads, stream, err);
}

kr_status kr_selected_count(kr_device *device, const kr_selected *of, uint64_t *count, kr_stream *stream,
                            kr_error *err)
{
    totals_params params = params_of(of);
    params.counts = count;
    const kr_status status = kr_device_fill(device, count, 0, sizeof *count, stream, err);
    return status == KR_OK ? run(device, &totals_count, &params,
                                 (params.n_words + TOTALS_COUNTED - 1) / TOTALS_COUNTED, stream, err)
                           : status;
}

static uint32_t operation(kr_scan_result result, kr_type type)
{
    if (result == KR_SCAN_MIN || result == KR_SCAN_MAX)
        return result == KR_SCAN_MIN ? KR_REDUCE_MIN : KR_REDUCE_MAX;
    if (result == KR_SCAN_SUM_WIDE)
        return KR_REDUCE_SUM_WIDE;
    return type == KR_F32 || type == KR_F64 ? KR_REDUCE_SUM_FLOATS : KR_REDUCE_SUM_INTEGERS;
}

kr_status kr_selected_total(kr_device *device, const kr_selected *of, kr_scan_result result, void *out,
                            uint8_t *any, kr_stream *stream, kr_error *err)
{
    totals_params params = params_of(of);
    kr_buffer totals = {0};
    params.slice_words = params.n_words / SLICES_MOST + 1;
    params.n_slices = (params.n_words + params.slice_words - 1) / params.slice_words;
    kr_status status = kr_buffer_allocate(device, (params.n_slices + 1) * sizeof(reduce_total), stream,
                                          "totals of a scan", NULL, &totals, err);
    params.reduce = (reduce_params){.values = of->values->data,
                                    .validity = of->values->validity,
                                    .validity_offset = of->values->validity_offset,
                                    .n_values = of->values->count,
                                    .out = out,
                                    .any = any,
                                    .totals = totals.data,
                                    .type = of->values->type,
                                    .op = operation(result, of->values->type)};
    if (status == KR_OK)
        status = run(device, &totals_slice, &params, params.n_slices, stream, err);
    if (status == KR_OK)
        status = run(device, &totals_finish, &params, 1, stream, err);
    kr_buffer_release(device, &totals, stream);
    return status;
}

kr_status kr_selected_places_find(kr_device *device, const kr_selected *of, kr_selected_places *places,
                                  kr_stream *stream, kr_error *err)
{
    totals_params params = params_of(of);
    kr_selected_places made = {.n_tiles = (params.n_words + TOTALS_TILE - 1) / TOTALS_TILE};
    kr_status status = kr_buffer_allocate(device, (made.n_tiles + 1) * sizeof(uint64_t), stream,
                                          "places of row ids", NULL, &made.places, err);
    params.counts = made.places.data;
    if (status == KR_OK) /* the last place becomes the sum of all */
        status = kr_device_fill(device, params.counts + made.n_tiles, 0, sizeof(uint64_t), stream, err);
    if (status == KR_OK)
        status = run(device, &totals_tiles, &params, made.n_tiles, stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(device, made.places.data, made.n_tiles + 1, stream, err);
    if (status != KR_OK) {
        kr_buffer_release(device, &made.places, stream);
        return status;
    }
    *places = made;
    return KR_OK;
}

kr_status kr_selected_rows(kr_device *device, const kr_selected *of, const kr_selected_places *places,
                           uint32_t *rows, uint64_t capacity, kr_stream *stream, kr_error *err)
{
    totals_params params = params_of(of);
    params.counts = places->places.data;
    params.rows = rows;
    params.capacity = capacity;
    return run(device, &totals_write, &params, places->n_tiles, stream, err);
}
