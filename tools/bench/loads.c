/* Random loads by groups of lanes: what a search does at each step, and nothing else. */
#include "job.h"

#include "bench/bench.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

enum { LOADS_CHECKED = 4096 };

#define AT(field) offsetof(workload, field)

const option_row bench_loads_rows[] = {
    {"entries", 0, 0, OPTION_NUMBER, AT(entries), "N", "how many u32 entries the array has [2^28]", 1,
     (uint64_t)UINT32_MAX + 1},
    {"lanes", 0, 0, OPTION_NUMBER, AT(lanes), "N", "how many threads load side by side [2^16]", 1, 1 << 24},
    {"steps", 0, 0, OPTION_NUMBER, AT(steps), "N", "how many loads each lane makes [1024]", 1, 1 << 20},
    {"group", 0, 0, OPTION_NUMBER, AT(group), "N",
     "how many lanes load neighbours: a power of two [1 to 1024, one after the other]", 1, 1024},
    {"aligned", 0, 0, OPTION_FLAG, AT(aligned), NULL, "groups load from multiples of their size", 0, 0},
    {0},
};

/* ---- Measuring ----------------------------------------------------------------------------- */

static int check_options(const workload *w)
{
    if (w->group & (w->group - 1))
        return tool_fail(USAGE, "--group is a power of two, not %llu", (unsigned long long)w->group);
    if (w->lanes % w->group)
        return tool_fail(USAGE, "--lanes %llu is not a multiple of --group %llu",
                         (unsigned long long)w->lanes, (unsigned long long)w->group);
    if (w->entries < w->group)
        return tool_fail(USAGE, "--entries %llu are fewer than a group of %llu loads",
                         (unsigned long long)w->entries, (unsigned long long)w->group);
    return DONE;
}

static int load(const kr_loads_spec *spec, kr_device *device, uint32_t threads, uint32_t *entries,
                uint32_t runs, double *seconds, uint32_t *sums)
{
    kr_error err = {0};
    kr_device_info info = {.struct_size = sizeof info};
    const int code = tool_check(kr_device_query(device, &info, &err), &err);
    if (code)
        return code;
#if defined(KR_WITH_CUDA)
    char text[256];
    if (strncmp(info.name, "cuda", 4) == 0)
        return kr_baseline_loads_cuda(spec, entries, runs, seconds, sums, text, sizeof text)
                   ? tool_fail(FAILED, "%s", text)
                   : DONE;
#endif
    kr_baseline_loads_cpu(spec, threads, entries, runs, seconds, sums);
    return DONE;
}

static int check_sums(const kr_loads_spec *spec, const uint32_t *sums, char checked[192])
{
    const uint32_t n = spec->lanes < LOADS_CHECKED ? spec->lanes : LOADS_CHECKED;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t lane = (uint32_t)((uint64_t)i * spec->lanes / n);
        const uint32_t wanted = kr_baseline_loads_sum(spec, lane);
        if (sums[lane] != wanted)
            return tool_fail(FAILED,
                             "lane %u loaded what adds up to %u, not %u; this is a bug of the benchmark",
                             lane, sums[lane], wanted);
    }
    snprintf(checked, 192, "the sums of %u lanes with the generator", n);
    return DONE;
}

int bench_loads(const bench_options *options, kr_device *device, uint32_t threads, bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const workload *w = &row->workload;
    const kr_loads_spec spec = {.entries = w->entries,
                                .seed = w->seed,
                                .lanes = (uint32_t)w->lanes,
                                .steps = (uint32_t)w->steps,
                                .group = (uint32_t)w->group,
                                .aligned = w->aligned};
    kr_error err = {0};
    void *entries = NULL;
    int code = check_options(w);
    if (code)
        return code;
    uint32_t *sums = tool_alloc(w->lanes, sizeof *sums, "the sums of the lanes");
    if (!sums)
        return FAILED;
    code = tool_check(kr_memory_allocate(device, w->entries * 4, NULL, &entries, &err), &err);
    if (!code)
        code = tool_check(kr_device_sync(device, NULL, &err), &err);
    if (!code)
        code = load(&spec, device, threads, entries, (uint32_t)options->repeat + 1, seconds, sums);
    if (!code)
        code = check_sums(&spec, sums, row->checked);
    if (!code)
        row->times = bench_summarize(seconds + 1, options->repeat);
    row->per_run = w->lanes * w->steps;
    if (entries)
        kr_memory_release(device, entries, w->entries * 4, NULL);
    free(sums);
    return code;
}

/* ---- Report -------------------------------------------------------------------------------- */

static double rate(const bench_row *row)
{
    return (double)row->per_run / row->times.median;
}

void bench_print_loads_json(output *out, const bench_row *row)
{
    const workload *w = &row->workload;
    output_begin(out, NULL, '{');
    if (row->swept[0])
        output_text(out, "swept", row->swept);
    output_begin(out, "workload", '{');
    output_number(out, "entries", w->entries);
    output_number(out, "lanes", w->lanes);
    output_number(out, "steps", w->steps);
    output_number(out, "group", w->group);
    output_truth(out, "aligned", (int)w->aligned);
    output_end(out, '}');
    output_text(out, "checked", row->checked);
    bench_print_times(out, "seconds", &row->times);
    output_real(out, "per_second", rate(row));
    output_real(out, "bytes_per_second", rate(row) * 4);
    output_end(out, '}');
}

void bench_print_loads_text(const bench_report *report, FILE *to)
{
    fprintf(to, "every lane draws a position in each step, the same in a group, and loads from there on\n");
    fprintf(to, "inside the time: drawing, loading, adding up; one run to warm up, then %llu\n\n",
            (unsigned long long)report->options->repeat);
    fprintf(to, "%10s %10s %10s %12s %10s %8s  %s\n", "min ms", "median ms", "max ms", "M loads/s", "GB/s",
            "group", "what");
    for (uint32_t i = 0; i < report->n_rows; ++i) {
        const bench_row *row = &report->rows[i];
        const workload *w = &row->workload;
        fprintf(to, "%10.3f %10.3f %10.3f %12.2f %10.2f %8llu  %llu lanes, %llu steps, %llu entries%s\n",
                row->times.minimum * 1e3, row->times.median * 1e3, row->times.maximum * 1e3, rate(row) / 1e6,
                rate(row) * 4 / 1e9, (unsigned long long)w->group, (unsigned long long)w->lanes,
                (unsigned long long)w->steps, (unsigned long long)w->entries, w->aligned ? ", aligned" : "");
    }
}
