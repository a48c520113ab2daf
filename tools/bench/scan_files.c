/* --column: the table of `keyray bench scan` is columns of files. Conditions compare them with constants that
 * are quantiles of each, as those of generated columns are. */
#include "scan_job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

const option_row bench_scan_files_rows[] = {
    {"column", 0, 0, OPTION_TEXTS, offsetof(bench_options, columns), "NAME=COL",
     "a column of the table, of a file; may be given up to 8 times. Each is compared with constants of its "
     "own. Then "
     "nothing is generated, and there are no options that say how",
     0, 0},
    {0},
};

typedef struct scan_files {
    uint32_t n;
    char names[BENCH_SCAN_COLUMNS][COLUMN_NAME_NBYTES];
    struct column read[BENCH_SCAN_COLUMNS];
    kr_device *device;                         /* that holds `there`; NULL: they are the views */
    kr_column there[BENCH_SCAN_COLUMNS];       /* where the library reads them */
    uint64_t *codes[BENCH_SCAN_COLUMNS];       /* NULL: the largest, which no constant is above */
    uint64_t *valid_codes[BENCH_SCAN_COLUMNS]; /* of rows that are neither NULL nor NaN, for quantiles */
    uint64_t n_valid[BENCH_SCAN_COLUMNS];
} scan_files;

static scan_files table;

/* ---- Reading ------------------------------------------------------------------------------- */

static int name_column(const char *text, const char *source)
{
    char *name = table.names[table.n];
    if (source == text)
        column_name(source, name);
    else
        snprintf(name, COLUMN_NAME_NBYTES, "%.*s", (int)(source - text - 1), text);
    if (source != text && (size_t)(source - text) > COLUMN_NAME_NBYTES)
        return tool_fail(USAGE, "--column %s: the name has more than %d bytes; give a shorter one", text,
                         COLUMN_NAME_NBYTES - 1);
    for (uint32_t i = 0; i < table.n; ++i)
        if (strcmp(table.names[i], name) == 0)
            return tool_fail(USAGE, "two columns are named '%s'; give each a name of its own, as in NAME=%s",
                             name, source);
    return DONE;
}

static int read_column(const char *text)
{
    const char *equals = strchr(text, '='), *source = equals ? equals + 1 : text;
    if (equals == text || !*source)
        return tool_fail(USAGE, "--column is NAME=COL, as in day=orders.csv:day, or a COL, not '%s'", text);
    if (table.n == BENCH_SCAN_COLUMNS)
        return tool_fail(USAGE, "--column may be given %d times at most", BENCH_SCAN_COLUMNS);
    int code = name_column(text, source);
    if (code)
        return code;
    struct column *to = &table.read[table.n++];
    code = column_load(to, "--column", source, NULL);
    if (!code && table.n > 1)
        code = column_check_counts(&table.read[0], to, "the columns of a table must have equally many rows");
    if (!code && !to->view.count)
        code = tool_fail(FAILED, "--column %s has no rows, so there is nothing to time; give another column",
                         text);
    return code;
}

static int make_codes(uint32_t c)
{
    const kr_column *view = &table.read[c].view;
    table.codes[c] = tool_alloc(view->count, sizeof(uint64_t), "the codes of a column");
    table.valid_codes[c] =
        table.codes[c] ? tool_alloc(view->count, sizeof(uint64_t), "the codes of a column") : NULL;
    uint64_t n = 0;
    if (!table.valid_codes[c])
        return FAILED;
    for (uint64_t i = 0; i < view->count; ++i) {
        const int is_valid = column_row_is_valid(view, i);
        const uint64_t code = is_valid ? bench_code_at(view->type, view->data, i) : UINT64_MAX;
        table.codes[c][i] = code;
        if (is_valid && !bench_code_is_nan(view->type, code))
            table.valid_codes[c][n++] = code;
    }
    table.n_valid[c] = n;
    return n ? DONE
             : tool_fail(FAILED,
                         "--column %s has no values but NULL and NaN, so there is nothing to compare; give "
                         "another column",
                         table.read[c].source);
}

/* ---- All ----------------------------------------------------------------------------------- */

int bench_scan_files_open(const option_texts *columns, workload *w, kr_device *device, int on_host)
{
    int code = DONE;
    kr_error err = {0};
    if (!columns->n)
        return DONE;
    table.device = on_host ? NULL : device;
    for (uint32_t i = table.n; i < columns->n; ++i) { /* none, if they are open already */
        code = read_column(columns->at[i]);
        if (!code)
            code = make_codes(i);
        if (code)
            return code;
        kr_column *there = &table.there[i];
        *there = table.read[i].view;
        there->dictionary = 0; /* texts are compared as codes, and are numbers from here on */
        if (table.device)
            code = tool_check(bench_files_bring(device, &table.read[i].view, there, &err), &err);
        if (code)
            return code;
    }
    w->rows = table.read[0].view.count;
    w->predicates = table.n;
    w->wide = 1;
    if (w->rows >= KR_NO_ROW)
        return tool_fail(FAILED,
                         "--column %s has more than 4294967294 rows, where row ids end; give a part of it",
                         table.read[0].source);
    return DONE;
}

void bench_scan_files_close(void)
{
    for (uint32_t c = 0; c < table.n; ++c) {
        if (table.device)
            bench_files_give(table.device, &table.read[c].view, &table.there[c]);
        column_close(&table.read[c]);
        free(table.codes[c]);
        free(table.valid_codes[c]);
    }
    table = (scan_files){0};
}

uint32_t bench_scan_files_count(void)
{
    return table.n;
}

const char *bench_scan_files_name(uint32_t c)
{
    return table.names[c];
}

const struct column *bench_scan_files_source(uint32_t c)
{
    return &table.read[c];
}

kr_column bench_scan_files_column(uint32_t c)
{
    return table.there[c];
}

const uint64_t *bench_scan_files_codes(uint32_t c)
{
    return table.codes[c];
}

const uint64_t *bench_scan_files_valid(uint32_t c, uint64_t *n)
{
    *n = table.n_valid[c];
    return table.valid_codes[c];
}
