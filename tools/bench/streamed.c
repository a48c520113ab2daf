/* Joins whose left side comes from pinned host memory: pairs stay on the device, or come back in chunks. The
 * bus alone, in the same process, is what they are compared with. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

enum { BUS_RUNS = 3 };

typedef struct streamed {
    void *pinned; /* the left side, while it is */
    kr_index *index;
    double down, up; /* seconds of a byte, to the device and back */
} streamed;

static streamed kept;

void bench_streamed_close(const bench_data *data)
{
    kr_index_destroy(kept.index);
    if (kept.pinned && data->device)
        kr_memory_unpin(data->device, kept.pinned);
    kept = (streamed){0};
}

/* The best of a few copies of the left side, there and back. */
static int measure_bus(const bench_data *data, uint64_t nbytes)
{
    void *there = NULL;
    kr_error err = {0};
    kr_status status = kr_memory_allocate(data->device, nbytes, NULL, &there, &err);
    for (int i = 0; i < BUS_RUNS && status == KR_OK; ++i) {
        const double begin = tool_now();
        status = kr_memory_copy(data->device, there, kept.pinned, nbytes, NULL, &err);
        const double middle = tool_now();
        if (status == KR_OK)
            status = kr_memory_copy(data->device, kept.pinned, there, nbytes, NULL, &err);
        const double down = (middle - begin) / (double)nbytes, up = (tool_now() - middle) / (double)nbytes;
        kept.down = i && kept.down < down ? kept.down : down;
        kept.up = i && kept.up < up ? kept.up : up;
    }
    if (there)
        kr_memory_release(data->device, there, nbytes, NULL);
    return tool_check(status, &err);
}

int bench_streamed_open(const bench_data *data)
{
    const uint64_t nbytes = data->n_probes * kr_type_nbytes(data->type);
    kr_error err = {0};
    bench_streamed_close(data);
    if (!data->device)
        return tool_fail(USAGE, "--streamed is for a GPU: a CPU reads host memory as it is");
    const int code = tool_check(kr_memory_pin(data->device, data->host[COLUMN_LOWER], nbytes, &err), &err);
    if (code)
        return code;
    kept.pinned = data->host[COLUMN_LOWER];
    return measure_bus(data, nbytes);
}

static kr_column left_of(const bench_data *data)
{
    return (kr_column){.type = data->type, .count = data->n_probes, .data = kept.pinned};
}

/* Before the first run, which is not timed, the right side is indexed. */
kr_status bench_streamed_create(const bench_run *run, const char *spec, const kr_join_options *how,
                                kr_join **join, kr_error *err)
{
    const kr_column left = left_of(run->data);
    const kr_column right = bench_data_column(run->data, COLUMN_KEYS, 0, run->data->n_keys);
    kr_status status = KR_OK;
    if (!kept.index)
        status = kr_index_create(run->device, spec, &right, NULL, NULL, &kept.index, err);
    return status == KR_OK ? kr_join_create_prepared(kept.index, &left, NULL, how, join, err) : status;
}

int bench_streamed_chunks(const bench_run *run, const char *spec, int checks, uint64_t wanted)
{
    const kr_column left = left_of(run->data);
    const kr_column right = bench_data_column(run->data, COLUMN_KEYS, 0, run->data->n_keys);
    bench_taken t = {.run = run, .checks = checks};
    kr_error err = {0};
    const kr_status status = kr_join_chunks(run->device, spec, &left, &right, NULL, NULL, run->options->chunk,
                                            bench_join_take, &t, NULL, &err);
    if (status != KR_OK)
        return tool_check(status, &err);
    if (t.pairs != wanted || t.wrong)
        return tool_fail(FAILED, "%llu pairs were handed over%s, but there are %llu; nothing was timed",
                         (unsigned long long)t.pairs, t.wrong ? ", some of them wrong" : "",
                         (unsigned long long)wanted);
    return DONE;
}

void bench_streamed_step(const bench_run *run, uint64_t pairs, char *step, size_t room)
{
    const double left = (double)(run->data->n_probes * kr_type_nbytes(run->data->type));
    const size_t used = strlen(step);
    snprintf(step + used, room - used, "; the bus alone: %.3f ms for the left side%s", 1e3 * left * kept.down,
             run->options->chunk ? "" : ", pinned");
    const size_t more = strlen(step);
    if (run->options->chunk)
        snprintf(step + more, room - more, ", %.3f ms for the pairs", 1e3 * 8 * (double)pairs * kept.up);
}
