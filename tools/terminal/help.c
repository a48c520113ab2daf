#include "help.h"

#include "tool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 26, USAGE_NBYTES = 512 };

/* ---- Topics -------------------------------------------------------------------------------- */

const help_topic help_topics[HELP_TOPICS] = {
    {"columns", "how COL names a column of a file, types, and VALUES written by hand",
     "COL names a column of a file:\n"
     "  FILE.csv:NAME       the column of that name in the header; also FILE.tsv:NAME\n"
     "  FILE.csv:POSITION   the column at that position, counted from 0\n"
     "  FILE.tbl:POSITION   a column of a TPC-H file, which has no header\n"
     "  FILE.npy            a numpy array of one dimension\n"
     "  FILE.bin:TYPE       the raw values of a column\n"
     "  FILE.csv.gz:NAME    a file packed with gzip; the other formats likewise\n"
     "  -:NAME              CSV from standard input; -.npy, -.csv.gz:NAME and so on for other formats\n"
     "Rows count from 0, without the header.\n\n"
     "A type may follow, as in FILE.csv:NAME:u32. The types are u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 date32 "
     "timestamp64 timestamp64[s|ms|us|ns], and str for texts. Without a type, a text file decides by its "
     "values: integers are read as i64, decimals as f64, dates as date32 and times as timestamp64[us]. Where "
     "the "
     "first value is none of these, the column is texts. A text behind numbers is an error that names its "
     "line, unless the column says str; columns of --show are then read as texts.\n\n"
     "An empty field is NULL, which matches nothing; --nulls names words that are NULL, too.\n\n"
     "Times are written in UTC, with as few decimals as read back. A date is the instant of its midnight in "
     "UTC, also as an upper bound: 2024-01-31 leaves out what "
     "happened "
     "later on that day.\n\n"
     "VALUES are values written by hand, with ',' between them: 42,43 or 2024-01-31 or NULL. Quote a text "
     "with a comma, and quote it twice: for keyray and for the shell, as in \"'a, b',c\".\n\n"
     "COLUMN,... is a list of names in the file of another column, or of COLs, with ',' between them. Quote "
     "a name with a comma: \"'a,b',c\"."},
    {"answers", "what lookup, range and update answer, in text and in files for numpy",
     "Answers are in the order of the probes. --result says what is answered for each probe:\n"
     "  row       the smallest row that matches, u32\n"
     "  count     how many rows match, u64\n"
     "  sum-rows  the sum of these rows, u64\n"
     "  sum       the sum of their --values: u64, i64 or f64 by the type of the values; a sum of integers\n"
     "            is exact, and dates and times have no sum\n"
     "  min, max  their smallest and largest value, of the type of the values\n"
     "  rows      all rows that match\n"
     "  exists    1 if a row matches, else 0\n\n"
     "As text (OUT.csv, - and -.csv), a probe without a match has an empty cell, but 0 for count, sum-rows "
     "and "
     "exists. A sum, min or max is empty where no value matches that is not NULL, as in "
     "SQL. rows has a line for each match, and one line for a probe without any.\n\n"
     "OUT.npy holds the answers alone. The row of a probe without a match is 4294967295 (KR_NO_ROW of the "
     "library). min and max also write OUT.valid.npy, which has 1 where a value matched and 0 where none "
     "did; "
     "there, OUT.npy has 0, as it has where there is no sum. A sum of integers that OUT.npy cannot hold is "
     "refused; text has all of its "
     "digits. rows writes OUT.offsets.npy and OUT.rows.npy: the rows of probe i are those in "
     "OUT.rows.npy from OUT.offsets.npy[i] to OUT.offsets.npy[i + 1] - 1. exists writes a byte for each "
     "probe."},
};

void help_print_topic(const help_topic *topic)
{
    for (const char *line = topic->text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char text[1024];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        if (*line == ' ') /* a line of a list is in columns already */
            printf("%s\n", text);
        else
            help_print_wrapped(stdout, text, 0, 0);
    }
}

static const char column_hint[] =
    "COL is a column of a file, as in orders.csv:day or orders.csv:order:u32; keyray help columns lists "
    "all forms and types.";

/* ---- --help -------------------------------------------------------------------------------- */

void help_print_wrapped(FILE *to, const char *text, int indent, int column)
{
    for (int length; *text; text += length, text += *text == ' ') {
        length = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + length > HELP_WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        }
        const int space = column > indent;
        fprintf(to, "%*s%.*s", space, "", length, text);
        column += space + length;
        if (text[length] == '\n') {
            fprintf(to, "\n%*s", text[length + 1] ? indent : 0, "");
            column = indent;
            ++length;
        }
    }
    fputc('\n', to);
}

static void print_row(const option_row *row)
{
    char label[160], letter[8] = "";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const int used = snprintf(label, sizeof label, "  %s--%s%s%s", letter, row->name,
                              row->argument ? " " : "", row->argument ? row->argument : "");
    printf("%-*s", HELP_COLUMN, label);
    if (used >= HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    help_print_wrapped(stdout, row->help, HELP_COLUMN, HELP_COLUMN);
}

/* Calls `print` with each example of the operand, or with all if there are none of its own. */
static void each_example(const command *self, const char *operand,
                         void (*print)(const char *line, int nbytes))
{
    char begin[64];
    snprintf(begin, sizeof begin, "keyray %s %s ", self->name, operand);
    const char *only = strstr(self->example, begin) ? begin : "";
    for (const char *line = self->example; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, only, strlen(only)) == 0)
            print(line, (int)strcspn(line, "\n"));
}

static void print_example(const char *line, int nbytes)
{
    printf("  %.*s\n", nbytes, line);
}

/* 1: some option takes a column. */
static int has_columns(const option_group *groups, uint32_t n_groups)
{
    for (uint32_t g = 0; g < n_groups; ++g)
        for (const option_row *row = groups[g].rows; row->name; ++row)
            if (row->argument && strstr(row->argument, "COL"))
                return 1;
    return 0;
}

/* "keyray lookup --keys COL [OPTION]..." */
static void write_usage(char text[USAGE_NBYTES], const command *self, const char *operand,
                        const option_group *groups, uint32_t n_groups)
{
    const char *shown = operand && *operand ? operand : self->operand ? self->operand : "";
    int used = snprintf(text, USAGE_NBYTES, "keyray %s%s%s", self->name, *shown ? " " : "", shown);
    for (uint32_t g = 0; g < (operand ? n_groups : 1); ++g)
        for (const option_row *row = groups[g].rows; row->name; ++row)
            if (row->required && row->letter)
                used +=
                    snprintf(text + used, USAGE_NBYTES - (size_t)used, " -%c %s", row->letter, row->argument);
            else if (row->required)
                used +=
                    snprintf(text + used, USAGE_NBYTES - (size_t)used, " --%s %s", row->name, row->argument);
    snprintf(text + used, USAGE_NBYTES - (size_t)used, " [OPTION]...");
}

int help_print(const command *self, const char *operand, const option_group *groups, uint32_t n_groups)
{
    char usage[USAGE_NBYTES];
    write_usage(usage, self, operand, groups, n_groups);
    printf("Usage: %s\n", usage);
    help_print_wrapped(stdout, self->about, 0, 0);
    for (uint32_t g = 0; g < n_groups; ++g) {
        printf("\n%s:\n", groups[g].title);
        for (const option_row *row = groups[g].rows; row->name; ++row)
            print_row(row);
    }
    printf("  %-*s%s\n", HELP_COLUMN - 2, "-h, --help", "print this");
    printf("  %-*sprint the manual page keyray-%s(1), for man -l\n", HELP_COLUMN - 2, "--man", self->name);
    if (self->details) {
        printf("\n");
        help_print_wrapped(stdout, self->details, 0, 0);
    }
    if (has_columns(groups, n_groups)) {
        printf("\n");
        help_print_wrapped(stdout, column_hint, 0, 0);
    }
    printf("\nExample:\n");
    each_example(self, operand ? operand : "", print_example);
    return DONE;
}

/* ---- --man --------------------------------------------------------------------------------- */

/* Text of which nothing is a request, a hyphen or an escape. */
static void put_roff(const char *text, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; ++i) {
        const int begins = i == 0 || text[i - 1] == '\n';
        switch (text[i]) {
        case '\\': printf("\\e"); break;
        case '-': printf("\\-"); break;
        case '\'': printf("\\(aq"); break;
        case '"': printf("\\(dq"); break;
        case '\n': printf("\n.PP\n"); break;
        default: printf("%s%c", begins && text[i] == '.' ? "\\&" : "", text[i]);
        }
    }
}

static void put_line(const char *before, const char *text)
{
    printf("%s", before);
    put_roff(text, strlen(text));
    printf("\n");
}

static void put_option(const option_row *row)
{
    printf(".TP\n.B ");
    if (row->letter)
        printf("\\-%c, ", row->letter);
    printf("\\-\\-");
    put_roff(row->name, strlen(row->name));
    if (row->argument) {
        printf(" \\fI");
        put_roff(row->argument, strlen(row->argument));
        printf("\\fP");
    }
    put_line("\n", row->help);
}

static void put_example(const char *line, int nbytes)
{
    printf(".PP\n.nf\n    ");
    put_roff(line, (size_t)nbytes);
    printf("\n.fi\n");
}

int help_print_man(const command *self, const option_group *groups, uint32_t n_groups)
{
    char upper[32], usage[USAGE_NBYTES];
    size_t n = 0;
    for (; self->name[n] && n + 1 < sizeof upper; ++n)
        upper[n] = (char)toupper((unsigned char)self->name[n]);
    upper[n] = '\0';
    printf(".\\\" Made by keyray %s --man, of the tables that --help prints.\n", self->name);
    printf(".TH KEYRAY\\-%s 1 \"\" \"keyray %s\" \"User Commands\"\n.SH NAME\nkeyray\\-%s \\- ", upper,
           kr_version(), self->name);
    put_line("", self->summary);
    write_usage(usage, self, self->operand ? NULL : "", groups, n_groups);
    put_line(".SH SYNOPSIS\n.B ", usage);
    put_line(".SH DESCRIPTION\n", self->about);
    if (has_columns(groups, n_groups))
        put_line(".PP\n", column_hint);
    printf(".SH OPTIONS\n");
    for (uint32_t g = 0; g < n_groups; ++g) {
        put_line(".SS ", groups[g].title);
        for (const option_row *row = groups[g].rows; row->name; ++row)
            put_option(row);
    }
    printf(".TP\n.B \\-h, \\-\\-help\nprint the options\n.TP\n.B \\-\\-man\nprint this page\n");
    if (self->details)
        put_line(".SH NOTES\n", self->details);
    printf(".SH EXAMPLES\n");
    each_example(self, "", put_example);
    printf(".SH SEE ALSO\n.BR keyray (1),\nwhich has all forms of columns, the fields of reports and the "
           "exit statuses\n");
    return DONE;
}
