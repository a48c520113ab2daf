/* Tables to scan: built, and with --append and --delete changed, as often as asked, each time anew. */
#include "scan_job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>

/* ---- Deleted rows ---------------------------------------------------------------------------- */

int bench_scan_check_changes(const workload *w)
{
    const uint64_t total = bench_scan_total(w);
    if (total >= KR_NO_ROW)
        return tool_fail(USAGE, "--rows and --append make %llu rows, but a table holds at most 4294967294",
                         (unsigned long long)total);
    if (w->deleted > total)
        return tool_fail(USAGE, "--delete %llu, but the table has %llu rows", (unsigned long long)w->deleted,
                         (unsigned long long)total);
    return DONE;
}

/* One row of each of as many stretches. */
static int choose_doomed(bench_scan_run *run)
{
    const uint64_t n = run->w->deleted, total = bench_scan_total(run->w);
    kr_error err = {0};
    run->doomed = tool_alloc(n, sizeof *run->doomed, "row ids");
    if (!run->doomed)
        return FAILED;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t first = total * i / n, next = total * (i + 1) / n;
        run->doomed[i] = (uint32_t)(first + kr_values_random(run->w->value_seed, i) % (next - first));
    }
    if (run->options->host)
        return DONE;
    void *there = NULL;
    kr_status status = kr_memory_allocate(run->device, n * sizeof *run->doomed, NULL, &there, &err);
    run->doomed_there = there;
    if (status == KR_OK)
        status = kr_memory_copy(run->device, there, run->doomed, n * sizeof *run->doomed, NULL, &err);
    return tool_check(status, &err);
}

void bench_scan_close_changes(bench_scan_run *run)
{
    if (run->doomed_there)
        kr_memory_release(run->device, run->doomed_there, run->w->deleted * sizeof *run->doomed, NULL);
    free(run->doomed);
    run->doomed = run->doomed_there = NULL;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Seconds of the calls of one sort, the first in front. */
typedef struct calls {
    double seconds[BENCH_REPEAT_MOST + 1];
    uint64_t n;
} calls;

static kr_status create(bench_scan_run *run, const char *spec, workload *w, kr_error *err)
{
    kr_column columns[BENCH_SCAN_COLUMNS];
    const char *names[BENCH_SCAN_COLUMNS];
    const kr_table_options options = {
        .struct_size = sizeof options, .find_text = w->tpch ? bench_tpch_find_text : NULL, .ctx = w};
    for (uint32_t c = 0; c < w->predicates && w->tpch; ++c)
        names[c] = bench_tpch_name(w, c);
    for (uint32_t c = 0; c < bench_scan_files_count(); ++c)
        names[c] = bench_scan_files_name(c);
    bench_scan_columns(w, 0, w->rows, columns);
    return kr_table_create(run->device, spec, columns, w->tpch || bench_scan_files_count() ? names : NULL,
                           (uint32_t)w->predicates, &options, NULL, &run->table, err);
}

static kr_status append(bench_scan_run *run, kr_error *err)
{
    kr_column columns[BENCH_SCAN_COLUMNS];
    bench_scan_columns(run->w, run->w->rows, run->w->append, columns);
    return kr_table_append(run->table, columns, (uint32_t)run->w->predicates, NULL, err);
}

static kr_status delete_rows(bench_scan_run *run, kr_error *err)
{
    const uint32_t *rows = run->doomed_there ? run->doomed_there : run->doomed;
    return kr_table_delete(run->table, rows, run->w->deleted, NULL, NULL, err);
}

/* Adds the time since `begin`, and what the table then says of itself. */
static int note(bench_scan_run *run, double begin, kr_status status, const kr_error *err, calls *to,
                index_facts *taken)
{
    kr_error failed = {0};
    int code = tool_check(status, err);
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &failed), &failed);
    to->seconds[to->n++] = tool_now() - begin;
    return code ? code : table_facts_take(run->table, taken);
}

static int make_once(bench_scan_run *run, const char *spec, calls of[3], bench_row *row)
{
    const workload *w = run->w;
    kr_error err = {0};
    kr_table_destroy(run->table);
    run->table = NULL;
    int code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    double begin = tool_now();
    if (!code)
        code = note(run, begin, create(run, spec, &row->workload, &err), &err, &of[0], &row->index);
    begin = tool_now();
    if (!code && w->append)
        code = note(run, begin, append(run, &err), &err, &of[1], &row->appends.facts);
    begin = tool_now();
    if (!code && w->deleted)
        code = note(run, begin, delete_rows(run, &err), &err, &of[2], &row->deletes.facts);
    return code;
}

static void summarize(calls *of, uint64_t rows, bench_change *change)
{
    change->rows = of->n ? rows : 0;
    change->first = of->seconds[0];
    if (of->n > 1)
        change->times = bench_summarize(of->seconds + 1, of->n - 1);
}

/* What the last call made, for the next one. */
static struct {
    kr_table *table;
    index_facts index;
    double build_seconds;
} kept;

void bench_scan_drop_table(void)
{
    kr_table_destroy(kept.table);
    kept.table = NULL;
}

void bench_scan_close_table(bench_scan_run *run)
{
    if (run->table != kept.table)
        kr_table_destroy(run->table);
    run->table = NULL;
}

static void keep(const bench_scan_run *run, const bench_row *row)
{
    kept.table = run->table;
    kept.index = row->index;
    kept.build_seconds = row->build_seconds;
}

int bench_scan_make(bench_scan_run *run, const char *spec, bench_row *row)
{
    static calls of[3];
    const int changes = run->w->append || run->w->deleted;
    if (kept.table) {
        run->table = kept.table;
        row->index = kept.index;
        row->build_seconds = kept.build_seconds;
        return DONE;
    }
    int code = run->w->deleted ? choose_doomed(run) : DONE;
    for (int i = 0; i < 3; ++i)
        of[i].n = 0;
    for (uint64_t i = 0; i < (changes ? run->options->repeat + 1 : 1) && !code; ++i)
        code = make_once(run, spec, of, row);
    if (code)
        return code;
    row->build_seconds = of[0].seconds[0];
    if (changes) {
        summarize(&of[0], run->w->rows, &row->builds);
        summarize(&of[1], run->w->append, &row->appends);
        summarize(&of[2], run->w->deleted, &row->deletes);
        row->build_seconds = row->builds.times.median;
    } else {
        keep(run, row);
    }
    return DONE;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void print_change(output *out, const char *key, const bench_change *change, const bench_change *build)
{
    if (!change->rows)
        return;
    output_begin(out, key, '{');
    output_number(out, "rows", change->rows);
    output_seconds(out, "first", change->first);
    bench_print_times(out, "seconds", &change->times);
    if (change != build) {
        output_real(out, "of_build", change->times.median / build->times.median);
        output_real(out, "first_of_build", change->first / build->first);
        output_bytes(out, "footprint", change->facts.info.footprint_nbytes);
        output_bytes(out, "peak", change->facts.info.peak_nbytes);
        output_phases(out, "phases", &change->facts.phases);
    }
    output_end(out, '}');
}

void bench_print_changes_json(output *out, const bench_row *row)
{
    print_change(out, "builds", &row->builds, &row->builds);
    print_change(out, "appends", &row->appends, &row->builds);
    print_change(out, "deletes", &row->deletes, &row->builds);
}

static void print_line(const char *name, const bench_change *change, const bench_change *build, FILE *to)
{
    char footprint[32], peak[32];
    if (!change->rows)
        return;
    fprintf(to, "%10s %s of %llu rows: %.4f ms (%.4f to %.4f; the first %.4f)", "", name,
            (unsigned long long)change->rows, change->times.median * 1e3, change->times.minimum * 1e3,
            change->times.maximum * 1e3, change->first * 1e3);
    if (change == build) {
        fputc('\n', to);
        return;
    }
    fprintf(to, ", %.4f of the build (the first %.4f); footprint %s, peak %s\n%10s phases of it:",
            change->times.median / build->times.median, change->first / build->first,
            output_size(footprint, change->facts.info.footprint_nbytes),
            output_size(peak, change->facts.info.peak_nbytes), "");
    for (uint32_t p = 0; p < change->facts.phases.n; ++p)
        fprintf(to, " %s %.4f ms", change->facts.phases.at[p].name, change->facts.phases.at[p].seconds * 1e3);
    fputc('\n', to);
}

void bench_print_changes_text(const bench_row *row, FILE *to)
{
    print_line("build", &row->builds, &row->builds, to);
    print_line("append", &row->appends, &row->builds, to);
    print_line("delete", &row->deletes, &row->builds, to);
}
