#include "answers.h"
#include "clock.h"
#include "column.h"
#include "commands.h"
#include "device.h"
#include "nearest.h"
#include "output.h"
#include "progress.h"
#include "shown.h"
#include "targets.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct join_options {
    option_texts left, right, left_by, right_by, show_left, show_right;
    nearest_options asof;
    const char *right_lower, *right_upper, *left_end, *right_end, *output, *index;
    uint32_t overlap, count;
    uint32_t type, inverse, unordered;
} join_options;

#define AT(field) offsetof(join_options, field)

static const option_row join_rows[] = {
    {"left", 0, 1, OPTION_TEXTS, AT(left), "COL",
     "the left column; give more to join rows that are equal in all of them", 0, 0},
    {"right", 0, 0, OPTION_TEXTS, AT(right), "COL", "the right column, as many as --left", 0, 0},
    {"right-lower", 0, 0, OPTION_TEXT, AT(right_lower), "COL|VALUES",
     "instead of --right: lower bounds, inclusive, of the left values", 0, 0},
    {"right-upper", 0, 0, OPTION_TEXT, AT(right_upper), "COL|VALUES", "and their upper bounds, inclusive", 0,
     0},
    {"asof", 0, 0, OPTION_CHOICE, AT(asof.side), "no|backward|forward|nearest",
     "pair each left row with the right row at or before it, at or after it, or the nearer of both [no]", 0,
     0},
    {"left-by", 0, 0, OPTION_TEXTS, AT(left_by), "COLUMN",
     "with --asof: a left column that must be equal, a name in the file of --left or a COL; may be given "
     "several times",
     0, 0},
    {"right-by", 0, 0, OPTION_TEXTS, AT(right_by), "COLUMN", "the right column, as many as --left-by", 0, 0},
    NEAREST_ROWS(AT(asof)),
    {"overlap", 0, 0, OPTION_CHOICE, AT(overlap), "no|closed|open",
     "pair intervals that overlap, from --left to --left-end and from --right to --right-end; open: not "
     "those that "
     "only touch [no]",
     0, 0},
    {"left-end", 0, 0, OPTION_TEXT, AT(left_end), "COL", "the ends of the left intervals", 0, 0},
    {"right-end", 0, 0, OPTION_TEXT, AT(right_end), "COL", "the ends of the right intervals", 0, 0},
    {"count", 0, 0, OPTION_FLAG, AT(count), NULL,
     "count the pairs only, or the left rows: takes no memory for them", 0, 0},
    {"type", 0, 0, OPTION_CHOICE, AT(type), "inner|semi|anti|left|right|full",
     "pairs; left rows with a partner; left rows without; pairs, and rows of the left, the right or either "
     "side without [inner]",
     0, 0},
    {"inverse", 0, 0, OPTION_CHOICE, AT(inverse), "auto|on|off",
     "on a CPU merge sides that ascend, else index what is cheaper by rule; index the left side; or the "
     "right "
     "[auto]",
     0, 0},
    {"unordered", 0, 0, OPTION_FLAG, AT(unordered), NULL, "pairs in any order, saves a sort", 0, 0},
    {"show-left", 0, 0, OPTION_TEXTS, AT(show_left), "COLUMN",
     "show this column of the left rows, too: a name in the file of --left, or a COL; give one or more", 0,
     0},
    {"show-right", 0, 0, OPTION_TEXTS, AT(show_right), "COLUMN", "the same of the right rows", 0, 0},
    {"output", 'o', 0, OPTION_TEXT, AT(output), "OUT",
     "OUT.csv: the keys and row ids of pairs, or of left rows, an empty cell for no partner; -: the same as "
     "a table on "
     "the terminal, -.csv: as CSV there; OUT.npy: row ids only, (n, 2) pairs left and right, or n left rows "
     "[a table of "
     "at most 40 lines]",
     0, 0},
    {"index", 0, 0, OPTION_TEXT, AT(index), "SPEC", "kind and options, see keyray kinds [best]", 0, 0},
    {0},
};

typedef struct job {
    join_options options;
    device_options where;
    output_options printing;
    const kr_progress *progress;
    struct column left[OPTION_TEXTS_MOST],
        right[OPTION_TEXTS_MOST]; /* of a range join: right[0] to right[1] */
    struct column left_by[OPTION_TEXTS_MOST], right_by[OPTION_TEXTS_MOST], left_end, right_end;
    kr_device *device;
    kr_join *join;
    kr_join_info info;
    facts phases;
    answers_form form;
    shown shown_left, shown_right;
    double load, run, write;
} job;

/* ---- Steps --------------------------------------------------------------------------------- */

static int check_asof(const join_options *o)
{
    if (!o->asof.side && (o->left_by.n || o->right_by.n))
        return tool_fail(USAGE,
                         "--left-by and --right-by need --asof; give --left and --right more than once");
    if (o->asof.side && (o->right_lower || o->left.n > 1))
        return tool_fail(USAGE,
                         "--asof takes one --left and one --right; --left-by and --right-by name groups");
    if (o->left_by.n != o->right_by.n)
        return tool_fail(USAGE, "%u --left-by columns but %u --right-by columns; give as many of each",
                         o->left_by.n, o->right_by.n);
    return nearest_check(&o->asof, "--asof backward, forward or nearest");
}

static int has_pairs(const job *j)
{
    const kr_join_type type = (kr_join_type)(j->options.type + 1);
    return type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
}

static int check_overlap(const join_options *o)
{
    if (!o->overlap && (o->left_end || o->right_end))
        return tool_fail(USAGE, "--%s needs --overlap closed or open",
                         o->left_end ? "left-end" : "right-end");
    if (o->overlap && (o->right_lower || o->asof.side || o->left.n > 1))
        return tool_fail(USAGE, "--overlap takes one --left and one --right, and no --asof");
    if (o->overlap && (!o->left_end || !o->right_end))
        return tool_fail(USAGE, "--overlap needs --left-end COL and --right-end COL");
    if (o->count && (o->output || o->asof.side || o->left.n > 1 || (o->overlap && o->type)))
        return tool_fail(USAGE,
                         "--count counts rows: no --output, no --asof, no several --left, and no --type with "
                         "--overlap");
    return DONE;
}

static int check_options(job *j)
{
    const join_options *o = &j->options;
    int wrong = check_asof(o);
    if (!wrong)
        wrong = check_overlap(o);
    if (wrong)
        return wrong;
    if (!o->right_lower != !o->right_upper)
        return tool_fail(USAGE, "--right-lower and --right-upper belong together");
    if (o->right_lower && o->right.n)
        return tool_fail(USAGE, "give --right, or --right-lower and --right-upper, not both");
    if (o->right_lower && o->left.n > 1)
        return tool_fail(USAGE, "a range join takes one --left column");
    if (!o->right_lower && !o->right.n)
        return tool_fail(USAGE, "--right COL is missing; see keyray join --help");
    if (!o->right_lower && o->left.n != o->right.n)
        return tool_fail(USAGE, "%u --left columns but %u --right columns; give as many of each", o->left.n,
                         o->right.n);
    if (o->show_right.n && !has_pairs(j))
        return tool_fail(USAGE, "--show-right shows right rows, which --type semi and anti do not have");
    const uint32_t is_silent = j->printing.json || j->printing.quiet;
    int code = tool_check_spec(o->index);
    if (!code)
        code = answers_check_output(o->output, j->printing.json, &j->form);
    if (!code)
        code = shown_check(&o->show_left, "--show-left", j->form, is_silent);
    return code ? code : shown_check(&o->show_right, "--show-right", j->form, is_silent);
}

/* The groups of an as-of join, and its times, whose order text does not have on both sides. */
static int load_asof(job *j)
{
    const join_options *o = &j->options;
    int code = DONE;
    if (o->asof.side && column_is_text(&j->left[0]))
        return tool_fail(FAILED, "--left %s is text: --asof takes numbers, dates and times", o->left.at[0]);
    for (uint32_t i = 0; !code && i < o->left_by.n; ++i)
        code = column_load_beside(&j->left_by[i], "--left-by", o->left_by.at[i], &j->left[0], 0, j->progress);
    for (uint32_t i = 0; !code && i < o->right_by.n; ++i)
        code = column_load_beside(&j->right_by[i], "--right-by", o->right_by.at[i], &j->right[0], 0,
                                  j->progress);
    for (uint32_t i = 0; !code && i < o->right_by.n; ++i)
        code = column_match(&j->left_by[i], &j->right_by[i], ABSENT_NULL);
    for (uint32_t i = 0; !code && i < o->left_by.n; ++i) {
        code = column_check_counts(&j->left[0], &j->left_by[i], "give one group for each left row");
        if (!code)
            code = column_check_counts(&j->right[0], &j->right_by[i], "give one group for each right row");
    }
    return code;
}

/* All four columns get the type of the left starts. */
static int match_ends(job *j)
{
    int code = column_match(&j->left[0], &j->left_end, ABSENT_NULL);
    return code ? code : column_match(&j->left[0], &j->right_end, ABSENT_NULL);
}

static int load_ends(job *j)
{
    const join_options *o = &j->options;
    int code = DONE;
    if (o->overlap && column_is_text(&j->left[0]))
        return tool_fail(FAILED, "--left %s is text: --overlap takes numbers, dates and times",
                         o->left.at[0]);
    if (o->overlap)
        code = column_load(&j->left_end, "--left-end", o->left_end, j->progress);
    if (o->overlap && !code)
        code = column_load(&j->right_end, "--right-end", o->right_end, j->progress);
    if (o->overlap && !code)
        code = column_check_counts(&j->left[0], &j->left_end, "an interval takes one of each");
    if (o->overlap && !code)
        code = column_check_counts(&j->right[0], &j->right_end, "an interval takes one of each");
    return code ? code : o->overlap ? match_ends(j) : load_asof(j);
}

static int load_keys(job *j)
{
    const join_options *o = &j->options;
    int code = DONE;
    for (uint32_t i = 0; !code && i < o->left.n; ++i)
        code = column_load(&j->left[i], "--left", o->left.at[i], j->progress);
    for (uint32_t i = 0; !code && i < o->right.n; ++i)
        code = column_load(&j->right[i], "--right", o->right.at[i], j->progress);
    for (uint32_t i = 0; !code && i < o->right.n; ++i)
        code = column_match(&j->left[i], &j->right[i], ABSENT_NULL);
    if (code || !o->right_lower)
        return code ? code : load_ends(j);
    code = column_load_values(&j->right[0], "--right-lower", o->right_lower, &j->left[0], j->progress);
    if (!code)
        code = column_load_values(&j->right[1], "--right-upper", o->right_upper, &j->left[0], j->progress);
    if (!code)
        code = column_check_counts(&j->right[0], &j->right[1], "a range takes one of each");
    if (!code)
        code = column_match(&j->left[0], &j->right[0], ABSENT_ABOVE);
    return code ? code : column_match(&j->left[0], &j->right[1], ABSENT_BELOW);
}

static int load(job *j)
{
    int code = load_keys(j);
    if (!code)
        code = shown_load(&j->shown_left, "--show-left", &j->options.show_left, &j->left[0], j->progress);
    if (!code)
        code = shown_load(&j->shown_right, "--show-right", &j->options.show_right, &j->right[0], j->progress);
    return code;
}

/* What there is to know of the join, if there is one. */
static int finish(job *j, kr_status status, kr_error *err)
{
    j->info.struct_size = sizeof j->info;
    if (status == KR_OK)
        status = kr_join_query(j->join, &j->info, err);
    join_phases_take(j->join, &j->phases);
    return tool_check(status, err);
}

static int create_asof(job *j, const kr_join_options *how)
{
    kr_column left[OPTION_TEXTS_MOST], right[OPTION_TEXTS_MOST];
    const uint32_t n = j->options.left_by.n;
    kr_nearest_options nearest;
    kr_error err = {0};
    for (uint32_t i = 0; i < n; ++i) {
        left[i] = j->left_by[i].view;
        right[i] = j->right_by[i].view;
    }
    const int code = nearest_read(&j->options.asof, j->options.left.at[0], j->left[0].view.type, &nearest);
    if (code)
        return code;
    const kr_status status =
        kr_join_create_asof(j->device, j->options.index, &j->left[0].view, &j->right[0].view, left, right, n,
                            &nearest, how, &j->join, &err);
    nearest_rename(&err);
    return finish(j, status, &err);
}

/* Only the number of rows is known then, and no join is there. */
static int count_rows(job *j, const kr_join_options *how)
{
    const join_options *o = &j->options;
    const kr_column *left = &j->left[0].view, *right = &j->right[0].view;
    kr_device_info device = {.struct_size = sizeof device};
    kr_error err = {0};
    kr_status status = kr_device_query(j->device, &device, &err);
    snprintf(j->info.device, sizeof j->info.device, "%s", device.name);
    if (status == KR_OK && o->overlap)
        status =
            kr_join_overlap_chunks(j->device, o->index, left, &j->left_end.view, right, &j->right_end.view,
                                   (kr_interval_ends)o->overlap, 0, NULL, NULL, &j->info.pairs, &err);
    else if (status == KR_OK)
        status = kr_join_chunks(j->device, o->index, left, right, o->right_lower ? &j->right[1].view : NULL,
                                how, 0, NULL, NULL, &j->info.pairs, &err);
    return tool_check(status, &err);
}

static int create_overlap(job *j, const kr_join_options *how)
{
    kr_error err = {0};
    const kr_status status = kr_join_create_overlap(
        j->device, j->options.index, &j->left[0].view, &j->left_end.view, &j->right[0].view,
        &j->right_end.view, (kr_interval_ends)j->options.overlap, how, &j->join, &err);
    return finish(j, status, &err);
}

static int create_columns(job *j, const kr_join_options *how)
{
    kr_column left[OPTION_TEXTS_MOST], right[OPTION_TEXTS_MOST];
    const uint32_t n = j->options.left.n;
    kr_error err = {0};
    int code = DONE;
    for (uint32_t i = 0; i < n && !code; ++i) {
        left[i] = j->left[i].view;
        right[i] = j->right[i].view;
        code = column_check_counts(&j->left[0], &j->left[i], "a composite key takes columns of one table");
        if (!code)
            code =
                column_check_counts(&j->right[0], &j->right[i], "a composite key takes columns of one table");
    }
    if (code)
        return code;
    const kr_status status =
        kr_join_create_columns(j->device, j->options.index, left, right, n, how, &j->join, &err);
    return finish(j, status, &err);
}

static int create(job *j)
{
    const join_options *o = &j->options;
    const kr_column *left = &j->left[0].view, *right = &j->right[0].view;
    const kr_join_options how = {.struct_size = sizeof how,
                                 .type = (kr_join_type)(o->type + 1),
                                 .inverse = (kr_join_inverse)o->inverse,
                                 .unordered = o->unordered};
    kr_error err = {0};
    kr_status status;
    if (o->count)
        return count_rows(j, &how);
    if (o->asof.side)
        return create_asof(j, &how);
    if (o->overlap)
        return create_overlap(j, &how);
    if (o->left.n > 1)
        return create_columns(j, &how);
    if (o->right_lower)
        status =
            kr_join_create_range(j->device, o->index, left, right, &j->right[1].view, &how, &j->join, &err);
    else
        status = kr_join_create(j->device, o->index, left, right, &how, &j->join, &err);
    return finish(j, status, &err);
}

/* Reads a piece at a time, so that pairs are interleaved without a second copy of everything. */
enum { PIECE = 1 << 16 };

static int read_pairs(const job *j, uint32_t *rows)
{
    static uint32_t left[PIECE], right[PIECE];
    kr_error err = {0};
    for (uint64_t first = 0; first < j->info.pairs; first += PIECE) {
        const uint64_t n = j->info.pairs - first < PIECE ? j->info.pairs - first : PIECE;
        const kr_status status = kr_join_read(j->join, first, n, left, right, &err);
        if (status)
            return tool_check(status, &err);
        for (uint64_t i = 0; i < n; ++i) {
            rows[2 * (first + i)] = left[i];
            rows[2 * (first + i) + 1] = right[i];
        }
    }
    return DONE;
}

static int write_npy(job *j)
{
    const uint32_t columns = has_pairs(j) ? 2 : 1;
    kr_error err = {0};
    uint32_t *rows = tool_alloc(j->info.pairs, columns * sizeof *rows, "the result");
    int code = rows ? DONE : FAILED;
    if (!code && columns == 2)
        code = read_pairs(j, rows);
    else if (!code)
        code = tool_check(kr_join_read(j->join, 0, j->info.pairs, rows, NULL, &err), &err);
    if (!code) {
        const column_file file = {"", KR_U32, columns, j->info.pairs, rows};
        code = column_write(j->options.output, &file, 1, j->progress);
    }
    free(rows);
    return code;
}

/* Pairs that are asked for one after the other. */
typedef struct pair_lines {
    const job *job;
    uint64_t first, n; /* of the piece that is here */
    uint32_t left[PIECE], right[PIECE];
} pair_lines;

/* answers.place */
static kr_status place_pair(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    pair_lines *lines = ctx;
    const uint64_t all = lines->job->info.pairs;
    const int with_right = has_pairs(lines->job);
    if (line >= lines->first + lines->n) {
        lines->first = line;
        lines->n = all - line < PIECE ? all - line : PIECE;
        const kr_status status = kr_join_read(lines->job->join, line, lines->n, lines->left,
                                              with_right ? lines->right : NULL, err);
        if (status != KR_OK)
            return status;
    }
    const uint32_t left = lines->left[line - lines->first];
    const uint32_t right = with_right ? lines->right[line - lines->first] : KR_NO_ROW;
    places[AT_ROW] = left == KR_NO_ROW ? NO_PLACE : left;
    places[AT_OTHER] = right == KR_NO_ROW ? NO_PLACE : right;
    return KR_OK;
}

static int write_text(job *j)
{
    const join_options *o = &j->options;
    const kr_join_type type = (kr_join_type)(o->type + 1);
    pair_lines *lines = calloc(1, sizeof *lines);
    answers *all = calloc(1, sizeof *all);
    int code = lines && all ? DONE : tool_fail_machine("no host memory for a table of answers");
    if (!code) {
        lines->job = j;
        *all = (answers){.lines = j->info.pairs, .place = place_pair, .ctx = lines};
        for (uint32_t i = 0; i < o->left.n; ++i)
            answers_add_file(all, "key", AT_ROW, j->left[i].file);
        for (uint32_t i = 0; i < o->right.n && (type == KR_JOIN_RIGHT || type == KR_JOIN_FULL); ++i)
            answers_add_file(all, "right_key", AT_OTHER, j->right[i].file);
        if (o->right_lower && has_pairs(j)) {
            answers_add_file(all, "lower", AT_OTHER, j->right[0].file);
            answers_add_file(all, "upper", AT_OTHER, j->right[1].file);
        }
        answers_add_row(all, has_pairs(j) ? "left_row" : "row", AT_ROW);
        if (has_pairs(j))
            answers_add_row(all, "right_row", AT_OTHER);
        shown_add(&j->shown_left, AT_ROW, all);
        shown_add(&j->shown_right, AT_OTHER, all);
        code = answers_write(all, j->form, o->output, j->progress);
    }
    free(all);
    free(lines);
    return code;
}

static int write_out(job *j)
{
    const double begin = tool_now();
    int code = DONE;
    if (j->options.count)
        return DONE;
    if (j->form == ANSWERS_NPY)
        code = write_npy(j);
    else if (j->form != ANSWERS_NONE || (!j->printing.json && !j->printing.quiet))
        code = write_text(j);
    j->write = tool_now() - begin;
    return code;
}

/* ---- Report -------------------------------------------------------------------------------- */

static void print_nulls(const job *j, output *out)
{
    const uint32_t one_side = j->options.right_lower ? 0 : OPTION_TEXTS_MOST;
    const column_nulls all[] = {{"left", j->left, OPTION_TEXTS_MOST},
                                {"right", j->right, one_side},
                                {"right_lower", &j->right[0], !one_side},
                                {"right_upper", &j->right[1], !one_side},
                                {"left_by", j->left_by, OPTION_TEXTS_MOST},
                                {"right_by", j->right_by, OPTION_TEXTS_MOST},
                                {"left_end", &j->left_end, 1},
                                {"right_end", &j->right_end, 1}};
    column_print_nulls(out, all, sizeof all / sizeof *all);
}

static void print(const job *j)
{
    const uint64_t left = j->left[0].view.count, right = j->right[0].view.count;
    const int left_indexed = strcmp(j->info.indexed, "left") == 0;
    output out = output_begin_report(stdout, j->printing.json);
    if (!j->options.count)
        output_spec(&out, "spec", j->info.spec);
    output_text(&out, "device", j->info.device);
    if (!j->options.count) {
        output_text(&out, "tracer", j->info.tracer);
        output_indexed(&out, &j->info);
    }
    output_number(&out, "left", left);
    output_number(&out, "right", right);
    if (out.json && (left_indexed || strcmp(j->info.indexed, "right") == 0) && !j->options.asof.side) {
        output_number(&out, "keys", left_indexed ? left : right);
        output_number(&out, "probes", left_indexed ? right : left);
    }
    output_number(&out, has_pairs(j) ? "pairs" : "rows", j->info.pairs);
    print_nulls(j, &out);
    if (!j->options.count) {
        output_bytes(&out, "footprint", j->info.footprint_nbytes);
        output_bytes(&out, "peak", j->info.peak_nbytes);
    }
    output_begin(&out, "seconds", '{');
    output_seconds(&out, "load", j->load);
    output_seconds(&out, "join", j->run);
    if (j->options.output)
        output_seconds(&out, "write", j->write);
    output_end(&out, '}');
    output_phases(&out, "join_phases", &j->phases);
    output_end(&out, '}');
}

static int perform(job *j)
{
    double begin = tool_now();
    int code = load(j);
    j->load = tool_now() - begin;
    if (!code)
        code = device_open(&j->where, j->progress, &j->device);
    begin = tool_now();
    if (!code)
        code = create(j);
    j->run = tool_now() - begin;
    if (!code)
        code = write_out(j);
    if (!code && (j->printing.json || (!j->printing.quiet && !answers_are_output(j->form))))
        print(j);
    shown_close(&j->shown_left);
    shown_close(&j->shown_right);
    kr_join_destroy(j->join);
    kr_device_close(j->device);
    column_close(&j->right_end);
    column_close(&j->left_end);
    for (uint32_t i = 0; i < OPTION_TEXTS_MOST; ++i) {
        column_close(&j->right_by[i]);
        column_close(&j->left_by[i]);
        column_close(&j->right[i]);
        column_close(&j->left[i]);
    }
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    job j = {.options = {.index = "best"}, .where = DEVICE_DEFAULTS};
    const option_group groups[] = {{"Join", join_rows, &j.options},
                                   {"Input", column_rows, &column_input},
                                   {"Device", device_rows, &j.where},
                                   {"Output", output_rows, &j.printing}};
    int code = options_parse(self, groups, 4, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&j);
    if (!code)
        code = targets_check(j.options.output, (const char *const[]){""}, 1, groups, 4);
    j.progress = progress_callback(j.printing.quiet);
    return code ? code : perform(&j);
}

const command command_join = {
    "join",
    NULL,
    "join two columns on equal values, on ranges, as of a time, or intervals that overlap",
    "keyray join --left orders.csv:customer:str --right customers.csv:customer:str --type left "
    "--show-left amount --show-right city -o pairs.csv\n"
    "keyray join --left orders.csv:day --right-lower months.csv:first --right-upper months.csv:last -o "
    "pairs.csv\n"
    "keyray join --left trades.csv:time --right quotes.csv:time --asof backward --left-by symbol:str "
    "--right-by symbol:str "
    "--type left --show-right price -o priced.csv\n",
    run,
    "--asof gives each left row one right row at most. Of two equally near ones the earlier answers, of "
    "equal right values "
    "the last row backward, the first one forward. With --left-by and --right-by only right rows with the "
    "same values in "
    "these columns are looked at.\n"
    "Pairs are sorted by left and then right row, right rows without a partner come last; left rows ascend. "
    "Row "
    "ids are u32. In text, no partner is "
    "an empty cell; in "
    "OUT.npy it is 4294967295 (KR_NO_ROW of the library).\nVALUES have ',' between them: 42,43 or "
    "2024-01-31. A text with a comma stands in quotes, also for the shell: \"'a, b',c\".",
};
