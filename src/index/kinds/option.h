/* One option of a kind: its values, read from a spec and printed into one. */
#ifndef KEYRAY_INDEX_KINDS_OPTION_H
#define KEYRAY_INDEX_KINDS_OPTION_H

#include "base/util/error.h"

/* A row of the table that parses specs and prints `keyray kinds`. Values: INTEGER: the number; DECIMAL:
 * thousandths; TRIPLE: a | b << 8 | c << 16; PAIR: the same without c; CHOICE: the word's position; TEXT: 1,
 * kr_spec has it, or -1, -2, ... for words. A kind has at most one of form TEXT. */
typedef struct kr_option {
    const char *name;
    kr_option_form form;
    const char *choices; /* "soa|aos"; PAIR: "on" is the default, "off" is 0:0; DECIMAL, TEXT: -1, -2, ... */
    int64_t minimum, maximum; /* of each number, inclusive; not CHOICE */
    int64_t standard;         /* the default: a value */
    const char *help;         /* one line */
} kr_option;

/* The numbers of a TRIPLE or a PAIR. */
static inline uint32_t kr_option_triple_part(int64_t triple, int part)
{
    return (uint32_t)(triple >> 8 * part & 0xFF);
}

/* A substring. */
typedef struct kr_text {
    const char *at;
    size_t nbytes;
} kr_text;

/* Cuts the text up to `stop` off the front of `rest`. */
kr_text kr_text_cut(kr_text *rest, char stop);
int kr_text_is(kr_text text, const char *word);
/* Appends to a string; what does not fit is cut off. */
void kr_text_append(char *text, size_t text_nbytes, const char *more);

kr_status kr_option_read(const kr_option *option, kr_text value, int64_t *number, kr_error *err);
void kr_option_print(const kr_option *option, int64_t value, char *text, size_t text_nbytes);
/* The option as callers see it; `is_common` is left 0. */
void kr_option_describe(const kr_option *option, kr_option_info *info);

#endif
