#include "scan_job.h"

#include "tools/terminal/output.h"

#include <string.h>

static const char *const operations[] = {"point", "range", "build", "update", "scan", "loads", "join"};
static const char *const join_types[] = {"inner", "semi", "anti", "left"};
static const char *const join_sides[] = {"", "backward", "forward", "nearest"};
static const char *const wave_forms[] = {"grow", "alternate", "churn"};
static const char *const text_forms[] = {"no", "hex", "customer", "url"};
static const char *const orders[] = {"random", "ascending", "descending", "half"};

static double rate(const bench_row *row)
{
    return (double)row->per_run / row->times.median;
}

/* 0 where nothing was kept, as where sorted sides are merged. */
static double rate_per_byte(const bench_row *row)
{
    const uint64_t nbytes = row->index.info.footprint_nbytes;
    return nbytes ? rate(row) / (double)nbytes : 0;
}

/* ---- What the time holds ------------------------------------------------------------------- */

static int looks_up_points(const bench_report *report)
{
    return report->operation == BENCH_POINT || report->operation == BENCH_UPDATE ||
           report->operation == BENCH_JOIN;
}

static const char *inside_copies(const bench_report *report)
{
    if (!report->options->host)
        return "none (keys, probes and results are in device memory)";
    return report->operation == BENCH_BUILD    ? "keys from host memory"
           : report->operation == BENCH_JOIN   ? "both sides from host memory"
           : report->operation == BENCH_UPDATE ? "rows and keys, probes and results"
                                               : "probes from and results to host memory";
}

static const char *inside_sort(const bench_report *report, const bench_row *row, char text[96])
{
    if (report->operation == BENCH_BUILD)
        return "no probes";
    const char *order = report_facts_order(&row->lookups, text);
    return strcmp(order, "as-is") == 0 ? "none (probes are searched as they are)" : order;
}

static const char *inside_gather(const bench_report *report)
{
    return report->operation != BENCH_BUILD && report->options->result == KR_RESULT_SUM
               ? "one u32 of the value column for every match"
               : "none";
}

/* ---- Columns of files ----------------------------------------------------------------------- */

static const char *const roles[] = {"keys", "right_end", "probes", "left_end"};

static const char *role_of(const bench_report *report, int column)
{
    return report->operation != BENCH_RANGE || column == COLUMN_KEYS ? roles[column]
           : column == COLUMN_LOWER                                  ? "lower"
                                                                     : "upper";
}

/* Right ends belong to keys, the others to probes. */
static uint64_t rows_of(const workload *w, int column)
{
    return column == COLUMN_KEYS || column == COLUMN_RIGHT_END ? w->count : w->probes;
}

static const char *type_of(const bench_report *report, const workload *w)
{
    const bench_sources *sources = &report->sources;
    return sources->is_text ? "str" : kr_type_name(sources->type ? sources->type : workload_type(w));
}

/* "keys", "keys_of", "keys_null", and the same for probes or bounds. */
static void print_sources(output *out, const bench_report *report, const workload *w)
{
    const bench_sources *sources = &report->sources;
    output_text(out, "type", type_of(report, w));
    for (int i = 0; i <= COLUMN_UPPER; ++i) {
        char of[32], nulls[32];
        if (!sources->of[i])
            continue;
        const char *role = role_of(report, i);
        snprintf(of, sizeof of, "%s_of", role);
        snprintf(nulls, sizeof nulls, "%s_null", role);
        output_number(out, role, rows_of(w, i));
        output_text(out, of, sources->of[i]);
        output_number(out, nulls, sources->nulls[i]);
    }
    if (report->operation != BENCH_BUILD)
        output_number(out, "batches", w->batches);
    if (report->operation == BENCH_JOIN && report->options->asof)
        output_text(out, "asof", join_sides[report->options->asof]);
}

static void print_sources_head(const bench_report *report, const workload *w, FILE *to)
{
    const bench_sources *sources = &report->sources;
    for (int i = 0; i <= COLUMN_UPPER; ++i)
        if (sources->of[i]) {
            const char *what = i == COLUMN_KEYS ? type_of(report, w) : "values";
            fprintf(to, "%s: %llu %s%s of %s, %llu of them NULL\n", role_of(report, i),
                    (unsigned long long)rows_of(w, i), what,
                    i == COLUMN_KEYS && sources->is_text ? ", as codes," : "", sources->of[i],
                    (unsigned long long)sources->nulls[i]);
        }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void print_workload(output *out, const bench_report *report, const bench_row *row)
{
    const workload *w = &row->workload;
    output_begin(out, "workload", '{');
    if (report->sources.type) {
        print_sources(out, report, w);
        output_end(out, '}');
        return;
    }
    output_text(out, "type", type_of(report, w));
    output_number(out, "keys", w->count);
    if (w->texts)
        output_text(out, "texts", text_forms[w->texts]);
    output_number(out, "uniformity", w->uniformity);
    output_truth(out, "dense_centre", (int)w->dense_centre);
    output_number(out, "multiplicity", w->multiplicity);
    output_number(out, "stride", w->stride);
    output_number(out, "spread", w->spread);
    output_truth(out, "presorted_keys", (int)w->keys_sorted);
    output_number(out, "seed", w->seed);
    if (report->operation != BENCH_BUILD) {
        output_number(out, "probes", w->probes);
        output_text(out, "order", orders[w->order]);
        output_number(out, "batches", w->batches);
    }
    if (looks_up_points(report)) {
        output_number(out, "hit_rate", w->hit_rate);
        output_truth(out, "outside", (int)w->outside);
        output_number(out, "outliers", w->outside ? 100 : w->outliers);
        output_real(out, "zipf", (double)w->zipf / 100);
    }
    if (report->operation == BENCH_JOIN && report->options->asof) {
        output_text(out, "asof", join_sides[report->options->asof]);
        output_number(out, "groups", report->options->groups);
    }
    if (report->operation == BENCH_JOIN && report->options->overlap) {
        output_number(out, "overlap", report->options->overlap);
        output_truth(out, "cover", (int)report->options->cover);
        output_number(out, "chunk", report->options->chunk);
    }
    if (report->operation == BENCH_RANGE) {
        output_number(out, "hits", w->hits);
        output_number(out, "multiplier", w->multiplier);
    }
    if (report->operation == BENCH_UPDATE && w->waves) {
        output_number(out, "waves", w->waves);
        output_text(out, "wave_form", wave_forms[w->wave_form]);
        if (w->wave_rows)
            output_number(out, "wave_rows", w->wave_rows);
        output_real(out, "growth", (double)workload_grown(w) / (double)w->count);
    } else if (report->operation == BENCH_UPDATE) {
        output_number(out, "changes", w->changes);
        output_text(out, "pattern", w->by_rank ? "ranks" : "positions");
    }
    output_end(out, '}');
}

static void print_components(output *out, const facts *components)
{
    output_begin(out, "components", '[');
    for (uint32_t i = 0; i < components->n; ++i) {
        output_begin(out, NULL, '{');
        output_text(out, "name", components->at[i].name);
        output_bytes(out, "nbytes", components->at[i].number);
        output_end(out, '}');
    }
    output_end(out, ']');
}

static void print_work(output *out, const bench_row *row)
{
    output_begin(out, "work", '{');
    for (uint32_t i = 0; i < row->work.n; ++i)
        output_number(out, row->work.at[i].name, row->work.at[i].number);
    output_end(out, '}');
    output_begin(out, "work_per_probe", '{');
    for (uint32_t i = 0; i < row->work.n; ++i)
        output_real(out, row->work.at[i].name, (double)row->work.at[i].number / (double)row->workload.probes);
    output_end(out, '}');
}

static double rival_rate(const bench_baseline *rival)
{
    return (double)rival->n / rival->times.median;
}

static void print_comparisons(output *out, const bench_row *row)
{
    if (row->n_baselines) {
        output_begin(out, "baselines", '[');
        for (uint32_t i = 0; i < row->n_baselines; ++i) {
            const bench_baseline *rival = &row->baselines[i];
            output_begin(out, NULL, '{');
            output_text(out, "name", rival->name);
            if (rival->version[0])
                output_text(out, "version", rival->version);
            output_number(out, "lookups", rival->n);
            bench_print_times(out, "seconds", &rival->times);
            output_real(out, "per_second", rival_rate(rival));
            output_real(out, "ratio", rate(row) / rival_rate(rival));
            output_number(out, "footprint", rival->footprint_nbytes);
            if (rival->build_seconds > 0)
                output_seconds(out, "build_seconds", rival->build_seconds);
            output_end(out, '}');
        }
        output_end(out, ']');
    }
    if (row->one_thread_rate > 0) {
        output_begin(out, "scaling", '{');
        output_real(out, "one_thread_per_second", row->one_thread_rate);
        output_real(out, "ratio", rate(row) / row->one_thread_rate);
        output_end(out, '}');
    }
}

static void print_row(output *out, const bench_report *report, const bench_row *row)
{
    char order[96];
    output_begin(out, NULL, '{');
    output_spec(out, "spec", row->index.info.spec);
    output_text(out, "tracer", row->index.info.tracer);
    if (row->swept[0])
        output_text(out, "swept", row->swept);
    print_workload(out, report, row);
    output_text(out, "checked", row->checked);
    if (report->operation == BENCH_JOIN)
        output_text(out, "join", row->step);
    output_begin(out, "inside", '{');
    output_text(out, "copies", inside_copies(report));
    if (report->operation != BENCH_JOIN)
        output_text(out, "probe_sort", inside_sort(report, row, order));
    output_text(out, "value_gather", inside_gather(report));
    output_end(out, '}');
    bench_print_times(out, "seconds", &row->times);
    if (row->enqueued.median > 0)
        bench_print_times(out, "enqueued", &row->enqueued);
    if (report->operation == BENCH_UPDATE) {
        bench_print_times(out, "lookups_before", &row->before);
        bench_print_times(out, "lookups_after", &row->after);
        if (!row->waves.n)
            output_phases(out, "update_phases", &row->update_phases);
    }
    if (row->waves.n)
        bench_print_waves_json(out, row);
    output_real(out, "per_second", rate(row));
    output_real(out, "per_second_per_byte", rate_per_byte(row));
    output_bytes(out, "footprint", row->index.info.footprint_nbytes);
    output_bytes(out, "peak", row->index.info.peak_nbytes);
    print_components(out, &row->index.components);
    output_phases(out, "build_phases", &row->index.phases);
    if (report->operation != BENCH_BUILD)
        output_phases(out, "lookup_phases", &row->lookups.phases);
    if (row->work.n)
        print_work(out, row);
    if (row->saved.nbytes)
        bench_print_saved_json(out, &row->saved);
    if (row->is_kept)
        bench_print_kept_json(out, row);
    print_comparisons(out, row);
    output_end(out, '}');
}

static const char *result_name(const bench_options *options)
{
    static const char *const names[] = {"", "row", "count", "sum-rows", "sum"};
    if (options->result == KR_RESULT_ROWS)
        return options->order == KR_ORDER_KEY ? "rows-by-key" : "rows";
    return options->result < sizeof names / sizeof *names ? names[options->result] : "exists";
}

static void print_json(const bench_report *report, FILE *to)
{
    output out = output_begin_report(to, 1);
    output_text(&out, "operation", operations[report->operation]);
    output_text(&out, "result",
                report->operation == BENCH_BUILD   ? "index"
                : report->operation == BENCH_LOADS ? "none"
                : report->operation == BENCH_JOIN  ? join_types[report->options->join_type]
                : report->operation == BENCH_SCAN  ? bench_scan_result(report->options)
                                                   : result_name(report->options));
    output_text(&out, "device", report->device.name);
    output_text(&out, "description", report->device.description);
    output_text(&out, "driver", report->device.software);
    output_text(&out, "version", kr_version());
    output_text(&out, "commit", kr_build_commit());
    output_number(&out, "repeat", report->options->repeat);
    if (report->operation == BENCH_POINT || report->operation == BENCH_RANGE) {
        output_number(&out, "calls", report->options->calls);
        output_number(&out, "phase_runs", bench_phase_runs(report->options));
        output_truth(&out, "prepared", report->options->prepared != 0);
        output_truth(&out, "in_turn", report->options->in_turn != 0);
    }
    output_begin(&out, "runs", '[');
    for (uint32_t i = 0; i < report->n_rows; ++i)
        if (report->operation == BENCH_LOADS)
            bench_print_loads_json(&out, &report->rows[i]);
        else if (report->operation == BENCH_SCAN)
            bench_print_scan_json(&out, report, &report->rows[i]);
        else
            print_row(&out, report, &report->rows[i]);
    output_end(&out, ']');
    output_end(&out, '}');
}

/* ---- Text ---------------------------------------------------------------------------------- */

static void print_waves_head(const workload *w, FILE *to)
{
    const unsigned long long waves = w->waves, rows = w->wave_rows;
    if (w->wave_form == WAVES_GROW)
        fprintf(to,
                "changes: rows inserted in %llu waves until there are %g times as many, deleted in as many\n",
                waves, (double)workload_grown(w) / (double)w->count);
    else if (w->wave_form == WAVES_ALTERNATE)
        fprintf(
            to,
            "changes: %llu times %llu rows inserted, then the %llu oldest deleted, after one to warm up\n",
            waves, rows, rows);
    else
        fprintf(to,
                "changes: in each of %llu waves the %llu oldest rows deleted and %llu inserted, after one to "
                "warm up\n",
                waves, rows, rows);
}

/* Keys and probes that are generated. */
static void print_generated_head(const bench_report *report, const workload *w, FILE *to)
{
    fprintf(to, "keys: %llu %s%s%s, uniformity %llu%%, multiplicity %llu%s\n", (unsigned long long)w->count,
            type_of(report, w), w->texts ? " as texts, " : "", w->texts ? text_forms[w->texts] : "",
            (unsigned long long)w->uniformity, (unsigned long long)w->multiplicity,
            w->keys_sorted ? ", sorted beforehand" : "");
    if (looks_up_points(report))
        fprintf(to, "probes: %llu, hit rate %llu%%, Zipf %g, order %s, ", (unsigned long long)w->probes,
                (unsigned long long)w->hit_rate, (double)w->zipf / 100, orders[w->order]);
    else if (report->operation != BENCH_BUILD)
        fprintf(to, "ranges: %llu, %llu hits, multiplier %llu, order %s, ", (unsigned long long)w->probes,
                (unsigned long long)w->hits, (unsigned long long)w->multiplier, orders[w->order]);
}

static void print_head(const bench_report *report, FILE *to)
{
    const workload *w = &report->rows[0].workload;
    const int build = report->operation == BENCH_BUILD;
    (report->sources.type ? print_sources_head : print_generated_head)(report, w, to);
    if (report->operation == BENCH_JOIN)
        fprintf(to, "%s%s%s%s%s join%s\n", bench_overlaps(report->options) ? "overlap " : "",
                report->options->asof ? "as-of " : "", join_sides[report->options->asof],
                report->options->asof ? " " : "", join_types[report->options->join_type],
                report->options->unordered ? ", in any order" : "");
    else if (!build)
        fprintf(to, "in %llu batches, result %s\n", (unsigned long long)w->batches,
                result_name(report->options));
    if (report->operation == BENCH_UPDATE && w->waves)
        print_waves_head(w, to);
    else if (report->operation == BENCH_UPDATE)
        fprintf(to, "changes: %llu pairs of rows exchange their keys, neighbours %s\n",
                (unsigned long long)w->changes, w->by_rank ? "in the order of the keys" : "in the column");
    fprintf(to, "inside the time: copies: %s; value gather: %s\n", inside_copies(report),
            inside_gather(report));
    fprintf(to, "one run to warm up, then %llu%s\n\n", (unsigned long long)report->options->repeat,
            report->options->in_turn ? ", of each index in turn" : "");
}

/* The phases of separate runs: measuring them costs time. */
static void print_phases(const char *title, const facts *phases, FILE *to)
{
    if (phases->n)
        fprintf(to, "%10s %s:", "", title);
    for (uint32_t i = 0; i < phases->n; ++i)
        fprintf(to, " %s %.3f ms%s", phases->at[i].name, phases->at[i].seconds * 1e3,
                i + 1 < phases->n ? "," : "\n");
}

static void print_text_work(const bench_row *row, FILE *to)
{
    fprintf(to, "%10s work per probe:", "");
    for (uint32_t i = 0; i < row->work.n; ++i)
        fprintf(to, " %.4g %s%s", (double)row->work.at[i].number / (double)row->workload.probes,
                row->work.at[i].name, i + 1 < row->work.n ? "," : "");
    fprintf(to, "; by %s\n", row->index.info.tracer);
}

/* On a CPU a call is done when it returns. */
static void print_text_calls(const bench_report *report, const bench_row *row, FILE *to)
{
    if (row->enqueued.median > 0 && strcmp(report->device.name, "cpu") != 0)
        fprintf(to, "%10s host: a call returns after %.2f us (median; %.2f to %.2f)\n", "",
                row->enqueued.median * 1e6, row->enqueued.minimum * 1e6, row->enqueued.maximum * 1e6);
    if (report->options->prepared)
        fprintf(to, "%10s the lookup was prepared once\n", "");
    if (report->options->calls > 1)
        fprintf(to, "%10s %llu calls back to back; times are those of one\n", "",
                (unsigned long long)report->options->calls);
}

static void print_text_updates(const bench_row *row, FILE *to)
{
    const double probes = (double)row->workload.probes;
    fprintf(to, "%10s lookups: %.3f ms before (%.2f M/s), %.3f ms after (%.2f M/s)\n", "",
            row->before.median * 1e3, probes / row->before.median / 1e6, row->after.median * 1e3,
            probes / row->after.median / 1e6);
}

static void print_text_baseline(const bench_row *row, const bench_baseline *rival, FILE *to)
{
    char footprint[32];
    fprintf(to, "%10s %.2f times %s (%.2f M/s, %s", "", rate(row) / rival_rate(rival), rival->name,
            rival_rate(rival) / 1e6, output_size(footprint, rival->footprint_nbytes));
    if (rival->build_seconds > 0)
        fprintf(to, ", built in %.3f ms", rival->build_seconds * 1e3);
    fprintf(to, ")\n");
}

/* Milliseconds, 10 wide: of short times three digits, of others three decimals. */
static const char *ms(char text[32], double seconds)
{
    snprintf(text, 32, seconds < 1e-4 ? "%10.3g" : "%10.3f", seconds * 1e3);
    return text;
}

static void print_text(const bench_report *report, FILE *to)
{
    static const char *const rates[] = {"M lookups/s",  "M lookups/s", "M pairs/s", "M rows/s", "", "",
                                        "M left rows/s"};
    const int build = report->operation == BENCH_BUILD;
    print_head(report, to);
    fprintf(to, "%10s %10s %10s %12s %12s %10s %10s  %s\n", "min ms", "median ms", "max ms",
            rates[report->operation], "/s per byte", "footprint", "peak", "spec");
    for (uint32_t i = 0; i < report->n_rows; ++i) {
        const bench_row *row = &report->rows[i];
        char footprint[32], peak[32], order[96], spec[KR_SPEC_NBYTES], times[3][32];
        if (kr_spec_shorten(row->index.info.spec, spec, sizeof spec, NULL) != KR_OK)
            snprintf(spec, sizeof spec, "%s", row->index.info.spec);
        fprintf(to, "%s %s %s %12.2f %12.4g %10s %10s  %s%s%s\n", ms(times[0], row->times.minimum),
                ms(times[1], row->times.median), ms(times[2], row->times.maximum), rate(row) / 1e6,
                rate_per_byte(row), output_size(footprint, row->index.info.footprint_nbytes),
                output_size(peak, row->index.info.peak_nbytes), spec, row->swept[0] ? " " : "", row->swept);
        fprintf(to, "%10s checked: %s\n", "", row->checked);
        if (report->operation == BENCH_UPDATE && !row->waves.n)
            print_phases("updates", &row->update_phases, to);
        else
            print_phases(row->waves.n ? "last wave" : "build", &row->index.phases, to);
        if (report->operation == BENCH_JOIN) {
            fprintf(to, "%10s %s\n", "", row->step);
            print_phases("last run", &row->lookups.phases, to);
        } else if (!build) {
            fprintf(to, "%10s sort of probes: %s\n", "", inside_sort(report, row, order));
            print_text_calls(report, row, to);
            print_phases(row->workload.batches > 1 ? "last batch of untimed runs" : "untimed runs",
                         &row->lookups.phases, to);
        }
        if (report->operation == BENCH_UPDATE)
            print_text_updates(row, to);
        if (row->waves.n)
            bench_print_waves_text(row, to);
        if (row->work.n)
            print_text_work(row, to);
        if (row->saved.nbytes)
            bench_print_saved_text(&row->saved, to);
        if (row->is_kept)
            bench_print_kept_text(row, to);
        for (uint32_t at = 0; at < row->n_baselines; ++at)
            print_text_baseline(row, &row->baselines[at], to);
        if (row->one_thread_rate > 0)
            fprintf(to, "%10s %.2f times one thread (%.2f M/s)\n", "", rate(row) / row->one_thread_rate,
                    row->one_thread_rate / 1e6);
    }
}

void bench_print(const bench_report *report, FILE *to, uint32_t json)
{
    if (json) {
        print_json(report, to);
        return;
    }
    fprintf(to, "bench %s on %s: %s; %s; keyray %s, commit %s\n", operations[report->operation],
            report->device.name, report->device.description, report->device.software, kr_version(),
            kr_build_commit());
    if (report->operation == BENCH_LOADS)
        bench_print_loads_text(report, to);
    else if (report->operation == BENCH_SCAN)
        bench_print_scan_text(report, to);
    else
        print_text(report, to);
}
