/* One dictionary for all text columns of a table, so that conditions may compare them with each other. */
#ifndef KEYRAY_DICTIONARY_H
#define KEYRAY_DICTIONARY_H

#include "column.h"

typedef struct dictionary_entry {
    const char *text; /* of a column's file */
    size_t nbytes;
} dictionary_entry;

/* All zero: no strings. */
typedef struct dictionary {
    dictionary_entry *at; /* distinct, ascending byte by byte; the position is the code */
    uint32_t n;
} dictionary;

/* Collects the strings of n columns and gives these their codes; columns that are not text stay as they are.
 */
int dictionary_open(dictionary *words, struct column *columns, uint32_t n);
/* Before the columns are closed. */
void dictionary_close(dictionary *words);

#endif
