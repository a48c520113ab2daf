/* Scans: conjunctions of comparisons with random constants, or with constants of one selectivity. */
#include "scan_job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(workload, field)

enum { REPORTED = 100 };

const option_row bench_scan_rows[] = {
    {"workload", 0, 0, OPTION_CHOICE, AT(tpch), BENCH_SCAN_WORKLOADS,
     "generated columns that are compared with random constants; or the predicates of a query of "
     "TPC-H on a denormalised table [comparisons]",
     0, 0},
    {"scale", 0, 0, OPTION_DECIMAL, AT(scale), "F", "TPC-H's scale factor: 6 million rows at 1 [1]", 1,
     50000},
    {"rows", 0, 0, OPTION_NUMBER, AT(rows), "N", "how many rows the table has [2^22]", 1, UINT32_MAX - 1},
    {"append", 0, 0, OPTION_NUMBER, AT(append), "N",
     "how many rows are appended to the table in one call, whose time is printed with that of the build [0]",
     0, UINT32_MAX - 1},
    {"delete", 0, 0, OPTION_NUMBER, AT(deleted), "N",
     "how many rows, evenly spread, are then deleted by their ids in one call, which is timed [0]", 0,
     UINT32_MAX - 1},
    {"predicates", 0, 0, OPTION_NUMBER, AT(predicates), "N",
     "how many comparisons a condition has, a < x and b < y ..., one per column [3]", 1, BENCH_SCAN_COLUMNS},
    {"distribution", 0, 0, OPTION_CHOICE, AT(distribution), BENCH_SCAN_DISTRIBUTIONS,
     "how values are distributed. uniform: over all values of their width; distinct: 0 to rows - 1, "
     "each once; zipf: ranks of Zipf's law below 2^32; normal: around the middle; small: 0 to 63 "
     "[uniform]",
     0, 0},
    {"zipf", 0, 0, OPTION_DECIMAL, AT(value_zipf), "S", "the exponent of zipf [1.1]", 1, 500},
    {"sigma", 0, 0, OPTION_NUMBER, AT(sigma), "N", "the standard deviation of normal [2^26]", 1,
     (uint64_t)1 << 31},
    {"width", 0, 0, OPTION_CHOICE, AT(wide), "32|64", "bits of a value [32]", 0, 0},
    {"ascending", 0, 0, OPTION_FLAG, AT(ascending), NULL, "the first column ascends", 0, 0},
    {0},
};

const option_row bench_query_rows[] = {
    {"selectivity", 0, 0, OPTION_DECIMAL, AT(selectivity), "PERCENT",
     "how many rows each comparison selects, in percent [random, another one for each]", 0, 10000},
    {"queries", 0, 0, OPTION_NUMBER, AT(queries), "N",
     "how many calls a repetition has, each with constants of its own [100]", 1, 1 << 16},
    {"conditions", 0, 0, OPTION_NUMBER, AT(conditions), "N", "how many conditions a call has [1]", 1, 4096},
    {"value-seed", 0, 0, OPTION_NUMBER, AT(value_seed), "N", "the seed of values and constants [42]", 1,
     UINT64_MAX},
    {0},
};

/* ---- Queries --------------------------------------------------------------------------------- */

/* A column of the table below a constant. */
static kr_status make_comparison(uint32_t c, uint64_t constant, kr_condition **condition, kr_error *err)
{
    const char name[] = {'c', (char)('0' + c), '\0'};
    kr_column value = {.type = KR_U64, .count = 1, .data = &constant};
    uint64_t of_type;
    if (!bench_scan_files_count())
        return kr_condition_compare(name, KR_LESS, &value, condition, err);
    value.type = bench_scan_files_column(c).type;
    value.data = &of_type;
    bench_code_value(value.type, constant, &of_type);
    return kr_condition_compare(bench_scan_files_name(c), KR_LESS, &value, condition, err);
}

static kr_status make_comparisons(const workload *w, uint64_t i, kr_bounds *bounds, kr_condition **condition,
                                  kr_error *err)
{
    kr_condition *parts[BENCH_SCAN_COLUMNS] = {NULL};
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < w->predicates && status == KR_OK; ++c) {
        bounds[c] = (kr_bounds){0, bench_scan_constant(w, i, c)};
        status = make_comparison(c, bounds[c].upper, &parts[c], err);
    }
    if (status == KR_OK)
        status =
            kr_condition_and((const kr_condition *const *)parts, (uint32_t)w->predicates, condition, err);
    for (uint32_t c = 0; c < w->predicates; ++c)
        kr_condition_destroy(parts[c]);
    return status;
}

static uint64_t all_conditions(const bench_scan_run *run)
{
    return run->w->queries * run->w->conditions;
}

static int make_conditions(bench_scan_run *run)
{
    const workload *w = run->w;
    const uint64_t n = all_conditions(run);
    kr_error err = {0};
    run->bounds = tool_alloc(n * w->predicates, sizeof *run->bounds, "constants");
    run->conditions = tool_alloc(n, sizeof *run->conditions, "conditions");
    if (!run->bounds || !run->conditions)
        return FAILED;
    memset(run->conditions, 0, n * sizeof *run->conditions);
    kr_status status = KR_OK;
    for (uint64_t i = 0; i < n && status == KR_OK; ++i)
        status = (w->tpch ? bench_tpch_condition : make_comparisons)(w, i, run->bounds + i * w->predicates,
                                                                     &run->conditions[i], &err);
    return tool_check(status, &err);
}

static void *out_of(const bench_scan_run *run, uint64_t k)
{
    return (char *)run->out + k * run->out_nbytes;
}

static int ask_rival(const bench_scan_run *run, uint64_t query, report_facts *report)
{
    int code = DONE;
    for (uint64_t k = 0; k < run->w->conditions && !code; ++k)
        code = bench_rival_ask(run->rival, query * run->w->conditions + k, out_of(run, k),
                               (int)run->options->host, report);
    return code;
}

/* Call `query` of a repetition. */
static int ask(const bench_scan_run *run, uint64_t query, kr_scan_result result, kr_report *report)
{
    if (run->rival)
        return ask_rival(run, query, NULL);

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

/* Says in which row the bitmaps of a query differ, if they do; counts its rows. */
static int compare_bitmaps(uint64_t query, const uint32_t *wanted, const uint32_t *got, uint64_t words,
                           uint64_t *count)
{
    for (uint64_t i = 0; i < words; ++i) {
        const uint32_t wrong = wanted[i] ^ got[i];
        *count += (uint64_t)__builtin_popcount(wanted[i]);
        if (wrong)
            return tool_fail(FAILED, "row %llu of query %llu is %s the result; this is a bug of the library",
                             (unsigned long long)(32 * i + (uint64_t)__builtin_ctz(wrong)),
                             (unsigned long long)query,
                             wanted[i] & wrong & -wrong ? "missing in" : "wrong in");
    }
    return DONE;
}

/* Compares with a loop over the rows. */
static int check(bench_scan_run *run, uint32_t threads, char checked[192])
{
    const workload *w = run->w;
    const uint64_t n = w->queries < run->options->checked ? w->queries : run->options->checked,
                   words = (bench_scan_total(w) + 31) / 32;
    const kr_baseline_table table = bench_scan_table(w, 1);
    uint32_t *bitmaps = tool_alloc(2 * words, sizeof *bitmaps, "bitmaps");
    uint64_t count = 0;
    kr_error err = {0};
    int code = bitmaps ? DONE : FAILED;
    for (uint64_t q = 0; q < n && !code; ++q) {
        code = ask(run, q, KR_SCAN_BITMAP, NULL);
        if (!code)
            code = tool_check(
                kr_memory_copy(run->device, bitmaps + words, out_of(run, 0), words * 4, NULL, &err), &err);
        if (!code)
            code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
        kr_baseline_scan(&table, run->bounds + q * w->conditions * w->predicates, threads, bitmaps);
        for (uint64_t i = 0; i < w->deleted; ++i)
            bitmaps[run->doomed[i] / 32] &= ~((uint32_t)1 << run->doomed[i] % 32);
        if (!code)
            code = compare_bitmaps(q, bitmaps, bitmaps + words, words, &count);
    }
    free(bitmaps);
    snprintf(checked, 192, "the bitmaps of %llu queries with the columns; they select %.4g%% of the rows",
             (unsigned long long)n, 100.0 * (double)count / (double)n / (double)bench_scan_total(w));
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

static int report_query(const bench_scan_run *run, uint64_t query, kr_report *report, report_facts *sum)
{
    report_facts one;
    if (run->rival)
        return ask_rival(run, query, sum);
    const int code = ask(run, query, result_of(run->options), report);
    if (code)
        return code;
    report_facts_take(report, &one);
    facts_add(&sum->phases, &one.phases);
    facts_add(&sum->counters, &one.counters);
    return DONE;
}

static int keep_steps(const bench_scan_run *run, const kr_report *report, bench_row *row)
{
    const uint32_t n = run->rival ? 1 : kr_report_step_count(report);
    row->steps = tool_alloc(n, sizeof *row->steps, "steps of a scan");
    if (!row->steps)
        return FAILED;
    for (; row->n_steps < n; ++row->n_steps)
        if (run->rival)
            snprintf(row->steps[0], sizeof *row->steps,
                     "%llu lookups of one range each, row ids as bits, merged by AND",
                     (unsigned long long)run->w->predicates);
        else
            snprintf(row->steps[row->n_steps], sizeof *row->steps, "%s",
                     kr_report_step_text(report, row->n_steps));
    return DONE;
}

/* What calls do, on average. Reports cost time, so these calls are not timed. */
static int report_queries(const bench_scan_run *run, bench_row *row)
{
    const uint64_t n = run->w->queries < REPORTED ? run->w->queries : REPORTED;
    kr_report *report = NULL;
    kr_error err = {0};
    int code = tool_check(kr_report_create(&report, &err), &err);
    for (uint64_t q = 0; q < n && !code; ++q) {
        code = report_query(run, q, report, &row->lookups);
        if (q == 0 && !code)
            code = keep_steps(run, report, row);
    }
    facts_divide(&row->lookups.phases, n);
    facts_divide(&row->lookups.counters, n);
    row->work = row->lookups.counters;
    kr_report_destroy(report);
    return code;
}

/* Adding up the columns, where the library reads them; the sum is compared with that of the host's. */
static int time_sum(const bench_scan_run *run, uint32_t threads, bench_row *row)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const kr_baseline_table in_host = bench_scan_table(run->w, 1);
    const uint32_t runs = (uint32_t)run->options->repeat + 1;
    const uint64_t wanted = kr_baseline_sum_cpu(&in_host, threads, 1, seconds);
    uint64_t sum = 0;
#if defined(KR_WITH_CUDA)
    char text[256];
    const kr_baseline_table there = bench_scan_table(run->w, 0);
    if (there.columns[0] && run->on_gpu) {
        if (kr_baseline_sum_cuda(&there, runs, seconds, &sum, text, sizeof text))
            return tool_fail(FAILED, "%s", text);
    } else
#endif
        sum = kr_baseline_sum_cpu(&in_host, threads, runs, seconds);
    if (sum != wanted)
        return tool_fail(FAILED, "the columns add up to %llu, not %llu; this is a bug of the benchmark",
                         (unsigned long long)sum, (unsigned long long)wanted);
    row->before = bench_summarize(seconds + 1, run->options->repeat);
    return DONE;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int make_rival(bench_scan_run *run, uint32_t threads, const char *spec, bench_row *row)
{
    const workload *w = run->w;
    kr_column columns[BENCH_SCAN_COLUMNS];
    if (result_of(run->options) != KR_SCAN_BITMAP)
        return tool_fail(USAGE, "%s answers with bitmaps here; leave --result out", spec);
    if (w->append || w->deleted)
        return tool_fail(USAGE, "--append and --delete change tables, and %s is an index of one column",
                         spec);
    bench_scan_columns(w, 0, w->rows, columns);
    const int code = bench_rival_open(run->device, threads, spec, columns, (uint32_t)w->predicates,
                                      run->bounds, all_conditions(run), &run->rival, &row->index);
    for (uint32_t i = 0; i < row->index.phases.n; ++i)
        row->build_seconds += row->index.phases.at[i].seconds;
    return code;
}

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
    const uint64_t n = run->conditions ? all_conditions(run) : 0;
    bench_rival_close(run->rival);
    bench_scan_close_table(run);
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
    free(run->bounds);
}

/* What columns of files do not have. */
static int check_files(const bench_options *options, const char *spec)
{
    if (options->columns.n && options->baseline)
        return tool_fail(USAGE,
                         "--baseline adds up generated columns, but --column reads them; leave it out");
    if (options->columns.n && bench_rival_is(spec))
        return tool_fail(USAGE,
                         "--index %s is a kind of index, which is compared with scans on generated columns "
                         "only; give a kind that scans, or leave out --column",
                         spec);
    return DONE;
}

int bench_scan(const bench_options *options, kr_device *device, uint32_t threads, const char *spec,
               bench_row *row)
{
    bench_scan_run run = {.options = options, .w = &row->workload, .device = device};
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    int code = tool_check(kr_device_query(device, &info, &err), &err);
    run.on_gpu = strncmp(info.name, "cuda", 4) == 0;
    if (!code)
        code = check_files(options, spec);
    if (!code)
        code = bench_scan_files_open(&options->columns, &row->workload, device, (int)options->host);
    if (!code)
        code = bench_tpch_settle(&row->workload);
    if (!code)
        code = bench_scan_check_changes(&row->workload);
    if (!code)
        code = bench_rival_check(spec);
    if (!code)
        code = bench_scan_open_data(&row->workload, device, (int)options->host, threads);
    if (!code)
        code = make_conditions(&run);
    if (!code)
        code = open_results(&run);
    if (!code)
        code = bench_rival_is(spec) ? make_rival(&run, threads, spec, row) : bench_scan_make(&run, spec, row);
    if (!code)
        code = check(&run, threads, row->checked);
    if (!code)
        code = time_queries(&run, row);
    if (!code && options->baseline)
        code = time_sum(&run, threads, row);
    if (!code)
        code = report_queries(&run, row);
    row->per_run = bench_scan_total(&row->workload) * row->workload.conditions;
    close_run(&run);
    return code;
}
