#include "join.h"

#include "commands.h"
#include "targets.h"
#include "tools/terminal/clock.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(join_options, field)

static const option_row join_rows[] = {
    {"left", 0, 1, OPTION_TEXTS, AT(left), "COL",
     "the left column; give --left and --right several times to join rows that are equal in all "
     "columns",
     0, 0},
    {"right", 0, 0, OPTION_TEXTS, AT(right), "COL", "the right column; as many as --left; not with FILE.krx",
     0, 0},
    {"right-lower", 0, 0, OPTION_TEXT, AT(right_lower), "COL|VALUES",
     "instead of --right: the lower bounds between which left values lie; bounds belong to the range", 0, 0},
    {"right-upper", 0, 0, OPTION_TEXT, AT(right_upper), "COL|VALUES",
     "the upper bounds; they belong to the range, too", 0, 0},
    {"asof", 0, 0, OPTION_CHOICE, AT(asof.side), "no|backward|forward|nearest",
     "pair each left row with the right row at or before it, at or after it, or the nearer of both [no]", 0,
     0},
    {"left-by", 0, 0, OPTION_NAMES, AT(left_by), "COLUMN,...",
     "with --asof, --overlap and --right-lower: left columns that must be equal, too, names in the file of "
     "--left or COLs",
     0, 0},
    {"right-by", 0, 0, OPTION_NAMES, AT(right_by), "COLUMN,...",
     "the right columns that must be equal to these, as many as --left-by", 0, 0},
    NEAREST_ROWS(AT(asof)),
    {"overlap", 0, 0, OPTION_CHOICE, AT(overlap), "no|closed|open",
     "pair intervals that overlap: those from --left to --left-end with those from --right to "
     "--right-end; open: leave out intervals that only touch [no]",
     0, 0},
    {"left-end", 0, 0, OPTION_TEXT, AT(left_end), "COL", "the ends of the left intervals", 0, 0},
    {"right-end", 0, 0, OPTION_TEXT, AT(right_end), "COL", "the ends of the right intervals", 0, 0},
    {"count", 0, 0, OPTION_FLAG, AT(count), NULL,
     "print how many rows the join has, instead of the rows: pairs, or left rows of --type semi and anti; "
     "only with --asof, several --left columns, --left-by, or --overlap and --type does this take memory for "
     "them",
     0, 0},
    {"type", 0, 0, OPTION_CHOICE, AT(type), "inner|semi|anti|left|right|full",
     "inner: pairs; semi: left rows with a partner; anti: left rows without one; left, right, full: "
     "pairs, and the rows without a partner of the left side, the right side or both [inner]",
     0, 0},
    {"inverse", 0, 0, OPTION_CHOICE, AT(inverse), "auto|on|off",
     "which side is indexed. on: the left one; off: the right one; auto: the one that is cheaper by "
     "rule, and on a CPU neither of two sides that ascend, which are merged [auto]",
     0, 0},
    {"unordered", 0, 0, OPTION_FLAG, AT(unordered), NULL, "leave the pairs in any order, which saves a sort",
     0, 0},
    {"show-left", 0, 0, OPTION_NAMES, AT(show_left), "COLUMN,...",
     "show these columns of the left rows, too: names in the file of --left, or COLs", 0, 0},
    {"show-right", 0, 0, OPTION_NAMES, AT(show_right), "COLUMN,...",
     "show these columns of the right rows, too: names in the file of --right, or COLs", 0, 0},
    LIMIT_ROW(AT(limit),
              "only the first N rows of the join, with --unordered any N of them; all rows are made first, "
              "which takes memory for them"),
    NO_ROWS_ROW(AT(no_rows)),
    {"output", 'o', 0, OPTION_TEXT, AT(output), "OUT",
     "where the pairs go. OUT.csv: a line for each pair, or for each left row of --type semi and "
     "anti, with the values of --left (ranges: both sides), row ids and the columns of --show-left and "
     "--show-right, and empty cells where there is no partner; a name of both sides becomes right_NAME on "
     "the right; -: the same lines as a table on the terminal; -.csv: the same lines as CSV there; "
     "OUT.npy: row ids alone, in the shape (n, 2) for pairs and (n) for left rows. With --count, the one "
     "value goes there [a table on the terminal, if it has at most 40 lines]",
     0, 0},
    {"index", 0, 0, OPTION_TEXT, AT(index), "SPEC|FILE.krx",
     "kind and options, see keyray kinds; or a saved index, which is the right side, see keyray index [best]",
     0, 0},
    SAVED_VERIFY_ROW(AT(verify)),
    {0},
};

/* ---- Steps --------------------------------------------------------------------------------- */

static int check_asof(const join_options *o)
{
    if (!o->asof.side && !o->overlap && !o->right_lower && (o->left_by.n || o->right_by.n))
        return tool_fail(USAGE,
                         "--left-by and --right-by need --asof, --overlap or --right-lower; give --left and "
                         "--right more than once");
    if (o->asof.side && (o->right_lower || o->left.n > 1))
        return tool_fail(USAGE,
                         "--asof takes one --left and one --right; --left-by and --right-by name groups");
    if (o->left_by.n != o->right_by.n)
        return tool_fail(USAGE, "%u --left-by columns but %u --right-by columns; give as many of each",
                         o->left_by.n, o->right_by.n);
    return nearest_check(&o->asof, "--asof backward, forward or nearest");
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
    return DONE;
}

/* Refuses what says something about rows, where only their number is wanted. */
static int check_count(const join_options *o)
{
    const char *of_rows = o->show_left.n    ? "--show-left"
                          : o->show_right.n ? "--show-right"
                          : o->limit        ? "--limit"
                          : o->no_rows      ? "--no-rows"
                          : o->unordered    ? "--unordered"
                                            : NULL;
    return o->count && of_rows ? shown_refuse(of_rows, "--count") : DONE;
}

/* Joins with an index that exists are of one column, equal, and from the left. */
static int check_saved(const join_options *o)
{
    const int has_right = o->right.n || o->right_lower || o->right_upper || o->right_end || o->right_by.n;
    const kr_join_type type = (kr_join_type)(o->type + 1);
    if (!saved_is_name(o->index))
        return saved_check(o->index, "", 1, o->verify);
    if (has_right || o->left.n > 1)
        return tool_fail(USAGE,
                         "--index %s is the right side of a join of one column; give one --left, and leave "
                         "--right out, or give --index SPEC",
                         o->index);
    if (o->asof.side || o->overlap)
        return tool_fail(USAGE, "--%s takes columns and not --index %s; %s", o->overlap ? "overlap" : "asof",
                         o->index,
                         o->overlap ? "give --right" : "give --right, or use keyray lookup --nearest");
    if (type == KR_JOIN_RIGHT || type == KR_JOIN_FULL || o->inverse == KR_INVERSE_ON)
        return tool_fail(
            USAGE, "%s reads the values of the right side, which --index %s does not have; give --right",
            o->inverse == KR_INVERSE_ON ? "--inverse on"
            : type == KR_JOIN_FULL      ? "--type full"
                                        : "--type right",
            o->index);
    return DONE;
}

static int check_options(join_job *j)
{
    const join_options *o = &j->options;
    const int is_saved = saved_is_name(o->index);
    int wrong = check_saved(o);
    if (!wrong)
        wrong = check_asof(o);
    if (!wrong)
        wrong = check_overlap(o);
    if (!wrong)
        wrong = check_count(o);
    if (wrong)
        return wrong;
    if (!o->right_lower != !o->right_upper)
        return tool_fail(USAGE, "--right-lower and --right-upper belong together");
    if (o->right_lower && o->right.n)
        return tool_fail(USAGE, "give --right, or --right-lower and --right-upper, not both");
    if (o->right_lower && o->left.n > 1)
        return tool_fail(USAGE, "a range join takes one --left column");
    if (!o->right_lower && !o->right.n && !is_saved)
        return tool_fail(USAGE, "--right COL is missing; see keyray join --help");
    if (!o->right_lower && o->left.n != o->right.n && !is_saved)
        return tool_fail(USAGE, "%u --left columns but %u --right columns; give as many of each", o->left.n,
                         o->right.n);
    if (o->show_right.n && !join_has_pairs(j))
        return tool_fail(USAGE,
                         "--show-right shows columns of right rows, and --type semi and anti have none");
    const uint32_t is_silent = j->printing.json || j->printing.quiet;
    int code = answers_check_output(o->output, j->printing.json, &j->form);
    if (!code)
        code = shown_check_no_rows(o->no_rows, j->form, is_silent);
    if (!code)
        code = shown_check(&o->show_left, "--show-left", j->form, is_silent);
    return code ? code : shown_check(&o->show_right, "--show-right", j->form, is_silent);
}

/* The columns that must be equal, too. */
static int load_groups(join_job *j)
{
    const join_options *o = &j->options;
    int code = DONE;
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
static int match_ends(join_job *j)
{
    int code = column_match(&j->left[0], &j->left_end, ABSENT_NULL);
    return code ? code : column_match(&j->left[0], &j->right_end, ABSENT_NULL);
}

static int load_ends(join_job *j)
{
    const join_options *o = &j->options;
    int code = column_load(&j->left_end, "--left-end", o->left_end, j->progress);
    if (!code)
        code = column_load(&j->right_end, "--right-end", o->right_end, j->progress);
    if (!code)
        code = column_check_counts(&j->left[0], &j->left_end, "each interval needs one start and one end");
    if (!code)
        code = column_check_counts(&j->right[0], &j->right_end, "each interval needs one start and one end");
    return code ? code : match_ends(j);
}

static int load_bounds(join_job *j)
{
    const join_options *o = &j->options;
    int code = column_load_values(&j->right[0], "--right-lower", o->right_lower, &j->left[0], j->progress);
    if (!code)
        code = column_load_values(&j->right[1], "--right-upper", o->right_upper, &j->left[0], j->progress);
    if (!code)
        code = column_check_counts(&j->right[0], &j->right[1], "a range takes one of each");
    if (!code)
        code = column_match(&j->left[0], &j->right[0], ABSENT_ABOVE);
    return code ? code : column_match(&j->left[0], &j->right[1], ABSENT_BELOW);
}

/* Left values become those of the index. */
static int load_saved(join_job *j)
{
    int code = column_load(&j->left[0], "--left", j->options.left.at[0], j->progress);
    if (!code)
        code = saved_open(&j->saved, j->options.index, KR_SAVED_INDEX, j->options.verify, j->progress);
    if (!code)
        code = saved_column(&j->saved, 0, &j->right[0]);
    return code ? code : column_match(&j->right[0], &j->left[0], ABSENT_NULL);
}

static int load_keys(join_job *j)
{
    const join_options *o = &j->options;
    int code = DONE;
    if (o->asof.side || o->overlap) /* one column on each side */
        j->left[0].no_text = j->right[0].no_text = j->left_end.no_text = j->right_end.no_text =
            o->asof.side ? "--asof takes numbers, dates and times"
                         : "--overlap takes numbers, dates and times";
    for (uint32_t i = 0; i < OPTION_TEXTS_MOST; ++i) /* of other joins there is one column on each side */
        j->left[i].may_repeat = j->right[i].may_repeat = !o->asof.side && !o->overlap && !o->right_lower;
    for (uint32_t i = 0; !code && i < o->left.n; ++i)
        code = column_load(&j->left[i], "--left", o->left.at[i], j->progress);
    for (uint32_t i = 0; !code && i < o->right.n; ++i)
        code = column_load(&j->right[i], "--right", o->right.at[i], j->progress);
    for (uint32_t i = 0; !code && i < o->right.n; ++i)
        code = column_match(&j->left[i], &j->right[i], ABSENT_NULL);
    if (!code && o->overlap)
        code = load_ends(j);
    if (!code && o->right_lower)
        code = load_bounds(j);
    return code ? code : load_groups(j);
}

static int load(join_job *j)
{
    int code = saved_is_name(j->options.index) ? load_saved(j) : load_keys(j);
    if (!code)
        code = shown_load(&j->shown_left, "--show-left", &j->options.show_left, &j->left[0], j->progress);
    if (!code)
        code = shown_load(&j->shown_right, "--show-right", &j->options.show_right, &j->right[0], j->progress);
    return code;
}

/* 1: the library counts the rows of such a join without making them. */
static int counts_alone(const join_options *o)
{
    return !o->asof.side && o->left.n == 1 && !o->left_by.n && !(o->overlap && o->type) &&
           !saved_is_name(o->index);
}

/* What the command has where the library advises a call that counts the rows and makes none. */
static const char *counting(const join_options *o)
{
    if (o->left.n > 1)
        return "--count with one --left column";
    if (o->left_by.n)
        return "--count without --left-by";
    return o->overlap && o->type ? "--count with --type inner" : "--count";
}

/* What there is to know of the join, if there is one. */
static int finish(join_job *j, kr_status status, kr_error *err)
{
    j->info.struct_size = sizeof j->info;
    if (status == KR_OK)
        status = kr_join_query(j->join, &j->info, err);
    join_phases_take(j->join, &j->phases);
    tool_rename(err, "inverse", "--inverse");
    tool_rename(err, "kr_join_chunks", counting(&j->options));
    tool_rename(err, "kr_join_overlap_chunks", counting(&j->options));
    return tool_check(status, err);
}

static int create_asof(join_job *j, kr_column groups[2][OPTION_TEXTS_MOST], const kr_join_options *how)
{
    kr_nearest_options nearest;
    kr_error err = {0};
    const int code = nearest_read(&j->options.asof, j->options.left.at[0], j->left[0].view.type,
                                  kr_file_unit(j->left[0].file), &nearest);
    if (code)
        return code;
    const kr_status status =
        kr_join_create_asof(j->device, j->options.index, &j->left[0].view, &j->right[0].view, groups[0],
                            groups[1], j->options.left_by.n, &nearest, how, &j->join, &err);
    nearest_rename(&err);
    return finish(j, status, &err);
}

/* Only the number of rows is known then, and no join is there. */
static int count_rows(join_job *j, const kr_join_options *how)
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
    tool_rename(&err, "inverse", "--inverse");
    return tool_check(status, &err);
}

static int create_overlap(join_job *j, const kr_join_options *how)
{
    kr_error err = {0};
    const kr_status status = kr_join_create_overlap(
        j->device, j->options.index, &j->left[0].view, &j->left_end.view, &j->right[0].view,
        &j->right_end.view, (kr_interval_ends)j->options.overlap, how, &j->join, &err);
    return finish(j, status, &err);
}

static int create_columns(join_job *j, const kr_join_options *how)
{
    kr_column left[OPTION_TEXTS_MOST], right[OPTION_TEXTS_MOST];
    const uint32_t n = j->options.left.n;
    kr_error err = {0};
    int code = DONE;
    for (uint32_t i = 0; i < n && !code; ++i) {
        left[i] = j->left[i].view;
        right[i] = j->right[i].view;
        code = column_check_counts(&j->left[0], &j->left[i],
                                   "the columns of a composite key must be of one table");
        if (!code)
            code = column_check_counts(&j->right[0], &j->right[i],
                                       "the columns of a composite key must be of one table");
    }
    if (code)
        return code;
    const kr_status status =
        kr_join_create_columns(j->device, j->options.index, left, right, n, how, &j->join, &err);
    return finish(j, status, &err);
}

static int create(join_job *j)
{
    const join_options *o = &j->options;
    const kr_column *left = &j->left[0].view, *right = &j->right[0].view;
    kr_column groups[2][OPTION_TEXTS_MOST];
    /* A number has no order, so nothing is sorted for it. */
    kr_join_options how = {.struct_size = sizeof how,
                           .type = (kr_join_type)(o->type + 1),
                           .inverse = (kr_join_inverse)o->inverse,
                           .unordered = o->unordered || o->count};
    kr_error err = {0};
    kr_status status;
    for (uint32_t i = 0; i < o->left_by.n; ++i) {
        groups[0][i] = j->left_by[i].view;
        groups[1][i] = j->right_by[i].view;
    }
    if (o->count && counts_alone(o))
        return count_rows(j, &how);
    if (j->index)
        return finish(j, kr_join_create_prepared(j->index, left, NULL, &how, &j->join, &err), &err);
    if (o->asof.side)
        return create_asof(j, groups, &how);
    if (o->left_by.n) {
        how.left_by = groups[0];
        how.right_by = groups[1];
        how.n_by = o->left_by.n;
    }
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

/* ---- Report -------------------------------------------------------------------------------- */

static void print_nulls(const join_job *j, output *out)
{
    const uint32_t one_side = j->options.right_lower ? 0 : OPTION_TEXTS_MOST;
    const column_nulls all[] = {{"left", j->left, OPTION_TEXTS_MOST},
                                {"right", j->right, j->saved.file ? 0 : one_side},
                                {"right_lower", &j->right[0], !one_side},
                                {"right_upper", &j->right[1], !one_side},
                                {"left_by", j->left_by, OPTION_TEXTS_MOST},
                                {"right_by", j->right_by, OPTION_TEXTS_MOST},
                                {"left_end", &j->left_end, 1},
                                {"right_end", &j->right_end, 1}};
    column_print_nulls(out, all, sizeof all / sizeof *all);
}

static void print(const join_job *j)
{
    const uint64_t left = j->left[0].view.count;
    const uint64_t right = j->saved.file ? j->saved.info.rows : j->right[0].view.count;
    const int left_indexed = strcmp(j->info.indexed, "left") == 0;
    output out = output_begin_report(stdout, j->printing.json);
    if (j->options.count)
        output_number(&out, "count", j->info.pairs);
    if (j->saved.file)
        output_text(&out, "index", j->saved.path);
    if (j->join)
        output_spec(&out, "spec", j->info.spec);
    output_text(&out, "device", j->info.device);
    if (j->join) {
        output_text(&out, "tracer", j->info.tracer);
        output_indexed(&out, &j->info);
    }
    output_number(&out, "left", left);
    output_number(&out, "right", right);
    if (out.json && (left_indexed || strcmp(j->info.indexed, "right") == 0) && !j->options.asof.side) {
        output_number(&out, "keys", left_indexed ? left : right);
        output_number(&out, "probes", left_indexed ? right : left);
    }
    print_nulls(j, &out);
    if (!j->options.count)
        output_number(&out, join_has_pairs(j) ? "pairs" : "rows", j->info.pairs);
    if (j->join) {
        output_bytes(&out, "footprint", j->info.footprint_nbytes);
        output_bytes(&out, "peak", j->info.peak_nbytes);
    }
    output_begin(&out, "seconds", '{');
    output_seconds(&out, "load", j->load);
    if (j->saved.file)
        output_seconds(&out, "open", j->open);
    output_seconds(&out, "join", j->run);
    if (j->options.output)
        output_seconds(&out, "write", j->write);
    output_end(&out, '}');
    if (j->saved.file)
        output_phases(&out, "open_phases", &j->opened.phases);
    output_phases(&out, "join_phases", &j->phases);
    output_end(&out, '}');
}

static int perform(join_job *j)
{
    double begin = tool_now();
    int code = load(j);
    j->load = tool_now() - begin;
    if (!code)
        code = device_open(&j->where, j->progress, &j->device);
    begin = tool_now();
    if (!code && j->saved.file)
        code = saved_load_index(&j->saved, j->device, &j->index);
    if (!code && j->saved.file)
        code = index_facts_take(j->index, &j->opened);
    j->open = tool_now() - begin;
    begin = tool_now();
    if (!code)
        code = create(j);
    j->run = tool_now() - begin;
    j->n_out = answers_limited(j->info.pairs, j->options.limit);
    if (!code)
        code = join_write(j);
    if (!code && (j->printing.json || (!j->printing.quiet && !answers_are_output(j->form))))
        print(j);
    else if (!code && j->form == ANSWERS_NONE && j->options.count)
        output_value_alone(stdout, KR_U64, KR_UNIT_NONE, &j->info.pairs);
    shown_close(&j->shown_left);
    shown_close(&j->shown_right);
    kr_join_destroy(j->join);
    kr_index_destroy(j->index);
    kr_device_close(j->device);
    column_close(&j->right_end);
    column_close(&j->left_end);
    for (uint32_t i = 0; i < OPTION_TEXTS_MOST; ++i) {
        column_close(&j->right_by[i]);
        column_close(&j->left_by[i]);
        column_close(&j->right[i]);
        column_close(&j->left[i]);
    }
    saved_close(&j->saved);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    join_job j = {.options = {.index = "best", .verify = SAVED_VERIFY_UNSAID}, .where = DEVICE_DEFAULTS};
    const option_group groups[] = {{"Join", join_rows, &j.options},
                                   {"Input", column_rows, &column_input},
                                   {"Device", device_rows, &j.where},
                                   {"Output", output_value_rows, &j.printing}};
    int code = options_parse(self, groups, 4, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&j);
    if (!code)
        code = targets_check("-o", j.options.output, (const char *const[]){""}, 1, groups, 4);
    j.progress = progress_callback(j.printing.quiet);
    return code ? code : perform(&j);
}

const command command_join = {
    "join",
    NULL,
    "join two columns on equal values, on ranges, as of a time, or intervals that overlap",
    "Finds the pairs of rows of two columns, --left and --right, whose values are equal. Instead, "
    "left values may lie in ranges (--right-lower and --right-upper), follow right values in time "
    "(--asof), or be intervals that overlap (--overlap). It prints the pairs, or writes them to a "
    "file.",
    "keyray join --left orders.csv:customer --right customers.csv:customer --type left "
    "--show-left amount --show-right city -o pairs.csv\n"
    "keyray join --left orders.csv:day --right-lower months.csv:first --right-upper months.csv:last "
    "-o pairs.csv\n"
    "keyray join --left orders.csv:customer --index customers.krx --type semi -o known.csv\n"
    "keyray join --left trades.csv:time --right quotes.csv:time --asof backward --left-by symbol "
    "--right-by symbol --type left --show-right price -o priced.csv\n",
    run,
    "--asof gives each left row at most one right row. If two right rows are equally near, the "
    "earlier one answers. If several right rows have the nearest value, the last of them answers "
    "backward, the first of them forward. With --left-by and --right-by, only rows that have the same "
    "values in these columns are partners; so it is with --overlap and ranges.\n"
    "Pairs are sorted by their left row and then by their right row; right rows without a partner "
    "come last. Row ids are u32. As text, a row without a partner has empty cells; in OUT.npy the "
    "missing row is 4294967295 (KR_NO_ROW of the library).\n"
    "keyray help columns says how VALUES and lists of columns are written.",
};
