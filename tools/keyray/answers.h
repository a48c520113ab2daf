/* Answers as text: a line for each, in columns with names, as CSV or as a table on the terminal. */
#ifndef KEYRAY_ANSWERS_H
#define KEYRAY_ANSWERS_H

#include "tools/columns/column.h"

#include <stdio.h>

/* A line has places: the probe that it answers, the row that was found, and the row of the other side of a
 * join. */
enum { AT_PROBE, AT_ROW, AT_OTHER, N_PLACES };

/* No such row: the cell is empty. */
#define NO_PLACE UINT64_MAX

enum { ANSWERS_MOST = 256 };

/* What a line shows of the element at one of its places. */
typedef struct answers_column {
    char name[64];
    int at;     /* AT_* */
    int is_row; /* 1: the place itself, a row id; else an element of what follows */
    kr_type type;
    kr_unit unit;
    const void *data;
    const uint8_t *validity; /* 0 bits are empty cells; NULL: there are none */
    uint64_t validity_offset;
    const kr_file *strings; /* the elements are codes of its strings; or NULL */
    int is_bit;             /* data is a bitmap, and cells are 0 or 1 */
    int is_wide;            /* elements are sums in two words, see wide.h */
} answers_column;

typedef struct answers {
    answers_column columns[ANSWERS_MOST];
    uint32_t n;
    uint32_t no_rows; /* 1: answers_add_row adds nothing */
    uint64_t lines;
    /* Sets the places of a line. Called once for each line, from 0 on. NULL: line i is about probe i and row
     * i. */
    kr_status (*place)(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err);
    void *ctx;
} answers;

/* Where answers go, by the text behind -o. */
typedef enum answers_form {
    ANSWERS_NONE, /* no -o */
    ANSWERS_NPY,
    ANSWERS_CSV,      /* OUT.csv */
    ANSWERS_CSV_OUT,  /* -.csv: standard output */
    ANSWERS_TABLE_OUT /* -: standard output, for people */
} answers_form;

/* The most lines of a table with "-o -", and without -o, where longer ones are left out. */
enum { ANSWERS_TABLE_MOST = 1000, ANSWERS_SMALL_MOST = 40 };

/* Fails for what is none of these. `json`: the report is JSON, which standard output cannot hold, too. */
int answers_check_output(const char *path, uint32_t json, answers_form *form);
/* 1: standard output has the answers and nothing else. */
int answers_are_output(answers_form form);

/* Adds a column. A name that is there already gets "right_" before it at AT_OTHER, or a number behind it. */
void answers_add_row(answers *all, const char *name, int at);
void answers_add_file(answers *all, const char *name, int at, const kr_file *file);
answers_column *answers_add(answers *all, const char *name, int at, kr_type type, const void *data);

/* How many of n lines --limit leaves; 0 is no limit. */
uint64_t answers_limited(uint64_t n, uint64_t limit);

/* Writes an answer that is one value: in text a line, in OUT.npy an element. Without -o nothing, since the
 * report has it. */
int answers_write_value(const answers_column *value, answers_form form, const char *path,
                        const kr_progress *progress);

/* Writes a form that is text. Without -o: a table if it is small, and else a line that says what is left out.
 */
int answers_write(answers *all, answers_form form, const char *path, const kr_progress *progress);

#endif
