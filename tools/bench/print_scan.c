#include "scan_job.h"

#include <string.h>

static const char *const distributions[] = {"uniform", "distinct", "zipf", "normal", "small"};
static const char *const results[] = {"bitmap", "count", "rows", "sum"};

const char *bench_scan_result(const bench_options *options)
{
    return results[options->scan_result];
}

/* Bytes of the columns that a call's conditions name. */
static double column_nbytes(const workload *w)
{
    uint64_t of_files = 0;
    for (uint32_t c = 0; c < bench_scan_files_count(); ++c)
        of_files += kr_type_nbytes(bench_scan_files_column(c).type);
    return (double)bench_scan_total(w) * (double)(of_files ? of_files : w->predicates * (w->wide ? 8 : 4));
}

static const char *type_of(uint32_t c)
{
    const struct column *column = bench_scan_files_source(c);
    return column_is_text(column) ? "str" : kr_type_name(column->view.type);
}

static void print_selectivity(output *out, const workload *w)
{
    if (w->selectivity == BENCH_SCAN_RANDOM)
        output_text(out, "selectivity", "random");
    else
        output_real(out, "selectivity", (double)w->selectivity / 10000);
}

/* Of files. */
static void print_columns(output *out, const workload *w)
{
    output_number(out, "rows", w->rows);
    output_begin(out, "columns", '[');
    for (uint32_t c = 0; c < bench_scan_files_count(); ++c) {
        output_begin(out, NULL, '{');
        output_text(out, "name", bench_scan_files_name(c));
        output_text(out, "of", bench_scan_files_source(c)->source);
        output_text(out, "type", type_of(c));
        output_number(out, "null", bench_scan_files_source(c)->nulls);
        output_end(out, '}');
    }
    output_end(out, ']');
    print_selectivity(out, w);
}

static const char *const workloads[] = {"comparisons", "q3", "q6", "q17"};

static void print_distribution(output *out, const workload *w)
{
    output_text(out, "type", w->wide ? "u64" : "u32");
    output_text(out, "distribution", distributions[w->distribution]);
    if (w->distribution == KR_VALUES_ZIPF) {
        output_real(out, "zipf", (double)w->value_zipf / 100);
        output_text(out, "truncated", "ranks 1 to 2^32 - 2");
    }
    if (w->distribution == KR_VALUES_NORMAL)
        output_number(out, "sigma", w->sigma);
    output_truth(out, "ascending", (int)w->ascending);
    print_selectivity(out, w);
}

static void print_table(output *out, const workload *w)
{
    char text[192];
    output_number(out, "rows", w->rows);
    output_number(out, "append", w->append);
    output_number(out, "delete", w->deleted);
    output_number(out, "predicates", w->predicates);
    if (w->tpch) {
        bench_tpch_text(w, text);
        output_real(out, "scale", (double)w->scale / 100);
        output_text(out, "first_condition", text);
    } else {
        print_distribution(out, w);
    }
}

static void print_workload(output *out, const workload *w)
{
    const int is_read = bench_scan_files_count() != 0;
    output_begin(out, "workload", '{');
    output_text(out, "name", is_read ? "columns" : workloads[w->tpch]);
    (is_read ? print_columns : print_table)(out, w);
    output_number(out, "queries", w->queries);
    output_number(out, "conditions", w->conditions);
    output_number(out, "seed", w->value_seed);
    output_end(out, '}');
}

void bench_print_scan_json(output *out, const bench_report *report, const bench_row *row)
{
    const workload *w = &row->workload;
    output_begin(out, NULL, '{');
    output_spec(out, "spec", row->index.info.spec);
    output_text(out, "tracer", row->index.info.tracer);
    if (row->swept[0])
        output_text(out, "swept", row->swept);
    print_workload(out, w);
    output_text(out, "checked", row->checked);
    output_begin(out, "steps", '[');
    for (uint32_t i = 0; i < row->n_steps; ++i)
        output_text(out, NULL, row->steps[i]);
    output_end(out, ']');
    output_begin(out, "inside", '{');
    output_text(out, "copies", report->options->host ? "results to host memory" : "none");
    output_end(out, '}');
    bench_print_times(out, "seconds", &row->times);
    bench_print_times(out, "enqueued", &row->after);
    if (row->before.median > 0)
        bench_print_times(out, "sum_of_columns", &row->before);
    output_real(out, "per_second", (double)row->per_run / row->times.median);
    output_real(out, "column_bytes_per_second", column_nbytes(w) / row->after.median);
    output_seconds(out, "build", row->build_seconds);
    output_bytes(out, "footprint", row->index.info.footprint_nbytes);
    output_bytes(out, "peak", row->index.info.peak_nbytes);
    output_begin(out, "components", '[');
    for (uint32_t i = 0; i < row->index.components.n; ++i) {
        output_begin(out, NULL, '{');
        output_text(out, "name", row->index.components.at[i].name);
        output_bytes(out, "nbytes", row->index.components.at[i].number);
        output_end(out, '}');
    }
    output_end(out, ']');
    output_counters(out, &row->index);
    output_phases(out, "build_phases", &row->index.phases);
    bench_print_changes_json(out, row);
    output_phases(out, "scan_phases", &row->lookups.phases);
    output_begin(out, "work", '{');
    for (uint32_t i = 0; i < row->work.n; ++i)
        output_counter(out, row->work.at[i].name, row->work.at[i].number);
    output_end(out, '}');
    output_end(out, '}');
}

/* Of many conditions in a call there are hundreds. */
enum { STEPS_SHOWN = 16 };

static void print_columns_head(const workload *w, FILE *to)
{
    fprintf(to, "table: %llu rows\n", (unsigned long long)w->rows);
    for (uint32_t c = 0; c < bench_scan_files_count(); ++c)
        fprintf(to, "    %s: %s%s of %s, %llu of them NULL\n", bench_scan_files_name(c), type_of(c),
                column_is_text(bench_scan_files_source(c)) ? ", as codes," : "",
                bench_scan_files_source(c)->source, (unsigned long long)bench_scan_files_source(c)->nulls);
    fprintf(to, "queries: a comparison of each column, ");
    if (w->selectivity == BENCH_SCAN_RANDOM)
        fprintf(to, "random constants; ");
    else
        fprintf(to, "each of selectivity %g; ", (double)w->selectivity / 10000);
}

static void print_table_head(const workload *w, FILE *to)
{
    char text[192];
    if (bench_scan_files_count()) {
        print_columns_head(w, to);
        return;
    }
    fprintf(to, "table: %llu rows, %llu columns of ", (unsigned long long)w->rows,
            (unsigned long long)w->predicates);
    if (w->tpch) {
        bench_tpch_text(w, text);
        fprintf(to, "TPC-H at scale factor %g\nqueries: %s, then random constants; ", (double)w->scale / 100,
                text);
        return;
    }
    fprintf(to, "%s, %s", w->wide ? "u64" : "u32", distributions[w->distribution]);
    if (w->distribution == KR_VALUES_ZIPF)
        fprintf(to, " with exponent %g, ranks 1 to 2^32 - 2", (double)w->value_zipf / 100);
    fprintf(to, "%s\nqueries: a comparison of each column, ", w->ascending ? ", the first ascends" : "");
    if (w->selectivity == BENCH_SCAN_RANDOM)
        fprintf(to, "random constants; ");
    else
        fprintf(to, "each of selectivity %g; ", (double)w->selectivity / 10000);
}

static void print_head(const bench_report *report, FILE *to)
{
    const workload *w = &report->rows[0].workload;
    print_table_head(w, to);
    fprintf(to, "%llu calls of %llu condition%s, result %s%s\n", (unsigned long long)w->queries,
            (unsigned long long)w->conditions, w->conditions == 1 ? "" : "s",
            results[report->options->scan_result], report->options->host ? " in host memory" : "");
    fprintf(to,
            "every call timed by itself, %llu times after one to warm up; mean: all calls enqueued before "
            "waiting\n"
            "\n",
            (unsigned long long)report->options->repeat);
}

void bench_print_scan_text(const bench_report *report, FILE *to)
{
    print_head(report, to);
    fprintf(to, "%10s %10s %10s %10s %10s %10s %10s %10s  %s\n", "min ms", "median ms", "max ms", "mean ms",
            "GB/s", "build ms", "footprint", "peak", "spec");
    for (uint32_t i = 0; i < report->n_rows; ++i) {
        const bench_row *row = &report->rows[i];
        char footprint[32], peak[32], spec[KR_SPEC_NBYTES];
        if (kr_spec_shorten(row->index.info.spec, spec, sizeof spec, NULL) != KR_OK)
            snprintf(spec, sizeof spec, "%s", row->index.info.spec);
        fprintf(to, "%10.4f %10.4f %10.4f %10.4f %10.2f %10.3f %10s %10s  %s%s%s\n", row->times.minimum * 1e3,
                row->times.median * 1e3, row->times.maximum * 1e3, row->after.median * 1e3,
                column_nbytes(&row->workload) / row->after.median / 1e9, row->build_seconds * 1e3,
                output_size(footprint, row->index.info.footprint_nbytes),
                output_size(peak, row->index.info.peak_nbytes), spec, row->swept[0] ? " " : "", row->swept);
        bench_print_changes_text(row, to);
        fprintf(to, "%10s checked: %s\n", "", row->checked);
        for (uint32_t k = 0; k < row->n_steps && k < STEPS_SHOWN; ++k)
            fprintf(to, "%10s %s\n", "", row->steps[k]);
        if (row->n_steps > STEPS_SHOWN)
            fprintf(to, "%10s and %u more steps, which --format json lists\n", "",
                    row->n_steps - STEPS_SHOWN);
        if (row->before.median > 0)
            fprintf(to, "%10s adding up the columns takes %.4f ms: %.2f of the median, %.2f of the mean\n",
                    "", row->before.median * 1e3, row->before.median / row->times.median,
                    row->before.median / row->after.median);
        fprintf(to, "%10s per call, on average:", "");
        for (uint32_t p = 0; p < row->lookups.phases.n; ++p)
            fprintf(to, " %s %.4f ms", row->lookups.phases.at[p].name,
                    row->lookups.phases.at[p].seconds * 1e3);
        for (uint32_t k = 0; k < row->work.n; ++k)
            if (row->work.at[k].number)
                fprintf(to, "; %s %llu", row->work.at[k].name, (unsigned long long)row->work.at[k].number);
        fputc('\n', to);
    }
}
