#include "scan_job.h"

#include "command.h"
#include "command_rows.h"
#include "tools/terminal/device.h"
#include "tools/terminal/output.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

#define NO_NUMBER UINT64_MAX /* no count was given */

enum { SWEEP_MOST = 32, NOT_GIVEN = BENCH_NOT_GIVEN, GROUPS_MOST = 24 };

/* One invocation. */
typedef struct job {
    int operation;
    bench_options options;
    workload w;
    device_options where;
    output_options printing;
    option_group groups[GROUPS_MOST];
    uint32_t n_groups, n_sweepable;
    kr_device *device;
    char *sweep; /* one allocation with what is swept */
    const char *sweep_name, *sweep_values[SWEEP_MOST];
    uint32_t n_sweep;
    int sweeps_spec; /* the option is the kind's, not the workload's */
    bench_report report;
} job;

/* ---- Options ------------------------------------------------------------------------------- */

static void add_group(job *j, const char *title, const option_row *rows, void *to)
{
    j->groups[j->n_groups++] = (option_group){title, rows, to};
}

/* 1: columns of files take the place of generated ones, whose options are not there then. Else theirs are
 * there for --help alone. */
static int reads_files, shows_help;

static int may_read_files(int operation)
{
    return operation == BENCH_POINT || operation == BENCH_RANGE || operation == BENCH_BUILD ||
           operation == BENCH_JOIN || operation == BENCH_SCAN;
}

static void add_generated(job *j, int operation)
{
    const int all = operation < 0, has_keys = operation != BENCH_LOADS && operation != BENCH_SCAN;
    const int looks_up = has_keys && operation != BENCH_BUILD;
    if (has_keys) {
        add_group(j, all ? "Keys (not scan, loads)" : "Keys", bench_key_rows, &j->w);
        add_group(j, all ? "Kinds of keys (not scan, loads)" : "Kinds of keys", workload_keys_rows, &j->w);
    }
    if (looks_up)
        add_group(j, "Probes (not build, scan, loads)", bench_probe_rows, &j->w);
    if (has_keys && operation != BENCH_UPDATE)
        add_group(j, "Texts (point, range, build, join)", bench_texts_rows, &j->w);
    if (operation == BENCH_POINT || operation == BENCH_UPDATE || operation == BENCH_JOIN || all)
        add_group(j, "Kinds of probes (point, update, join)", workload_probes_rows, &j->w);
    if (operation == BENCH_RANGE || all)
        add_group(j, "Kinds of ranges (range)", workload_ranges_rows, &j->w);
    if (operation == BENCH_UPDATE || all)
        add_group(j, "Updates (update)", workload_updates_rows, &j->w);
    if (operation == BENCH_LOADS || all)
        add_group(j, "Loads of an array, without an index (loads)", bench_loads_rows, &j->w);
    if (operation == BENCH_SCAN || all)
        add_group(j, "Tables (scan)", bench_scan_rows, &j->w);
}

/* The groups of the workload, which can be swept, come first. operation < 0: all, for --help. */
static void add_groups(job *j, int operation)
{
    const int all = operation < 0, has_keys = operation != BENCH_LOADS && operation != BENCH_SCAN;
    const int looks_up = has_keys && operation != BENCH_BUILD;
    j->n_groups = 0;
    if (!reads_files)
        add_generated(j, operation);
    if (looks_up)
        add_group(j, "Batches (not build, scan, loads)", bench_batches_rows, &j->w);
    if (operation == BENCH_SCAN || all)
        add_group(j, "Conditions (scan)", bench_query_rows, &j->w);
    j->n_sweepable = j->n_groups;
    if (all || (may_read_files(operation) && (reads_files || shows_help))) {
        if (has_keys)
            add_group(j, "Columns of files instead of generated ones (point, range, build, join)",
                      bench_files_rows, &j->options);
        if (operation == BENCH_SCAN || all)
            add_group(j, "Columns of files instead of a generated table (scan)", bench_scan_files_rows,
                      &j->options);
        add_group(j, "Reading", column_rows, &column_input);
    }
    if (looks_up)
        add_group(j, "Lookups (not build, scan, loads)", bench_lookup_rows, &j->options);
    if (operation == BENCH_POINT || operation == BENCH_RANGE || all)
        add_group(j, "Calls (point, range)", bench_call_rows, &j->options);
    if (operation == BENCH_JOIN || all)
        add_group(j, "Joins of the probes, left, with the keys, right (join)", bench_join_rows, &j->options);
    if (operation == BENCH_UPDATE || all)
        add_group(j, "Waves (update)", bench_update_rows, &j->options);
    if (operation == BENCH_BUILD || all)
        add_group(j, "Saving (build)", bench_saved_rows, &j->options);
    if (operation == BENCH_SCAN || all)
        add_group(j, "Scans (scan)", bench_asking_rows, &j->options);
    if (has_keys)
        add_group(j, all ? "Index (not scan, loads)" : "Index", bench_index_rows, &j->options);
    add_group(j, "Benchmark", bench_common_rows, &j->options);
    add_group(j, "Device", device_rows, &j->where);
    add_group(j, "Output", output_rows, &j->printing);
}

/* Refuses two options that set the same value. */
static int check_contradictions(const job *j)
{
    const bench_options *o = &j->options;
    const struct {
        int both;
        const char *names;
    } pairs[] = {
        {j->w.count != NO_NUMBER && o->keys_log2 != NOT_GIVEN, "--count and --keys-log2"},
        {j->w.probes != NO_NUMBER && o->probes_log2 != NOT_GIVEN, "--probes and --probes-log2"},
        {j->w.order != NOT_GIVEN && o->presorted_probes, "--order and --presorted-probes"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
        if (pairs[i].both)
            return tool_fail(USAGE, "%s set the same value; give one of them", pairs[i].names);
    if (j->operation == BENCH_JOIN && (o->result != NOT_GIVEN || o->baseline || o->scaling))
        return tool_fail(USAGE, "bench join has no --%s; --type says what its results are",
                         o->baseline  ? "baseline"
                         : o->scaling ? "scaling"
                                      : "result");
    int code = o->rebuild ? tool_check_spec(o->rebuild) : DONE;
    if (!code && reads_files && j->operation != BENCH_SCAN)
        code = bench_files_check(o, j->operation);
    for (uint32_t i = 0; i < o->index.n && !code; ++i)
        code = tool_check_spec(o->index.at[i]);
    return code;
}

static uint64_t settle_count(uint64_t count, uint64_t log2)
{
    if (log2 != NOT_GIVEN)
        return (uint64_t)1 << log2;
    return count != NO_NUMBER ? count : 1 << 22;
}

/* Fills in what options leave open. */
static void settle_options(job *j)
{
    static const kr_result results[] = {KR_RESULT_ROW,    KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_SUM,
                                        KR_RESULT_EXISTS, KR_RESULT_ROWS,  KR_RESULT_ROWS};
    static const uint32_t by_key = sizeof results / sizeof *results - 1;
    bench_options *o = &j->options;
    j->w.count = settle_count(j->w.count, o->keys_log2);
    j->w.probes = settle_count(j->w.probes, o->probes_log2);
    if (j->w.order == NOT_GIVEN)
        j->w.order = o->presorted_probes ? KR_PROBES_ASCENDING : KR_PROBES_RANDOM;
    o->order = o->result == by_key ? KR_ORDER_KEY : KR_ORDER_ROW;
    if (o->result != NOT_GIVEN)
        o->result = results[o->result];
    else
        o->result = j->operation == BENCH_RANGE ? KR_RESULT_SUM_ROWS : KR_RESULT_ROW;
    if (!o->index.n) /* `best` does not give rows other keys */
        o->index.at[o->index.n++] = j->operation != BENCH_UPDATE ? "best"
                                    : j->w.waves                 ? "best:updates=on"
                                                                 : "rx";
    if (j->operation == BENCH_LOADS && !o->sweep && !j->w.group)
        o->sweep = BENCH_LOADS_SWEEP;
    if (!j->w.group)
        j->w.group = 1;
}

/* "KIND.OPT" is the kind's option, even if the workload has one of this name. */
static int read_swept_kind(job *j)
{
    const char *option = strchr(j->sweep_name, '.');
    if (!option)
        return DONE;
    const size_t length = (size_t)(option - j->sweep_name);
    for (uint32_t i = 0; i < j->options.index.n; ++i) {
        const char *spec = j->options.index.at[i];
        if (strncmp(spec, j->sweep_name, length) != 0 || (spec[length] && spec[length] != ':'))
            return tool_fail(USAGE, "--sweep %s is of kind '%.*s', but --index is %s", j->sweep_name,
                             (int)length, j->sweep_name, spec);
    }
    j->sweep_name = option + 1;
    j->sweeps_spec = 1;
    return DONE;
}

/* Cuts "OPT=A,B,C" apart. */
static int read_sweep(job *j)
{
    j->n_sweep = 1;
    if (!j->options.sweep)
        return DONE;
    j->sweep_name = j->sweep = strdup(j->options.sweep);
    if (!j->sweep)
        return tool_fail(FAILED, "no host memory for --sweep");
    char *values = strchr(j->sweep, '=');
    if (!values || values == j->sweep || !values[1])
        return tool_fail(USAGE, "--sweep is OPT=A,B,C, not '%s'", j->options.sweep);
    *values++ = '\0';
    char *rest = values, *value;
    for (j->n_sweep = 0; (value = strsep(&rest, ",")); j->sweep_values[j->n_sweep++] = value)
        if (j->n_sweep == SWEEP_MOST || !*value)
            return tool_fail(USAGE, "--sweep takes 1 to %d values, none of them empty", SWEEP_MOST);
    return read_swept_kind(j);
}

/* ---- Runs ---------------------------------------------------------------------------------- */

/* The same on a device with one thread. */
static int measure_one_thread(const job *j, const bench_data *data, const char *spec, bench_row *row)
{
    device_options where = j->where;
    bench_row one = {0};
    kr_device *device = NULL;
    where.threads = 1;
    if (strcmp(j->report.device.name, "cpu") != 0)
        return tool_fail(USAGE, "--scaling compares threads of the CPU; add --device cpu");
    int code = device_open(&where, NULL, &device);
    if (!code)
        code = bench_measure(&j->options, data, device, spec, &one);
    if (!code)
        row->one_thread_rate = (double)one.per_run / one.times.median;
    kr_device_close(device);
    return code;
}

/* What is swept, and the spec with it. */
static int name_row(const job *j, const char *spec, const char *value, bench_row *row, char *whole,
                    size_t nbytes)
{
    const char *link = strchr(spec, ':') ? "," : ":";
    if (j->sweeps_spec && strncmp(spec, "best", 4) == 0)
        return tool_fail(
            USAGE,
            "--sweep %s is not an option of the workload; for an option of a kind, name the kind: --index "
            "KIND",
            j->sweep_name);
    row->workload = j->w;
    if (value)
        snprintf(row->swept, sizeof row->swept, "%s=%s", j->sweep_name, value);
    if (value && j->sweeps_spec)
        snprintf(whole, nbytes, "%s%s%s=%s", spec, link, j->sweep_name, value);
    else
        snprintf(whole, nbytes, "%s", spec);
    return DONE;
}

static int run_spec(job *j, const bench_data *data, const char *spec, const char *value)
{
    bench_row *row = &j->report.rows[j->report.n_rows];
    char whole[KR_SPEC_NBYTES];
    int code = name_row(j, spec, value, row, whole, sizeof whole);
    if (!code && j->operation == BENCH_JOIN)
        code = bench_join(&j->options, data, j->device, whole, row);
    else if (!code)
        code = bench_measure(&j->options, data, j->device, whole, row);
    if (!code && j->options.baseline)
        code = bench_measure_baselines(&j->options, data, j->device, row);
    if (!code && j->options.scaling)
        code = measure_one_thread(j, data, whole, row);
    j->report.n_rows += !code;
    return code;
}

/* All specs of one value. Rivals, which do not depend on the spec, run once. */
static int run_in_turn(job *j, const bench_data *data, const char *value)
{
    const uint32_t n = j->options.index.n;
    bench_row *rows = &j->report.rows[j->report.n_rows];
    bench_spec *specs = tool_alloc(n, sizeof *specs, "the specs");
    int code = specs ? DONE : FAILED;
    for (uint32_t i = 0; i < n && !code; ++i)
        code = name_row(j, j->options.index.at[i], value, &rows[i], specs[i], sizeof *specs);
    if (!code)
        code = bench_measure_in_turn(&j->options, data, j->device, specs, n, rows);
    if (!code && j->options.baseline)
        code = bench_measure_baselines(&j->options, data, j->device, rows);
    for (uint32_t i = 1; i < n && !code; ++i) {
        memcpy(rows[i].baselines, rows->baselines, sizeof rows->baselines);
        rows[i].n_baselines = rows->n_baselines;
    }
    for (uint32_t i = 0; i < n && !code && j->options.scaling; ++i)
        code = measure_one_thread(j, data, specs[i], &rows[i]);
    j->report.n_rows += code ? 0 : n;
    free(specs);
    return code;
}

/* Checks that waves have rows to insert, and not more than an index holds. */
static int check_waves(const workload *w)
{
    const int grows = w->wave_form == WAVES_GROW;
    if (w->growth != WORKLOAD_GROWTH && (w->wave_rows || !grows))
        return tool_fail(USAGE,
                         "--growth takes the place of --wave-rows in waves that grow; give one of them");
    if (!grows && (!w->wave_rows || w->wave_rows > w->count))
        return tool_fail(
            USAGE,
            "--wave-form alternate and churn need --wave-rows from 1 to %llu, which is how many keys there "
            "are",
            (unsigned long long)w->count);
    if (workload_grown(w) - w->count < w->waves)
        return tool_fail(USAGE, "--growth of %llu rows leaves no row to insert in some of %llu waves",
                         (unsigned long long)w->count, (unsigned long long)w->waves);
    if (workload_grown(w) >= KR_NO_ROW)
        return tool_fail(USAGE, "the waves make %llu rows, and row ids end at 4294967294; give fewer",
                         (unsigned long long)workload_grown(w));
    return DONE;
}

/* Checks options that can be swept, for each value. */
static int check_updates(const job *j)
{
    const workload *w = &j->w;
    if (w->waves && (w->changes != 1 || w->by_rank))
        return tool_fail(USAGE,
                         "--changes and --pattern exchange keys, --waves inserts and deletes; give one");
    if (w->waves && w->multiplicity != 1)
        return tool_fail(
            USAGE, "--waves deletes rows by their keys, so these must be distinct; leave out --multiplicity");
    if (!w->waves && (w->growth != WORKLOAD_GROWTH || j->options.rebuild || w->wave_rows || w->wave_form))
        return tool_fail(USAGE, "--growth, --rebuild, --wave-form and --wave-rows need --waves");
    return w->waves ? check_waves(w) : DONE;
}

static int open_files(job *j, bench_data *data)
{
    const int code = bench_files_open(data, &j->options, j->device, j->operation, j->w.batches,
                                      (uint32_t)j->where.threads);
    if (code)
        return code;
    j->w.count = data->n_keys;
    j->w.probes = data->n_probes;
    j->report.sources = bench_files_sources(data);
    return DONE;
}

static int open_data(job *j, bench_data *data)
{
    if (reads_files)
        return open_files(j, data);
    int code = workload_check_probes(&j->w);
    if (!code && j->operation == BENCH_UPDATE)
        code = check_updates(j);
    if (!code)
        code = bench_texts_check(&j->options, &j->w);
    if (code)
        return code;
    return bench_data_open(data, j->device, j->operation, &j->w, j->options.result == KR_RESULT_SUM,
                           bench_data_place(&j->options), (uint32_t)j->where.threads);
}

static int run_loads(job *j, const char *value)
{
    bench_row *row = &j->report.rows[j->report.n_rows];
    row->workload = j->w;
    if (value)
        snprintf(row->swept, sizeof row->swept, "%s=%s", j->sweep_name, value);
    if (value && j->sweeps_spec)
        return tool_fail(USAGE, "--sweep %s is not an option of bench loads, which has no index",
                         j->sweep_name);
    const int code = bench_loads(&j->options, j->device, (uint32_t)j->where.threads, row);
    j->report.n_rows += !code;
    return code;
}

static int run_scan(job *j, uint32_t i, const char *value, bench_row *row)
{
    char whole[KR_SPEC_NBYTES];
    const int code = name_row(j, j->options.index.at[i], value, row, whole, sizeof whole);
    return code ? code : bench_scan(&j->options, j->device, (uint32_t)j->where.threads, whole, row);
}

static int set_swept(job *j, const char *value)
{
    if (!value || j->sweeps_spec)
        return DONE;
    const int code = options_set(j->groups, j->n_sweepable, j->sweep_name, value);
    j->sweeps_spec = code == -1;
    return j->sweeps_spec ? DONE : code;
}

/* Of one table after the other, where what is swept only asks. Rows of the report come value by value. */
static int run_scans(job *j)
{
    const uint32_t n = j->options.index.n;
    const char *name = j->sweep_name ? j->sweep_name : "";
    const int asks = options_choice("selectivity|queries|conditions", name, strlen(name)) >= 0;
    int code = DONE;
    j->report.n_rows = (uint64_t)n * j->n_sweep;
    for (uint32_t k = 0; k < n * j->n_sweep && !code; ++k) {
        const uint32_t v = asks ? k % j->n_sweep : k / n, i = asks ? k / j->n_sweep : k % n;
        if (!asks || v == 0)
            bench_scan_drop_table();
        code = set_swept(j, j->sweep_values[v]);
        if (!code)
            code = run_scan(j, i, j->sweep_values[v], &j->report.rows[(uint64_t)v * n + i]);
    }
    return code;
}

static int run_all(job *j)
{
    bench_data data = {0};
    int code = DONE;
    for (uint32_t v = 0; v < j->n_sweep && !code; ++v) {
        const char *value = j->sweep_values[v];
        code = set_swept(j, value);
        if (j->operation == BENCH_LOADS) {
            code = code ? code : run_loads(j, value);
            continue;
        }
        if (!code && (v == 0 || !j->sweeps_spec))
            code = open_data(j, &data);
        if (!code && j->options.in_turn) {
            code = run_in_turn(j, &data, value);
            continue;
        }
        for (uint32_t i = 0; i < j->options.index.n && !code; ++i)
            code = run_spec(j, &data, j->options.index.at[i], value);
    }
    bench_data_close(&data);
    return code;
}

/* ---- Report -------------------------------------------------------------------------------- */

static int write_json(const bench_report *report, const char *path)
{
    char *text = NULL;
    size_t nbytes = 0;
    kr_error err = {0};
    kr_output *files = NULL;
    FILE *file = open_memstream(&text, &nbytes);
    if (file)
        bench_print(report, file, 1);
    if (!file || fclose(file) != 0) {
        free(text);
        return tool_fail(FAILED, "no host memory for the report");
    }
    progress_writing(1);
    kr_status status = kr_output_create(&files, &err);
    if (status == KR_OK)
        status = kr_output_add_bytes(files, path, text, nbytes, progress_callback(1), &err);
    if (status == KR_OK)
        status = kr_output_commit(files, &err);
    kr_output_destroy(files);
    free(text);
    progress_writing(0);
    return tool_check(status, &err);
}

static int perform(job *j)
{
    kr_error err = {0};
    const uint64_t n_rows = (uint64_t)j->n_sweep * j->options.index.n;
    j->report = (bench_report){
        .options = &j->options, .operation = j->operation, .device = {.struct_size = sizeof(kr_device_info)}};
    j->report.rows = calloc(n_rows, sizeof *j->report.rows);
    if (!j->report.rows)
        return tool_fail(FAILED, "no host memory for the report");
    int code = tool_check_folder("--json", j->options.json);
    if (!code)
        code = tool_check_folder("--save", j->options.save);
    /* Without a progress callback: nothing but the work is to be timed. */
    if (!code)
        code = device_open(&j->where, NULL, &j->device);
    if (!code)
        code = tool_check(kr_device_query(j->device, &j->report.device, &err), &err);
    if (!code)
        code = j->operation == BENCH_SCAN ? run_scans(j) : run_all(j);
    if (!code && j->options.json)
        code = write_json(&j->report, j->options.json);
    if (!code && (j->printing.json || !j->printing.quiet))
        bench_print(&j->report, stdout, j->printing.json);
    bench_scan_close(); /* reports name its columns */
    kr_device_close(j->device);
    for (uint64_t i = 0; i < n_rows; ++i)
        free(j->report.rows[i].steps);
    free(j->report.rows);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    job j = {.options = {.keys_log2 = NOT_GIVEN,
                         .probes_log2 = NOT_GIVEN,
                         .repeat = 5,
                         .checked = 4,
                         .calls = 1,
                         .result = NOT_GIVEN},
             .w = WORKLOAD_DEFAULTS,
             .where = DEVICE_DEFAULTS};
    int code = DONE;
    j.w.count = j.w.probes = NO_NUMBER;
    j.w.order = NOT_GIVEN;
    reads_files = shows_help = 0;
    add_groups(&j, -1);
    j.operation = options_operand(self, j.groups, j.n_groups, argc, argv, &code);
    if (j.operation < 0)
        return code;
    reads_files = may_read_files(j.operation) && bench_files_are_named(argc, argv);
    for (int i = 1; i < argc; ++i)
        shows_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    add_groups(&j, j.operation);
    code = options_parse(self, j.groups, j.n_groups, argc - 1, argv + 1);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_contradictions(&j);
    if (code)
        return code;
    settle_options(&j);
    code = read_sweep(&j);
    if (!code)
        code = perform(&j);
    free(j.sweep);
    return code;
}

/* What to give instead of an option that is not there. */
static const char *instead(const char *operand, const char *option)
{
    static const option_row *const generated[] = {
        bench_key_rows,       bench_probe_rows, workload_keys_rows, workload_probes_rows,
        workload_ranges_rows, bench_texts_rows, bench_scan_rows};
    for (size_t i = 0; i < sizeof generated / sizeof *generated && reads_files; ++i)
        for (const option_row *row = generated[i]; row->name; ++row)
            if (strcmp(row->name, option) == 0)
                return strcmp(operand, "scan") == 0 ? "it says how the table is generated, but --column "
                                                      "reads it; leave one of the two out"
                                                    : "it says how columns are generated, but --keys reads "
                                                      "them; leave one of the two out";
    return workload_instead(operand, option);
}

const command command_bench = {
    "bench",
    "point|range|build|update|scan|loads|join",
    "time lookups, builds, updates, scans and joins on generated data or columns of files, after "
    "checking the answers, or bare loads",
    "Times point lookups, ranges, builds, updates, scans and joins, or bare loads from memory. It "
    "generates its columns, or reads them with --keys and --probes, and it checks the answers before "
    "it times anything.",
    "keyray bench point --index array --count 2^26 --probes 2^24 --device cpu --threads 1 "
    "--baseline\n"
    "keyray bench range --count 2^24 --probes 2^20 --sweep hits=1,16,256\n"
    "keyray bench build --bits 64 --device cpu --scaling\n"
    "keyray bench update --index rx --changes 2^10 --pattern ranks\n"
    "keyray bench update --index cgrx:updates=on --waves 8 --rebuild cgrx --bits 64 --uniformity "
    "100\n"
    "keyray bench scan --rows 100000000 --queries 1000 --repeat 3\n"
    "keyray bench scan --rows 100000000 --append 1048576 --delete 65536 --index bindex\n"
    "keyray bench scan --workload q6 --scale 10 --index full --index bindex --index btree\n"
    "keyray bench join --count 2^24 --probes 2^27 --hit-rate 50 --index best --index hash\n"
    "keyray bench loads --sweep group=1,4,16 --aligned\n"
    "keyray bench point --keys orders.csv:o_orderkey --probes lineitem.csv:l_orderkey --index best "
    "--index hash --in-turn\n"
    "keyray bench range --keys sales.csv:day --lower months.csv:first --upper months.csv:last\n"
    "keyray bench scan --column day=sales.csv:day --column price=sales.csv:price --index full --index "
    "bindex\n",
    run,
    bench_notes,
    instead,
};
