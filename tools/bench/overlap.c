/* Joins of intervals: the probes are the left starts, the keys the right ones. Generated intervals have one
 * length, which makes as many overlaps a row as asked for; with --cover right row 0 overlaps all. Those of
 * files end where
 * --left-end and --right-end say. */
#include "bench/bench.h"
#include "job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct intervals {
    kr_device *device;        /* that holds `there`; NULL: `there` is `host` */
    void *host[2], *there[2]; /* ends: left, right */
    void *starts;             /* the right starts, with --cover; of the device too, if there is one */
    void *starts_there;
    int points;  /* left intervals end where they begin */
    int is_read; /* of files: ends are columns of the data, and `host` and `starts` codes that are its own */
    uint64_t rows[2], length, pairs;
} intervals;

static intervals kept;

static uint64_t get(const bench_data *data, const void *from, uint64_t i)
{
    return data->type == KR_U64 ? ((const uint64_t *)from)[i] : ((const uint32_t *)from)[i];
}

static void put(const bench_data *data, void *to, uint64_t i, uint64_t value)
{
    if (data->type == KR_U64)
        ((uint64_t *)to)[i] = value;
    else
        ((uint32_t *)to)[i] = (uint32_t)value;
}

static uint64_t most_of(const bench_data *data)
{
    return data->type == KR_U64 ? UINT64_MAX : UINT32_MAX;
}

static uint64_t end_of(const bench_data *data, uint64_t start)
{
    return most_of(data) - start < kept.length ? most_of(data) : start + kept.length;
}

/* ---- Data ---------------------------------------------------------------------------------- */

void bench_overlap_close(const bench_data *data)
{
    const uint64_t each = kr_type_nbytes(data->type);
    for (int side = 0; side < 2 && !kept.is_read; ++side) {
        if (kept.device && kept.there[side])
            kr_memory_release(kept.device, kept.there[side], kept.rows[side] * each, NULL);
        free(kept.host[side]);
    }
    if (kept.device && kept.starts_there)
        kr_memory_release(kept.device, kept.starts_there, kept.rows[1] * each, NULL);
    if (!kept.is_read)
        free(kept.starts);
    kept = (intervals){0};
}

static int bring(const bench_data *data, void *host, uint64_t rows, void **there)
{
    kr_error err = {0};
    const uint64_t nbytes = rows * kr_type_nbytes(data->type);
    *there = data->device ? NULL : host;
    if (!data->device)
        return DONE;
    kr_status status = kr_memory_allocate(data->device, nbytes ? nbytes : 1, NULL, there, &err);
    if (status == KR_OK)
        status = kr_memory_copy(data->device, *there, host, nbytes, NULL, &err);
    return tool_check(status, &err);
}

/* Positions of the sorted starts below `bound`. */
static uint64_t below(const bench_data *data, uint64_t bound)
{
    uint64_t low = 0, high = data->n_keys;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (get(data, data->sorted, middle) < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Right intervals that begin up to the left end, less those that have ended before the left start. */
static uint64_t overlaps_of(const bench_data *data, uint64_t start)
{
    const uint64_t end = kept.points ? start : end_of(data, start);
    const uint64_t begun = end == most_of(data) ? data->n_keys : below(data, end + 1);
    return begun - (start > kept.length ? below(data, start - kept.length) : 0);
}

static void count_pairs(const bench_data *data, int cover)
{
    const void *lefts = data->host[COLUMN_LOWER];
    const uint64_t first = data->n_keys ? get(data, data->host[COLUMN_KEYS], 0) : 0;
    kept.pairs = 0;
    for (uint64_t i = 0; i < data->n_probes; ++i) {
        const uint64_t start = get(data, lefts, i);
        kept.pairs += overlaps_of(data, start);
        if (cover && data->n_keys) /* row 0 overlaps all, not what its key would */
            kept.pairs += 1 - (uint64_t)(start <= end_of(data, first) &&
                                         first <= (kept.points ? start : end_of(data, start)));
    }
}

/* ---- Columns of files -------------------------------------------------------------------- */

/* 1: neither end is NULL, and the interval is not empty. `start` is of the keys or the probes. */
static int is_interval(const bench_data *data, int start, uint64_t row)
{
    const int end = start == COLUMN_KEYS ? COLUMN_RIGHT_END : COLUMN_LEFT_END;
    return !bench_files_is_null(data, start, row) && !bench_files_is_null(data, end, row) &&
           get(data, data->host[start], row) <= get(data, data->host[end], row);
}

/* Starts or ends of the right intervals, ascending, n of them. */
static int sort_right(const bench_data *data, int column, void *to, uint64_t *n)
{
    uint32_t *rows = tool_alloc(data->n_keys, sizeof *rows, "sorted intervals");
    kr_error err = {0};
    if (!rows)
        return FAILED;
    *n = 0;
    for (uint64_t i = 0; i < data->n_keys; ++i)
        if (is_interval(data, COLUMN_KEYS, i)) {
            put(data, to, *n, get(data, data->host[column], i));
            rows[(*n)++] = (uint32_t)i;
        }
    const int code = tool_check(kr_sort_keys(data->type, *n, to, rows, 0, &err), &err);
    free(rows);
    return code;
}

/* How many of n ascending values are below `bound` or, with `equal`, not above it. */
static uint64_t count_below(const bench_data *data, const void *values, uint64_t n, uint64_t bound, int equal)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, there = get(data, values, middle);
        if (there < bound || (equal && there == bound))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Right intervals that begin up to the left end, less those that end before the left start, which are among
 * them. */
static int count_read_pairs(const bench_data *data)
{
    const uint64_t each = kr_type_nbytes(data->type);
    void *starts = tool_alloc(data->n_keys, each, "sorted intervals");
    void *ends = tool_alloc(data->n_keys, each, "sorted intervals");
    uint64_t n = 0;
    int code = starts && ends ? sort_right(data, COLUMN_KEYS, starts, &n) : FAILED;
    if (!code)
        code = sort_right(data, COLUMN_RIGHT_END, ends, &n);
    for (uint64_t i = 0; i < data->n_probes && !code; ++i)
        if (is_interval(data, COLUMN_LOWER, i))
            kept.pairs += count_below(data, starts, n, get(data, data->host[COLUMN_LEFT_END], i), 1) -
                          count_below(data, ends, n, get(data, data->host[COLUMN_LOWER], i), 0);
    free(ends);
    free(starts);
    return code;
}

static int open_read(const bench_data *data)
{
    kept.is_read = 1;
    kept.rows[0] = data->n_probes;
    kept.rows[1] = data->n_keys;
    kept.host[0] = data->host[COLUMN_LEFT_END];
    kept.host[1] = data->host[COLUMN_RIGHT_END];
    kept.starts = data->host[COLUMN_KEYS];
    return count_read_pairs(data);
}

int bench_overlap_open(const bench_options *options, const bench_data *data)
{
    bench_overlap_close(data);
    if (options->left_end)
        return open_read(data);
    const uint64_t each = kr_type_nbytes(data->type), n = data->n_keys;
    const uint64_t span = n ? get(data, data->sorted, n - 1) - get(data, data->sorted, 0) : 0;
    const int columns[2] = {COLUMN_LOWER, COLUMN_KEYS};
    int code = DONE;
    kept.rows[0] = data->n_probes;
    kept.rows[1] = n;
    kept.device = data->device;
    kept.points = options->points != 0;
    kept.length =
        n ? (uint64_t)((double)span / (double)n * (double)options->overlap / (kept.points ? 1 : 2)) : 0;
    kept.starts = tool_alloc(n, each, "the right starts");
    if (!kept.starts)
        return FAILED;
    memcpy(kept.starts, data->host[COLUMN_KEYS], n * each);
    for (int side = 0; side < 2 && !code; ++side) {
        kept.host[side] = tool_alloc(kept.rows[side], each, "the ends of intervals");
        code = kept.host[side] ? DONE : FAILED;
        for (uint64_t i = 0; i < kept.rows[side] && !code; ++i)
            put(data, kept.host[side], i,
                side == 0 && kept.points ? get(data, data->host[columns[0]], i)
                                         : end_of(data, get(data, data->host[columns[side]], i)));
    }
    if (!code && options->cover && n) {
        put(data, kept.starts, 0, 0);
        put(data, kept.host[1], 0, most_of(data));
    }
    for (int side = 0; side < 2 && !code; ++side)
        code = bring(data, kept.host[side], kept.rows[side], &kept.there[side]);
    if (!code)
        code = bring(data, kept.starts, n, &kept.starts_there);
    count_pairs(data, options->cover != 0);
    return code;
}

/* ---- The join ------------------------------------------------------------------------------ */

uint64_t bench_overlap_pairs(void)
{
    return kept.pairs;
}

int bench_overlap_is_right(const bench_run *run, uint64_t left, uint64_t right)
{
    const bench_data *data = run->data;
    if (left >= kept.rows[0] || right >= kept.rows[1] ||
        (kept.is_read && (!is_interval(data, COLUMN_LOWER, left) || !is_interval(data, COLUMN_KEYS, right))))
        return 0;
    return get(data, data->host[COLUMN_LOWER], left) <= get(data, kept.host[1], right) &&
           get(data, kept.starts, right) <= get(data, kept.host[0], left);
}

/* Left starts and ends, right starts and ends, where the library reads them. */
static void columns_of(const bench_data *data, kr_column of[4])
{
    const kr_column end = {.type = data->type, .count = kept.rows[0], .data = kept.there[0]};
    of[0] = bench_data_column(data, COLUMN_LOWER, 0, data->n_probes);
    of[1] = of[2] = of[3] = end;
    of[2].count = of[3].count = kept.rows[1];
    of[2].data = kept.starts_there;
    of[3].data = kept.there[1];
    if (!kept.is_read)
        return;
    of[1] = bench_files_column(data, COLUMN_LEFT_END, 0, kept.rows[0]);
    of[2] = bench_files_column(data, COLUMN_KEYS, 0, kept.rows[1]);
    of[3] = bench_files_column(data, COLUMN_RIGHT_END, 0, kept.rows[1]);
}

kr_status bench_overlap_create(const bench_run *run, const char *spec, const kr_join_options *how,
                               kr_join **join, kr_error *err)
{
    kr_column of[4];
    columns_of(run->data, of);
    if (kept.points)
        return kr_join_create_range(run->device, spec, &of[0], &of[2], &of[3], how, join, err);
    return kr_join_create_overlap(run->device, spec, &of[0], &of[1], &of[2], &of[3], KR_ENDS_CLOSED, how,
                                  join, err);
}

int bench_overlap_chunks(const bench_run *run, const char *spec, int checks)
{
    kr_column of[4];
    bench_taken t = {.run = run, .checks = checks};
    uint64_t pairs = 0;
    kr_error err = {0};
    columns_of(run->data, of);
    const kr_status status = kr_join_overlap_chunks(
        run->device, spec, &of[0], &of[1], &of[2], &of[3], KR_ENDS_CLOSED, run->options->chunk,
        run->options->chunk ? bench_join_take : NULL, &t, &pairs, &err);
    if (status != KR_OK)
        return tool_check(status, &err);
    if (pairs != kept.pairs || (run->options->chunk && (t.pairs != pairs || t.wrong)))
        return tool_fail(FAILED,
                         "%llu pairs, %llu of them handed over%s, but there are %llu; nothing was timed",
                         (unsigned long long)pairs, (unsigned long long)t.pairs,
                         t.wrong ? ", some of them wrong" : "", (unsigned long long)kept.pairs);
    return DONE;
}
