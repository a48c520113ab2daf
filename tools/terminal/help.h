/* What --help, --man and keyray help TOPIC print: the first two from the tables of options. */
#ifndef KEYRAY_TERMINAL_HELP_H
#define KEYRAY_TERMINAL_HELP_H

#include "options.h"

#include <stdio.h>

/* The words of `text` in lines of at most HELP_WIDTH, which begin at `indent`; the first one is already
 * there, up to `column`. */
enum { HELP_WIDTH = 100 };
void help_print_wrapped(FILE *to, const char *text, int indent, int column);

/* `operand` NULL: the groups are those of all operands, of which only the first belongs to each of them.
 * Return DONE. */
int help_print(const command *self, const char *operand, const option_group *groups, uint32_t n_groups);
/* What several commands share: how columns are named, what answers are. */
typedef struct help_topic {
    const char *name, *summary, *text;
} help_topic;

enum { HELP_TOPICS = 2 };
extern const help_topic help_topics[HELP_TOPICS];
void help_print_topic(const help_topic *topic);

/* The manual page keyray-COMMAND(1), in man(7). */
int help_print_man(const command *self, const option_group *groups, uint32_t n_groups);

#endif
