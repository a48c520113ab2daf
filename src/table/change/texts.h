/* Texts appended to a table: their codes, and dictionaries that grow. */
#ifndef KEYRAY_TABLE_CHANGE_TEXTS_H
#define KEYRAY_TABLE_CHANGE_TEXTS_H

#include "table/storage/texts.h"

/* What an append does to the dictionaries of a table, before any of it can be seen. */
typedef struct kr_change_texts {
    kr_column *more;   /* the new rows, as kinds see them: codes in the place of texts */
    kr_buffer *codes;  /* of each column with a dictionary */
    kr_texts **grown;  /* of each dictionary: with the new texts, or NULL */
    uint32_t is_grown; /* 1: some are, so codes change and all is built anew */
} kr_change_texts;

/* Refuses texts that a shared dictionary lacks, and codes of no text. Blocks. */
void kr_change_open_texts(kr_work *work, const kr_table *table, const kr_column *columns,
                          kr_change_texts *texts);
/* n codes of column c become those of its dictionary once that has grown. */
void kr_change_recode(kr_work *work, const kr_table *table, const kr_change_texts *texts, uint32_t c,
                      uint32_t *codes, uint64_t n);
/* Of column c afterwards. */
uint64_t kr_change_dictionary_of(const kr_table *table, const kr_change_texts *texts, uint32_t c);
/* Nothing can fail: the table gets the dictionaries that have grown. */
void kr_change_take_texts(kr_work *work, kr_table *table, kr_change_texts *texts);
void kr_change_close_texts(kr_work *work, const kr_table *table, kr_change_texts *texts);

#endif
