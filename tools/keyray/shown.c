#include "shown.h"

#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* A new text of a source's first bytes and what stands behind them; NULL after an error. */
static char *make_source(const char *source, size_t nbytes, const char *between, const char *more)
{
    const size_t all = nbytes + strlen(between) + strlen(more) + 1;
    char *made = tool_alloc(all, 1, "the name of a column");
    if (made)
        snprintf(made, all, "%.*s%s%s", (int)nbytes, source, between, more);
    return made;
}

/* The column as it is, else as text. The first error is the one to tell. */
static int load_one(struct column *column, const char *flag, const char *source, const kr_progress *progress)
{
    kr_error err = {0};
    column->flag = flag;
    column->source = source;
    if (column_keep_input(source))
        return FAILED;
    kr_status status = column_try(column, progress, &err);
    if (status == KR_ERR_FORMAT) {
        char *as_text = make_source(source, strlen(source), ":", "str");
        if (!as_text)
            return FAILED;
        column->source = as_text;
        if (column_try(column, progress, NULL) == KR_OK)
            status = KR_OK;
        column->source = source;
        free(as_text);
    }
    if (status == KR_ERR_ARGUMENT)
        return tool_fail(USAGE, "%s %s", flag, err.text);
    return tool_check(status, &err);
}

int shown_load(shown *all, const char *flag, const option_texts *wanted, const struct column *beside,
               const kr_progress *progress)
{
    int code = DONE;
    for (uint32_t i = 0; !code && i < wanted->n; ++i) {
        struct column *column = &all->columns[all->n];
        const char *name = wanted->at[i];
        const size_t path_nbytes = kr_file_path_nbytes(beside->source);
        char *source = kr_file_path_nbytes(name) ? make_source(name, strlen(name), "", "")
                                                 : make_source(beside->source, path_nbytes, ":", name);
        if (!source)
            return FAILED;
        all->sources[all->n] = source;
        column_name(source, all->names[all->n++]);
        code = load_one(column, flag, source, progress);
        if (!code)
            code = column_check_counts(beside, column, "show one value per row");
    }
    return code;
}

void shown_add(const shown *all, int at, answers *to)
{
    for (uint32_t i = 0; i < all->n; ++i)
        answers_add_file(to, all->names[i], at, all->columns[i].file);
}

void shown_close(shown *all)
{
    for (uint32_t i = 0; i < all->n; ++i) {
        column_close(&all->columns[i]);
        free(all->sources[i]);
    }
    all->n = 0;
}

int shown_check(const option_texts *wanted, const char *flag, answers_form form, uint32_t is_silent)
{
    if (wanted->n && (form == ANSWERS_NPY || (form == ANSWERS_NONE && is_silent)))
        return tool_fail(USAGE, "%s adds columns to answers as text; give -o OUT.csv, -o - or -o -.csv",
                         flag);
    return DONE;
}
