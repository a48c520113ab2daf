/* Saved indexes and tables on the command line: FILE.krx, with the unit of keys and the texts, which the
 * command keeps in attachments (docs/format.md, "Attachments of the command"). */
#ifndef KEYRAY_SAVED_FILE_H
#define KEYRAY_SAVED_FILE_H

#include "table.h"
#include "tools/columns/column.h"

/* 1: names such a file, as no spec does, nor a COL. */
int saved_is_name(const char *text);

/* The default of --verify, from which `all`, when given, differs. */
enum { SAVED_VERIFY_UNSAID = KR_VERIFY_HEADER + 1 };

/* The row of a command's table that sets a uint32_t at `field`. */
#define SAVED_VERIFY_ROW(field)                                                                             \
    {                                                                                                       \
        "verify", 0, 0, OPTION_CHOICE, field, "all|header",                                                 \
            "of --index FILE.krx: check all of the file when it is opened, or trust it and check only its " \
            "head and directory [all]",                                                                     \
            0, 0                                                                                            \
    }

/* What stands for the index: `columns` is the option that it is built of, as in "--keys COL", and
 * `has_columns` whether that was given. Refuses both with FILE.krx, neither without, and a wrong spec. */
int saved_check(const char *index, const char *columns, int has_columns, uint32_t verify);

/* All zero: none. */
typedef struct saved_file {
    const char *path;
    kr_saved *file;
    kr_saved_info info;
    kr_file *codes; /* whose dictionary is that of all texts of the file; NULL: it has none */
    kr_file *texts; /* what the codes stand for, once a column needs it */
} saved_file;

/* Opens a file that holds `what`; 0: whatever it holds. */
int saved_open(saved_file *saved, const char *path, kr_saved_what what, uint32_t verify,
               const kr_progress *progress);
void saved_close(saved_file *saved);

/* Column i, without its values: of its type, unit and texts, with as many rows as row ids were given. Fails
 * for texts that the file does not have. */
int saved_column(saved_file *saved, uint32_t i, struct column *column);
/* The unit of column i. */
int saved_unit(const saved_file *saved, uint32_t i, kr_unit *unit);
/* How many texts the file has, which all its columns share. */
int saved_count_texts(const saved_file *saved, uint32_t *n);

int saved_load_index(const saved_file *saved, kr_device *device, kr_index **index);
/* The names and columns of a table, without their values, and the texts; then the table itself. */
int saved_table(saved_file *saved, struct table *table);
int saved_load_table(const saved_file *saved, kr_device *device, struct table *table);

/* Writes an index of these keys with their unit and texts; of an index that is from a file, `from`, with all
 * that was attached there. */
int saved_write_index(const kr_index *index, const struct column *keys, const saved_file *from,
                      const char *path, const kr_progress *progress);
/* Writes a table with the texts of its columns. */
int saved_write_table(const struct table *table, const char *path, const kr_progress *progress);
/* Refuses a name that does not end in .krx; `option` is the one that has it. */
int saved_check_output(const char *option, const char *path);

#endif
