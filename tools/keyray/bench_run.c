#include "bench_job.h"

#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* ---- Times --------------------------------------------------------------------------------- */

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_times bench_summarize(double *seconds, uint64_t n)
{
    qsort(seconds, n, sizeof *seconds, compare_seconds);
    return (bench_times){seconds[0], (seconds[(n - 1) / 2] + seconds[n / 2]) / 2, seconds[n - 1]};
}

/* ---- Lookups ------------------------------------------------------------------------------- */

/* Where the answer to probe `first`, a multiple of 8, goes. */
static void *out_at(const bench_run *run, kr_result result, uint64_t first)
{
    const uint64_t nbytes = result == KR_RESULT_ROW      ? first * 4
                            : result == KR_RESULT_EXISTS ? first / 8
                                                         : first * 8;
    return (char *)run->out + nbytes;
}

int bench_answer(const bench_run *run, kr_result result, kr_report *report)
{
    const bench_data *data = run->data;
    const kr_column values = bench_data_column(data, COLUMN_VALUES, 0, data->n_keys);
    /* Whole words of the bitmap, so that batches never share a byte. */
    const uint64_t batch = ((data->n_probes - 1) / data->batches / 64 + 1) * 64;
    kr_status status = KR_OK;
    kr_error err = {0};
    for (uint64_t first = 0; first < data->n_probes && status == KR_OK; first += batch) {
        const uint64_t n = data->n_probes - first < batch ? data->n_probes - first : batch;
        const kr_column lower = bench_data_column(data, COLUMN_LOWER, first, n);
        const kr_sink sink = {.struct_size = sizeof sink,
                              .result = result,
                              .values = result == KR_RESULT_SUM ? &values : NULL,
                              .out = out_at(run, result, first),
                              .report = report};
        if (data->operation == BENCH_RANGE) {
            const kr_column upper = bench_data_column(data, COLUMN_UPPER, first, n);
            status = kr_range(run->index, &lower, &upper, &sink, NULL, &err);
        } else {
            status = kr_lookup(run->index, &lower, &sink, NULL, &err);
        }
    }
    return tool_check(status, &err);
}

/* Nothing but the lookups stands between the two waits. */
static int time_lookups(const bench_run *run, double *seconds)
{
    kr_error err = {0};
    int code = tool_check(kr_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    if (!code)
        code = bench_answer(run, run->result, NULL);
    if (!code)
        code = tool_check(kr_sync(run->device, NULL, &err), &err);
    *seconds = tool_now() - begin;
    return code;
}

/* ---- Builds -------------------------------------------------------------------------------- */

static int build(bench_run *run, const char *spec, double *seconds)
{
    const kr_column keys = bench_data_column(run->data, COLUMN_KEYS, 0, run->data->n_keys);
    kr_error err = {0};
    int code = tool_check(kr_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    if (!code)
        code = tool_check(kr_index_create(run->device, spec, &keys, NULL, NULL, &run->index, &err), &err);
    if (!code)
        code = tool_check(kr_sync(run->device, NULL, &err), &err);
    *seconds = tool_now() - begin;
    return code;
}

static int time_build(bench_run *run, const char *spec, double *seconds)
{
    kr_index_destroy(run->index);
    run->index = NULL;
    return build(run, spec, seconds);
}

/* ---- One row ------------------------------------------------------------------------------- */

/* The first round warms up and is not counted. */
static int repeat(bench_run *run, const char *spec, bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const uint64_t n = run->options->repeat;
    int code = DONE;
    for (uint64_t i = 0; i <= n && !code; ++i)
        code = run->data->operation == BENCH_BUILD ? time_build(run, spec, &seconds[i])
                                                   : time_lookups(run, &seconds[i]);
    if (!code)
        row->times = bench_summarize(seconds + 1, n);
    return code;
}

static int open_out(bench_run *run, uint64_t nbytes)
{
    kr_error err = {0};
    if (run->data->device)
        return tool_check(kr_memory_allocate(run->device, nbytes, NULL, &run->out, &err), &err);
    run->out = tool_alloc(nbytes, 1, "the answers");
    return run->out ? DONE : FAILED;
}

static void close_out(bench_run *run, uint64_t nbytes)
{
    if (run->data->device && run->out)
        kr_memory_release(run->device, run->out, nbytes, NULL);
    else
        free(run->out);
}

int bench_measure(const bench_options *options, const bench_data *data, kr_device *device, const char *spec,
                  bench_row *row)
{
    const int is_build = data->operation == BENCH_BUILD;
    const uint64_t out_nbytes = data->n_probes * 8 + 8;
    bench_run run = {.options = options, .data = data, .device = device};
    double seconds;
    kr_error err = {0};
    run.result = is_build ? KR_RESULT_ROW : (kr_result)options->result;
    int code = open_out(&run, out_nbytes);
    if (!code)
        code = build(&run, spec, &seconds);
    if (!code)
        code = bench_check(&run, row->checked);
    if (!code)
        code = repeat(&run, spec, row);
    if (!code)
        code = tool_check(kr_index_stats(run.index, &row->info, &err), &err);
    /* A round of its own, because a report makes the call wait. */
    if (!code && !is_build && data->n_probes)
        code = bench_answer(&run, run.result, &row->report);
    row->per_run = is_build ? data->n_keys : data->n_probes;
    kr_index_destroy(run.index);
    close_out(&run, out_nbytes);
    return code;
}
