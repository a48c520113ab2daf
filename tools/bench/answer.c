#include "job.h"

#include "tools/terminal/tool.h"

/* Where the answer to probe `first`, a multiple of 8, goes. */
static void *out_at(const bench_run *run, kr_result result, uint64_t first)
{
    const uint64_t nbytes = result == KR_RESULT_ROW      ? first * 4
                            : result == KR_RESULT_EXISTS ? first / 8
                                                         : first * 8;
    return (char *)run->out + nbytes;
}

static void add_work(const facts *more, facts *work)
{
    for (uint32_t i = 0; i < more->n; ++i) {
        const uint64_t before = i < work->n ? work->at[i].number : 0;
        work->at[i] = more->at[i];
        work->at[i].number += before;
    }
    work->n = more->n;
}

static kr_sink sink_of(const bench_run *run, kr_result result, uint64_t first, const kr_column *values)
{
    return (kr_sink){.struct_size = sizeof(kr_sink),
                     .result = result,
                     .order = result == KR_RESULT_ROWS ? run->order : KR_ORDER_ROW,
                     .rows = run->rows,
                     .rows_capacity = run->rows_capacity,
                     .values = result == KR_RESULT_SUM ? values : NULL,
                     .out = out_at(run, result, first)};
}

int bench_prepare(bench_run *run)
{
    const bench_data *data = run->data;
    const kr_column values = bench_data_column(data, COLUMN_VALUES, 0, data->n_grown);
    const kr_column lower = bench_data_column(data, COLUMN_LOWER, 0, data->n_probes);
    const kr_sink sink = sink_of(run, run->result, 0, &values);
    kr_error err = {0};
    kr_status status;
    if (data->batches > 1)
        return tool_fail(USAGE, "--prepared looks up all probes at once; leave out --batches");
    if (data->operation != BENCH_RANGE) {
        status = kr_prepare_lookup(run->index, &lower, &sink, &run->prepared, &err);
    } else {
        const kr_column upper = bench_data_column(data, COLUMN_UPPER, 0, data->n_probes);
        status = kr_prepare_range(run->index, &lower, &upper, &sink, &run->prepared, &err);
    }
    return tool_check(status, &err);
}

static kr_status answer_batch(const bench_run *run, kr_result result, uint64_t first, uint64_t n,
                              kr_report *report, int counts, kr_error *err)
{
    const bench_data *data = run->data;
    const kr_column values = bench_data_column(data, COLUMN_VALUES, 0, data->n_grown);
    const kr_column lower = bench_data_column(data, COLUMN_LOWER, first, n);
    kr_sink sink = sink_of(run, result, first, &values);
    if (run->prepared && result == run->result && !report)
        return kr_prepared_run(run->prepared, NULL, err);
    sink.report = report;
    sink.count_work = counts != 0;
    if (data->operation != BENCH_RANGE)
        return kr_index_lookup(run->index, &lower, &sink, NULL, err);
    const kr_column upper = bench_data_column(data, COLUMN_UPPER, first, n);
    return kr_index_range(run->index, &lower, &upper, &sink, NULL, err);
}

int bench_answer(const bench_run *run, kr_result result, report_facts *lookups, facts *work)
{
    const bench_data *data = run->data;
    /* Whole words of the bitmap, so that batches never share a byte. */
    const uint64_t batch = ((data->n_probes - 1) / data->batches / 64 + 1) * 64;
    kr_error err = {0};
    kr_report *report = NULL;
    kr_status status = lookups || work ? kr_report_create(&report, &err) : KR_OK;
    for (uint64_t first = 0; first < data->n_probes && status == KR_OK; first += batch) {
        const uint64_t n = data->n_probes - first < batch ? data->n_probes - first : batch;
        report_facts did;
        status = answer_batch(run, result, first, n, report, work != NULL, &err);
        report_facts_take(report, &did);
        if (status == KR_OK && work)
            add_work(&did.counters, work);
        if (status == KR_OK && lookups)
            *lookups = did;
    }
    kr_report_destroy(report);
    return tool_check(status, &err);
}
