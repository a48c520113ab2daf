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
/* The first code whose string is not below `text`; words->n if there is none. 1: it is that string. */
int dictionary_find(const dictionary *words, const char *text, size_t nbytes, uint32_t *code);
/* Before the columns are closed. */
void dictionary_close(dictionary *words);

#endif
