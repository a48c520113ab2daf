#include "answers.h"
#include "commands.h"
#include "saved.h"
#include "shown.h"
#include "table.h"
#include "targets.h"
#include "tools/columns/column.h"
#include "tools/terminal/clock.h"
#include "tools/terminal/device.h"
#include "tools/terminal/facts.h"
#include "tools/terminal/output.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"
#include "tools/terminal/wide.h"

#include <stdlib.h>
#include <string.h>

typedef struct scan_options {
    option_texts columns, show;
    const char *where, *sum, *min, *max, *alive, *output, *index;
    uint32_t count, bitmap, no_rows, verify;
    uint64_t limit;
} scan_options;

#define AT(field) offsetof(scan_options, field)

static const option_row scan_rows[] = {
    {"column", 0, 2, OPTION_NAMES, AT(columns), "[NAME=]COL,...",
     "the columns of the table, each under its name in the file, or under NAME; after the first one, "
     "a name alone is a column of the same file as the one before it: "
     "orders.csv:day,amount,customer; not with FILE.krx",
     0, 0},
    {"where", 0, 0, OPTION_TEXT, AT(where), "CONDITION",
     "the condition, as in SQL: comparisons, BETWEEN, IN, LIKE, IS NULL, AND, OR, NOT, parentheses; put "
     "dates, times and texts in single quotes [every row]",
     0, 0},
    {"alive", 0, 0, OPTION_TEXT, AT(alive), "COL",
     "search only rows whose bit is 1 in a file that --bitmap wrote", 0, 0},
    {"index", 0, 0, OPTION_TEXT, AT(index), "SPEC|FILE.krx",
     "kind and options, see keyray kinds; or a saved table, see keyray index [best]", 0, 0},
    SAVED_VERIFY_ROW(AT(verify)),
    {0},
};

static const option_row result_rows[] = {
    {"count", 0, 0, OPTION_FLAG, AT(count), NULL, "print how many rows match, instead of the rows", 0, 0},
    {"bitmap", 0, 0, OPTION_FLAG, AT(bitmap), NULL,
     "write a bit for each row, in 32-bit words, the least significant bit first", 0, 0},
    {"sum", 0, 0, OPTION_TEXT, AT(sum), "NAME", "the sum of a column over the rows that match, without NULLs",
     0, 0},
    {"min", 0, 0, OPTION_TEXT, AT(min), "NAME", "the minimum of a column over these rows", 0, 0},
    {"max", 0, 0, OPTION_TEXT, AT(max), "NAME", "the maximum of a column over these rows", 0, 0},
    {"show", 0, 0, OPTION_NAMES, AT(show), "COLUMN,...",
     "show these columns of the rows instead of all of --column: names of these, names in the file of "
     "the first, or COLs; with FILE.krx, COLs alone",
     0, 0},
    LIMIT_ROW(AT(limit), "only the first N rows that match"),
    NO_ROWS_ROW(AT(no_rows)),
    {"output", 'o', 0, OPTION_TEXT, AT(output), "OUT",
     "where the answer goes. OUT.csv: a line for each row that matches, with its values in all "
     "columns, or the count, sum, minimum or maximum; -: the same lines as a table on the terminal; "
     "-.csv: the same lines as CSV there; OUT.npy: the row ids alone, or the one value [a table on "
     "the terminal, if it has at most 40 lines]",
     0, 0},
    {0},
};

typedef struct job {
    scan_options options;
    device_options where;
    output_options printing;
    const kr_progress *progress;
    saved_file saved; /* of --index FILE.krx */
    struct table table;
    struct column alive;
    kr_device *device;
    kr_condition *condition;
    kr_report *report;
    kr_scan_result result;
    uint32_t value;  /* SUM, MIN, MAX: the column */
    uint64_t number; /* the result, or how many rows there are */
    uint64_t sum[2]; /* of integers: instead of the number, see wide.h */
    uint8_t valid;
    uint32_t *rows;
    uint64_t n_out; /* of elements of the file */
    report_facts did;
    answers_form form;
    shown shown;
    double load, build, scan, write;
} job;

/* ---- Steps ----------------------------------------------------------------------------------- */

/* What an index takes, a table does not; and best, alone, is another kind for a table. */
static int check_index(const scan_options *o)
{
    if (strncmp(o->index, "best:", 5) == 0)
        return tool_fail(USAGE, "--index best takes no options here: tables of all kinds take appended and "
                                "deleted rows; keyray kinds lists kinds that scan");
    return saved_check(strcmp(o->index, "best") == 0 ? "full" : o->index, "--column [NAME=]COL,...",
                       o->columns.n > 0, o->verify);
}

/* A saved table has no values to show: row ids, and columns that are in files. */
static int check_shown(const scan_options *o, uint32_t is_rows)
{
    if (saved_is_name(o->index) && is_rows && o->no_rows && !o->show.n)
        return tool_fail(USAGE,
                         "--no-rows leaves nothing, as --index %s has no values to show; give --show COL",
                         o->index);
    return DONE;
}

static int check_options(job *j)
{
    const scan_options *o = &j->options;
    const uint32_t n = o->count + o->bitmap + (o->sum != NULL) + (o->min != NULL) + (o->max != NULL);
    if (n > 1)
        return tool_fail(USAGE, "--count, --bitmap, --sum, --min and --max are results; give one of them");
    const char *of_rows = o->show.n ? "--show" : o->limit ? "--limit" : o->no_rows ? "--no-rows" : NULL;
    if (n && of_rows)
        return shown_refuse(of_rows, "--count, --bitmap, --sum, --min and --max");
    int code = check_index(o);
    if (!code)
        code = check_shown(o, !n);
    if (!code)
        code = answers_check_output(o->output, j->printing.json, &j->form);
    const uint32_t is_silent = j->printing.json || j->printing.quiet;
    if (!code)
        code = shown_check_no_rows(o->no_rows, j->form, is_silent);
    return code ? code : shown_check(&o->show, "--show", j->form, is_silent);
}

/* The result, and the column that it adds up. */
static int find_result(job *j)
{
    const scan_options *o = &j->options;
    const char *name = o->sum ? o->sum : o->min ? o->min : o->max;
    j->result = o->count    ? KR_SCAN_COUNT
                : o->bitmap ? KR_SCAN_BITMAP
                : o->sum    ? KR_SCAN_SUM
                : o->min    ? KR_SCAN_MIN
                : o->max    ? KR_SCAN_MAX
                            : KR_SCAN_ROWS;
    if (!name)
        return DONE;
    j->value = table_find(&j->table, name);
    if (j->value == j->table.n)
        return table_no_column(&j->table, name);
    const kr_type type = j->table.columns[j->value].view.type;
    if (o->sum && wide_is(type))
        j->result = KR_SCAN_SUM_WIDE;
    return o->sum ? wide_check(type, "--sum", name) : DONE;
}

/* Those of --show that the table does not have. */
static int load_shown(job *j)
{
    option_texts others = {.n = 0};
    for (uint32_t i = 0; i < j->options.show.n; ++i)
        if (j->saved.file || table_find(&j->table, j->options.show.at[i]) == j->table.n)
            others.at[others.n++] = j->options.show.at[i];
    return shown_load(&j->shown, "--show", &others, &j->table.columns[0], j->progress);
}

static int load_saved(job *j)
{
    const int code = saved_open(&j->saved, j->options.index, KR_SAVED_TABLE, j->options.verify, j->progress);
    return code ? code : saved_table(&j->saved, &j->table);
}

static int load(job *j)
{
    const scan_options *o = &j->options;
    j->table.added = o->sum ? o->sum : o->min ? o->min : o->max;
    int code = saved_is_name(o->index) ? load_saved(j) : table_load(&j->table, &o->columns, j->progress);
    if (!code && j->options.alive)
        code = column_load(&j->alive, "--alive", j->options.alive, j->progress);
    if (!code)
        code = load_shown(j);
    if (code || !j->options.alive)
        return code;
    const uint64_t words = (j->table.columns[0].view.count + 31) / 32;
    if (j->alive.view.type != KR_U32 || j->alive.view.validity || j->alive.view.count != words)
        return tool_fail(
            FAILED, "--alive %s is not a bitmap of %llu rows: it must have %llu u32, as --bitmap writes",
            j->options.alive, (unsigned long long)j->table.columns[0].view.count, (unsigned long long)words);
    return DONE;
}

static int build(job *j)
{
    kr_error err = {0};
    int code = device_open(&j->where, j->progress, &j->device);
    const double begin = tool_now();
    if (!code && j->saved.file)
        code = saved_load_table(&j->saved, j->device, &j->table);
    else if (!code)
        code = table_create(&j->table, j->device, j->options.index);
    j->build = tool_now() - begin;
    return code ? code : tool_check(kr_report_create(&j->report, &err), &err);
}

static int call(job *j, void *out, uint64_t capacity)
{
    kr_error err = {0};
    const kr_scan_sink sink = {.struct_size = sizeof sink,
                               .result = j->result,
                               .column = j->value,
                               .out = out,
                               .valid = &j->valid,
                               .rows = capacity ? j->rows : NULL,
                               .rows_capacity = capacity};
    const kr_scan_options options = {
        .struct_size = sizeof options, .alive = j->alive.view.data, .report = j->report, .count_work = 1};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_condition *conditions[] = {j->condition};
    const kr_status status = kr_scan(j->table.table, conditions, sinks, 1, &options, NULL, &err);
    if (status == KR_ERR_TYPE)
        table_advise_types(&j->table, &err);
    return tool_check(status, &err);
}

/* 1: without -o, answers that are few are shown. Numbers are in the report already. */
static int shows_answers(const job *j)
{
    return j->result == KR_SCAN_ROWS && !j->printing.json && !j->printing.quiet;
}

/* Row ids need room for as many as there are, so they are counted first. */
static int scan(job *j)
{
    const uint64_t n = j->table.columns[0].view.count, words = (n + 31) / 32;
    const double begin = tool_now();
    const int has_rows = j->result == KR_SCAN_ROWS || j->result == KR_SCAN_BITMAP;
    int code = DONE;
    if (j->result != KR_SCAN_BITMAP)
        code = call(j, j->result == KR_SCAN_SUM_WIDE ? j->sum : &j->number, 0);
    j->n_out = j->result == KR_SCAN_BITMAP ? words
               : j->result == KR_SCAN_ROWS ? answers_limited(j->number, j->options.limit)
                                           : 1;
    const int wanted = j->form != ANSWERS_NONE || (shows_answers(j) && j->n_out <= ANSWERS_SMALL_MOST);
    if (!code && has_rows)
        code = (j->rows =
                    tool_alloc(j->result == KR_SCAN_ROWS ? j->number : words, sizeof *j->rows, "the result"))
                   ? DONE
                   : FAILED;
    if (!code && j->result == KR_SCAN_BITMAP)
        code = call(j, j->rows, 0);
    else if (!code && j->result == KR_SCAN_ROWS && wanted && j->number)
        code = call(j, &j->number, j->number);
    for (uint64_t w = 0; !code && j->result == KR_SCAN_BITMAP && w < words; ++w)
        for (uint32_t bits = j->rows[w]; bits; bits &= bits - 1)
            ++j->number;
    j->scan = tool_now() - begin;
    report_facts_take(j->report, &j->did);
    return code;
}

static kr_type out_type(const job *j)
{
    const kr_type type = j->table.columns[j->value].view.type;
    if (j->result == KR_SCAN_MIN || j->result == KR_SCAN_MAX)
        return type;
    if (j->result == KR_SCAN_ROWS || j->result == KR_SCAN_BITMAP)
        return KR_U32;
    if (j->result == KR_SCAN_COUNT)
        return KR_U64;
    return wide_type(type);
}

static kr_unit out_unit(const job *j)
{
    const int is_value = j->result == KR_SCAN_MIN || j->result == KR_SCAN_MAX;
    return is_value ? kr_file_unit(j->table.columns[j->value].file) : KR_UNIT_NONE;
}

static const char *result_name(const job *j)
{
    static const char *const names[] = {
        [KR_SCAN_BITMAP] = "match", [KR_SCAN_ROWS] = "row", [KR_SCAN_COUNT] = "count", [KR_SCAN_SUM] = "sum",
        [KR_SCAN_MIN] = "min",      [KR_SCAN_MAX] = "max",  [KR_SCAN_SUM_WIDE] = "sum"};
    return names[j->result];
}

/* answers.place */
static kr_status place_row(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    (void)err;
    places[AT_ROW] = ((const uint32_t *)ctx)[line];
    return KR_OK;
}

/* The columns of --show, in their order, or all of the table. */
static void add_columns(const job *j, answers *all)
{
    const option_texts *show = &j->options.show;
    uint32_t read = 0;
    for (uint32_t c = 0; !show->n && !j->saved.file && c < j->table.n; ++c)
        answers_add_file(all, j->table.names[c], AT_ROW, j->table.columns[c].file);
    for (uint32_t i = 0; i < show->n; ++i) {
        const uint32_t c = j->saved.file ? j->table.n : table_find(&j->table, show->at[i]);
        if (c < j->table.n)
            answers_add_file(all, j->table.names[c], AT_ROW, j->table.columns[c].file);
        else
            answers_add_file(all, j->shown.names[read], AT_ROW, j->shown.columns[read].file), ++read;
    }
}

static int write_text(job *j)
{
    answers *all = calloc(1, sizeof *all);
    if (!all)
        return tool_fail_machine("no host memory for a table of answers");
    if (j->result == KR_SCAN_ROWS) {
        *all =
            (answers){.lines = j->n_out, .no_rows = j->options.no_rows, .place = place_row, .ctx = j->rows};
        answers_add_row(all, "row", AT_ROW);
        add_columns(j, all);
    } else {
        all->lines = j->table.columns[0].view.count;
        answers_add(all, result_name(j), AT_ROW, KR_U32, j->rows)->is_bit = 1;
    }
    const int code = answers_write(all, j->form, j->options.output, j->progress);
    free(all);
    return code;
}

static int write_npy(job *j)
{
    const column_file file = {"", KR_U32, 1, j->n_out, j->rows};
    return column_write(j->options.output, &file, 1, j->progress);
}

/* 1: the answer is one value, and not a row for each match. */
static int is_value(const job *j)
{
    return j->result != KR_SCAN_ROWS && j->result != KR_SCAN_BITMAP;
}

static int write_value(job *j)
{
    const int is_wide = j->result == KR_SCAN_SUM_WIDE;
    answers_column value = {.at = AT_ROW,
                            .type = out_type(j),
                            .unit = out_unit(j),
                            .data = is_wide ? j->sum : &j->number,
                            .validity = j->result == KR_SCAN_COUNT ? NULL : &j->valid,
                            .is_wide = is_wide};
    snprintf(value.name, sizeof value.name, "%s", result_name(j));
    return answers_write_value(&value, j->form, j->options.output, j->progress);
}

static int write_out(job *j)
{
    const double begin = tool_now();
    int code = DONE;
    if (is_value(j))
        code = write_value(j);
    else if (j->form == ANSWERS_NPY)
        code = write_npy(j);
    else if (j->form != ANSWERS_NONE || shows_answers(j))
        code = write_text(j);
    j->write = tool_now() - begin;
    return code;
}

/* ---- Report ---------------------------------------------------------------------------------- */

/* A minimum of no rows is an empty line, as it is an empty cell. */
static void print_alone(const job *j)
{
    char text[WIDE_NBYTES];
    if (j->valid && j->result == KR_SCAN_SUM_WIDE) {
        wide_text(j->sum, out_type(j), text);
        printf("%s\n", text);
    } else if (j->valid || j->result == KR_SCAN_COUNT)
        output_value_alone(stdout, out_type(j), out_unit(j), &j->number);
    else
        printf("\n");
}

static void print_value(output *out, const job *j)
{
    if (j->valid && j->result == KR_SCAN_SUM_WIDE)
        output_wide(out, result_name(j), out_type(j), j->sum);
    else if (j->valid || j->result == KR_SCAN_COUNT)
        output_value(out, result_name(j), out_type(j), out_unit(j), &j->number);
    else
        output_null(out, result_name(j));
}

static void print_nulls(const job *j, output *out)
{
    column_nulls all[OPTION_TEXTS_MOST];
    for (uint32_t c = 0; c < j->table.n && !j->saved.file; ++c)
        all[c] = (column_nulls){j->table.names[c], &j->table.columns[c], 1};
    column_print_nulls(out, all, j->saved.file ? 0 : j->table.n);
}

static void print(const job *j)
{
    kr_table_info info = {.struct_size = sizeof info};
    output out = output_begin_report(stdout, j->printing.json);
    kr_table_query(j->table.table, &info, NULL);
    if (is_value(j))
        print_value(&out, j);
    if (j->saved.file)
        output_text(&out, "index", j->saved.path);
    output_spec(&out, "spec", info.spec);
    output_text(&out, "reason", info.reason);
    output_text(&out, "device", info.device);
    output_text(&out, "tracer", info.tracer);
    output_number(&out, "rows", info.rows);
    output_number(&out, "columns", info.columns);
    output_number(&out, "copied_columns", info.copied_columns);
    if (!is_value(j))
        output_number(&out, "matches", j->number);
    print_nulls(j, &out);
    for (uint32_t i = 0; i < j->did.counters.n; ++i)
        if (out.json || j->did.counters.at[i].number)
            output_counter(&out, j->did.counters.at[i].name, j->did.counters.at[i].number);
    output_bytes(&out, "footprint", info.footprint_nbytes);
    output_bytes(&out, "peak", info.peak_nbytes);
    if (out.json) {
        output_begin(&out, "steps", '[');
        for (uint32_t i = 0; i < kr_report_step_count(j->report); ++i)
            output_text(&out, NULL, kr_report_step_text(j->report, i));
        output_end(&out, ']');
    }
    for (uint32_t i = 0; !out.json && i < kr_report_step_count(j->report); ++i)
        output_text(&out, "step", kr_report_step_text(j->report, i));
    output_begin(&out, "seconds", '{');
    output_seconds(&out, "load", j->load);
    output_seconds(&out, j->saved.file ? "open" : "build", j->build);
    output_seconds(&out, "scan", j->scan);
    if (j->options.output)
        output_seconds(&out, "write", j->write);
    output_end(&out, '}');
    output_phases(&out, j->saved.file ? "open_phases" : "build_phases", &j->table.phases);
    output_phases(&out, "scan_phases", &j->did.phases);
    output_end(&out, '}');
}

static int perform(job *j)
{
    const double begin = tool_now();
    int code = load(j);
    j->load = tool_now() - begin;
    if (!code)
        code = find_result(j);
    if (!code)
        code = build(j);
    if (!code)
        code = scan(j);
    if (!code)
        code = write_out(j);
    if (!code && (j->printing.json || (!j->printing.quiet && !answers_are_output(j->form))))
        print(j);
    else if (!code && j->form == ANSWERS_NONE && is_value(j))
        print_alone(j);
    shown_close(&j->shown);
    free(j->rows);
    kr_report_destroy(j->report);
    table_close(&j->table);
    saved_close(&j->saved);
    kr_device_close(j->device);
    column_close(&j->alive);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    job j = {.options = {.index = "best", .verify = SAVED_VERIFY_UNSAID}, .where = DEVICE_DEFAULTS};
    const option_group groups[] = {{"Table and condition", scan_rows, &j.options},
                                   {"Input", column_rows, &column_input},
                                   {"Result", result_rows, &j.options},
                                   {"Device", device_rows, &j.where},
                                   {"Output", output_value_rows, &j.printing}};
    kr_error err = {0};
    int code = options_parse(self, groups, 5, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&j);
    if (!code)
        code = targets_check("-o", j.options.output, (const char *const[]){""}, 1, groups, 5);
    /* A wrong condition, before anything is read. */
    if (!code && kr_condition_parse(j.options.where ? j.options.where : "", &j.condition, &err) != KR_OK)
        code = tool_fail(USAGE, "--where: %s", err.text);
    j.progress = progress_callback(j.printing.quiet);
    code = code ? code : perform(&j);
    kr_condition_destroy(j.condition);
    return code;
}

const command command_scan = {
    "scan",
    NULL,
    "find the rows of a table for which a condition is true",
    "Finds the rows of a table for which a condition is true. It prints these rows, or their number, "
    "a sum, a minimum, a maximum or a bitmap, or writes them to a file.",
    "keyray scan --column orders.csv:day,amount --where \"day >= '2024-01-01' and amount > 20\" "
    "--show order,amount\n"
    "keyray scan --column orders.csv:day,customer --where \"customer like 'an%'\" --count --quiet\n"
    "keyray scan --index orders.krx --where \"amount > 20\" --show orders.csv:amount\n"
    "keyray scan --column day=lineitem.tbl:10,discount=lineitem.tbl:6 --where \"day >= '1994-01-01' "
    "and day < '1995-01-01' and discount between 0.05 and 0.07\" --sum discount\n",
    run,
    "A condition has <, <=, >, >=, =, <>, BETWEEN, IN, LIKE and IS NULL, each also with NOT; and AND, OR, "
    "NOT and parentheses, nested to any depth. Values are numbers, NULL, and texts, dates and times "
    "in single quotes. In a pattern of LIKE, % is any text and _ one character; behind the character that "
    "ESCAPE "
    "names, as in LIKE '50!%%' ESCAPE '!', the next one is itself. Put the name of a column in "
    "double quotes if it is not a word. A comparison with "
    "NULL is unknown, and NOT of it is unknown, too; a row is found if the whole condition is true. "
    "A number that the type of the column cannot hold is compared by its value. A value of another "
    "kind, such as a text for a column of numbers, is an error. Columns of one type may be compared "
    "with each other.\n"
    "Row ids are u32 and ascend. A sum is u64, i64 or f64 by the type of the column; a minimum or "
    "maximum has the type of the column. A sum of integers is exact: text has all of its digits, and an "
    "OUT.npy that cannot hold it is refused. Dates and times have no sum. Where no row matches, or all "
    "values are NULL, there is none, as in SQL: text has an empty cell, JSON has null, and OUT.npy has 0.",
};
