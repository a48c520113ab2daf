#include "options.h"

#include "base/util/spelling.h"
#include "help.h"
#include "tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MOST = 96 };

int options_choice(const char *choices, const char *text, size_t nbytes)
{
    for (int position = 0; *choices; ++position) {
        const size_t length = strcspn(choices, "|");
        if (length == nbytes && memcmp(choices, text, nbytes) == 0)
            return position;
        choices += length + (choices[length] == '|');
    }
    return -1;
}

/* ---- Values -------------------------------------------------------------------------------- */

/* Digits with an optional K, M, G (times 1024), or 2^digits. */
static int read_number(const char *text, uint64_t *number)
{
    const int power = strncmp(text, "2^", 2) == 0;
    const char *digits = text + (power ? 2 : 0);
    const size_t n = strspn(digits, "0123456789");
    const char *suffix = digits + n;
    errno = 0;
    uint64_t value = strtoull(digits, NULL, 10);
    if (n == 0 || errno)
        return 0;
    if (power) {
        *number = value < 64 ? (uint64_t)1 << value : 0;
        return value < 64 && !*suffix;
    }
    const char *scale = *suffix ? strchr("KMG", *suffix) : NULL;
    if (scale) {
        const unsigned shift = 10 * (unsigned)(scale - "KMG" + 1);
        if (value >> (64 - shift) || suffix[1])
            return 0;
        value <<= shift;
    } else if (*suffix) {
        return 0;
    }
    *number = value;
    return 1;
}

/* "1", "1.5", "1.25" as hundredths. */
static int read_hundredths(const char *text, uint64_t *number)
{
    const size_t whole = strspn(text, "0123456789");
    const char *rest = text + whole;
    uint64_t value = strtoull(text, NULL, 10) * 100;
    if (whole == 0 || whole > 9)
        return 0;
    if (*rest == '.') {
        const size_t digits = strspn(rest + 1, "0123456789");
        if (digits < 1 || digits > 2)
            return 0;
        value += (uint64_t)(rest[1] - '0') * 10 + (digits == 2 ? (uint64_t)(rest[2] - '0') : 0);
        rest += digits + 1;
    }
    *number = value;
    return !*rest;
}

static int set_number(const option_row *row, const char *value, uint64_t *to)
{
    uint64_t number = 0;
    const int hundredths = row->form == OPTION_DECIMAL;
    if ((hundredths ? read_hundredths(value, &number) : read_number(value, &number)) &&
        number >= row->minimum && number <= row->maximum) {
        *to = number;
        return DONE;
    }
    if (hundredths)
        return tool_fail(USAGE, "--%s is a number from %g to %g with at most two decimals, not '%s'",
                         row->name, (double)row->minimum / 100, (double)row->maximum / 100, value);
    return tool_fail(USAGE, "--%s is a number from %llu to %llu%s, not '%s'", row->name,
                     (unsigned long long)row->minimum, (unsigned long long)row->maximum,
                     row->maximum > 1024 ? " (64K and 2^16 are numbers too)" : "", value);
}

static int add_text(const option_row *row, const char *value, option_texts *texts)
{
    if (texts->n == OPTION_TEXTS_MOST)
        return tool_fail(USAGE, "--%s may be given %d times at most", row->name, OPTION_TEXTS_MOST);
    texts->at[texts->n++] = value;
    return DONE;
}

/* Cuts "a,'b, c':str,d" apart, in place. A doubled quote is one. */
static int add_names(const option_row *row, char *value, option_texts *texts)
{
    for (char *at = value;; ++at) {
        char *begin = at, *to = at;
        const char quote = *at == '\'' || *at == '"' ? *at++ : '\0';
        for (; quote && *at && (*at != quote || at[1] == quote); *to++ = *at++)
            at += *at == quote;
        if (quote && !*at++)
            return tool_fail(USAGE, "--%s has a quote that is not closed: %c%s", row->name, quote, begin);
        while (*at && *at != ',')
            *to++ = *at++;
        const int more = *at == ',';
        *to = '\0';
        if (to == begin)
            return tool_fail(USAGE, "--%s has an empty name; names have ',' between them, as in a,b",
                             row->name);
        const int code = add_text(row, begin, texts);
        if (code || !more)
            return code;
    }
}

/* " (did you mean count?)" or "". */
static const char *choice_hint(const char *choices, const char *text, char hint[KR_SPELLING_HINT_NBYTES])
{
    kr_spelling nearest = kr_spelling_begin(text, strlen(text));
    kr_spelling_offer_choices(&nearest, choices);
    return kr_spelling_hint(&nearest, "", "", hint);
}

static int bad_choice(const option_row *row, const char *value)
{
    char hint[KR_SPELLING_HINT_NBYTES];
    return tool_fail(USAGE, "--%s is one of %s, not '%s'%s", row->name, row->argument, value,
                     choice_hint(row->argument, value, hint));
}

static int set_choices(const option_row *row, const char *value, option_choices *choices)
{
    choices->n = 0;
    for (const char *at = value;; ++at) {
        const size_t length = strcspn(at, ",");
        char name[32];
        const int choice = options_choice(row->argument, at, length);
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, at);
        if (choice < 0)
            return bad_choice(row, name);
        for (uint32_t i = 0; i < choices->n; ++i)
            if (choices->at[i] == (uint32_t)choice)
                return tool_fail(USAGE, "--%s has %s twice", row->name, name);
        choices->at[choices->n++] = (uint32_t)choice;
        at += length;
        if (!*at)
            return DONE;
    }
}

static int set_row(const option_row *row, void *base, const char *value)
{
    void *to = (char *)base + row->offset;
    int choice;
    switch ((option_form)row->form) {
    case OPTION_FLAG: *(uint32_t *)to = 1; return DONE;
    case OPTION_TEXT: *(const char **)to = value; return DONE;
    case OPTION_TEXTS:
    case OPTION_NAMES: return add_text(row, value, to);
    case OPTION_NUMBER:
    case OPTION_DECIMAL: return set_number(row, value, to);
    case OPTION_CHOICE:
        choice = options_choice(row->argument, value, strlen(value));
        if (choice < 0)
            return bad_choice(row, value);
        *(uint32_t *)to = (uint32_t)choice;
        return DONE;
    case OPTION_CHOICES: return set_choices(row, value, to);
    }
    return DONE;
}

int options_set(const option_group *groups, uint32_t n_groups, const char *name, const char *value)
{
    for (uint32_t g = 0; g < n_groups; ++g)
        for (const option_row *row = groups[g].rows; row->name; ++row)
            if (row->form != OPTION_FLAG && strcmp(row->name, name) == 0)
                return set_row(row, groups[g].to, value);
    return -1;
}

/* ---- The command line ---------------------------------------------------------------------- */

/* The rows of all groups in one list, as getopt_long numbers them. */
typedef struct parser {
    const option_row *rows[OPTIONS_MOST];
    void *base[OPTIONS_MOST];
    int given[OPTIONS_MOST];
    struct option longs[OPTIONS_MOST + 3];
    char letters[OPTIONS_MOST];
    int n;
} parser;

enum { LONG_BASE = 256 };

static void fill_parser(parser *p, const option_group *groups, uint32_t n_groups)
{
    memset(p, 0, sizeof *p);
    strcpy(p->letters, ":h");
    for (uint32_t g = 0; g < n_groups; ++g)
        for (const option_row *row = groups[g].rows; row->name && p->n < OPTIONS_MOST; ++row) {
            const int argument = row->form == OPTION_FLAG ? no_argument : required_argument;
            p->rows[p->n] = row;
            p->base[p->n] = groups[g].to;
            p->longs[p->n] = (struct option){row->name, argument, NULL, LONG_BASE + p->n};
            if (row->letter)
                sprintf(p->letters + strlen(p->letters), "%c:", row->letter);
            p->n++;
        }
    p->longs[p->n] = (struct option){"help", no_argument, NULL, 'h'};
    p->longs[p->n + 1] = (struct option){"man", no_argument, NULL, 'M'};
}

static int find_letter(const parser *p, int letter)
{
    for (int i = 0; i < p->n; ++i)
        if (p->rows[i]->letter == letter)
            return i;
    return -1;
}

static int check_required(const command *self, const parser *p)
{
    for (int i = 0; i < p->n; ++i)
        if (p->rows[i]->required == 1 && !p->given[i])
            return tool_fail(USAGE, "--%s %s is missing; see keyray %s --help", p->rows[i]->name,
                             p->rows[i]->argument, self->name);
    return OPTIONS_GO_ON;
}

/* "" for commands without an operand. */
static const char *operand_of(const command *self, char **argv)
{
    return strcmp(argv[0], self->name) == 0 ? "" : argv[0];
}

/* `flag` is "--name" or "--name=value"; NULL: the command has nothing to say of it. */
static const char *instead_of(const command *self, const char *operand, const char *flag)
{
    char name[32];
    if (!self->instead || strncmp(flag, "--", 2) != 0)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(flag + 2, "="), flag + 2);
    return self->instead(operand, name);
}

/* `flag` is "-x", "--name" or "--name=value". */
static int unknown_option(const command *self, const parser *p, const char *flag, char **argv)
{
    char hint[KR_SPELLING_HINT_NBYTES] = "";
    const char *operand = operand_of(self, argv), *instead = instead_of(self, operand, flag);
    if (instead)
        return tool_fail(USAGE, "unknown option %s of %s%s%s; %s", flag, self->name, *operand ? " " : "",
                         operand, instead);
    if (flag[1] == '-') {
        kr_spelling nearest = kr_spelling_begin(flag + 2, strcspn(flag + 2, "="));
        for (int i = 0; p->longs[i].name; ++i)
            kr_spelling_offer(&nearest, p->longs[i].name, strlen(p->longs[i].name));
        kr_spelling_hint(&nearest, "--", "", hint);
    }
    return tool_fail(USAGE, "unknown option %s of %s%s%s%s; keyray %s --help lists the options", flag,
                     self->name, *operand ? " " : "", operand, hint, self->name);
}

/* 1: the argument is the option of that name, written whole. getopt_long also takes its beginning. */
static int is_whole(const char *argument, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(argument + 2, name, length) == 0 && (!argument[2 + length] || argument[2 + length] == '=');
}

static const char *name_of_value(const parser *p, int value)
{
    int i = 0;
    while (p->longs[i].name && p->longs[i].val != value)
        ++i;
    return p->longs[i].name;
}

/* Reports what getopt_long rejected; it has set optopt, and optind to the next argument. */
static int bad_option(const command *self, const parser *p, int found, char **argv)
{
    const char letter[] = {'-', (char)optopt, '\0'}, *argument = argv[optind - 1];
    const char *name = optopt && strncmp(argument, "--", 2) == 0 ? name_of_value(p, optopt) : NULL;
    if (name && !is_whole(argument, name))
        return unknown_option(self, p, argument, argv);
    if (found == ':')
        return tool_fail(USAGE, "%s needs a value; see keyray %s --help", argument, self->name);
    if (name)
        return tool_fail(USAGE, "%s takes no value", argument);
    return unknown_option(self, p, optopt ? letter : argument, argv);
}

/* The argument that getopt_long has just taken as a long option; its value may be an argument of its own. */
static const char *argument_taken(char **argv)
{
    return argv[optarg && optarg == argv[optind - 1] ? optind - 2 : optind - 1];
}

/* An option stands where the value of the one before it is missing. */
static int misses_value(const parser *p, char **argv)
{
    if (!optarg || optarg != argv[optind - 1] || strncmp(optarg, "--", 2) != 0)
        return 0;
    for (int i = 0; p->longs[i].name; ++i)
        if (is_whole(optarg, p->longs[i].name))
            return 1;
    return 0;
}

int options_parse(const command *self, const option_group *groups, uint32_t n_groups, int argc, char **argv)
{
    parser p;
    int found, at = -1;
    fill_parser(&p, groups, n_groups);
    opterr = 0;
    optind = 1;
    for (; (found = getopt_long(argc, argv, p.letters, p.longs, &at)) != -1; at = -1) {
        if (found != '?' && found != ':' && at >= 0 && !is_whole(argument_taken(argv), p.longs[at].name))
            return unknown_option(self, &p, argument_taken(argv), argv);
        if (found == 'h')
            return help_print(self, operand_of(self, argv), groups, n_groups);
        if (found == 'M')
            return help_print_man(self, groups, n_groups);
        if (found == '?' || found == ':')
            return bad_option(self, &p, found, argv);
        if (misses_value(&p, argv))
            return tool_fail(USAGE, "%s needs a value, but %s follows; see keyray %s --help",
                             argv[optind - 2], optarg, self->name);
        const int i = found >= LONG_BASE ? found - LONG_BASE : find_letter(&p, found);
        const option_row *row = p.rows[i];
        const int repeats =
            row->form == OPTION_TEXTS || row->form == OPTION_NAMES || row->form == OPTION_FLAG;
        if (p.given[i]++ && !repeats)
            return tool_fail(USAGE, "--%s is given twice", row->name);
        const int code =
            row->form == OPTION_NAMES
                ? add_names(row, optarg, (option_texts *)(void *)((char *)p.base[i] + row->offset))
                : set_row(row, p.base[i], optarg);
        if (code)
            return code;
    }
    if (optind < argc)
        return tool_fail(USAGE, "unexpected '%s'; see keyray %s --help", argv[optind], self->name);
    return check_required(self, &p);
}

int options_operand(const command *self, const option_group *all, uint32_t n_all, int argc, char **argv,
                    int *code)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        *code = help_print(self, NULL, all, n_all);
        return -1;
    }
    if (argc > 1 && strcmp(argv[1], "--man") == 0) {
        *code = help_print_man(self, all, n_all);
        return -1;
    }
    char hint[KR_SPELLING_HINT_NBYTES];
    const int choice = argc > 1 ? options_choice(self->operand, argv[1], strlen(argv[1])) : -1;
    const char *instead = argc > 1 ? instead_of(self, "", argv[1]) : NULL;
    if (choice < 0 && argc > 1)
        *code = tool_fail(USAGE, "one of %s must come first, not '%s'%s%s", self->operand, argv[1],
                          instead ? "; " : choice_hint(self->operand, argv[1], hint), instead ? instead : "");
    else if (choice < 0)
        *code = tool_fail(USAGE, "one of %s is missing; see keyray %s --help", self->operand, self->name);
    return choice;
}
