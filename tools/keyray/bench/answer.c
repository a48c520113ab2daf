#include "job.h"

#include "../tool.h"

/* Where the answer to probe `first`, a multiple of 8, goes. */
static void *out_at(const bench_run *run, kr_result result, uint64_t first)
{
    const uint64_t nbytes = result == KR_RESULT_ROW      ? first * 4
                            : result == KR_RESULT_EXISTS ? first / 8
                                                         : first * 8;
    return (char *)run->out + nbytes;
}

static void add_work(bench_work *work, const kr_report *report)
{
    work->rays += report->rays;
    work->hits += report->hits;
    work->filtered += report->filtered;
    work->repaired += report->repaired;
    work->untraced += report->untraced;
}

int bench_answer(const bench_run *run, kr_result result, kr_report *report, bench_work *work)
{
    const bench_data *data = run->data;
    const kr_column values = bench_data_column(data, COLUMN_VALUES, 0, data->n_grown);
    /* Whole words of the bitmap, so that batches never share a byte. */
    const uint64_t batch = ((data->n_probes - 1) / data->batches / 64 + 1) * 64;
    kr_status status = KR_OK;
    kr_error err = {0};
    kr_report counted = {0};
    for (uint64_t first = 0; first < data->n_probes && status == KR_OK; first += batch) {
        const uint64_t n = data->n_probes - first < batch ? data->n_probes - first : batch;
        const kr_column lower = bench_data_column(data, COLUMN_LOWER, first, n);
        const kr_sink sink = {.struct_size = sizeof sink,
                              .result = result,
                              .order = result == KR_RESULT_ROWS ? run->order : KR_ORDER_ROW,
                              .rows = run->rows,
                              .rows_capacity = run->rows_capacity,
                              .values = result == KR_RESULT_SUM ? &values : NULL,
                              .out = out_at(run, result, first),
                              .report = work ? &counted : report,
                              .count_work = work != NULL};
        if (data->operation == BENCH_RANGE) {
            const kr_column upper = bench_data_column(data, COLUMN_UPPER, first, n);
            status = kr_range(run->index, &lower, &upper, &sink, NULL, &err);
        } else {
            status = kr_lookup(run->index, &lower, &sink, NULL, &err);
        }
        if (status == KR_OK && work)
            add_work(work, &counted);
    }
    return tool_check(status, &err);
}
