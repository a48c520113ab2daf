#include "bench_job.h"

#include "tool.h"

#include <stdlib.h>
#include <string.h>

static uint64_t column_count(const bench_data *data, int column)
{
    return column == COLUMN_LOWER || column == COLUMN_UPPER ? data->n_probes : data->n_keys;
}

static kr_type column_type(const bench_data *data, int column)
{
    return column == COLUMN_VALUES ? KR_U32 : data->type;
}

static uint64_t column_nbytes(const bench_data *data, int column)
{
    return column_count(data, column) * kr_type_nbytes(column_type(data, column));
}

kr_column bench_data_column(const bench_data *data, int column, uint64_t first, uint64_t count)
{
    const kr_type type = column_type(data, column);
    const char *begin = data->there[column];
    return (kr_column){.type = type, .count = count, .data = begin + first * kr_type_nbytes(type)};
}

static int allocate(bench_data *data, int with_values)
{
    for (int i = 0; i < N_COLUMNS; ++i) {
        if ((i == COLUMN_UPPER && data->operation != BENCH_RANGE) || (i == COLUMN_VALUES && !with_values))
            continue;
        data->host[i] = tool_alloc(column_nbytes(data, i), 1, "the workload; lower --count or --probes");
        if (!data->host[i])
            return FAILED;
    }
    if (data->operation == BENCH_RANGE)
        return DONE;
    data->known = tool_alloc(data->n_probes, sizeof *data->known, "the known answers");
    return data->known ? DONE : FAILED;
}

static int generate(bench_data *data, const workload *w, uint32_t threads)
{
    kr_error err = {0};
    kr_keys_spec keys = workload_keys(w);
    kr_probes_spec probes = workload_probes(w);
    kr_ranges_spec ranges = workload_ranges(w);
    void *const *to = data->host;
    keys.sorted = w->keys_sorted;
    probes.count = ranges.count = data->n_probes;
    kr_status status = kr_generate_keys(&keys, threads, to[COLUMN_KEYS], &err);
    if (status == KR_OK && data->operation == BENCH_RANGE)
        status = kr_generate_ranges(&ranges, data->type, data->n_keys, to[COLUMN_KEYS], threads,
                                    to[COLUMN_LOWER], to[COLUMN_UPPER], &err);
    else if (status == KR_OK)
        status = kr_generate_probes(&probes, data->type, data->n_keys, to[COLUMN_KEYS], threads,
                                    to[COLUMN_LOWER], data->known, &err);
    uint32_t *values = to[COLUMN_VALUES];
    for (uint64_t row = 0; values && row < data->n_keys; ++row)
        values[row] = (uint32_t)row * UINT32_C(2654435761);
    return workload_check(status, &err, USAGE);
}

static int bring_to_device(bench_data *data)
{
    kr_error err = {0};
    kr_status status = KR_OK;
    for (int i = 0; i < N_COLUMNS && status == KR_OK; ++i) {
        const uint64_t nbytes = column_nbytes(data, i);
        if (!data->host[i])
            continue;
        status = kr_memory_allocate(data->device, nbytes ? nbytes : 1, NULL, &data->there[i], &err);
        if (status == KR_OK)
            status = kr_memory_copy(data->device, data->there[i], data->host[i], nbytes, NULL, &err);
    }
    return tool_check(status, &err);
}

int bench_data_open(bench_data *data, kr_device *device, int operation, const workload *w, int with_values,
                    int on_host, uint32_t threads)
{
    *data = (bench_data){.device = on_host ? NULL : device,
                         .operation = operation,
                         .type = workload_type(w),
                         .n_keys = w->count,
                         .n_probes = w->probes,
                         .multiplicity = w->multiplicity,
                         .batches = w->batches};
    /* A build is checked by looking up some of its keys. */
    if (operation == BENCH_BUILD)
        data->n_probes = w->count < BENCH_SAMPLES ? w->count : BENCH_SAMPLES;
    int code = allocate(data, with_values);
    if (!code)
        code = generate(data, w, threads);
    if (!code)
        code = bench_oracle_open(data);
    if (!code && on_host)
        memcpy(data->there, data->host, sizeof data->there);
    else if (!code)
        code = bring_to_device(data);
    return code;
}

void bench_data_close(bench_data *data)
{
    for (int i = 0; i < N_COLUMNS; ++i) {
        if (data->device && data->there[i])
            kr_memory_release(data->device, data->there[i],
                              column_nbytes(data, i) ? column_nbytes(data, i) : 1, NULL);
        free(data->host[i]);
    }
    free(data->known);
    free(data->sorted);
    free(data->sorted_rows);
    memset(data, 0, sizeof *data);
}
