/* What errors advise: the type that was probably meant, the source that reads a column as another type. */
#ifndef KEYRAY_IO_HINTS_H
#define KEYRAY_IO_HINTS_H

#include "io/io.h"

/* " (did you mean 'i64'?)" for int64, or "". `with_text`: str is a type, too. */
enum { KR_TYPE_HINT_NBYTES = 128 };
const char *kr_io_type_hint(const char *name, bool with_text, char hint[KR_TYPE_HINT_NBYTES]);

/* "; read both as text, as in 'orders.csv:order:str'" and the like: what to do where the columns do not
 * compare. Some of these have no remedy; then it says what does compare. */
enum { KR_COMPARE_HINT_NBYTES = 288 };
const char *kr_io_compare_hint(const struct kr_file *a, const struct kr_file *b,
                               char hint[KR_COMPARE_HINT_NBYTES]);

#endif
