/* One row of a report: build, check, time, count. */
#include "job.h"

#include "../tool.h"

#include <stdlib.h>
#include <string.h>

static int time_operation(bench_run *run, const char *spec, bench_row *row)
{
    switch (run->data->operation) {
    case BENCH_BUILD: return bench_time_builds(run, spec, &row->times);
    case BENCH_UPDATE:
        return row->workload.waves ? bench_update_waves(run, spec, row) : bench_update(run, row);
    default: return bench_time_lookups(run, &row->times, &row->enqueued);
    }
}

/* Reports cost time, so these rounds are not timed. Counting slows phases, so it has its own round. */
static int report_lookups(const bench_run *run, bench_row *row)
{
    int code = bench_answer(run, run->result, &row->lookups, NULL);
    if (!code && strcmp(row->index.info.tracer, "none") != 0)
        code = bench_answer(run, run->result, NULL, &row->work);
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
    /* After waves all keys are looked up. */
    const uint64_t most =
        data->n_grown > data->n_keys && data->n_grown > data->n_probes ? data->n_grown : data->n_probes;
    const uint64_t out_nbytes = most * 8 + 8;
    bench_run run = {.options = options, .data = data, .device = device};
    double seconds;
    run.result = is_build ? KR_RESULT_ROW : (kr_result)options->result;
    run.order = options->order;
    int code = open_out(&run, out_nbytes);
    if (!code)
        code = bench_build(&run, spec, &seconds);
    if (!code)
        code = bench_rows_open(&run);
    if (!code && options->prepared)
        code = bench_prepare(&run);
    if (!code)
        code = bench_check(&run, row->checked);
    if (!code)
        code = time_operation(&run, spec, row);
    if (!code)
        code = index_facts_take(run.index, &row->index);
    if (!code && !is_build && data->n_probes)
        code = report_lookups(&run, row);
    row->per_run = is_build          ? data->n_keys
                   : row->waves.n    ? row->waves.waves[0].changed
                   : data->n_changed ? data->n_changed
                                     : data->n_probes;
    kr_prepared_destroy(run.prepared);
    bench_rows_close(&run);
    kr_index_destroy(run.index);
    close_out(&run, out_nbytes);
    return code;
}
