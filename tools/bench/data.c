#include "job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

static uint64_t column_count(const bench_data *data, int column)
{
    if (column >= COLUMN_CHANGED_ROWS)
        return data->n_changed;
    return column >= COLUMN_LOWER ? data->n_probes : data->n_grown;
}

static kr_type column_type(const bench_data *data, int column)
{
    const int is_u32 =
        column == COLUMN_VALUES || column == COLUMN_CHANGED_ROWS || column == COLUMN_CHANGED_BACK;
    return is_u32 ? KR_U32 : data->type;
}

static uint64_t column_nbytes(const bench_data *data, int column)
{
    return column_count(data, column) * kr_type_nbytes(column_type(data, column));
}

/* With --texts, or of files. */
static int is_text(int column)
{
    return column == COLUMN_KEYS || column == COLUMN_LOWER || column == COLUMN_UPPER;
}

kr_column bench_data_column(const bench_data *data, int column, uint64_t first, uint64_t count)
{
    if (data->texts.form && is_text(column))
        return bench_texts_column(data, column, first, count);
    if (data->files && is_text(column))
        return bench_files_column(data, column, first, count);
    const kr_type type = column_type(data, column);
    const char *begin = data->there[column];
    return (kr_column){.type = type, .count = count, .data = begin + first * kr_type_nbytes(type)};
}

static int is_needed(const bench_data *data, int column, int with_values)
{
    if (data->host[column])
        return 0;
    if (column == COLUMN_VALUES)
        return with_values;
    if (column == COLUMN_UPPER)
        return data->operation == BENCH_RANGE;
    return column < COLUMN_CHANGED_ROWS || data->n_changed;
}

static int allocate(bench_data *data, int with_values)
{
    for (int i = 0; i < N_COLUMNS; ++i) {
        if (!is_needed(data, i, with_values))
            continue;
        data->host[i] = tool_alloc(column_nbytes(data, i), 1, "the workload; lower --count or --probes");
        if (!data->host[i])
            return FAILED;
    }
    if (!data->checks)
        data->checks = bench_checks_open();
    if (!data->checks)
        return FAILED;
    data->checks->n = 0;
    if (data->operation == BENCH_RANGE)
        return DONE;
    data->known = tool_alloc(data->n_probes, sizeof *data->known, "the known answers");
    return data->known ? DONE : FAILED;
}

static void fill_values(bench_data *data)
{
    uint32_t *values = data->host[COLUMN_VALUES];
    for (uint64_t row = 0; values && row < data->n_grown; ++row)
        values[row] = (uint32_t)row * UINT32_C(2654435761);
}

/* The keys, their sorted copy and a value per row. */
static int generate_table(bench_data *data, uint32_t threads)
{
    kr_error err = {0};
    const kr_status status = kr_generate_keys(&data->keys, threads, data->host[COLUMN_KEYS], &err);
    fill_values(data);
    const int code = workload_check(status, &err, USAGE);
    return code ? code : bench_oracle_open(data, threads);
}

static kr_status generate_changes(bench_data *data, const workload *w, uint32_t threads, kr_error *err)
{
    const kr_swaps_spec swaps = workload_swaps(w);
    uint32_t *rows = data->host[COLUMN_CHANGED_ROWS], *back = data->host[COLUMN_CHANGED_BACK];
    const kr_status status = kr_generate_swaps(&swaps, data->type, data->n_keys, data->host[COLUMN_KEYS],
                                               threads, rows, data->host[COLUMN_CHANGED_KEYS], err);
    for (uint64_t i = 0; status == KR_OK && i < data->n_changed; ++i)
        back[i] = rows[i ^ 1];
    return status;
}

static int generate_probes(bench_data *data, const workload *w, uint32_t threads)
{
    kr_error err = {0};
    kr_probes_spec probes = workload_probes(w);
    kr_ranges_spec ranges = workload_ranges(w);
    void *const *to = data->host;
    kr_status status = KR_OK;
    probes.count = ranges.count = data->n_probes;
    if (data->n_changed)
        status = generate_changes(data, w, threads, &err);
    if (status == KR_OK && data->operation == BENCH_RANGE)
        status = kr_generate_ranges(&ranges, data->type, data->n_keys, to[COLUMN_KEYS], threads,
                                    to[COLUMN_LOWER], to[COLUMN_UPPER], &err);
    else if (status == KR_OK)
        status = kr_generate_probes(&probes, data->type, data->n_keys, to[COLUMN_KEYS], threads,
                                    to[COLUMN_LOWER], data->known, &err);
    return workload_check(status, &err, USAGE);
}

int bench_data_draw(const bench_data *data, const workload *w)
{
    const uint32_t each = kr_type_nbytes(data->type);
    const char *keys = data->host[COLUMN_KEYS];
    kr_probes_spec probes = workload_probes(w);
    kr_error err = {0};
    probes.count = data->n_probes;
    data->checks->n = 0;
    kr_status status = kr_generate_probes(&probes, data->type, data->n_keys, keys + data->first_key * each, 0,
                                          data->host[COLUMN_LOWER], data->known, &err);
    for (uint64_t i = 0; status == KR_OK && i < data->n_probes; ++i)
        if (data->known[i] != KR_NO_ROW)
            data->known[i] += (uint32_t)data->first_key;
    if (status == KR_OK && data->device)
        status = kr_memory_copy(data->device, data->there[COLUMN_LOWER], data->host[COLUMN_LOWER],
                                data->n_probes * each, NULL, &err);
    return workload_check(status, &err, USAGE);
}

/* Rivals read the keys on the device. */
int bench_data_place(const bench_options *options)
{
    const uint32_t n = options->index.n;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; ++i)
        kept += strstr(options->index.at[i], "keep=host") != NULL;
    return options->host                          ? BENCH_ALL_ON_HOST
           : n && kept == n && !options->baseline ? BENCH_KEYS_ON_HOST
                                                  : BENCH_ON_DEVICE;
}

/* Its memory is that of host[column]. */
static int stays(const bench_data *data, int column)
{
    return data->there[column] == data->host[column];
}

static int bring_to_device(bench_data *data, int place)
{
    kr_error err = {0};
    kr_status status = KR_OK;
    if (place == BENCH_KEYS_ON_HOST)
        data->there[COLUMN_KEYS] = data->host[COLUMN_KEYS];
    for (int i = 0; i < N_COLUMNS && status == KR_OK; ++i) {
        const uint64_t nbytes = column_nbytes(data, i);
        if (!data->host[i] || data->there[i] || ((data->texts.form || data->files) && is_text(i)))
            continue;
        status = kr_memory_allocate(data->device, nbytes ? nbytes : 1, NULL, &data->there[i], &err);
        if (status == KR_OK)
            status = kr_memory_copy(data->device, data->there[i], data->host[i], nbytes, NULL, &err);
    }
    return tool_check(status, &err);
}

int bench_data_make_values(bench_data *data)
{
    data->host[COLUMN_VALUES] = tool_alloc(data->n_grown, sizeof(uint32_t), "values of rows");
    if (!data->host[COLUMN_VALUES])
        return FAILED;
    fill_values(data);
    if (data->device)
        return bring_to_device(data, BENCH_ON_DEVICE);
    data->there[COLUMN_VALUES] = data->host[COLUMN_VALUES];
    return DONE;
}

static int make_texts(bench_data *data, uint32_t threads)
{
    int code = DONE;
    for (int i = 0; i < N_COLUMNS && !code; ++i)
        if (is_text(i) && data->host[i])
            code = bench_texts_make(data, i, column_count(data, i), threads);
    return code;
}

static void close_columns(bench_data *data, int first)
{
    for (int i = first; i < N_COLUMNS; ++i) {
        if (data->texts.form && is_text(i))
            bench_texts_close(data, i);
        const uint64_t nbytes = data->host[i] ? column_nbytes(data, i) : 0;
        if (data->device && data->there[i] && !stays(data, i))
            kr_memory_release(data->device, data->there[i], nbytes ? nbytes : 1, NULL);
        free(data->host[i]);
        data->there[i] = data->host[i] = NULL;
    }
    free(data->known);
    data->known = NULL;
}

int bench_data_open(bench_data *data, kr_device *device, int operation, const workload *w, int with_values,
                    int place, uint32_t threads)
{
    const int has_waves = operation == BENCH_UPDATE && w->waves;
    kr_keys_spec keys = workload_keys(w);
    keys.sorted = w->keys_sorted;
    if (has_waves)
        keys.count = workload_grown(w);
    close_columns(data, COLUMN_LOWER);
    const int has_keys = data->sorted && data->n_keys == w->count && data->texts.form == w->texts &&
                         memcmp(&keys, &data->keys, sizeof keys) == 0;
    if (!has_keys)
        bench_data_close(data);
    data->device = place == BENCH_ALL_ON_HOST ? NULL : device;
    data->operation = operation;
    data->type = workload_type(w);
    data->keys = keys;
    data->texts.form = w->texts;
    data->n_keys = w->count;
    data->n_grown = keys.count;
    /* A build is checked by looking up some of its keys. */
    data->n_probes = operation != BENCH_BUILD   ? w->probes
                     : w->count < BENCH_SAMPLES ? w->count
                                                : BENCH_SAMPLES;
    data->n_changed = operation == BENCH_UPDATE && !has_waves ? 2 * w->changes : 0;
    data->multiplicity = w->multiplicity;
    data->batches = w->batches;
    int code = allocate(data, with_values);
    if (!code && !has_keys)
        code = generate_table(data, threads);
    if (!code)
        code = generate_probes(data, w, threads);
    if (!code && !data->device)
        memcpy(data->there, data->host, sizeof data->there);
    else if (!code)
        code = bring_to_device(data, place);
    return code || !data->texts.form ? code : make_texts(data, threads);
}

void bench_data_close(bench_data *data)
{
    bench_files_close(data);
    close_columns(data, COLUMN_KEYS);
    free(data->sorted);
    free(data->sorted_rows);
    bench_checks_close(data->checks);
    memset(data, 0, sizeof *data);
}
