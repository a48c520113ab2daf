#include "table/families/cubes/order.h"
#include "table/families/cubes/order_body.h"

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

void cubes_order_make(kr_work *work, const cubes_order_job *job, kr_buffer *records, kr_buffer *rows)
{
    const uint64_t n_slots = cubes_slots(job->n_rows, job->pack);
    cubes_order_params params = params_of(job);
    uint32_t *in_order = kr_work_take_or(work, job->n_rows * sizeof *in_order, "rows", "fewer columns");
    uint64_t *sorted = kr_work_take_or(work, n_slots * sizeof *sorted, "records", "fewer columns");
    params.records = records->data;
    kr_work_run(work, &cubes_make_places, &params, job->n_rows);
    kr_sort sort = sort_of(job->n_rows, params.n_axes * params.bits);
    sort.keys_in = records->data;
    sort.keys_out = sorted;
    sort.rows_out = in_order;
    kr_work_sort(work, &sort);
    params.records = sorted;
    kr_work_run(work, &cubes_make_records, &params, n_slots);
    kr_buffer_release(work->device, records, work->stream);
    *records = kr_work_keep(work, sorted);
    *rows = kr_work_keep(work, in_order);
}

uint64_t cubes_order_check(kr_work *work, const kr_buffer *records, const kr_buffer *rows, uint64_t n_rows)
{
    uint64_t bad = 0;
    const cubes_slots_params params = {records->data, rows->data, kr_work_counters(work, 1), n_rows};
    kr_work_run(work, &cubes_check_slots, &params, records->nbytes / sizeof(uint64_t));
    kr_work_read(work, &bad, params.found, sizeof bad);
    kr_work_give(work, params.found);
    return bad;
}

uint64_t cubes_order_scratch(kr_device *device, uint64_t n_rows)
{
    const kr_sort sort = sort_of(n_rows, 64);
    return n_rows * sizeof(uint64_t) + kr_device_sort_temp(device, &sort);
}
