/* lookup and range: one batch of probes against an index that is built for it; update: the same after rows
 * came and went. */
#include "answers.h"
#include "clock.h"
#include "column.h"
#include "commands.h"
#include "device.h"
#include "nearest.h"
#include "output.h"
#include "progress.h"
#include "result.h"
#include "shown.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct lookup_options {
    const char *keys, *probes, *probe, *lower, *upper, *values, *output, *index;
    const char *insert, *insert_rows, *delete;
    option_texts show;
    uint32_t result, order;
    nearest_options nearest;
} lookup_options;

#define AT(field) offsetof(lookup_options, field)
#define INDEX_ROW(standard)                                                                                 \
    {                                                                                                       \
        "index", 0, 0, OPTION_TEXT, AT(index), "SPEC", "kind and options, see keyray kinds [" standard "]", \
            0, 0                                                                                            \
    }
#define VALUES_ROW(help)                                                                                  \
    {                                                                                                     \
        "values", 0, 0, OPTION_TEXT, AT(values), "COL", "what sum, min and max are taken of, " help, 0, 0 \
    }
#define SHOW_ROW                                                                                            \
    {                                                                                                       \
        "show", 0, 0, OPTION_TEXTS, AT(show), "COLUMN",                                                     \
            "show this column of the rows found, too: a name in the file of --keys, or a COL; give one or " \
            "more",                                                                                         \
            0, 0                                                                                            \
    }
#define PROBE_ROW                                                                                \
    {                                                                                            \
        "probe", 0, 0, OPTION_TEXT, AT(probe), "VALUES",                                         \
            "instead: the values themselves, as in 42,43 or 2024-01-31 or \"'a, b',NULL\"", 0, 0 \
    }
#define STANDARD_UPDATES "best:updates=on"

static const option_row lookup_rows[] = {
    {"keys", 0, 1, OPTION_TEXT, AT(keys), "COL", "the column to index", 0, 0},
    {"probes", 0, 0, OPTION_TEXT, AT(probes), "COL", "the values to look up", 0, 0},
    PROBE_ROW,
    {"nearest", 0, 0, OPTION_CHOICE, AT(nearest.side), "no|below|above|either",
     "find the largest key at or below the value, the smallest at or above it, or the nearer of both [no]", 0,
     0},
    NEAREST_ROWS(AT(nearest)),
    VALUES_ROW("one value per key"),
    SHOW_ROW,
    INDEX_ROW("best"),
    {0},
};

static const option_row range_rows[] = {
    {"keys", 0, 1, OPTION_TEXT, AT(keys), "COL", "the column to index", 0, 0},
    {"lower", 0, 1, OPTION_TEXT, AT(lower), "COL|VALUES", "lower bounds, inclusive, as in 2024-01-01", 0, 0},
    {"upper", 0, 1, OPTION_TEXT, AT(upper), "COL|VALUES", "upper bounds, inclusive; a date is its midnight",
     0, 0},
    VALUES_ROW("one value per key"),
    SHOW_ROW,
    INDEX_ROW("best"),
    {0},
};

static const option_row update_rows[] = {
    {"keys", 0, 1, OPTION_TEXT, AT(keys), "COL", "the column to index", 0, 0},
    {"insert", 0, 0, OPTION_TEXT, AT(insert), "COL|VALUES", "keys to insert, after the deletes", 0, 0},
    {"insert-rows", 0, 0, OPTION_TEXT, AT(insert_rows), "COL",
     "their row ids, u32, not those of other rows [the ids after the largest]", 0, 0},
    {"delete", 0, 0, OPTION_TEXT, AT(delete), "COL|VALUES", "keys whose rows are deleted", 0, 0},
    {"probes", 0, 0, OPTION_TEXT, AT(probes), "COL", "the values to look up afterwards", 0, 0},
    PROBE_ROW,
    VALUES_ROW("one value per row id below next_row, deleted rows included"),
    INDEX_ROW(STANDARD_UPDATES),
    {0},
};

static const option_row answer_rows[] = {
    {"result", 0, 0, OPTION_CHOICE, AT(result), RESULT_CHOICES,
     "the answer per probe; row is the smallest matching row [row]", 0, 0},
    {"row-order", 0, 0, OPTION_CHOICE, AT(order), "row|key",
     "rows of a probe ascend by row id, or by key, which is faster [row]", 0, 0},
    {"output", 'o', 0, OPTION_TEXT, AT(output), "OUT",
     "OUT.csv: each probe with its answer, an empty cell without a match; -: the same as a table on the "
     "terminal, "
     "-.csv: as CSV there; OUT.npy: answers only, where rows write OUT.offsets.npy and OUT.rows.npy, min and "
     "max also "
     "OUT.valid.npy, and exists a byte a probe [a table of at most 40 lines]",
     0, 0},
    {0},
};

typedef struct job {
    lookup_options options;
    device_options where;
    output_options printing;
    int is_range, is_update;
    const kr_progress *progress;
    struct column keys, lower, upper, values; /* the probes of a lookup are in `lower` */
    struct column insert, insert_rows, delete;
    kr_device *device;
    kr_index *index;
    index_facts built, now; /* before and after the update, if there is one */
    kr_report *report;
    report_facts did;
    struct result result;
    kr_nearest_options nearest;
    answers_form form;
    shown shown;
    double load, build, update, search, write;
} job;

/* ---- Steps --------------------------------------------------------------------------------- */

static int check_probes(const lookup_options *o)
{
    if (o->probes && o->probe)
        return tool_fail(USAGE, "give --probes COL or --probe VALUES, not both");
    if (!o->probes && !o->probe)
        return tool_fail(USAGE, "--probes COL is missing, or --probe VALUES");
    if (o->probes && !kr_file_path_nbytes(o->probes))
        return tool_fail(
            USAGE, "--probes %s names no column file, as FILE.csv:NAME does; --probe %s looks values up",
            o->probes, o->probes);
    return DONE;
}

static int check_options(job *j)
{
    const kr_result kind = (kr_result)(j->options.result + 1);
    if (result_needs_values(kind) && !j->options.values)
        return tool_fail(USAGE, "--result sum, min and max need --values COL");
    if (!result_needs_values(kind) && j->options.values)
        return tool_fail(USAGE, "--values needs --result sum, min or max");
    const int code = j->is_range ? DONE : check_probes(&j->options);
    if (code)
        return code;
    if (j->is_update && !j->options.insert && !j->options.delete)
        return tool_fail(USAGE, "give --insert COL, --delete COL or both");
    if (j->options.insert_rows && !j->options.insert)
        return tool_fail(USAGE, "--insert-rows needs --insert COL");
    if (j->options.show.n && kind != KR_RESULT_ROW && kind != KR_RESULT_ROWS)
        return tool_fail(
            USAGE, "--show shows the rows found, which --result %s does not name; give --result row or rows",
            result_name(kind, (char[16]){0}));
    int wrong = nearest_check(&j->options.nearest, "--nearest below, above or either");
    if (!wrong)
        wrong = tool_check_spec(j->options.index);
    if (!wrong)
        wrong = answers_check_output(j->options.output, j->printing.json, &j->form);
    return wrong ? wrong
                 : shown_check(&j->options.show, "--show", j->form, j->printing.json || j->printing.quiet);
}

/* The rows that come and go. */
static int load_changes(job *j)
{
    const lookup_options *o = &j->options;
    int code = DONE;
    if (o->insert)
        code = column_load_values(&j->insert, "--insert", o->insert, &j->keys, j->progress);
    if (!code && o->insert_rows)
        code = column_load(&j->insert_rows, "--insert-rows", o->insert_rows, j->progress);
    if (!code && o->delete)
        code = column_load_values(&j->delete, "--delete", o->delete, &j->keys, j->progress);
    if (!code && o->insert && column_is_text(&j->insert))
        code = tool_fail(FAILED, "--insert %s is text: only strings of --keys have codes; insert numbers",
                         o->insert);
    if (!code && o->insert)
        code = column_match(&j->keys, &j->insert, ABSENT_NULL);
    if (!code && o->delete)
        code = column_match(&j->keys, &j->delete, ABSENT_NULL);
    if (!code && o->insert_rows && j->insert_rows.view.type != KR_U32)
        code = tool_fail(FAILED, "--insert-rows %s is %s, row ids are u32; FILE.csv:NAME:u32 reads them so",
                         o->insert_rows, kr_type_name(j->insert_rows.view.type));
    if (!code && o->insert_rows && j->insert_rows.view.validity)
        code = tool_fail(FAILED, "--insert-rows %s has NULLs, which are no row ids", o->insert_rows);
    if (!code && o->insert_rows)
        code = column_check_counts(&j->insert, &j->insert_rows, "give one row id per key");
    return code;
}

static int load(job *j)
{
    const lookup_options *o = &j->options;
    int code = column_load(&j->keys, "--keys", o->keys, j->progress);
    if (!code && j->is_range)
        code = column_load_values(&j->lower, "--lower", o->lower, &j->keys, j->progress);
    if (!code && j->is_range)
        code = column_load_values(&j->upper, "--upper", o->upper, &j->keys, j->progress);
    if (!code && o->probe)
        code = column_read_values(&j->lower, "--probe", o->probe, &j->keys, "--probes");
    if (!code && o->probes)
        code = column_load(&j->lower, "--probes", o->probes, j->progress);
    if (!code)
        code = shown_load(&j->shown, "--show", &o->show, &j->keys, j->progress);
    if (!code && o->values)
        code = column_load(&j->values, "--values", o->values, j->progress);
    if (!code)
        code = column_match(&j->keys, &j->lower, j->is_range ? ABSENT_ABOVE : ABSENT_NULL);
    if (!code && j->is_range)
        code = column_match(&j->keys, &j->upper, ABSENT_BELOW);
    if (!code && o->nearest.side && column_is_text(&j->keys))
        code = tool_fail(FAILED, "--keys %s is text: --nearest takes numbers, dates and times", o->keys);
    if (!code)
        code = nearest_read(&o->nearest, o->keys, j->keys.view.type, &j->nearest);
    if (!code && o->values && column_is_text(&j->values))
        code = tool_fail(FAILED, "--values %s is text, which has no sum, minimum or maximum", o->values);
    if (!code && j->is_range)
        code = column_check_counts(&j->lower, &j->upper, "a range takes one of each");
    if (!code && o->values && !j->is_update)
        code = column_check_counts(&j->keys, &j->values, "give one value per key");
    return code ? code : load_changes(j);
}

static int build(job *j)
{
    kr_error err = {0};
    int code = device_open(&j->where, j->progress, &j->device);
    if (code)
        return code;
    const double begin = tool_now();
    code = tool_check(
        kr_index_create(j->device, j->options.index, &j->keys.view, NULL, NULL, &j->index, &err), &err);
    j->build = tool_now() - begin;
    if (!code)
        code = index_facts_take(j->index, &j->built);
    j->now = j->built;
    return code;
}

/* The library finds a row id of two rows only when asked to. */
static int check_row_ids(const job *j)
{
    kr_error err = {0};
    const kr_status status = kr_index_validate(j->index, &err);
    if (status == KR_ERR_INVARIANT)
        return tool_fail(FAILED, "--insert-rows %s: %s; give each row id once, and none of a row that stays",
                         j->options.insert_rows, err.text);
    return tool_check(status, &err);
}

static int update(job *j)
{
    kr_error err = {0};
    const double begin = tool_now();
    int code = tool_check(kr_index_update(j->index, j->options.insert ? &j->insert.view : NULL,
                                          j->options.insert_rows ? j->insert_rows.view.data : NULL,
                                          j->options.delete ? &j->delete.view : NULL, NULL, &err),
                          &err);
    j->update = tool_now() - begin;
    if (!code && j->options.insert_rows)
        code = check_row_ids(j);
    return code ? code : index_facts_take(j->index, &j->now);
}

static int call(job *j, const kr_sink *sink)
{
    kr_error err = {0};
    const double begin = tool_now();
    const kr_status status =
        j->is_range               ? kr_index_range(j->index, &j->lower.view, &j->upper.view, sink, NULL, &err)
        : j->options.nearest.side ? kr_index_nearest(j->index, &j->lower.view, &j->nearest, sink, NULL, &err)
                                  : kr_index_lookup(j->index, &j->lower.view, sink, NULL, &err);
    nearest_rename(&err);
    j->search += tool_now() - begin;
    return tool_check(status, &err);
}

/* Counts probes with a match, by a second call if the answers hide it; that call's time is not counted. */
static int count_found(job *j)
{
    const double search = j->search;
    struct result *r = &j->result;
    int code = DONE;
    if (result_hides_matches(r->kind)) {
        r->exists = tool_alloc((r->n + 7) / 8, 1, "which probes matched");
        const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_EXISTS, .out = r->exists};
        code = r->exists ? call(j, &sink) : FAILED;
        j->search = search;
    }
    if (!code)
        result_count(r);
    return code;
}

/* 1: without -o, but the answers are few enough to be shown. */
static int shows_answers(const job *j)
{
    return !j->printing.json && !j->printing.quiet && result_lines(&j->result) <= ANSWERS_SMALL_MOST;
}

static int search(job *j)
{
    struct result *r = &j->result;
    const kr_result kind = (kr_result)(j->options.result + 1);
    kr_error err = {0};
    int code = result_open(r, kind, j->values.view.type, j->lower.view.count);
    if (!code)
        code = tool_check(kr_report_create(&j->report, &err), &err);
    if (code)
        return code;
    kr_sink sink = {.struct_size = sizeof sink,
                    .result = kind,
                    .order = j->options.order ? KR_ORDER_KEY : KR_ORDER_ROW,
                    .values = j->options.values ? &j->values.view : NULL,
                    .out = r->out,
                    .valid = r->valid,
                    .report = j->report,
                    .count_work = 1};
    code = call(j, &sink);
    if (!code)
        code = count_found(j);
    if (!code && kind == KR_RESULT_ROWS && (j->form != ANSWERS_NONE || shows_answers(j))) {
        code = result_open_rows(r);
        sink.rows = r->rows;
        sink.rows_capacity = r->n_rows;
        if (!code)
            code = call(j, &sink);
    }
    report_facts_take(j->report, &j->did);
    return code;
}

/* The lines of row lists, which are asked for one after the other. */
typedef struct row_lines {
    const struct result *result;
    uint64_t probe, next; /* of the line to come: its probe, and its row among all */
} row_lines;

/* answers.place */
static kr_status place_list(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    row_lines *lines = ctx;
    const uint64_t *offsets = lines->result->out, p = lines->probe;
    const int is_empty = offsets[p] == offsets[p + 1];
    (void)line;
    (void)err;
    places[AT_PROBE] = p;
    places[AT_ROW] = is_empty ? NO_PLACE : lines->result->rows[lines->next];
    lines->next += !is_empty;
    lines->probe += lines->next == offsets[p + 1];
    return KR_OK;
}

/* The same with the smallest row of each probe, or with none. */
static kr_status place_row(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    const struct result *result = ctx;
    (void)err;
    if (result->kind == KR_RESULT_ROW && ((const uint32_t *)result->out)[line] != KR_NO_ROW)
        places[AT_ROW] = ((const uint32_t *)result->out)[line];
    else
        places[AT_ROW] = NO_PLACE;
    return KR_OK;
}

static int write_text(job *j)
{
    struct result *r = &j->result;
    row_lines lines = {r, 0, 0};
    answers *all = calloc(1, sizeof *all);
    if (!all)
        return tool_fail_machine("no host memory for a table of answers");
    const int is_list = r->kind == KR_RESULT_ROWS;
    all->lines = result_lines(r);
    all->place = is_list ? place_list : place_row;
    all->ctx = is_list ? (void *)&lines : (void *)r;
    answers_add_file(all, j->is_range ? "lower" : "probe", AT_PROBE, j->lower.file);
    if (j->is_range)
        answers_add_file(all, "upper", AT_PROBE, j->upper.file);
    result_add(r, j->options.values ? kr_file_unit(j->values.file) : KR_UNIT_NONE, all);
    shown_add(&j->shown, AT_ROW, all);
    const int code = answers_write(all, j->form, j->options.output, j->progress);
    free(all);
    return code;
}

static int write_out(job *j)
{
    const double begin = tool_now();
    int code = DONE;
    if (j->form == ANSWERS_NPY)
        code = result_write(&j->result, j->options.output, j->progress);
    else if (j->form != ANSWERS_NONE || (!j->printing.json && !j->printing.quiet))
        code = write_text(j);
    j->write = tool_now() - begin;
    return code;
}

/* ---- Report -------------------------------------------------------------------------------- */

static void print(const job *j)
{
    const kr_index_info *built = &j->built.info, *now = &j->now.info;
    output out = output_begin_report(stdout, j->printing.json);
    char order[96];
    output_spec(&out, "spec", now->spec);
    output_text(&out, "device", now->device);
    output_text(&out, "tracer", now->tracer);
    output_text(&out, "type", kr_type_name(now->type));
    output_number(&out, "keys", now->rows);
    if (j->is_update) {
        output_number(&out, "rows_before", built->rows);
        output_number(&out, "rows_after", now->rows);
        output_number(&out, "next_row", now->next_row);
    }
    output_number(&out, "probes", j->result.n);
    output_text(&out, "probe_order", report_facts_order(&j->did, order));
    output_number(&out, "found", j->result.found);
    if (j->result.kind == KR_RESULT_COUNT || j->result.kind == KR_RESULT_ROWS)
        output_number(&out, "matches", j->result.matches);
    for (uint32_t i = 0; i < j->did.counters.n; ++i)
        output_number(&out, j->did.counters.at[i].name, j->did.counters.at[i].number);
    output_bytes(&out, "footprint", now->footprint_nbytes);
    output_bytes(&out, "peak", built->peak_nbytes > now->peak_nbytes ? built->peak_nbytes : now->peak_nbytes);
    output_counters(&out, &j->now);
    output_begin(&out, "seconds", '{');
    output_seconds(&out, "load", j->load);
    output_seconds(&out, "build", j->build);
    if (j->is_update)
        output_seconds(&out, "update", j->update);
    output_seconds(&out, "lookup", j->search);
    if (j->options.output)
        output_seconds(&out, "write", j->write);
    output_end(&out, '}');
    output_phases(&out, "build_phases", &j->built.phases);
    if (j->is_update)
        output_phases(&out, "update_phases", &j->now.phases);
    output_phases(&out, "lookup_phases", &j->did.phases);
    output_end(&out, '}');
}

static int perform(job *j)
{
    const double begin = tool_now();
    int code = load(j);
    j->load = tool_now() - begin;
    if (!code)
        code = build(j);
    if (!code && j->is_update)
        code = update(j);
    if (!code)
        code = search(j);
    if (!code)
        code = write_out(j);
    if (!code && (j->printing.json || (!j->printing.quiet && !answers_are_output(j->form))))
        print(j);
    result_close(&j->result);
    kr_report_destroy(j->report);
    kr_index_destroy(j->index);
    kr_device_close(j->device);
    shown_close(&j->shown);
    column_close(&j->delete);
    column_close(&j->insert_rows);
    column_close(&j->insert);
    column_close(&j->values);
    column_close(&j->upper);
    column_close(&j->lower);
    column_close(&j->keys);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    job j = {
        .where = DEVICE_DEFAULTS, .is_range = self == &command_range, .is_update = self == &command_update};
    j.options.index = j.is_update ? STANDARD_UPDATES : "best";
    const option_row *columns = j.is_range ? range_rows : j.is_update ? update_rows : lookup_rows;
    const option_group groups[] = {{"Columns and index", columns, &j.options},
                                   {"Answers", answer_rows, &j.options},
                                   {"Device", device_rows, &j.where},
                                   {"Output", output_rows, &j.printing}};
    int code = options_parse(self, groups, 4, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&j);
    j.progress = progress_callback(j.printing.quiet);
    return code ? code : perform(&j);
}

const command command_lookup = {
    "lookup",
    NULL,
    "look up every value of a column in another column",
    "keyray lookup --keys orders.csv:customer:str --probes mine.csv:customer:str --result count\n"
    "keyray lookup --keys orders.csv:order --probe 42,43 --show customer --show amount\n"
    "keyray lookup --keys lineitem.tbl:0 --probes orders.tbl:0 --result sum --values lineitem.tbl:4 -o "
    "sums.csv\n"
    "keyray lookup --keys quotes.csv:time --probes trades.csv:time --nearest below -o rows.csv\n",
    run,
};

const command command_range = {
    "range",
    NULL,
    "find the rows between a lower and an upper bound, for every pair of bounds",
    "keyray range --keys orders.csv:day --lower 2024-01-01 --upper 2024-01-31\n"
    "keyray range --keys orders.csv:day --lower months.csv:first --upper months.csv:last --result sum "
    "--values "
    "orders.csv:amount -o sums.csv\n",
    run,
};

const command command_update = {
    "update",
    NULL,
    "delete and insert rows of an index, then look up every value of a column",
    "keyray update --keys orders.csv:order --delete gone.csv:order --insert new.csv:order --probes "
    "mine.csv:order\n"
    "keyray update --keys orders.csv:order --delete 42,43 --probe 42,44 --result count\n",
    run,
};
