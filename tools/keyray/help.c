#include "help.h"

#include "tool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 26, USAGE_NBYTES = 512 };

const char help_columns[] =
    "COL names a column: FILE.npy, FILE.csv:NAME, FILE.csv:POSITION, FILE.tsv:NAME, FILE.tbl:POSITION or "
    "FILE.bin:TYPE, "
    "each also packed, as in FILE.csv.gz:NAME; -:NAME is CSV from standard input, -.npy and so on other "
    "formats. Positions "
    "and rows count from 0, without the header. A type may follow, as in FILE.csv:NAME:u32 or "
    "FILE.csv:NAME:str: u8 i8 u16 "
    "i16 u32 i32 u64 i64 f32 f64 date32 timestamp64 timestamp64[s|ms|us|ns], and str for texts. Without one, "
    "integers are "
    "i64, decimals f64, dates date32 and times timestamp64[us], and texts an error. Times are written in "
    "UTC, with as few decimals as read back. A date is the instant of "
    "its midnight in "
    "UTC, also as an upper bound. An empty field is NULL, which matches nothing; --nulls names words that "
    "are NULL, too.";

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
    help_print_wrapped(stdout, self->summary, 0, 0);
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
        help_print_wrapped(stdout, help_columns, 0, 0);
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
    printf(".SH DESCRIPTION\n");
    if (self->details)
        put_line("", self->details);
    if (self->details && has_columns(groups, n_groups))
        printf(".PP\n");
    if (has_columns(groups, n_groups))
        put_line("", help_columns);
    else if (!self->details)
        put_line("", self->summary);
    for (uint32_t g = 0; g < n_groups; ++g) {
        put_line(".SH ", groups[g].title);
        for (const option_row *row = groups[g].rows; row->name; ++row)
            put_option(row);
    }
    printf(".TP\n.B \\-h, \\-\\-help\nprint the options\n.TP\n.B \\-\\-man\nprint this page\n.SH EXAMPLES\n");
    each_example(self, "", put_example);
    printf(".SH SEE ALSO\n.BR keyray (1),\nwhich has the fields of reports and the exit statuses\n");
    return DONE;
}
