#include "answers.h"

#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"
#include "tools/terminal/wide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MOST = 48, PIECE_NBYTES = 1 << 20 };

/* ---- Where they go ------------------------------------------------------------------------- */

static int ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), end_length = strlen(end);
    return length > end_length && strcmp(path + length - end_length, end) == 0;
}

int answers_check_output(const char *path, uint32_t json, answers_form *form)
{
    *form = !path                        ? ANSWERS_NONE
            : strcmp(path, "-") == 0     ? ANSWERS_TABLE_OUT
            : strcmp(path, "-.csv") == 0 ? ANSWERS_CSV_OUT
            : ends_with(path, ".csv")    ? ANSWERS_CSV
                                         : ANSWERS_NPY;
    if (json && answers_are_output(*form))
        return tool_fail(USAGE, "-o %s prints answers, but --format json prints one object; give -o a file",
                         path);
    return *form == ANSWERS_NPY
               ? column_check_output(path, "-o is a file name ending in .npy or .csv, - for a table on "
                                           "the terminal, or -.csv for CSV there")
               : DONE;
}

int answers_are_output(answers_form form)
{
    return form == ANSWERS_CSV_OUT || form == ANSWERS_TABLE_OUT;
}

/* ---- Columns ------------------------------------------------------------------------------- */

static int has_name(const answers *all, const char *name)
{
    for (uint32_t c = 0; c < all->n; ++c)
        if (strcmp(all->columns[c].name, name) == 0)
            return 1;
    return 0;
}

answers_column *answers_add(answers *all, const char *name, int at, kr_type type, const void *data)
{
    answers_column column = {.at = at, .type = type, .data = data};
    snprintf(column.name, sizeof column.name, "%s%.56s",
             at == AT_OTHER && has_name(all, name) ? "right_" : "", name);
    for (int number = 2; has_name(all, column.name); ++number)
        snprintf(column.name, sizeof column.name, "%.50s_%d", name, number);
    all->columns[all->n] = column;
    return &all->columns[all->n++];
}

void answers_add_row(answers *all, const char *name, int at)
{
    if (!all->no_rows)
        answers_add(all, name, at, KR_U64, NULL)->is_row = 1;
}

void answers_add_file(answers *all, const char *name, int at, const kr_file *file)
{
    const kr_column *view = kr_file_column(file);
    answers_column *column = answers_add(all, name, at, view->type, view->data);
    column->unit = kr_file_unit(file);
    column->validity = view->validity;
    column->validity_offset = view->validity_offset;
    column->strings = kr_file_is_text(file) ? file : NULL;
}

/* ---- Cells --------------------------------------------------------------------------------- */

/* A text that grows; `failed` once there was no memory. */
typedef struct text {
    char *at;
    size_t nbytes, room;
    int failed;
} text;

static void put(text *to, const char *bytes, size_t nbytes)
{
    if (to->nbytes + nbytes > to->room && !to->failed) {
        const size_t room = 2 * (to->nbytes + nbytes) + 4096;
        char *more = realloc(to->at, room);
        to->failed = !more;
        to->at = more ? more : to->at;
        to->room = more ? room : to->room;
    }
    if (to->failed || !nbytes)
        return;
    memcpy(to->at + to->nbytes, bytes, nbytes);
    to->nbytes += nbytes;
}

static int bit(const uint8_t *bitmap, uint64_t i)
{
    return bitmap[i / 8] >> (i % 8) & 1;
}

/* The text of a cell, of *nbytes; NULL for an empty one. `room` may hold it. */
static const char *cell_of(const answers_column *column, const uint64_t places[N_PLACES],
                           char room[KR_VALUE_NBYTES], size_t *nbytes)
{
    const uint64_t i = places[column->at];
    if (i == NO_PLACE || (column->validity && !bit(column->validity, column->validity_offset + i)))
        return NULL;
    if (column->strings)
        return kr_file_string(column->strings, ((const uint32_t *)column->data)[i], nbytes);
    if (column->is_row || column->is_bit) {
        const uint64_t number = column->is_row ? i : (uint64_t)bit(column->data, i);
        *nbytes = kr_value_text(KR_U64, KR_UNIT_NONE, &number, room);
        return room;
    }
    if (column->is_wide) {
        *nbytes = wide_text((const uint64_t *)column->data + 2 * i, column->type, room);
        return room;
    }
    const char *element = (const char *)column->data + i * kr_type_nbytes(column->type);
    *nbytes = kr_value_text(column->type, column->unit, element, room);
    return room;
}

static kr_status find_places(const answers *all, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    for (int at = 0; at < N_PLACES; ++at)
        places[at] = line;
    return all->place ? all->place(all->ctx, line, places, err) : KR_OK;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

/* Texts that other readers take for NULL, or that hold a separator, are quoted. */
static int needs_quotes(const char *cell, size_t nbytes)
{
    static const char *const words[] = {"NULL", "null", "NA", "\\N"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (strlen(words[i]) == nbytes && memcmp(words[i], cell, nbytes) == 0)
            return 1;
    for (size_t i = 0; i < nbytes; ++i)
        if (strchr(",;\t\"\r\n", cell[i]) && cell[i])
            return 1;
    return 0;
}

static void put_csv(text *to, const char *cell, size_t nbytes)
{
    if (!needs_quotes(cell, nbytes)) {
        put(to, cell, nbytes);
        return;
    }
    put(to, "\"", 1);
    for (size_t i = 0; i < nbytes; ++i)
        put(to, cell[i] == '"' ? "\"\"" : &cell[i], cell[i] == '"' ? 2 : 1);
    put(to, "\"", 1);
}

/* A CSV file under way. */
typedef struct csv {
    answers *all;
    uint64_t line;
    int begun;
    text piece;
} csv;

static kr_status put_csv_line(csv *c, kr_error *err)
{
    uint64_t places[N_PLACES];
    char room[KR_VALUE_NBYTES];
    const kr_status status = find_places(c->all, c->line++, places, err);
    for (uint32_t i = 0; status == KR_OK && i < c->all->n; ++i) {
        const answers_column *column = &c->all->columns[i];
        size_t nbytes = 0;
        const char *cell = cell_of(column, places, room, &nbytes);
        put(&c->piece, ",", i > 0);
        if (cell && column->strings)
            put_csv(&c->piece, cell, nbytes);
        else if (cell)
            put(&c->piece, cell, nbytes);
    }
    put(&c->piece, "\n", 1);
    return status;
}

static void put_csv_names(csv *c)
{
    c->begun = 1;
    for (uint32_t i = 0; i < c->all->n; ++i) {
        put(&c->piece, ",", i > 0);
        put_csv(&c->piece, c->all->columns[i].name, strlen(c->all->columns[i].name));
    }
    put(&c->piece, "\n", 1);
}

/* kr_next_piece */
static kr_status next_piece(void *ctx, const void **data, uint64_t *nbytes, double *fraction, kr_error *err)
{
    csv *c = ctx;
    kr_status status = KR_OK;
    c->piece.nbytes = 0;
    if (!c->begun)
        put_csv_names(c);
    while (status == KR_OK && c->line < c->all->lines && c->piece.nbytes < PIECE_NBYTES && !c->piece.failed)
        status = put_csv_line(c, err);
    if (status == KR_OK && c->piece.failed) {
        *err = (kr_error){.status = KR_ERR_HOST_MEMORY};
        snprintf(err->text, sizeof err->text, "no host memory for the lines of a CSV file");
        return KR_ERR_HOST_MEMORY;
    }
    *data = c->piece.at;
    *nbytes = c->piece.nbytes;
    *fraction = c->all->lines ? (double)c->line / (double)c->all->lines : 1;
    return status;
}

static int write_csv(answers *all, const char *path, const kr_progress *progress)
{
    csv c = {.all = all};
    kr_error err = {0};
    kr_output *outputs = NULL;
    progress_writing(1);
    kr_status status = kr_output_create(&outputs, &err);
    if (status == KR_OK)
        status = kr_output_add_pieces(outputs, path, next_piece, &c, progress, &err);
    if (status == KR_OK)
        status = kr_output_commit(outputs, &err);
    kr_output_destroy(outputs);
    progress_writing(0);
    free(c.piece.at);
    return tool_check(status, &err);
}

static int print_csv(answers *all)
{
    csv c = {.all = all};
    kr_error err = {0};
    kr_status status = KR_OK;
    int code = DONE;
    for (uint64_t nbytes = 1; status == KR_OK && nbytes && !code;) {
        const void *data = NULL;
        double fraction = 0;
        status = next_piece(&c, &data, &nbytes, &fraction, &err);
        if (status == KR_OK && nbytes && fwrite(data, 1, (size_t)nbytes, stdout) != (size_t)nbytes)
            code = tool_fail_print(errno);
    }
    free(c.piece.at);
    return code ? code : tool_check(status, &err);
}

/* ---- The table on the terminal -------------------------------------------------------------- */

/* Letters, for texts in UTF-8. */
static size_t width_of(const char *cell, size_t nbytes)
{
    size_t width = 0;
    for (size_t i = 0; i < nbytes; ++i)
        width += ((unsigned char)cell[i] & 0xC0) != 0x80;
    return width;
}

/* A cell without control characters; what is left out of a long one is shown as "...". */
static void put_shown(text *to, const char *cell, size_t nbytes)
{
    size_t end = nbytes;
    if (width_of(cell, nbytes) > CELL_MOST)
        for (end = 0; width_of(cell, end + 1) <= CELL_MOST - 3; ++end) {
        }
    for (size_t i = 0; i < end; ++i)
        put(to, (unsigned char)cell[i] < ' ' || cell[i] == 0x7f ? "?" : &cell[i], 1);
    put(to, "...", end < nbytes ? 3 : 0);
}

/* The cells of a table, in one text. */
typedef struct grid {
    text cells;
    size_t *ends; /* of each cell in `cells`, line by line; the first line has the names */
    uint64_t lines;
    size_t widths[ANSWERS_MOST];
} grid;

static void end_cell(grid *g, uint64_t line, uint32_t column, uint32_t n)
{
    const uint64_t i = line * n + column;
    const size_t begin = i ? g->ends[i - 1] : 0;
    g->ends[i] = g->cells.nbytes;
    const size_t width = g->cells.failed ? 0 : width_of(g->cells.at + begin, g->cells.nbytes - begin);
    if (width > g->widths[column])
        g->widths[column] = width;
}

static kr_status fill_grid(grid *g, const answers *all, kr_error *err)
{
    uint64_t places[N_PLACES];
    char room[KR_VALUE_NBYTES];
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < all->n; ++c) {
        put_shown(&g->cells, all->columns[c].name, strlen(all->columns[c].name));
        end_cell(g, 0, c, all->n);
    }
    for (uint64_t line = 0; line < g->lines && status == KR_OK; ++line) {
        status = find_places(all, line, places, err);
        for (uint32_t c = 0; c < all->n && status == KR_OK; ++c) {
            size_t nbytes = 0;
            const char *cell = cell_of(&all->columns[c], places, room, &nbytes);
            if (cell)
                put_shown(&g->cells, cell, nbytes);
            end_cell(g, line + 1, c, all->n);
        }
    }
    return status;
}

/* Numbers end, texts begin, in one column; nothing follows the last cell of a line. */
static void print_grid(const grid *g, const answers *all)
{
    for (uint64_t line = 0; line <= g->lines; ++line) {
        int waiting = 0; /* spaces before the next letter */
        for (uint32_t c = 0; c < all->n; ++c) {
            const uint64_t i = line * all->n + c;
            const size_t begin = i ? g->ends[i - 1] : 0, nbytes = g->ends[i] - begin;
            const int fill = (int)(g->widths[c] - width_of(g->cells.at + begin, nbytes));
            const int right = !all->columns[c].strings;
            waiting += right ? fill : 0;
            if (nbytes) {
                printf("%*s%.*s", waiting, "", (int)nbytes, g->cells.at + begin);
                waiting = 0;
            }
            waiting += (right ? 0 : fill) + 2;
        }
        printf("\n");
    }
}

static int print_table(const answers *all, uint64_t most)
{
    grid g = {.lines = all->lines < most ? all->lines : most};
    kr_error err = {0};
    g.ends = tool_alloc((g.lines + 1) * all->n, sizeof *g.ends, "a table of answers");
    int code = g.ends ? tool_check(fill_grid(&g, all, &err), &err) : FAILED;
    if (!code && g.cells.failed)
        code = tool_fail_machine("no host memory for a table of answers");
    if (!code)
        print_grid(&g, all);
    if (!code && g.lines < all->lines)
        printf("... %llu of %llu lines are left out; -o OUT.csv writes all of them to a file, -o -.csv "
               "prints them\n",
               (unsigned long long)(all->lines - g.lines), (unsigned long long)all->lines);
    free(g.cells.at);
    free(g.ends);
    return code;
}

int answers_write(answers *all, answers_form form, const char *path, const kr_progress *progress)
{
    progress_clear();
    switch (form) {
    case ANSWERS_CSV: return write_csv(all, path, progress);
    case ANSWERS_CSV_OUT: return print_csv(all);
    case ANSWERS_TABLE_OUT: return print_table(all, ANSWERS_TABLE_MOST);
    default: break;
    }
    int code = DONE;
    if (all->lines <= ANSWERS_SMALL_MOST)
        code = print_table(all, ANSWERS_SMALL_MOST);
    else
        printf("%llu lines of answers are not shown: -o OUT.csv writes them to a file, -o - prints %s\n",
               (unsigned long long)all->lines, all->lines <= ANSWERS_TABLE_MOST ? "them" : "the first 1000");
    if (!code)
        printf("\n");
    return code;
}

uint64_t answers_limited(uint64_t n, uint64_t limit)
{
    return limit && limit < n ? limit : n;
}

static int write_element(const answers_column *value, const char *path, const kr_progress *progress)
{
    uint64_t *sum = NULL;
    int code = value->is_wide ? wide_narrow(value->data, 1, value->type, path, &sum) : DONE;
    const column_file file = {"", value->type, 1, 1, sum ? sum : value->data};
    if (!code)
        code = column_write(path, &file, 1, progress);
    free(sum);
    return code;
}

int answers_write_value(const answers_column *value, answers_form form, const char *path,
                        const kr_progress *progress)
{
    if (form == ANSWERS_NONE)
        return DONE;
    if (form == ANSWERS_NPY)
        return write_element(value, path, progress);
    answers *all = calloc(1, sizeof *all);
    if (!all)
        return tool_fail_machine("no host memory for a table of answers");
    all->lines = all->n = 1;
    all->columns[0] = *value;
    const int code = answers_write(all, form, path, progress);
    free(all);
    return code;
}
