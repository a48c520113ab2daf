/* Text columns of callers: they are checked, and brought to the device. */
#ifndef KEYRAY_INDEX_TEXTS_COLUMN_H
#define KEYRAY_INDEX_TEXTS_COLUMN_H

#include "index/kinds/column.h"
#include "index/texts/strings.h"

static inline int kr_strings_are(kr_type type)
{
    return type >= KR_STRING && type <= KR_BINARY_VIEW;
}

/* Type, count, alignment, places and lengths. What the rows hold, programs check. *reaches as in
 * kr_column_check. device NULL: all arrays are in host memory. */
kr_status kr_strings_check(kr_device *device, const kr_column *column, const char *what, int *reaches,
                           kr_error *err);

/* Row `row` of a checked column in host memory; an empty text of a NULL. KR_ERR_ARGUMENT says what is wrong
 * with it. */
kr_status kr_strings_row(const kr_column *column, uint64_t row, const char *what, kr_strings_text *text,
                         kr_error *err);

/* Bytes of all texts, as the column's structs say: an upper bound. Reads no array in device memory. */
uint64_t kr_strings_nbytes(const kr_column *column);

/* 1: reserved_words name buffers, as of views. */
int kr_strings_have_buffers(const kr_column *column);

/* The whole column without its rows: buffers of views are brought to the device, as scratch memory. Their
 * array is in device memory already where `reserved` is 1 (kr_texts_keep_probes). */
kr_strings kr_strings_open(kr_work *work, const kr_column *column);
/* Rows first .. first + n - 1, where the device reaches them: the caller's arrays, or copies, which are
 * scratch memory. Offsets of the first and the last row that are broken fail here. Blocks where it copies. */
kr_strings kr_strings_bring(kr_work *work, const kr_column *column, const kr_strings *open, uint64_t first,
                            uint64_t n, const char *what);
/* How many rows from `first` on are a piece of at most so many rows and about so many bytes, at least one. */
uint64_t kr_strings_piece(kr_device *device, const kr_column *column, uint64_t first, uint64_t rows,
                          uint64_t nbytes);

/* Fails if a program noted a row, KR_ERR_ARGUMENT; the text names it. `first` is the column's row that
 * programs called 0. Blocks. */
void kr_strings_refuse(kr_work *work, const uint64_t *bad, uint64_t first, const char *what);

#endif
