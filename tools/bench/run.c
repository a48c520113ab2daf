/* One row of a report: build, check, time, count. */
#include "job.h"

#include "tools/terminal/tool.h"

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

uint64_t bench_phase_runs(const bench_options *options)
{
    return options->phases ? options->phases : options->repeat;
}

/* As many rounds as are timed, or as asked: the seconds of a phase differ from one to the next, so this keeps
 * medians. bench/experiments/counters knows of these rounds. */
static int report_phases(const bench_run *run, report_facts *lookups)
{
    const uint64_t rounds = bench_phase_runs(run->options);
    for (uint64_t round = 0; round < rounds; ++round) {
        const int code = bench_answer(run, run->result, lookups, NULL);
        if (code)
            return code;
        bench_note_phases(&lookups->phases, round);
    }
    bench_median_phases(&lookups->phases, rounds);
    return DONE;
}

/* Reports cost time, so these rounds are not timed. Counting slows phases, so it has its own round. */
static int report_lookups(const bench_run *run, bench_row *row)
{
    int code = report_phases(run, &row->lookups);
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

/* Builds and checks; whatever comes, close_run releases it. `out` is there. */
static int open_run(bench_run *run, const char *spec, bench_row *row)
{
    double seconds;
    int code = bench_build(run, spec, &seconds);
    if (!code)
        code = bench_rows_open(run);
    if (!code && run->options->prepared)
        code = bench_prepare(run);
    return code ? code : bench_check(run, row->checked);
}

/* What is not timed. */
static int report_run(const bench_run *run, bench_row *row)
{
    const bench_data *data = run->data;
    const int is_build = data->operation == BENCH_BUILD;
    row->per_run = is_build          ? data->n_keys
                   : row->waves.n    ? row->waves.waves[0].changed
                   : data->n_changed ? data->n_changed
                                     : data->n_probes;
    int code = index_facts_take(run->index, &row->index);
    if (!code && !is_build && data->n_probes)
        code = report_lookups(run, row);
    return !code && !is_build && data->n_probes ? bench_keep(run, row) : code;
}

static void close_run(bench_run *run)
{
    kr_prepared_destroy(run->prepared);
    bench_rows_close(run);
    kr_index_destroy(run->index);
}

/* After waves all keys are looked up. */
static uint64_t out_nbytes_of(const bench_data *data)
{
    const uint64_t most =
        data->n_grown > data->n_keys && data->n_grown > data->n_probes ? data->n_grown : data->n_probes;
    return most * 8 + 8;
}

static bench_run run_of(const bench_options *options, const bench_data *data, kr_device *device)
{
    const int is_build = data->operation == BENCH_BUILD;
    return (bench_run){.options = options,
                       .data = data,
                       .device = device,
                       .result = is_build ? KR_RESULT_ROW : (kr_result)options->result,
                       .order = options->order};
}

int bench_measure(const bench_options *options, const bench_data *data, kr_device *device, const char *spec,
                  bench_row *row)
{
    const uint64_t out_nbytes = out_nbytes_of(data);
    bench_run run = run_of(options, data, device);
    int code = open_out(&run, out_nbytes);
    if (!code)
        code = open_run(&run, spec, row);
    if (!code)
        code = time_operation(&run, spec, row);
    if (!code)
        code = report_run(&run, row);
    if (!code && options->save)
        code = bench_save(&run, row);
    close_run(&run);
    close_out(&run, out_nbytes);
    return code;
}

int bench_measure_in_turn(const bench_options *options, const bench_data *data, kr_device *device,
                          bench_spec *specs, uint32_t n, bench_row *rows)
{
    const uint64_t out_nbytes = out_nbytes_of(data);
    bench_run first = run_of(options, data, device);
    bench_run *runs = tool_alloc(n, sizeof *runs, "the runs");
    uint32_t opened = 0;
    int code = runs ? open_out(&first, out_nbytes) : FAILED;
    for (; opened < n && !code; ++opened) {
        runs[opened] = first; /* answers of all go to one place */
        code = open_run(&runs[opened], specs[opened], &rows[opened]);
    }
    if (!code)
        code = bench_time_in_turn(runs, n, rows);
    for (uint32_t i = 0; i < n && !code; ++i)
        code = report_run(&runs[i], &rows[i]);
    for (uint32_t i = 0; i < opened; ++i)
        close_run(&runs[i]);
    close_out(&first, out_nbytes);
    free(runs);
    return code;
}
