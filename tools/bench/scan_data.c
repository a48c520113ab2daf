/* The columns of `keyray bench scan` and the constants that they are compared with. */
#include "scan_job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

enum { QUANTILES = 1 << 16 };

/* The table in host memory and where the library reads it, kept for the next row of the report. */
typedef struct scan_data {
    workload of;
    int is_read;       /* of files: `host` has codes, which are not its own */
    kr_device *device; /* NULL: the host's */
    void *host[BENCH_SCAN_COLUMNS], *there[BENCH_SCAN_COLUMNS];
    uint64_t *quantiles[BENCH_SCAN_COLUMNS]; /* of a sample, ascending */
    uint64_t n_quantiles[BENCH_SCAN_COLUMNS];
} scan_data;

static scan_data data;

static uint64_t each_of(const workload *w)
{
    return w->wide ? 8 : 4;
}

static uint64_t value_at(const void *values, const workload *w, uint64_t i)
{
    return w->wide ? ((const uint64_t *)values)[i] : ((const uint32_t *)values)[i];
}

void bench_scan_close(void)
{
    bench_scan_drop_table();
    for (uint32_t c = 0; c < BENCH_SCAN_COLUMNS; ++c) {
        if (data.device && data.there[c])
            kr_memory_release(data.device, data.there[c], bench_scan_total(&data.of) * each_of(&data.of),
                              NULL);
        if (!data.is_read)
            free(data.host[c]);
        free(data.quantiles[c]);
    }
    bench_scan_files_close();
    memset(&data, 0, sizeof data);
}

static int compare_values(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of `total` values. */
static int sample(const workload *w, const void *values, uint64_t total, uint32_t c)
{
    const uint64_t n = total < QUANTILES ? total : QUANTILES;
    data.n_quantiles[c] = n;
    data.quantiles[c] = tool_alloc(n, sizeof(uint64_t), "a sample of a column");
    if (!data.quantiles[c])
        return FAILED;
    for (uint64_t i = 0; i < n; ++i)
        data.quantiles[c][i] = value_at(values, w, total * i / n);
    qsort(data.quantiles[c], n, sizeof(uint64_t), compare_values);
    return DONE;
}

static int take_column(const workload *w, uint32_t c)
{
    uint64_t n = 0;
    const uint64_t *valid = bench_scan_files_valid(c, &n);
    data.host[c] = (void *)(uintptr_t)bench_scan_files_codes(c);
    return sample(w, valid, n, c);
}

static int make_column(const workload *w, kr_device *device, int on_host, uint32_t threads, uint32_t c)
{
    const kr_values_spec spec = {.count = bench_scan_total(w),
                                 .bits = w->wide ? 64 : 32,
                                 .distribution = w->distribution,
                                 .zipf_hundredths = (uint32_t)w->value_zipf,
                                 .column = c,
                                 .sigma = w->sigma,
                                 .seed = w->value_seed,
                                 .sorted = w->ascending && c == 0};
    const uint64_t nbytes = spec.count * each_of(w);
    kr_error err = {0};
    kr_status status = KR_OK;
    data.host[c] = tool_alloc(spec.count, each_of(w), "a column");
    if (!data.host[c])
        return FAILED;
    if (w->tpch)
        bench_tpch_values(w, c, threads, data.host[c]);
    else
        status = kr_generate_values(&spec, threads, data.host[c], &err);
    if (status == KR_OK && !on_host)
        status = kr_memory_allocate(device, nbytes, NULL, &data.there[c], &err);
    if (status == KR_OK && !on_host)
        status = kr_memory_copy(device, data.there[c], data.host[c], nbytes, NULL, &err);
    return status == KR_OK ? sample(w, data.host[c], spec.count, c) : tool_check(status, &err);
}

static int same_data(const workload *a, const workload *b)
{
    return a->tpch == b->tpch && a->scale == b->scale && bench_scan_total(a) == bench_scan_total(b) &&
           a->predicates == b->predicates && a->distribution == b->distribution &&
           a->value_zipf == b->value_zipf && a->sigma == b->sigma && a->wide == b->wide &&
           a->ascending == b->ascending && a->value_seed == b->value_seed;
}

int bench_scan_open_data(const workload *w, kr_device *device, int on_host, uint32_t threads)
{
    int code = DONE;
    if (data.host[0] && (data.is_read || same_data(&data.of, w)))
        return DONE;
    data.is_read = bench_scan_files_count() != 0;
    if (!data.is_read)
        bench_scan_close();
    data.of = *w;
    data.device = on_host || data.is_read ? NULL : device;
    for (uint32_t c = 0; c < w->predicates && !code; ++c)
        code = data.is_read ? take_column(w, c) : make_column(w, device, on_host, threads, c);
    return code;
}

void bench_scan_columns(const workload *w, uint64_t first, uint64_t count,
                        kr_column columns[BENCH_SCAN_COLUMNS])
{
    for (uint32_t c = 0; c < w->predicates; ++c) {
        const char *from = data.there[c] ? data.there[c] : data.host[c];
        if (data.is_read) { /* all rows: none are appended */
            columns[c] = bench_scan_files_column(c);
            continue;
        }
        columns[c] = (kr_column){.type = w->tpch   ? bench_tpch_type(w, c)
                                         : w->wide ? KR_U64
                                                   : KR_U32,
                                 .count = count,
                                 .data = from + first * each_of(w)};
    }
}

kr_baseline_table bench_scan_table(const workload *w, int on_host)
{
    return (kr_baseline_table){.columns = (const void *const *)(on_host ? data.host : data.there),
                               .n_columns = (uint32_t)w->predicates,
                               .bits = w->wide ? 64 : 32,
                               .n_rows = bench_scan_total(w)};
}

uint64_t bench_scan_constant(const workload *w, uint64_t i, uint32_t c)
{
    const uint64_t n = data.n_quantiles[c];
    uint64_t at = n * w->selectivity / 10000;
    if (w->selectivity == BENCH_SCAN_RANDOM)
        at = kr_values_random(w->value_seed, i * BENCH_SCAN_COLUMNS + c) % n;
    if (w->selectivity == 0 && !data.is_read) /* below 0 is no row, and no index has to look */
        return 0;
    if (at >= n && data.is_read) /* all but those with the highest value */
        return data.quantiles[c][n - 1];
    if (at >= n) /* all rows */
        return w->wide ? UINT64_MAX : (uint64_t)UINT32_MAX + 1;
    if (w->distribution == KR_VALUES_DISTINCT && w->selectivity != BENCH_SCAN_RANDOM)
        return bench_scan_total(w) * w->selectivity /
               10000; /* exactly: every value below the number of rows is there */
    return data.quantiles[c][at];
}
