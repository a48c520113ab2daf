/* lookup and range: one batch of probes against an index that is built for it; update: the same after rows
 * were inserted and deleted. */
#include "lookup.h"

#include "commands.h"
#include "targets.h"
#include "tools/terminal/clock.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"
#include "tools/terminal/wide.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(lookup_options, field)
#define KEYS_ROW                                                                                   \
    {                                                                                              \
        "keys", 0, 2, OPTION_TEXT, AT(keys), "COL", "the column to index; not with FILE.krx", 0, 0 \
    }
#define INDEX_ROWS(standard)                                                                  \
    {"index",                                                                                 \
     0,                                                                                       \
     0,                                                                                       \
     OPTION_TEXT,                                                                             \
     AT(index),                                                                               \
     "SPEC|FILE.krx",                                                                         \
     "kind and options, see keyray kinds; or a saved index, see keyray index [" standard "]", \
     0,                                                                                       \
     0},                                                                                      \
        SAVED_VERIFY_ROW(AT(verify))
#define VALUES_ROW(help)                                                                                     \
    {                                                                                                        \
        "values", 0, 0, OPTION_NAMES, AT(values), "COLUMN,...",                                              \
            "the columns whose sum, min and max are wanted, " help "; names in the file of --keys, or COLs", \
            0, 0                                                                                             \
    }
#define SHOW_ROW                                                                                    \
    {                                                                                               \
        "show", 0, 0, OPTION_NAMES, AT(show), "COLUMN,...",                                         \
            "show these columns of the rows found, too: names in the file of --keys, or COLs", 0, 0 \
    }
#define PROBE_ROW                                                                                            \
    {                                                                                                        \
        "probe", 0, 0, OPTION_TEXT, AT(probe), "VALUES",                                                     \
            "instead of --probes: the values themselves, as in 42,43 or 2024-01-31 or \"'a, b',NULL\"", 0, 0 \
    }
#define STANDARD_UPDATES "best:updates=on"

static const option_row lookup_rows[] = {
    KEYS_ROW,
    {"probes", 0, 0, OPTION_TEXT, AT(probes), "COL", "the values to look up", 0, 0},
    PROBE_ROW,
    {"nearest", 0, 0, OPTION_CHOICE, AT(nearest.side), "no|below|above|either",
     "find the largest key at or below the value, the smallest at or above it, or the nearer of both [no]", 0,
     0},
    NEAREST_ROWS(AT(nearest)),
    VALUES_ROW("one value per key"),
    SHOW_ROW,
    INDEX_ROWS("best"),
    {0},
};

static const option_row range_rows[] = {
    KEYS_ROW,
    {"lower", 0, 1, OPTION_TEXT, AT(lower), "COL|VALUES",
     "the lower bounds, which belong to the ranges, as in 2024-01-01", 0, 0},
    {"upper", 0, 1, OPTION_TEXT, AT(upper), "COL|VALUES",
     "the upper bounds, which belong to the ranges; a date is its midnight", 0, 0},
    VALUES_ROW("one value per key"),
    SHOW_ROW,
    INDEX_ROWS("best"),
    {0},
};

static const option_row update_rows[] = {
    KEYS_ROW,
    {"insert", 0, 0, OPTION_TEXT, AT(insert), "COL|VALUES", "the keys to insert, after the deletes", 0, 0},
    {"insert-rows", 0, 0, OPTION_TEXT, AT(insert_rows), "COL",
     "the row ids of the inserted keys, one u32 per key; no row that stays may have one of these ids "
     "[the ids after the largest one]",
     0, 0},
    {"delete", 0, 0, OPTION_TEXT, AT(delete), "COL|VALUES",
     "the keys to delete; all rows of such a key are deleted, and a key that is not there is not an "
     "error",
     0, 0},
    {"probes", 0, 0, OPTION_TEXT, AT(probes), "COL", "the values to look up afterwards", 0, 0},
    PROBE_ROW,
    VALUES_ROW("one value per row id below next_row, deleted rows included"),
    INDEX_ROWS(STANDARD_UPDATES),
    {"save", 0, 0, OPTION_TEXT, AT(save), "FILE.krx",
     "write the changed index to a file, which may be that of --index; then --probes may be left out", 0, 0},
    {0},
};

static const option_row answer_rows[] = {
    {"result", 0, 0, OPTION_CHOICES, AT(results), RESULT_CHOICES,
     "what is answered for each probe: row is the smallest row that matches, rows are all of them; "
     "give several for answers as text: row,count,sum [row]",
     0, 0},
    {"row-order", 0, 0, OPTION_CHOICE, AT(order), "row|key",
     "--result rows: the rows of a probe ascend by row id, or by key, which is faster [row]", 0, 0},
    LIMIT_ROW(AT(limit), "--result rows: only the first N rows of each probe, in the order of --row-order"),
    NO_ROWS_ROW(AT(no_rows)),
    {"output", 'o', 0, OPTION_TEXT, AT(output), "OUT",
     "where the answers go. OUT.csv: a line for each probe with its answer; where nothing matches, the "
     "cell is empty, but 0 for count, sum-rows and exists; -: the same lines as a table on the terminal; "
     "-.csv: the same lines as CSV "
     "there; OUT.npy: the answers alone, see keyray help answers [a table on the terminal, if it has "
     "at most 40 lines]",
     0, 0},
    {0},
};

/* ---- Steps --------------------------------------------------------------------------------- */

/* 1: update only saves, and answers nothing. */
static int only_saves(const lookup_options *o)
{
    return o->save && !o->probes && !o->probe;
}

static int check_probes(const lookup_options *o)
{
    const int has_answers = o->output || o->no_rows || o->results.n > 1 || o->results.at[0];
    if (only_saves(o) && has_answers)
        return tool_fail(USAGE, "%s is about answers; give --probes COL or --probe VALUES, too",
                         o->output    ? "-o"
                         : o->no_rows ? "--no-rows"
                                      : "--result");
    if (only_saves(o))
        return DONE;
    if (o->probes && o->probe)
        return tool_fail(USAGE, "give --probes COL or --probe VALUES, not both");
    if (!o->probes && !o->probe)
        return tool_fail(USAGE, "--probes COL is missing; give it, or --probe VALUES");
    if (o->probes && !kr_file_path_nbytes(o->probes))
        return tool_fail(
            USAGE,
            "--probes %s is not a supported column file, as FILE.csv:NAME is; --probe %s looks values up",
            o->probes, o->probes);
    return DONE;
}

/* The results, and what goes with them. */
static int check_results(lookup_job *j)
{
    const lookup_options *o = &j->options;
    int needs_values = 0, is_row = 0, is_list = 0;
    for (uint32_t i = 0; i < o->results.n; ++i) {
        const kr_result kind = (kr_result)(o->results.at[i] + 1);
        needs_values |= result_needs_values(kind);
        is_row |= kind == KR_RESULT_ROW;
        is_list |= kind == KR_RESULT_ROWS;
    }
    if (needs_values && !o->values.n)
        return tool_fail(USAGE, "--result sum, min and max need --values COLUMN");
    if (!needs_values && o->values.n)
        return tool_fail(USAGE, "--values needs --result sum, min or max");
    if (o->limit && !is_list)
        return tool_fail(USAGE, "--limit needs --result rows");
    if (is_row && is_list)
        return tool_fail(USAGE, "--result rows lists every row, the smallest too; leave row out");
    if (o->show.n && !is_row && !is_list)
        return tool_fail(
            USAGE, "--show shows the rows found, which --result does not name; give --result row or rows");
    return DONE;
}

static int check_output(lookup_job *j)
{
    const lookup_options *o = &j->options;
    int code = answers_check_output(o->output, j->printing.json, &j->form);
    if (!code && j->form == ANSWERS_NPY && (o->results.n > 1 || o->values.n > 1))
        return tool_fail(USAGE,
                         "several results go into one file with names of columns: -o OUT.csv, not -o %s",
                         o->output);
    const uint32_t is_silent = j->printing.json || j->printing.quiet;
    if (!code && shown_check_no_rows(o->no_rows, j->form, is_silent))
        return USAGE;
    if (!code)
        code = shown_check(&o->show, "--show", j->form, is_silent);
    const kr_result only = o->results.n == 1 ? (kr_result)(o->results.at[0] + 1) : (kr_result)0;
    if (!code && o->no_rows && !o->show.n && (only == KR_RESULT_ROW || only == KR_RESULT_ROWS))
        return tool_fail(USAGE, "--no-rows leaves nothing but the probes; give %s--result with count, too",
                         j->is_update ? "" : "--show COLUMN, or ");
    return code;
}

static int check_options(lookup_job *j)
{
    const lookup_options *o = &j->options;
    int code = saved_check(o->index, "--keys COL", o->keys != NULL, o->verify);
    if (!code)
        code = check_results(j);
    if (!code && !j->is_range)
        code = check_probes(o);
    if (!code && j->is_update && !o->insert && !o->delete)
        code = tool_fail(USAGE, "give --insert COL, --delete COL or both");
    if (!code && o->insert_rows && !o->insert)
        code = tool_fail(USAGE, "--insert-rows needs --insert COL");
    if (!code)
        code = nearest_check(&o->nearest, "--nearest below, above or either");
    if (!code && o->save)
        code = saved_check_output("--save", o->save);
    return code ? code : check_output(j);
}

/* No file of the answers is one of the columns'. */
static int check_targets(const lookup_job *j, const option_group *groups, uint32_t n_groups)
{
    const char *suffixes[RESULT_FILES_MOST] = {""};
    uint32_t n = 1;
    if (j->form == ANSWERS_NPY)
        n = result_files((kr_result)(j->options.results.at[0] + 1), suffixes);
    const int code = targets_check("-o", j->options.output, suffixes, n, groups, n_groups);
    return code ? code : targets_check_saved("--save", j->options.save, groups, n_groups);
}

/* The rows to insert and the keys to delete. */
static int load_changes(lookup_job *j)
{
    const lookup_options *o = &j->options;
    char source[COLUMN_SOURCE_NBYTES];
    int code = DONE;
    if (o->insert)
        code = column_load_values(&j->insert, "--insert", o->insert, &j->keys, j->progress);
    if (!code && o->insert_rows)
        code = column_load(&j->insert_rows, "--insert-rows", o->insert_rows, j->progress);
    if (!code && o->delete)
        code = column_load_values(&j->delete, "--delete", o->delete, &j->keys, j->progress);
    if (!code && o->insert && column_is_text(&j->insert))
        code = tool_fail(FAILED, "--insert %s is text: an index holds the texts of --keys only", o->insert);
    if (!code && o->insert)
        code = column_match(&j->keys, &j->insert, ABSENT_NULL);
    if (!code && o->delete)
        code = column_match(&j->keys, &j->delete, ABSENT_NULL);
    if (!code && o->insert_rows && j->insert_rows.view.type != KR_U32)
        code = tool_fail(FAILED, "--insert-rows %s is %s, but row ids are u32; '%s' reads them so",
                         o->insert_rows, kr_type_name(j->insert_rows.view.type),
                         column_with_type(o->insert_rows, "u32", source));
    if (!code && o->insert_rows && j->insert_rows.view.validity)
        code = tool_fail(FAILED, "--insert-rows %s has NULLs, which cannot be row ids", o->insert_rows);
    if (!code && o->insert_rows)
        code = column_check_counts(&j->insert, &j->insert_rows, "give one row id per key");
    return code;
}

static int wants_sum(const lookup_options *o)
{
    int wants = 0;
    for (uint32_t i = 0; i < o->results.n; ++i)
        wants |= (kr_result)(o->results.at[i] + 1) == KR_RESULT_SUM;
    return wants;
}

static int load_values(lookup_job *j, uint32_t i)
{
    struct column *values = &j->values[i];
    values->no_text = "sum, min and max do not take texts";
    int code = column_load_beside(values, "--values", j->options.values.at[i], &j->keys, 0, j->progress);
    if (!code && wants_sum(&j->options))
        code = wide_check(values->view.type, "--values", values->source);
    return code || j->is_update ? code : column_check_counts(&j->keys, values, "give one value per key");
}

static int load_keys(lookup_job *j)
{
    const lookup_options *o = &j->options;
    if (o->nearest.side == KR_NEAREST_EITHER || o->nearest.tolerance)
        j->keys.no_text = "--tolerance and --nearest either need distances, which texts have not";
    if (!saved_is_name(o->index))
        return column_load(&j->keys, "--keys", o->keys, j->progress);
    const int code = saved_open(&j->saved, o->index, KR_SAVED_INDEX, o->verify, j->progress);
    return code ? code : saved_column(&j->saved, 0, &j->keys);
}

/* What stands for a probe that no key has. --strict is done with then, of texts. */
static column_absent absent_probe(const lookup_job *j)
{
    const nearest_options *nearest = &j->options.nearest;
    switch (nearest->side) {
    case KR_NEAREST_BELOW: return nearest->strict ? NEXT_BELOW : ABSENT_BELOW;
    case KR_NEAREST_ABOVE: return nearest->strict ? NEXT_ABOVE : ABSENT_ABOVE;
    default: return j->is_range ? ABSENT_ABOVE : ABSENT_NULL;
    }
}

static int load(lookup_job *j)
{
    const lookup_options *o = &j->options;
    int code = load_keys(j);
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
    for (uint32_t i = 0; !code && i < o->values.n; ++i)
        code = load_values(j, i);
    if (!code && j->lower.file)
        code = column_match(&j->keys, &j->lower, absent_probe(j));
    if (!code && j->is_range)
        code = column_match(&j->keys, &j->upper, ABSENT_BELOW);
    if (!code)
        code = nearest_read(&o->nearest, j->keys.source, j->keys.view.type, kr_file_unit(j->keys.file),
                            &j->nearest);
    if (column_is_text(&j->keys))
        j->nearest.strict = 0;
    if (!code && j->is_range)
        code = column_check_counts(&j->lower, &j->upper, "a range takes one of each");
    return code ? code : load_changes(j);
}

static int build(lookup_job *j)
{
    kr_error err = {0};
    int code = device_open(&j->where, j->progress, &j->device);
    if (code)
        return code;
    const double begin = tool_now();
    if (j->saved.file)
        code = saved_load_index(&j->saved, j->device, &j->index);
    else
        code = tool_check(
            kr_index_create(j->device, j->options.index, &j->keys.view, NULL, NULL, &j->index, &err), &err);
    j->build = tool_now() - begin;
    if (!code)
        code = index_facts_take(j->index, &j->built);
    j->now = j->built;
    return code;
}

/* The library finds a row id of two rows only when asked to. */
static int check_row_ids(const lookup_job *j)
{
    kr_error err = {0};
    const kr_status status = kr_index_validate(j->index, &err);
    if (status == KR_ERR_INVARIANT)
        return tool_fail(
            FAILED, "--insert-rows %s: %s; give each row id once, and do not give the id of a row that stays",
            j->options.insert_rows, err.text);
    return tool_check(status, &err);
}

static int update(lookup_job *j)
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

/* ---- Report -------------------------------------------------------------------------------- */

static void print_nulls(const lookup_job *j, output *out)
{
    const column_nulls all[] = {{"keys", &j->keys, !j->saved.file},
                                {j->is_range ? "lower" : "probes", &j->lower, 1},
                                {"upper", &j->upper, 1},
                                {"values", j->values, OPTION_TEXTS_MOST},
                                {"insert", &j->insert, 1},
                                {"delete", &j->delete, 1}};
    column_print_nulls(out, all, sizeof all / sizeof *all);
}

static void print_found(const lookup_job *j, output *out)
{
    char order[96];
    output_number(out, "probes", j->results[0].n);
    output_text(out, "probe_order", report_facts_order(&j->did, order));
    output_number(out, "found", j->results[0].found);
    const struct result *counted = lookup_find_result(j, KR_RESULT_COUNT);
    if (!counted)
        counted = lookup_find_result(j, KR_RESULT_ROWS);
    if (counted)
        output_number(out, "matches", counted->matches);
}

static void print_seconds(const lookup_job *j, output *out)
{
    output_begin(out, "seconds", '{');
    output_seconds(out, "load", j->load);
    output_seconds(out, j->saved.file ? "open" : "build", j->build);
    if (j->is_update)
        output_seconds(out, "update", j->update);
    if (j->n_results)
        output_seconds(out, "lookup", j->search);
    if (j->options.save)
        output_seconds(out, "save", j->save);
    if (j->options.output)
        output_seconds(out, "write", j->write);
    output_end(out, '}');
}

static void print(const lookup_job *j)
{
    const kr_index_info *built = &j->built.info, *now = &j->now.info;
    output out = output_begin_report(stdout, j->printing.json);
    if (j->saved.file)
        output_text(&out, "index", j->saved.path);
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
    if (j->n_results)
        print_found(j, &out);
    print_nulls(j, &out);
    for (uint32_t i = 0; i < j->did.counters.n; ++i)
        output_number(&out, j->did.counters.at[i].name, j->did.counters.at[i].number);
    output_bytes(&out, "footprint", now->footprint_nbytes);
    output_bytes(&out, "peak", built->peak_nbytes > now->peak_nbytes ? built->peak_nbytes : now->peak_nbytes);
    output_counters(&out, &j->now);
    print_seconds(j, &out);
    output_phases(&out, j->saved.file ? "open_phases" : "build_phases", &j->built.phases);
    if (j->is_update)
        output_phases(&out, "update_phases", &j->now.phases);
    if (j->n_results)
        output_phases(&out, "lookup_phases", &j->did.phases);
    output_end(&out, '}');
}

/* The answers, if some were asked for. */
static int answer(lookup_job *j)
{
    const int code = lookup_search(j);
    return code ? code : lookup_write(j);
}

static int save(lookup_job *j)
{
    const double begin = tool_now();
    const int code = saved_write_index(j->index, &j->keys, &j->saved, j->options.save, j->progress);
    j->save = tool_now() - begin;
    return code;
}

static int perform(lookup_job *j)
{
    const double begin = tool_now();
    int code = load(j);
    j->load = tool_now() - begin;
    if (!code)
        code = build(j);
    if (!code && j->is_update)
        code = update(j);
    if (!code && j->options.save)
        code = save(j);
    if (!code && !only_saves(&j->options))
        code = answer(j);
    if (!code && (j->printing.json || (!j->printing.quiet && !answers_are_output(j->form))))
        print(j);
    for (uint32_t i = 0; i < j->n_results; ++i)
        result_close(&j->results[i]);
    free(j->exists);
    kr_index_destroy(j->index);
    kr_device_close(j->device);
    shown_close(&j->shown);
    column_close(&j->delete);
    column_close(&j->insert_rows);
    column_close(&j->insert);
    for (uint32_t i = 0; i < OPTION_TEXTS_MOST; ++i)
        column_close(&j->values[i]);
    column_close(&j->upper);
    column_close(&j->lower);
    column_close(&j->keys);
    saved_close(&j->saved);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    lookup_job j = {
        .where = DEVICE_DEFAULTS, .is_range = self == &command_range, .is_update = self == &command_update};
    j.options.results.n = 1; /* row */
    j.options.verify = SAVED_VERIFY_UNSAID;
    j.options.index = j.is_update ? STANDARD_UPDATES : "best";
    const option_row *columns = j.is_range ? range_rows : j.is_update ? update_rows : lookup_rows;
    const option_group groups[] = {{"Columns and index", columns, &j.options},
                                   {"Input", column_rows, &column_input},
                                   {"Answers", answer_rows, &j.options},
                                   {"Device", device_rows, &j.where},
                                   {"Output", output_answers_rows, &j.printing}};
    int code = options_parse(self, groups, 5, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&j);
    if (!code)
        code = check_targets(&j, groups, 5);
    j.progress = progress_callback(j.printing.quiet);
    return code ? code : perform(&j);
}

const command command_lookup = {
    "lookup",
    NULL,
    "look up every value of a column in another column",
    "Builds an index over the column --keys, or opens a saved one, and looks up each value of --probes or "
    "--probe in it. It prints the answers, one per value, or writes them to a file.",
    "keyray lookup --keys orders.csv:customer --probes mine.csv:customer --result count\n"
    "keyray lookup --keys orders.csv:order --probe 42,43 --show customer,amount\n"
    "keyray lookup --keys lineitem.tbl:0 --probes orders.tbl:0 --result sum --values lineitem.tbl:4 "
    "-o sums.csv\n"
    "keyray lookup --index orders.krx --probe 42,43\n"
    "keyray lookup --keys quotes.csv:time --probes trades.csv:time --nearest below --show price -o "
    "prices.csv\n",
    run,
    "--nearest finds at most one row per value. If two keys are equally near, the one below answers. "
    "If several rows have the nearest key, the last of them answers from below, the first of them "
    "from above. NULL and NaN have no nearest key. keyray kinds says which kinds can do it.\n"
    "keyray help answers says what each --result is, and what OUT.npy holds. keyray help columns "
    "says how VALUES and lists of columns are written.",
};

const command command_range = {
    "range",
    NULL,
    "find the rows between a lower and an upper bound, for every pair of bounds",
    "Builds an index over the column --keys, or opens a saved one, and finds, for each pair of bounds from "
    "--lower and "
    "--upper, the rows whose key lies between them. It prints the answers, one per pair of bounds, "
    "or writes them to a file.",
    "keyray range --keys orders.csv:day --lower 2024-01-01 --upper 2024-01-31\n"
    "keyray range --keys orders.csv:day --lower months.csv:first --upper months.csv:last --result "
    "count,sum --values amount -o sums.csv\n",
    run,
    "Both bounds belong to a range. If the lower bound is above the upper one, the range is empty. "
    "On a column of times, a date as the upper bound is its midnight: --upper 2024-01-31 leaves out "
    "what happened later that day.\n"
    "keyray help answers says what each --result is, and what OUT.npy holds. keyray help columns "
    "says how VALUES and lists of columns are written.",
};

const command command_update = {
    "update",
    NULL,
    "delete and insert rows of an index, then look up every value of a column",
    "Builds an index over the column --keys, or opens a saved one, deletes the rows of some keys, inserts "
    "other keys, and "
    "then looks up each value of --probes or --probe. It prints the answers, one per value, or "
    "writes them to a file.",
    "keyray update --keys orders.csv:order --delete gone.csv:order --insert new.csv:order --probes "
    "mine.csv:order\n"
    "keyray update --keys orders.csv:order --delete 42,43 --probe 42,44 --result count\n"
    "keyray update --index orders.krx --insert new.csv:order --save orders.krx\n",
    run,
    "A key that is both deleted and inserted ends with the inserted rows only. The rows of --keys "
    "have the row ids 0, 1, 2 and so on. With --insert-rows, keyray validates the index after the "
    "update, and a row id that occurs twice is an error; the time of the update does not include "
    "this.\n"
    "keyray help answers says what each --result is, and what OUT.npy holds. keyray help columns "
    "says how VALUES and lists of columns are written.",
};
