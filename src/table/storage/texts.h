/* The dictionaries of a table: columns of texts are columns of their codes, which is all that kinds see. */
#ifndef KEYRAY_TABLE_STORAGE_TEXTS_H
#define KEYRAY_TABLE_STORAGE_TEXTS_H

#include "index/texts/texts.h"
#include "table/storage/table.h"

/* One dictionary, of one column or more. */
struct kr_table_dictionary {
    const kr_texts *texts;
    uint32_t is_shared; /* 1: the caller's, which takes no texts from here */
};

/* Checks the columns of texts of a job, and codes of the dictionaries that its options share. `reads` 0: what
 * columns hold is not looked at, and may not be there. */
kr_status kr_table_check_texts(const kr_table_job *job, uint32_t c, int reads, kr_error *err);

/* What a column of texts takes: its codes and, unless it is shared, a dictionary. */
kr_need kr_table_texts_need(const kr_table_job *job, uint32_t c);

/* Makes the codes of column c, which has texts or shares a dictionary. */
void kr_table_bring_texts(kr_work *work, kr_table *table, const kr_table_job *job, uint32_t c);
/* Notes that column c has the codes of a dictionary, which the table owns unless `is_shared`. */
void kr_table_add_texts(kr_table *table, uint32_t c, const kr_texts *texts, int is_shared);
void kr_table_release_texts(kr_table *table);

/* A column of codes in device memory, whose rows that are not NULL all have a text; and what an error says if
 * one has none. Blocks. */
typedef struct kr_table_codes {
    const kr_texts *texts;
    const kr_column *column;
    const char *name, *verb; /* of the column; "", or " to append" */
    const char *help;
    kr_status status;
} kr_table_codes;
void kr_table_check_codes(kr_work *work, const kr_table_codes *codes);
/* KR_ERR_INVARIANT if a column has a code of no text. Blocks. */
void kr_table_check_all_codes(kr_work *work, const kr_table *table);
/* KR_ERR_INVARIANT if a dictionary does not find its texts. Blocks. */
void kr_table_verify_texts(kr_work *work, const kr_table *table);

/* NULL: the column has none here. */
static inline kr_table_dictionary *kr_table_dictionary_of(const kr_table *table, uint32_t c)
{
    return table->dictionary_of[c] ? table->dictionaries + table->dictionary_of[c] - 1 : NULL;
}

/* Bytes of those that the table owns. */
uint64_t kr_table_texts_nbytes(const kr_table *table);

/* What conditions ask; their `of_texts` is the table. */
extern const kr_plan_texts kr_table_plan_texts;

#endif
