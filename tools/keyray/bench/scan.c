/* Scans: conjunctions of comparisons with random constants, or with constants of one selectivity. */
#include "scan.h"

#include "../clock.h"
#include "../tool.h"
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(workload, field)

enum { CHECKED = 4, QUANTILES = 1 << 16 };

const option_row bench_scan_rows[] = {
    {"rows", 0, 0, OPTION_NUMBER, AT(rows), "N", "of the table [2^22]", 1, UINT32_MAX - 1},
    {"append", 0, 0, OPTION_NUMBER, AT(append), "N",
     "rows appended to the table in one call, timed beside its build [0]", 0, UINT32_MAX - 1},
    {"delete", 0, 0, OPTION_NUMBER, AT(deleted), "N",
     "rows, evenly spread, then deleted in one call by their ids, timed [0]", 0, UINT32_MAX - 1},
    {"predicates", 0, 0, OPTION_NUMBER, AT(predicates), "N",
     "comparisons a < x and b < y ..., a column each [3]", 1, BENCH_SCAN_COLUMNS},
    {"distribution", 0, 0, OPTION_CHOICE, AT(distribution), BENCH_SCAN_DISTRIBUTIONS,
     "of the values: all of their width; 0 to rows - 1, each once; ranks of Zipf's law below 2^32; around "
     "the "
     "middle; 0 to 63 [uniform]",
     0, 0},
    {"zipf", 0, 0, OPTION_DECIMAL, AT(value_zipf), "S", "the exponent of zipf [1.1]", 1, 500},
    {"sigma", 0, 0, OPTION_NUMBER, AT(sigma), "N", "the standard deviation of normal [2^26]", 1,
     (uint64_t)1 << 31},
    {"width", 0, 0, OPTION_CHOICE, AT(wide), "32|64", "bits of a value [32]", 0, 0},
    {"ascending", 0, 0, OPTION_FLAG, AT(ascending), NULL, "the first column ascends", 0, 0},
    {"selectivity", 0, 0, OPTION_DECIMAL, AT(selectivity), "PERCENT",
     "rows that each comparison selects [random, another for each]", 0, 10000},
    {"queries", 0, 0, OPTION_NUMBER, AT(queries), "N",
     "calls of a repetition, with constants of their own [100]", 1, 1 << 16},
    {"conditions", 0, 0, OPTION_NUMBER, AT(conditions), "N", "conditions of a call [1]", 1, 4096},
    {"value-seed", 0, 0, OPTION_NUMBER, AT(value_seed), "N", "seed of values and constants [42]", 1,
     UINT64_MAX},
    {0},
};

/* The table in host memory and where the library reads it, kept for the next row of the report. */
typedef struct scan_data {
    workload of;
    kr_device *device; /* NULL: the host's */
    void *host[BENCH_SCAN_COLUMNS], *there[BENCH_SCAN_COLUMNS];
    uint64_t *quantiles[BENCH_SCAN_COLUMNS]; /* of a sample, ascending */
    uint64_t n_quantiles;
} scan_data;

static scan_data data;

/* ---- Data ------------------------------------------------------------------------------------ */

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
    for (uint32_t c = 0; c < BENCH_SCAN_COLUMNS; ++c) {
        if (data.device && data.there[c])
            kr_memory_release(data.device, data.there[c], bench_scan_total(&data.of) * each_of(&data.of),
                              NULL);
        free(data.host[c]);
        free(data.quantiles[c]);
    }
    memset(&data, 0, sizeof data);
}

static int compare_values(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int sample(const workload *w, uint32_t c)
{
    const uint64_t total = bench_scan_total(w);
    data.n_quantiles = total < QUANTILES ? total : QUANTILES;
    data.quantiles[c] = tool_alloc(data.n_quantiles, sizeof(uint64_t), "a sample of a column");
    if (!data.quantiles[c])
        return FAILED;
    for (uint64_t i = 0; i < data.n_quantiles; ++i)
        data.quantiles[c][i] = value_at(data.host[c], w, total * i / data.n_quantiles);
    qsort(data.quantiles[c], data.n_quantiles, sizeof(uint64_t), compare_values);
    return DONE;
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
    data.host[c] = tool_alloc(spec.count, each_of(w), "a column");
    if (!data.host[c])
        return FAILED;
    kr_status status = kr_generate_values(&spec, threads, data.host[c], &err);
    if (status == KR_OK && !on_host)
        status = kr_memory_allocate(device, nbytes, NULL, &data.there[c], &err);
    if (status == KR_OK && !on_host)
        status = kr_memory_copy(device, data.there[c], data.host[c], nbytes, NULL, &err);
    return status == KR_OK ? sample(w, c) : tool_check(status, &err);
}

static int same_data(const workload *a, const workload *b)
{
    return bench_scan_total(a) == bench_scan_total(b) && a->predicates == b->predicates &&
           a->distribution == b->distribution && a->value_zipf == b->value_zipf && a->sigma == b->sigma &&
           a->wide == b->wide && a->ascending == b->ascending && a->value_seed == b->value_seed;
}

static int open_data(const workload *w, kr_device *device, int on_host, uint32_t threads)
{
    int code = DONE;
    if (data.host[0] && same_data(&data.of, w))
        return DONE;
    bench_scan_close();
    data.of = *w;
    data.device = on_host ? NULL : device;
    for (uint32_t c = 0; c < w->predicates && !code; ++c)
        code = make_column(w, device, on_host, threads, c);
    return code;
}

void bench_scan_columns(const workload *w, uint64_t first, uint64_t count,
                        kr_column columns[BENCH_SCAN_COLUMNS])
{
    for (uint32_t c = 0; c < w->predicates; ++c) {
        const char *from = data.there[c] ? data.there[c] : data.host[c];
        columns[c] =
            (kr_column){.type = w->wide ? KR_U64 : KR_U32, .count = count, .data = from + first * each_of(w)};
    }
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* The constant of comparison c of condition i: the value that the wanted share of the sample is below. */
static uint64_t constant_of(const workload *w, uint64_t i, uint32_t c)
{
    const uint64_t n = data.n_quantiles;
    uint64_t at = n * w->selectivity / 10000;
    if (w->selectivity == BENCH_SCAN_RANDOM)
        at = kr_values_random(w->value_seed, i * BENCH_SCAN_COLUMNS + c) % n;
    if (at >= n) /* all rows */
        return w->wide ? UINT64_MAX : (uint64_t)UINT32_MAX + 1;
    return data.quantiles[c][at];
}

static kr_status make_condition(bench_scan_run *run, uint64_t i, kr_error *err)
{
    kr_condition *parts[BENCH_SCAN_COLUMNS] = {NULL};
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < run->w->predicates && status == KR_OK; ++c) {
        const char name[] = {'c', (char)('0' + c), '\0'};
        uint64_t *constant = run->constants + i * run->w->predicates + c;
        *constant = constant_of(run->w, i, c);
        const kr_column value = {.type = KR_U64, .count = 1, .data = constant};
        status = kr_condition_compare(name, KR_LESS, &value, &parts[c], err);
    }
    if (status == KR_OK)
        status = kr_condition_and((const kr_condition *const *)parts, (uint32_t)run->w->predicates,
                                  &run->conditions[i], err);
    for (uint32_t c = 0; c < run->w->predicates; ++c)
        kr_condition_destroy(parts[c]);
    return status;
}

static int make_conditions(bench_scan_run *run)
{
    const uint64_t n = run->w->queries * run->w->conditions;
    kr_error err = {0};
    run->constants = tool_alloc(n * run->w->predicates, sizeof(uint64_t), "constants");
    run->conditions = tool_alloc(n, sizeof *run->conditions, "conditions");
    if (!run->constants || !run->conditions)
        return FAILED;
    memset(run->conditions, 0, n * sizeof *run->conditions);
    kr_status status = KR_OK;
    for (uint64_t i = 0; i < n && status == KR_OK; ++i)
        status = make_condition(run, i, &err);
    return tool_check(status, &err);
}

static void *out_of(const bench_scan_run *run, uint64_t k)
{
    return (char *)run->out + k * run->out_nbytes;
}

/* Call `query` of a repetition. */
static int ask(const bench_scan_run *run, uint64_t query, kr_scan_result result, kr_report *report)
{
    static kr_scan_sink sinks[4096];
    static const kr_scan_sink *pointers[4096];
    const uint64_t n = run->w->conditions;
    const kr_scan_options options = {
        .struct_size = sizeof options, .report = report, .count_work = report != NULL};
    kr_error err = {0};
    for (uint64_t k = 0; k < n; ++k) {
        sinks[k] = (kr_scan_sink){.struct_size = sizeof *sinks,
                                  .result = result,
                                  .out = out_of(run, k),
                                  .rows = result == KR_SCAN_ROWS ? run->rows : NULL,
                                  .rows_capacity = bench_scan_total(run->w)};
        pointers[k] = &sinks[k];
    }
    return tool_check(kr_scan(run->table, (const kr_condition *const *)run->conditions + query * n, pointers,
                              (uint32_t)n, &options, NULL, &err),
                      &err);
}

static kr_scan_result result_of(const bench_options *options)
{
    static const kr_scan_result results[] = {KR_SCAN_BITMAP, KR_SCAN_COUNT, KR_SCAN_ROWS, KR_SCAN_SUM};
    return results[options->scan_result];
}

/* ---- Check ----------------------------------------------------------------------------------- */

/* Compares the bitmap of condition i with the columns; counts its rows. */
static int check_bitmap(const bench_scan_run *run, uint64_t i, const uint32_t *bitmap, uint64_t *count)
{
    const workload *w = run->w;
    const uint64_t total = bench_scan_total(w);
    *count = 0;
    for (uint64_t row = 0, gone = 0; row < total; ++row) {
        uint32_t holds = gone == w->deleted || run->doomed[gone] != row;
        gone += !holds;
        for (uint32_t c = 0; c < w->predicates; ++c)
            holds &= value_at(data.host[c], w, row) < run->constants[i * w->predicates + c];
        *count += holds;
        if ((bitmap[row / 32] >> (row % 32) & 1) != holds)
            return tool_fail(FAILED, "row %llu of query %llu is %s the result; this is a bug of the library",
                             (unsigned long long)row, (unsigned long long)i,
                             holds ? "missing in" : "wrong in");
    }
    return DONE;
}

static int check(bench_scan_run *run, char checked[192])
{
    const uint64_t n = run->w->queries < CHECKED ? run->w->queries : CHECKED,
                   words = (bench_scan_total(run->w) + 31) / 32;
    uint32_t *bitmap = tool_alloc(words, sizeof *bitmap, "a bitmap");
    uint64_t count = 0, selected = 0;
    kr_error err = {0};
    int code = bitmap ? DONE : FAILED;
    for (uint64_t q = 0; q < n && !code; ++q) {
        code = ask(run, q, KR_SCAN_BITMAP, NULL);
        if (!code)
            code =
                tool_check(kr_memory_copy(run->device, bitmap, out_of(run, 0), words * 4, NULL, &err), &err);
        if (!code)
            code = check_bitmap(run, q * run->w->conditions, bitmap, &count);
        selected += count;
    }
    free(bitmap);
    snprintf(checked, 192, "the bitmaps of %llu queries with the columns; they select %.4g%% of the rows",
             (unsigned long long)n, 100.0 * (double)selected / (double)n / (double)bench_scan_total(run->w));
    return code;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Each call by itself, and all calls of a repetition enqueued together. The first repetition warms up. */
static int time_queries(const bench_scan_run *run, bench_row *row)
{
    const uint64_t n = run->w->queries, repeat = run->options->repeat;
    const kr_scan_result result = result_of(run->options);
    double *seconds = tool_alloc(n * repeat, sizeof *seconds, "times");
    static double together[BENCH_REPEAT_MOST];
    kr_error err = {0};
    int code = seconds ? DONE : FAILED;
    for (uint64_t i = 0; i < (repeat + 1) * n && !code; ++i) {
        const double begin = tool_now();
        code = ask(run, i % n, result, NULL);
        if (!code)
            code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
        if (i >= n)
            seconds[i - n] = tool_now() - begin;
    }
    for (uint64_t r = 0; r < repeat && !code; ++r) {
        const double begin = tool_now();
        for (uint64_t q = 0; q < n && !code; ++q)
            code = ask(run, q, result, NULL);
        if (!code)
            code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
        together[r] = (tool_now() - begin) / (double)n;
    }
    if (!code) {
        row->times = bench_summarize(seconds, n * repeat);
        row->after = bench_summarize(together, repeat);
    }
    free(seconds);
    return code;
}

static int report_one(const bench_scan_run *run, bench_row *row)
{
    kr_report *report = NULL;
    kr_error err = {0};
    int code = tool_check(kr_report_create(&report, &err), &err);
    if (!code)
        code = ask(run, 0, result_of(run->options), report);
    if (!code) {
        report_facts_take(report, &row->lookups);
        row->work = row->lookups.counters;
        snprintf(row->step, sizeof row->step, "%s",
                 kr_report_step_count(report) ? kr_report_step_text(report, 0) : "");
    }
    kr_report_destroy(report);
    return code;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int open_results(bench_scan_run *run)
{
    const uint64_t n = run->w->conditions, total = bench_scan_total(run->w);
    kr_error err = {0};
    /* At 256 bytes each: room for a bitmap or a number. */
    run->out_nbytes = ((total + 31) / 32 * 4 + 255) / 256 * 256;
    const int rows = result_of(run->options) == KR_SCAN_ROWS;
    if (run->options->host) {
        run->out = tool_alloc(n, run->out_nbytes, "results");
        run->rows = rows ? tool_alloc(total, sizeof(uint32_t), "row ids") : NULL;
        return run->out && (!rows || run->rows) ? DONE : FAILED;
    }
    kr_status status = kr_memory_allocate(run->device, n * run->out_nbytes, NULL, &run->out, &err);
    if (status == KR_OK && rows)
        status = kr_memory_allocate(run->device, total * sizeof(uint32_t), NULL, &run->rows, &err);
    return tool_check(status, &err);
}

static void close_run(bench_scan_run *run)
{
    const uint64_t n = run->conditions ? run->w->queries * run->w->conditions : 0;
    kr_table_destroy(run->table);
    bench_scan_close_changes(run);
    if (run->options->host) {
        free(run->out);
        free(run->rows);
    } else {
        if (run->out)
            kr_memory_release(run->device, run->out, run->w->conditions * run->out_nbytes, NULL);
        if (run->rows)
            kr_memory_release(run->device, run->rows, bench_scan_total(run->w) * sizeof(uint32_t), NULL);
    }
    for (uint64_t i = 0; i < n; ++i)
        kr_condition_destroy(run->conditions[i]);
    free(run->conditions);
    free(run->constants);
}

int bench_scan(const bench_options *options, kr_device *device, uint32_t threads, const char *spec,
               bench_row *row)
{
    bench_scan_run run = {.options = options, .w = &row->workload, .device = device};
    int code = bench_scan_check_changes(&row->workload);
    if (!code)
        code = open_data(&row->workload, device, (int)options->host, threads);
    if (!code)
        code = make_conditions(&run);
    if (!code)
        code = open_results(&run);
    if (!code)
        code = bench_scan_make(&run, spec, row);
    if (!code)
        code = check(&run, row->checked);
    if (!code)
        code = time_queries(&run, row);
    if (!code)
        code = report_one(&run, row);
    row->per_run = bench_scan_total(&row->workload) * row->workload.conditions;
    close_run(&run);
    return code;
}
