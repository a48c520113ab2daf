#include "shown.h"

#include "tools/terminal/tool.h"

int shown_load(shown *all, const char *flag, const option_texts *wanted, const struct column *beside,
               const kr_progress *progress)
{
    int code = DONE;
    for (uint32_t i = 0; !code && i < wanted->n; ++i) {
        struct column *column = &all->columns[all->n++];
        code = column_load_beside(column, flag, wanted->at[i], beside, 1, progress);
        if (!code)
            code = column_check_counts(beside, column, "show one value per row");
        if (!code)
            column_name(column->source, all->names[i]);
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
    for (uint32_t i = 0; i < all->n; ++i)
        column_close(&all->columns[i]);
    all->n = 0;
}

int shown_check(const option_texts *wanted, const char *flag, answers_form form, uint32_t is_silent)
{
    if (wanted->n && (form == ANSWERS_NPY || (form == ANSWERS_NONE && is_silent)))
        return tool_fail(USAGE, "%s adds columns to answers as text; give -o OUT.csv, -o - or -o -.csv",
                         flag);
    return DONE;
}

int shown_check_no_rows(uint32_t no_rows, answers_form form, uint32_t is_silent)
{
    if (no_rows && (form == ANSWERS_NPY || (form == ANSWERS_NONE && is_silent)))
        return tool_fail(
            USAGE, "--no-rows leaves columns of answers as text out; give -o OUT.csv, -o - or -o -.csv");
    return DONE;
}

int shown_refuse(const char *flag, const char *results)
{
    return tool_fail(USAGE, "%s is about rows; leave %s out", flag, results);
}
