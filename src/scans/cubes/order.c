#include "scans/cubes/order.h"
#include "scans/cubes/order_body.h"

/* The places on the curve are sorted with the rows; as each stands for one record, they become records again
 * where they are. */

uint64_t cubes_slots(uint64_t n_rows, uint32_t pack)
{
    return (n_rows + pack - 1) / pack * pack;
}

static cubes_order_params params_of(const cubes_order_job *job)
{
    cubes_order_params params = {.n_rows = job->n_rows, .bits = 1};
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        if (job->extents[axis] < 2)
            continue;
        params.axes[params.n_axes++] = axis;
        while ((job->extents[axis] - 1) >> params.bits)
            ++params.bits;
    }
    params.n_axes += !params.n_axes;
    return params;
}

static kr_sort sort_of(uint64_t n_rows, uint32_t bits)
{
    return (kr_sort){.key_bits = 64, .end_bit = bits, .n = n_rows};
}

kr_status cubes_order_make(const cubes_order_job *job, kr_buffer *records, kr_buffer *rows, kr_error *err)
{
    const uint64_t n_slots = cubes_slots(job->n_rows, job->pack);
    cubes_order_params params = params_of(job);
    kr_buffer sorted = {0};
    kr_status status = kr_buffer_allocate(job->device, n_slots * sizeof(uint32_t), job->stream, "rows",
                                          "fewer columns", rows, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(job->device, n_slots * sizeof(uint64_t), job->stream, "records",
                                    "fewer columns", &sorted, err);
    if (status != KR_OK)
        return status;
    params.records = records->data;
    status = kr_device_run(job->device, &cubes_make_places, &params, job->n_rows, job->stream, err);
    kr_sort sort = sort_of(job->n_rows, params.n_axes * params.bits);
    sort.keys_in = records->data;
    sort.keys_out = sorted.data;
    sort.rows_out = rows->data;
    if (status == KR_OK)
        status = kr_device_sort(job->device, &sort, job->stream, err);
    params.records = sorted.data;
    if (status == KR_OK)
        status = kr_device_run(job->device, &cubes_make_records, &params, n_slots, job->stream, err);
    kr_buffer_release(job->device, records, job->stream);
    *records = sorted;
    return status;
}

uint64_t cubes_order_scratch(kr_device *device, uint64_t n_rows)
{
    const kr_sort sort = sort_of(n_rows, 64);
    return n_rows * sizeof(uint64_t) + kr_device_sort_temp(device, &sort);
}
