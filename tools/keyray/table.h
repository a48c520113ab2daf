/* Tables made of columns that are named on the command line. */
#ifndef KEYRAY_TABLE_H
#define KEYRAY_TABLE_H

#include "tools/columns/column.h"
#include "tools/terminal/facts.h"
#include "tools/terminal/options.h"

/* Why the column of --sum and the like is not read as text. */
#define TABLE_NO_TEXT "--sum, --min and --max do not take texts"

/* All zero: no table. */
struct table {
    struct column columns[OPTION_TEXTS_MOST];
    char *names[OPTION_TEXTS_MOST];
    uint32_t n;
    kr_texts *texts;   /* of all its text columns */
    const char *added; /* set before it is loaded: the column whose sum or the like is wanted, or NULL */
    kr_table *table;
    facts phases; /* of its creation */
};

/* Reads the columns of [NAME=]COL, ..., where a COL without a file is in the file of the one before it. */
int table_load(struct table *table, const option_texts *columns, const kr_progress *progress);
/* What kr_table_create takes, pointing into itself and the table. */
typedef struct table_parts {
    kr_column views[OPTION_TEXTS_MOST];
    kr_unit units[OPTION_TEXTS_MOST];
    const kr_texts *texts[OPTION_TEXTS_MOST];
    const char *names[OPTION_TEXTS_MOST];
    kr_table_options options;
} table_parts;

/* Makes the dictionary of all text columns, and the parts. */
int table_make_parts(struct table *table, kr_device *device, table_parts *parts);
/* Creates the table, whose text columns share one dictionary: conditions may compare them with each other. */
int table_create(struct table *table, kr_device *device, const char *spec);
void table_close(struct table *table);

/* The column of that name; `n` if there is none. */
uint32_t table_find(const struct table *table, const char *name);
/* Adds to an error about columns of two types, if it is one, how to read them as one type. */
void table_advise_types(const struct table *table, kr_error *err);
/* Fails, since there is none of that name. */
int table_no_column(const struct table *table, const char *name);

#endif
