/* Where the pairs of a join go. */
#include "join.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>

int join_has_pairs(const join_job *j)
{
    const kr_join_type type = (kr_join_type)(j->options.type + 1);
    return type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
}

/* Reads a piece at a time, so that pairs are interleaved without a second copy of everything. */
enum { PIECE = 1 << 16 };

static int read_pairs(const join_job *j, uint32_t *rows)
{
    static uint32_t left[PIECE], right[PIECE];
    kr_error err = {0};
    for (uint64_t first = 0; first < j->n_out; first += PIECE) {
        const uint64_t n = j->n_out - first < PIECE ? j->n_out - first : PIECE;
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

static int write_npy(join_job *j)
{
    const uint32_t columns = join_has_pairs(j) ? 2 : 1;
    kr_error err = {0};
    uint32_t *rows = tool_alloc(j->n_out, columns * sizeof *rows, "the result");
    int code = rows ? DONE : FAILED;
    if (!code && columns == 2)
        code = read_pairs(j, rows);
    else if (!code)
        code = tool_check(kr_join_read(j->join, 0, j->n_out, rows, NULL, &err), &err);
    if (!code) {
        const column_file file = {"", KR_U32, columns, j->n_out, rows};
        code = column_write(j->options.output, &file, 1, j->progress);
    }
    free(rows);
    return code;
}

/* Pairs that are asked for one after the other. */
typedef struct pair_lines {
    const join_job *job;
    uint64_t first, n; /* of the piece that is here */
    uint32_t left[PIECE], right[PIECE];
} pair_lines;

/* answers.place */
static kr_status place_pair(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    pair_lines *lines = ctx;
    const uint64_t all = lines->job->n_out;
    const int with_right = join_has_pairs(lines->job);
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

/* Under its name in the file. */
static void add_column(const struct column *column, int at, answers *all)
{
    char name[COLUMN_NAME_NBYTES];
    column_name(column->source, name);
    answers_add_file(all, name, at, column->file);
}

/* Bounds that are written by hand have no name. */
static void add_bound(const struct column *column, const char *standard, answers *all)
{
    if (column_names_file(column->source))
        add_column(column, AT_OTHER, all);
    else
        answers_add_file(all, standard, AT_OTHER, column->file);
}

static int write_text(join_job *j)
{
    const join_options *o = &j->options;
    const kr_join_type type = (kr_join_type)(o->type + 1);
    pair_lines *lines = calloc(1, sizeof *lines);
    answers *all = calloc(1, sizeof *all);
    int code = lines && all ? DONE : tool_fail_machine("no host memory for a table of answers");
    if (!code) {
        lines->job = j;
        *all = (answers){.lines = j->n_out, .no_rows = o->no_rows, .place = place_pair, .ctx = lines};
        for (uint32_t i = 0; i < o->left.n; ++i)
            add_column(&j->left[i], AT_ROW, all);
        for (uint32_t i = 0; i < o->right.n && (type == KR_JOIN_RIGHT || type == KR_JOIN_FULL); ++i)
            add_column(&j->right[i], AT_OTHER, all);
        if (o->right_lower && join_has_pairs(j)) {
            add_bound(&j->right[0], "lower", all);
            add_bound(&j->right[1], "upper", all);
        }
        answers_add_row(all, join_has_pairs(j) ? "left_row" : "row", AT_ROW);
        if (join_has_pairs(j))
            answers_add_row(all, "right_row", AT_OTHER);
        shown_add(&j->shown_left, AT_ROW, all);
        shown_add(&j->shown_right, AT_OTHER, all);
        code = answers_write(all, j->form, o->output, j->progress);
    }
    free(all);
    free(lines);
    return code;
}

static int write_count(join_job *j)
{
    const answers_column value = {.name = "count", .at = AT_ROW, .type = KR_U64, .data = &j->info.pairs};
    return answers_write_value(&value, j->form, j->options.output, j->progress);
}

int join_write(join_job *j)
{
    const double begin = tool_now();
    int code = DONE;
    if (j->options.count)
        code = write_count(j);
    else if (j->form == ANSWERS_NPY)
        code = write_npy(j);
    else if (j->form != ANSWERS_NONE || (!j->printing.json && !j->printing.quiet))
        code = write_text(j);
    j->write = tool_now() - begin;
    return code;
}
