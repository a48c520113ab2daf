/* keyray advise: measures the kinds on a column or a table, and says which to use. */
#include "advise.h"

#include "commands.h"
#include "table.h"
#include "targets.h"
#include "tools/columns/column.h"
#include "tools/terminal/device.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct advise_options {
    const char *keys, *probes, *lower, *upper, *svg;
    option_texts columns, where;
    uint64_t batch, hit_rate, range_hits, updates, memory_cap, seconds; /* percents, seconds: hundredths */
} advise_options;

#define AT(field) offsetof(advise_options, field)
#define NOT_GIVEN UINT64_MAX

static const option_row index_rows[] = {
    {"keys", 0, 2, OPTION_TEXT, AT(keys), "COL", "the column to be indexed; for a table, --column instead", 0,
     0},
    {"probes", 0, 0, OPTION_TEXT, AT(probes), "COL",
     "lookups that are like those to come, in their order [made of the keys]", 0, 0},
    {"hit-rate", 0, 0, OPTION_DECIMAL, AT(hit_rate), "PERCENT",
     "of lookups that are made of the keys, how many find a row [100]", 0, 10000},
    {"lower", 0, 0, OPTION_TEXT, AT(lower), "COL",
     "lower bounds of ranges that are like those to come, with --upper", 0, 0},
    {"upper", 0, 0, OPTION_TEXT, AT(upper), "COL", "their upper bounds", 0, 0},
    {"range-hits", 0, 0, OPTION_NUMBER, AT(range_hits), "N",
     "instead of --lower and --upper: ranges of about N rows, made of the keys", 1, UINT32_MAX},
    {"batch", 0, 0, OPTION_NUMBER, AT(batch), "N",
     "how many lookups a call has, which waits for its answers [2^16; 2^24 on a GPU]", 1, UINT32_MAX},
    {"updates", 0, 0, OPTION_DECIMAL, AT(updates), "PERCENT",
     "of 100 rows that are handed to the index, how many are inserted or deleted, as many of both, between "
     "two batches of lookups [0]",
     0, 9900},
    {0},
};

static const option_row table_rows[] = {
    {"column", 0, 0, OPTION_NAMES, AT(columns), "[NAME=]COL,...",
     "the columns of a table, each under its name in the file, or under NAME", 0, 0},
    {"where", 0, 0, OPTION_TEXTS, AT(where), "CONDITION",
     "a condition, see keyray scan; given several times, each is a scan of its own", 0, 0},
    {0},
};

static const option_row limit_rows[] = {
    {"seconds", 0, 0, OPTION_DECIMAL, AT(seconds), "S", "how long may be measured [10]", 10, 100000000},
    {"memory-cap", 0, 0, OPTION_NUMBER, AT(memory_cap), "BYTES",
     "how many bytes an index or a table may keep; its build takes more; 0: no cap; K, M or G may follow [0]",
     0, UINT64_MAX},
    {"svg", 0, 0, OPTION_TEXT, AT(svg), "FILE.svg", "write the plot to a file, too", 0, 0},
    {0},
};

typedef struct job {
    advise_options options;
    device_options where;
    output_options printing;
    const kr_progress *progress;
    struct column keys, probes, lower, upper;
    struct table table;
    uint32_t *codes; /* of probes that are texts */
    kr_device *device;
    kr_advise_options asked;
    kr_advice *advice;
    advise_found found;
} job;

/* ---- Options ------------------------------------------------------------------------------- */

static int check_table(const advise_options *o)
{
    const char *of_index = o->keys                    ? "--keys"
                           : o->probes                ? "--probes"
                           : o->lower                 ? "--lower"
                           : o->upper                 ? "--upper"
                           : o->range_hits            ? "--range-hits"
                           : o->batch                 ? "--batch"
                           : o->updates               ? "--updates"
                           : o->hit_rate != NOT_GIVEN ? "--hit-rate"
                                                      : NULL;
    if (of_index)
        return tool_fail(USAGE, "%s is for an index, and --column for a table; give one of both", of_index);
    if (!o->where.n)
        return tool_fail(USAGE,
                         "--where CONDITION is missing; give one for each scan that is to be measured");
    return DONE;
}

static int check_options(const advise_options *o)
{
    const size_t length = o->svg ? strlen(o->svg) : 0;
    if (o->svg && (length < 5 || strcmp(o->svg + length - 4, ".svg") != 0))
        return tool_fail(USAGE, "--svg %s: give a name that ends in .svg", o->svg);
    if (o->columns.n)
        return check_table(o);
    if (o->where.n)
        return tool_fail(USAGE, "--where is for a table; give its columns: --column [NAME=]COL,...");
    if (!o->keys)
        return tool_fail(USAGE,
                         "--keys COL is missing; give it, or --column COL and --where CONDITION for a table");
    if (!o->lower != !o->upper)
        return tool_fail(USAGE, "%s is missing: a range takes one of each",
                         o->lower ? "--upper COL" : "--lower COL");
    if (o->lower && o->range_hits)
        return tool_fail(USAGE,
                         "--range-hits makes ranges, and --lower and --upper give them; leave one out");
    if (o->probes && o->hit_rate != NOT_GIVEN)
        return tool_fail(USAGE,
                         "--hit-rate is of probes that are made, and --probes gives them; leave one out");
    return DONE;
}

/* ---- An index ------------------------------------------------------------------------------ */

/* Texts that no key has are lookups, too: their code is one that no text has. */
static int keep_misses(job *j)
{
    const kr_column *view = &j->probes.view;
    if (!column_is_text(&j->probes) || !view->validity)
        return DONE;
    j->codes = tool_alloc(view->count, sizeof *j->codes, "codes of texts");
    if (!j->codes)
        return FAILED;
    for (uint64_t i = 0; i < view->count; ++i)
        j->codes[i] = column_row_is_valid(view, i) ? ((const uint32_t *)view->data)[i] : KR_NO_ROW;
    j->probes.view.data = j->codes;
    j->probes.view.validity = NULL;
    return DONE;
}

static int load_index(job *j)
{
    const advise_options *o = &j->options;
    int code = column_load(&j->keys, "--keys", o->keys, j->progress);
    if (!code && o->probes)
        code = column_load(&j->probes, "--probes", o->probes, j->progress);
    if (!code && o->lower)
        code = column_load(&j->lower, "--lower", o->lower, j->progress);
    if (!code && o->upper)
        code = column_load(&j->upper, "--upper", o->upper, j->progress);
    if (!code && o->probes)
        code = column_match(&j->keys, &j->probes, ABSENT_NULL);
    if (!code && o->lower)
        code = column_match(&j->keys, &j->lower, ABSENT_ABOVE);
    if (!code && o->upper)
        code = column_match(&j->keys, &j->upper, ABSENT_BELOW);
    if (!code && o->lower)
        code = column_check_counts(&j->lower, &j->upper, "a range takes one of each");
    return code ? code : keep_misses(j);
}

static void ask_index(job *j)
{
    const advise_options *o = &j->options;
    const int is_range = o->lower || o->range_hits;
    j->asked.probes = o->probes ? &j->probes.view : NULL;
    j->asked.lower = o->lower ? &j->lower.view : NULL;
    j->asked.upper = o->upper ? &j->upper.view : NULL;
    j->asked.operations = is_range ? KR_CAN_RANGE : KR_CAN_POINT;
    if (o->probes || o->hit_rate != NOT_GIVEN)
        j->asked.operations |= KR_CAN_POINT;
    j->asked.batch = o->batch;
    j->asked.range_hits = o->range_hits;
    j->asked.miss_percent = o->hit_rate == NOT_GIVEN ? 0 : (double)(10000 - o->hit_rate) / 100;
    j->asked.update_percent = (double)o->updates / 100;
    snprintf(j->found.subject, sizeof j->found.subject, "%.120s", o->keys);
}

/* The library's names of options, as the command has them. */
static void rename_options(kr_error *err)
{
    static const char *const names[][2] = {
        {"kr_advise_options.probes", "--probes"},
        {"kr_advise_options.lower and upper", "--lower and --upper"},
        {"kr_advise_options.lower", "--lower"},
        {"kr_advise_options.upper", "--upper"},
        {"kr_advise_options.batch", "--batch"},
        {"kr_advise_options.range_hits", "--range-hits"},
        {"kr_advise_options.update_percent", "--updates"},
        {"kr_advise_options.memory_cap_nbytes", "--memory-cap"},
        {"kr_advise_options.seconds", "--seconds"},
        {"leave kr_advise_options.miss_percent 0", "give --hit-rate 100"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        tool_rename(err, names[i][0], names[i][1]);
}

static int advise_index(job *j)
{
    kr_error err = {0};
    int code = load_index(j);
    if (!code)
        code = device_open(&j->where, j->progress, &j->device);
    if (code)
        return code;
    ask_index(j);
    const kr_status status = kr_advise(j->device, &j->keys.view, &j->asked, &j->advice, &err);
    rename_options(&err);
    return tool_check(status, &err);
}

/* ---- A table ------------------------------------------------------------------------------- */

static int parse(const job *j, kr_condition **conditions)
{
    int code = DONE;
    for (uint32_t i = 0; !code && i < j->options.where.n; ++i) {
        kr_error err = {0};
        if (kr_condition_parse(j->options.where.at[i], &conditions[i], &err) != KR_OK)
            code = tool_fail(err.status == KR_ERR_FORMAT ? USAGE : FAILED, "--where: %s", err.text);
    }
    return code;
}

static int advise_table(job *j)
{
    kr_condition *conditions[OPTION_TEXTS_MOST] = {NULL};
    table_parts *parts = tool_alloc(1, sizeof *parts, "the columns of a table");
    const uint32_t n = j->options.where.n;
    kr_error err = {0};
    int code = parts ? parse(j, conditions) : FAILED;
    if (!code)
        code = table_load(&j->table, &j->options.columns, j->progress);
    if (!code)
        code = device_open(&j->where, j->progress, &j->device);
    if (!code)
        code = table_make_parts(&j->table, j->device, parts);
    if (!code) {
        const kr_status status =
            kr_advise_table(j->device, parts->views, parts->names, j->table.n, &parts->options,
                            (const kr_condition *const *)conditions, n, &j->asked, &j->advice, &err);
        if (status == KR_ERR_TYPE)
            table_advise_types(&j->table, &err);
        rename_options(&err);
        code = tool_check(status, &err);
    }
    for (uint32_t i = 0; i < n; ++i)
        kr_condition_destroy(conditions[i]);
    free(parts);
    snprintf(j->found.subject, sizeof j->found.subject, "%.90s%s", j->options.columns.at[0],
             j->options.columns.n > 1 ? " and more" : "");
    return code;
}

/* ---- The command --------------------------------------------------------------------------- */

static int take(job *j)
{
    kr_error err = {0};
    advise_found *found = &j->found;
    found->info.struct_size = sizeof found->info;
    int code = tool_check(kr_advice_query(j->advice, &found->info, &err), &err);
    for (; !code && found->n < found->info.candidates && found->n < ADVISE_MOST; ++found->n) {
        kr_advice_candidate *c = &found->at[found->n];
        c->struct_size = sizeof *c;
        code = tool_check(kr_advice_candidate_query(j->advice, found->n, c, &err), &err);
    }
    return code;
}

static int write_svg(job *j)
{
    size_t nbytes = 0;
    kr_output *file = NULL;
    kr_error err = {0};
    if (!j->options.svg)
        return DONE;
    char *text = advise_svg(&j->found, &nbytes);
    if (!text)
        return FAILED;
    progress_writing(1);
    kr_status status = kr_output_create(&file, &err);
    if (status == KR_OK)
        status = kr_output_add_bytes(file, j->options.svg, text, nbytes, j->progress, &err);
    if (status == KR_OK)
        status = kr_output_commit(file, &err);
    kr_output_destroy(file);
    progress_writing(0);
    free(text);
    return tool_check(status, &err);
}

static int advise(job *j, const option_group *groups, uint32_t n_groups)
{
    static const char *const suffixes[] = {""};
    int code = check_options(&j->options);
    if (!code && j->options.svg)
        code = targets_check("--svg", j->options.svg, suffixes, 1, groups, n_groups);
    if (code)
        return code;
    j->progress = progress_callback(j->printing.quiet);
    j->asked = (kr_advise_options){.struct_size = sizeof j->asked,
                                   .seconds = (double)j->options.seconds / 100,
                                   .memory_cap_nbytes = j->options.memory_cap};
    if (j->progress)
        j->asked.progress = *j->progress;
    j->found.is_table = j->options.columns.n > 0;
    code = j->found.is_table ? advise_table(j) : advise_index(j);
    if (!code)
        code = take(j);
    if (code)
        return code;
    advise_print(&j->found, &j->printing);
    return write_svg(j);
}

static int run(const command *self, int argc, char **argv)
{
    job *j = tool_alloc(1, sizeof *j, "the advice");
    if (!j)
        return FAILED;
    memset(j, 0, sizeof *j);
    j->options = (advise_options){.hit_rate = NOT_GIVEN, .seconds = 1000};
    j->where = (device_options)DEVICE_DEFAULTS;
    const option_group groups[] = {
        {"An index", index_rows, &j->options},    {"A table", table_rows, &j->options},
        {"Limits", limit_rows, &j->options},      {"Input", column_rows, &column_input},
        {"Device", device_plain_rows, &j->where}, {"Output", output_spec_rows, &j->printing}};
    const uint32_t n_groups = sizeof groups / sizeof *groups;
    int code = options_parse(self, groups, n_groups, argc, argv);
    if (code == OPTIONS_GO_ON)
        code = advise(j, groups, n_groups);
    kr_advice_destroy(j->advice);
    table_close(&j->table);
    column_close(&j->keys);
    column_close(&j->probes);
    column_close(&j->lower);
    column_close(&j->upper);
    free(j->codes);
    kr_device_close(j->device);
    free(j);
    return code;
}

const command command_advise = {
    "advise",
    NULL,
    "measures the kinds on your column or table, and says which to use",
    "Builds the kinds of index that can do what is asked on the column itself, lets them answer lookups, "
    "compares "
    "the answers, and prints what each took, the fastest first, and the spec to use. With --column and "
    "--where it "
    "does the same with tables and scans.",
    "keyray advise --keys orders.csv:customer\n"
    "keyray advise --keys orders.csv:customer --hit-rate 50 --updates 1\n"
    "keyray advise --column orders.csv:day,amount --where \"amount > 100\"",
    run,
    "All kinds begin with a few rows; those that are much slower are left out, and the others go on with "
    "more, up "
    "to the whole column if the time suffices. The report says if it did not, and what the number of rows "
    "adds. "
    "Kinds take turns, and the least time of each counts. A build has paid after as many lookups as the time "
    "that "
    "it takes more than the cheapest one is saved in. --quiet prints the spec alone, as in keyray lookup "
    "--index "
    "\"$(keyray advise --keys orders.csv:customer --quiet)\" ...",
};
