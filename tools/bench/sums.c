/* Joins that are added up: for each probe, the sum of the rows with its key, in device memory. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

static int add_up(const bench_run *run, const char *spec, uint64_t *sums, kr_join_info *info, double *seconds)
{
    const bench_data *data = run->data;
    const kr_column right = bench_data_column(data, COLUMN_KEYS, 0, data->n_keys);
    const kr_column left = bench_data_column(data, COLUMN_LOWER, 0, data->n_probes);
    const kr_join_options options = {.struct_size = sizeof options,
                                     .inverse = (kr_join_inverse)run->options->inverse};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_SUM_ROWS, .out = sums};
    kr_error err = {0};
    int code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    const double begin = tool_now();
    if (!code)
        code = tool_check(kr_join_sums(run->device, spec, &left, &right, &options, &sink, info, &err), &err);
    *seconds = tool_now() - begin;
    return code;
}

static int check(const bench_run *run, const uint64_t *sums, bench_row *row)
{
    const uint64_t n = run->data->n_probes;
    uint64_t samples = 0;
    kr_error err = {0};
    uint64_t *got = tool_alloc(n, sizeof *got, "the sums to check");
    int code =
        got ? tool_check(kr_memory_copy(run->device, got, sums, n * sizeof *got, NULL, &err), &err) : FAILED;
    if (!code)
        code = bench_check_samples(run->data, KR_RESULT_SUM_ROWS, got, &samples);
    free(got);
    snprintf(row->checked, sizeof row->checked, "%llu sampled sums with a sorted array",
             (unsigned long long)samples);
    return code;
}

int bench_sums(const bench_run *run, const char *spec, double *seconds, bench_row *row)
{
    const uint64_t nbytes = run->data->n_probes * sizeof(uint64_t);
    kr_join_info info = {.struct_size = sizeof info};
    void *sums = NULL;
    kr_error err = {0};
    int code = tool_check(kr_memory_allocate(run->device, nbytes, NULL, &sums, &err), &err);
    for (uint64_t i = 0; i <= run->options->repeat && !code; ++i) {
        code = add_up(run, spec, sums, &info, seconds + i);
        if (!code && i == 0)
            code = check(run, sums, row);
    }
    kr_memory_release(run->device, sums, nbytes, NULL);
    memcpy(row->index.info.spec, info.spec, sizeof info.spec);
    memcpy(row->index.info.tracer, info.tracer, sizeof info.tracer);
    row->index.info.footprint_nbytes = info.footprint_nbytes;
    row->index.info.peak_nbytes = info.peak_nbytes;
    snprintf(row->step, sizeof row->step, "%llu sums, %s side indexed",
             (unsigned long long)run->data->n_probes, info.indexed);
    return code;
}
