/* Columns named on the command line, and files of results. */
#ifndef KEYRAY_TOOLS_COLUMNS_COLUMN_H
#define KEYRAY_TOOLS_COLUMNS_COLUMN_H

#include "tools/terminal/output.h"

#include <keyray/keyray.h>

/* How files are read; set by the group of options that has column_rows and points to column_input. */
typedef struct column_options {
    const char *nulls;
} column_options;

extern column_options column_input;
extern const option_row column_rows[];

/* All zero: no column. */
struct column {
    const char *flag, *source; /* "--keys", "orders.csv:o_orderkey" */
    uint64_t nulls;            /* as it was read: of texts that other columns lack, column_match makes more */
    char *own_source;          /* `source`, if it was made of a name and another column's file */
    const char *no_text;       /* set before it is read: why it cannot be text; or NULL */
    int is_saved;              /* 1: of FILE.krx: it has a type, and no values to read */
    int may_repeat;            /* set before it is read: its flag is given once for each column */
    kr_file *file;
    kr_column view;
    uint32_t *codes; /* with `validity`: they replace the column's own, see column_match */
    uint8_t *validity;
};

/* `text` is a COL, or a name or position in beside's file. `or_text`: a column without a type that holds
 * neither numbers nor dates is read as text. */
int column_load_beside(struct column *column, const char *flag, const char *text, const struct column *beside,
                       int or_text, const kr_progress *progress);
/* The name of a source's column, as a header has it: without file and type. Of .npy and .bin the file's own.
 */
enum { COLUMN_NAME_NBYTES = 56 };
void column_name(const char *source, char name[COLUMN_NAME_NBYTES]);
int column_load(struct column *column, const char *flag, const char *source, const kr_progress *progress);
/* The source with another type behind it: "a.csv:k:str" of "a.csv:k:u32". */
enum { COLUMN_SOURCE_NBYTES = 256 };
const char *column_with_type(const char *source, const char *type, char text[COLUMN_SOURCE_NBYTES]);
/* The same, or values as in "42,43" of the type of `keys`, if `source` names no file. */
int column_load_values(struct column *column, const char *flag, const char *source, const struct column *keys,
                       const kr_progress *progress);
/* Values only; `file_flag` is the flag for columns. */
int column_read_values(struct column *column, const char *flag, const char *text, const struct column *keys,
                       const char *file_flag);
/* 1: a text names a file's column. Values in quotes may look like one. */
int column_names_file(const char *text);
/* "-", "-:name", "-.csv:name"; a file of such a name is "./-.csv". */
int column_is_standard_input(const char *source);
/* 1: the row is not NULL. */
int column_row_is_valid(const kr_column *view, uint64_t row);

void column_close(struct column *column);

/* 1: strings, read with ":str". */
int column_is_text(const struct column *column);

/* Puts map[code] in the place of every code of a text column; KR_NO_ROW becomes NULL. */
int column_replace_codes(struct column *column, const uint32_t *map);

/* How a string that `keys` lacks becomes a code: NULL, the next above it, or the next below it; NEXT_*:
 * strings that are there become the next one, too. */
typedef enum column_absent { ABSENT_NULL, ABSENT_ABOVE, ABSENT_BELOW, NEXT_ABOVE, NEXT_BELOW } column_absent;

/* Checks that `other` may be compared with `keys`, and gives its strings the codes that they have there. */
int column_match(const struct column *keys, struct column *other, column_absent absent);

/* Of a report: columns under one name, of which some may not be there. */
typedef struct column_nulls {
    const char *name;
    const struct column *columns;
    uint32_t n;
} column_nulls;

/* An object "nulls" of how many each has; in text only what has some. */
void column_print_nulls(output *out, const column_nulls *all, uint32_t n);

/* Refuses columns of different lengths; `rule` says why they must have one. */
int column_check_counts(const struct column *a, const struct column *b, const char *rule);

/* One .npy of a result. */
typedef struct column_file {
    const char *suffix; /* "" or ".rows": before ".npy" */
    kr_type type;
    uint32_t columns;
    uint64_t rows;
    const void *data;
} column_file;

/* Refuses a name that does not end in .npy; `rule` says what it may be. */
int column_check_output(const char *path, const char *rule);

/* The name of one of them. */
enum { COLUMN_PATH_MOST = 4096 };
void column_name_output(char name[COLUMN_PATH_MOST], const char *path, const char *suffix);

/* Writes all of them or, on failure, none. */
int column_write(const char *path, const column_file *files, uint32_t n, const kr_progress *progress);

#endif
