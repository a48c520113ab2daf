/* The columns of --show: values of the rows that were found. */
#ifndef KEYRAY_SHOWN_H
#define KEYRAY_SHOWN_H

#include "answers.h"
#include "tools/columns/column.h"
#include "tools/terminal/options.h"

/* All zero: none. */
typedef struct shown {
    struct column columns[OPTION_TEXTS_MOST];
    char names[OPTION_TEXTS_MOST][COLUMN_NAME_NBYTES];
    uint32_t n;
} shown;

/* Reads the columns, as long as `beside`: each a COL, or the name or position of one in beside's file.
 * Without a type, a column that holds neither numbers nor dates is read as text. */
int shown_load(shown *all, const char *flag, const option_texts *wanted, const struct column *beside,
               const kr_progress *progress);
void shown_add(const shown *all, int at, answers *to);
void shown_close(shown *all);

/* The row of a command's table that sets a uint32_t at `field`. */
#define NO_ROWS_ROW(field)                                                                      \
    {                                                                                           \
        "no-rows", 0, 0, OPTION_FLAG, field, NULL, "leave the columns of row numbers out", 0, 0 \
    }

/* The same of a uint64_t. */
#define LIMIT_ROW(field, help)                                                 \
    {                                                                          \
        "limit", 0, 0, OPTION_NUMBER, field, "N", help " [all]", 1, UINT64_MAX \
    }

/* Refuses an option about rows beside `results`, the options whose answers are none. */
int shown_refuse(const char *flag, const char *results);

/* Refuses --no-rows where nothing shows rows. */
int shown_check_no_rows(uint32_t no_rows, answers_form form, uint32_t is_silent);

/* Refuses --show where nothing shows it. */
int shown_check(const option_texts *wanted, const char *flag, answers_form form, uint32_t is_silent);

#endif
