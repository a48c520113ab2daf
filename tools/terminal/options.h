/* Options from tables: the same rows parse the command line and print --help. */
#ifndef KEYRAY_TERMINAL_OPTIONS_H
#define KEYRAY_TERMINAL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef enum option_form {
    OPTION_FLAG,    /* uint32_t: 1 when given */
    OPTION_TEXT,    /* const char * */
    OPTION_TEXTS,   /* option_texts: may be given several times */
    OPTION_NAMES,   /* the same, also several with ',' between: a,b; one with a ',' is quoted */
    OPTION_NUMBER,  /* uint64_t from minimum to maximum: 1000, 64K, 2^26 */
    OPTION_DECIMAL, /* uint64_t, hundredths, from minimum to maximum: 1.25 */
    OPTION_CHOICE,  /* uint32_t: position in `choices`, "row|count" */
    OPTION_CHOICES  /* option_choices: one or more with ',' between, each once */
} option_form;

enum { OPTION_TEXTS_MOST = 64 };

typedef struct option_texts {
    const char *at[OPTION_TEXTS_MOST];
    uint32_t n;
} option_texts;

enum { OPTION_CHOICES_MOST = 16 };

typedef struct option_choices {
    uint32_t at[OPTION_CHOICES_MOST];
    uint32_t n;
} option_choices;

typedef struct option_row {
    const char *name;
    char letter; /* or 0 */
    char
        required; /* 1: must be given; 2: the usage shows it, and the command says where it may be left out */
    uint8_t form; /* option_form */
    size_t offset;        /* of the field in the group's struct */
    const char *argument; /* "COL"; a CHOICE: its choices */
    const char *help;
    uint64_t minimum, maximum;
} option_row;

/* A table and the struct its offsets point into. Defaults are what the struct holds before parsing. */
typedef struct option_group {
    const char *title;
    const option_row *rows; /* ends with a row without a name */
    void *to;
} option_group;

typedef struct command {
    const char *name;
    const char *operand; /* what must follow the name: "point|range", or may: "[KIND]"; or NULL */
    const char *summary;
    const char *about;   /* sentences that say what it does: what --help and the manual page begin with */
    const char *example; /* one per line */
    int (*run)(const struct command *self, int argc, char **argv);
    const char *details; /* what --help and the manual page say behind the options; or NULL */
    /* What to give instead of an option that the command does not have; NULL: name the nearest in spelling.
     * The function may be NULL, too. `operand` is "" where none was given. */
    const char *(*instead)(const char *operand, const char *option);
} command;

/* The result of options_parse: go on, done (help was printed), or an exit status. */
enum { OPTIONS_GO_ON = -1 };

/* Parses argv[1...]; argv[0] is the command's name or its operand. */
int options_parse(const command *self, const option_group *groups, uint32_t n_groups, int argc, char **argv);

/* The position of argv[1] among the choices of self->operand, whose groups may differ. -1: do not go on,
 * *code is the exit status; `all` is for --help. */
int options_operand(const command *self, const option_group *all, uint32_t n_all, int argc, char **argv,
                    int *code);

/* Sets one option by name; -1 when no group has it. */
int options_set(const option_group *groups, uint32_t n_groups, const char *name, const char *value);

/* The position of the first nbytes of `text` among "a|b|c", or -1. */
int options_choice(const char *choices, const char *text, size_t nbytes);

#endif
