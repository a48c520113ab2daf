/* Times repeated lookups and builds, and summarizes the times. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

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
    bench_times times = {.n = n};
    if (n <= BENCH_TIMES_KEPT)
        memcpy(times.each, seconds, n * sizeof *seconds);
    qsort(seconds, n, sizeof *seconds, compare_seconds);
    times.minimum = seconds[0];
    times.median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
    times.maximum = seconds[n - 1];
    return times;
}

/* ---- Lookups ------------------------------------------------------------------------------- */

/* Only the lookups run between the two waits. */
static int time_lookups(const bench_run *run, double *seconds, double *enqueued)
{
    const uint64_t calls = run->options->calls;
    kr_error err = {0};
    int code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    for (uint64_t i = 0; i < calls && !code; ++i)
        code = bench_answer(run, run->result, NULL, NULL);
    *enqueued = (tool_now() - begin) / (double)calls;
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    *seconds = (tool_now() - begin) / (double)calls;
    return code;
}

int bench_time_lookups(const bench_run *run, bench_times *times, bench_times *enqueued)
{
    static double seconds[BENCH_REPEAT_MOST + 1], of_calls[BENCH_REPEAT_MOST + 1];
    const uint64_t n = run->options->repeat;
    int code = DONE;
    for (uint64_t i = 0; i <= n && !code; ++i)
        code = time_lookups(run, &seconds[i], &of_calls[i]);
    if (!code) {
        *times = bench_summarize(seconds + 1, n);
        if (enqueued)
            *enqueued = bench_summarize(of_calls + 1, n);
    }
    return code;
}

/* A round of each run, one after the other, so that all meet the same state of the machine. */
int bench_time_in_turn(const bench_run *runs, uint32_t n, bench_row *rows)
{
    const uint64_t rounds = runs->options->repeat + 1;
    double *seconds = tool_alloc(2 * n * rounds, sizeof *seconds, "the times");
    double *enqueued = seconds ? seconds + n * rounds : NULL;
    int code = seconds ? DONE : FAILED;
    for (uint64_t round = 0; round < rounds; ++round)
        for (uint32_t i = 0; i < n && !code; ++i)
            code = time_lookups(&runs[i], &seconds[i * rounds + round], &enqueued[i * rounds + round]);
    for (uint32_t i = 0; i < n && !code; ++i) {
        rows[i].times = bench_summarize(seconds + i * rounds + 1, rounds - 1);
        rows[i].enqueued = bench_summarize(enqueued + i * rounds + 1, rounds - 1);
    }
    free(seconds);
    return code;
}

/* ---- Builds -------------------------------------------------------------------------------- */

int bench_build(bench_run *run, const char *spec, double *seconds)
{
    const kr_column keys = bench_data_column(run->data, COLUMN_KEYS, run->data->first_key, run->data->n_keys);
    kr_error err = {0};
    int code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    if (!code)
        code = tool_check(kr_index_create(run->device, spec, &keys, NULL, NULL, &run->index, &err), &err);
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    *seconds = tool_now() - begin;
    return code;
}

/* The first warms up. */
int bench_time_builds(bench_run *run, const char *spec, bench_times *times)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const uint64_t n = run->options->repeat;
    int code = DONE;
    for (uint64_t i = 0; i <= n && !code; ++i) {
        kr_index_destroy(run->index);
        run->index = NULL;
        code = bench_build(run, spec, &seconds[i]);
    }
    if (!code)
        *times = bench_summarize(seconds + 1, n);
    return code;
}

static double phase_seconds[FACTS_MOST][BENCH_REPEAT_MOST];

void bench_note_phases(const facts *phases, uint64_t round)
{
    for (uint32_t i = 0; i < phases->n; ++i)
        phase_seconds[i][round] = phases->at[i].seconds;
}

void bench_median_phases(facts *phases, uint64_t rounds)
{
    for (uint32_t i = 0; i < phases->n; ++i)
        phases->at[i].seconds = bench_summarize(phase_seconds[i], rounds).median;
}
