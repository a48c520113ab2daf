/* What --help and --man print: both from the tables of options. */
#ifndef KEYRAY_HELP_H
#define KEYRAY_HELP_H

#include "options.h"

#include <stdio.h>

/* How a column is named, for --help. */
extern const char help_columns[];

/* The words of `text` in lines of at most HELP_WIDTH, which begin at `indent`; the first one is already
 * there, up to `column`. */
enum { HELP_WIDTH = 100 };
void help_print_wrapped(FILE *to, const char *text, int indent, int column);

/* `operand` NULL: the groups are those of all operands, of which only the first belongs to each of them.
 * Return DONE. */
int help_print(const command *self, const char *operand, const option_group *groups, uint32_t n_groups);
/* The manual page keyray-COMMAND(1), in man(7). */
int help_print_man(const command *self, const option_group *groups, uint32_t n_groups);

#endif
