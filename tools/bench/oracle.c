/* The oracle: the keys in a sorted array, with the workload's sort and a search of its own. */
#include "bench/bench.h"
#include "job.h"
#include "tools/terminal/tool.h"

#include <string.h>

static inline uint64_t get(const void *keys, int wide, uint64_t i)
{
    return wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

static void take_part(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const bench_data *data = ctx;
    const uint64_t nbytes = data->type == KR_U64 ? 8 : 4;
    (void)part;
    memcpy((char *)data->sorted + first * nbytes, (const char *)data->host[COLUMN_KEYS] + first * nbytes,
           (end - first) * nbytes);
    for (uint64_t i = first; i < end; ++i)
        data->sorted_rows[i] = (uint32_t)i;
}

static void take_valid(bench_data *data)
{
    const uint64_t nbytes = data->type == KR_U64 ? 8 : 4;
    const char *keys = data->host[COLUMN_KEYS];
    data->n_sorted = 0;
    for (uint64_t i = 0; i < data->n_keys; ++i)
        if (!bench_files_is_null(data, COLUMN_KEYS, i)) {
            memcpy((char *)data->sorted + data->n_sorted * nbytes, keys + i * nbytes, nbytes);
            data->sorted_rows[data->n_sorted++] = (uint32_t)i;
        }
}

int bench_oracle_open(bench_data *data, uint32_t threads)
{
    const uint64_t n = data->n_keys, nbytes = data->type == KR_U64 ? 8 : 4;
    kr_error err = {0};
    data->sorted = tool_alloc(n, nbytes, "the oracle's keys");
    data->sorted_rows = data->sorted ? tool_alloc(n, 4, "the oracle's rows") : NULL;
    if (!data->sorted_rows)
        return FAILED;
    data->n_sorted = n;
    if (data->files)
        take_valid(data);
    else
        kr_workload_run(kr_workload_parts(threads, n), n, take_part, data);
    return tool_check(
        kr_sort_keys(data->type, data->n_sorted, data->sorted, data->sorted_rows, threads, &err), &err);
}

/* ---- Searching ----------------------------------------------------------------------------- */

/* How many keys are below `key` or, with `equal`, not above it. */
static uint64_t position(const bench_data *data, uint64_t key, int equal)
{
    uint64_t low = 0, high = data->n_sorted;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint64_t there = get(data->sorted, data->type == KR_U64, middle);
        if (there < key || (equal && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t bench_oracle_answer(const bench_data *data, uint64_t i, kr_result result, uint64_t *visited)
{
    const int wide = data->type == KR_U64;
    const int upper = data->operation == BENCH_RANGE ? COLUMN_UPPER : COLUMN_LOWER;
    const uint64_t low = get(data->host[COLUMN_LOWER], wide, i), high = get(data->host[upper], wide, i);
    const int has_null = bench_files_is_null(data, COLUMN_LOWER, i) ||
                         bench_files_is_null(data, upper, i); /* matches nothing */
    const uint64_t first = position(data, low, 0);
    const uint64_t end = low <= high && !has_null ? position(data, high, 1) : first;
    const uint32_t *values = data->host[COLUMN_VALUES];
    uint64_t sum = 0;
    uint32_t least = KR_NO_ROW;
    if (result == KR_RESULT_COUNT)
        return end - first;
    if (result == KR_RESULT_EXISTS)
        return end > first;
    *visited += end - first;
    for (uint64_t at = first; at < end; ++at) {
        const uint32_t row = data->sorted_rows[at];
        sum += result == KR_RESULT_SUM ? values[row] : row;
        least = row < least ? row : least;
    }
    return result == KR_RESULT_ROW ? least : sum;
}
