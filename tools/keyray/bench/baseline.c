/* What the library is compared with, in the same run and on the same data. */
#include "../tool.h"
#include "bench/bench.h"
#include "job.h"

#include <stdlib.h>
#include <string.h>

/* A piece from the middle of the batch, which keeps its order and density. */
static int lower_bound(const bench_options *options, const bench_data *data, bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const uint32_t bits = data->type == KR_U64 ? 64 : 32;
    const uint64_t n = data->n_probes < BENCH_BASELINE_PROBES ? data->n_probes : BENCH_BASELINE_PROBES;
    const char *probes = (const char *)data->host[COLUMN_LOWER] + (data->n_probes - n) / 2 * (bits / 8);
    uint32_t *positions = tool_alloc(n, sizeof *positions, "the baseline's answers");
    if (!positions)
        return FAILED;
    for (uint64_t i = 0; i <= options->repeat; ++i)
        seconds[i] = kr_baseline_lower_bound(bits, data->sorted, data->n_keys, probes, n, positions);
    free(positions);
    row->baseline = "std::lower_bound, one thread";
    row->baseline_rate = (double)n / bench_summarize(seconds + 1, options->repeat).median;
    return DONE;
}

static int cub_sort(const bench_options *options, const bench_data *data, bench_row *row)
{
#if defined(KR_WITH_CUDA)
    static double seconds[BENCH_REPEAT_MOST + 1];
    char text[256];
    if (!data->device)
        return tool_fail(USAGE, "--baseline of a build sorts keys in device memory; leave out --host");
    if (kr_baseline_cub_sort(data->type == KR_U64 ? 64 : 32, data->there[COLUMN_KEYS], data->n_keys,
                             (uint32_t)options->repeat + 1, seconds, text, sizeof text))
        return tool_fail(FAILED, "--baseline: %s", text);
    row->baseline = "cub::DeviceRadixSort::SortPairs";
    row->baseline_rate = (double)data->n_keys / bench_summarize(seconds + 1, options->repeat).median;
    return DONE;
#else
    (void)options;
    (void)data;
    (void)row;
    return tool_fail(FAILED, "--baseline of a build is CUB's sort, and this build of keyray has no CUDA");
#endif
}

int bench_baseline(const bench_options *options, const bench_data *data, kr_device *device, bench_row *row)
{
    kr_error err = {0};
    kr_device_info info;
    const int code = tool_check(kr_device_query(device, &info, &err), &err);
    if (code)
        return code;
    if (data->operation == BENCH_POINT)
        return lower_bound(options, data, row);
    if (data->operation == BENCH_BUILD && strncmp(info.name, "cuda", 4) == 0)
        return cub_sort(options, data, row);
    return tool_fail(USAGE,
                     "--baseline compares point lookups (std::lower_bound) and builds on a GPU (CUB's sort)");
}
