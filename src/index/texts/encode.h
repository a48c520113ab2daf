/* Texts as a column of codes, for calls that compare columns. */
#ifndef KEYRAY_INDEX_TEXTS_ENCODE_H
#define KEYRAY_INDEX_TEXTS_ENCODE_H

#include "index/texts/texts.h"

/* The codes of the rows, NULL where a row has none, in scratch memory that `data` of the column gives back.
 * `what` as of kr_texts_find; `help` says what saves memory. */
kr_column kr_texts_make_codes(kr_work *work, const kr_texts *texts, const kr_column *strings,
                              const char *what, const char *help);
/* A dictionary of the rows and their codes in it, as above; NULL after a failure. */
kr_texts *kr_texts_make_with_codes(kr_work *work, uint32_t is_ordered, const kr_column *strings,
                                   const char *what, const char *help, kr_column *codes);
/* Codes of a caller, where KR_NO_ROW says that a text is not in the dictionary: the column itself if no row
 * that is not NULL has it; else these rows are NULL, and what this takes is scratch memory. */
kr_column kr_texts_hide_missing(kr_work *work, const kr_column *codes, const char *help);

#endif
