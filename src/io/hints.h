/* What errors advise: the type that was probably meant, the source that reads a column as another type. */
#ifndef KEYRAY_IO_HINTS_H
#define KEYRAY_IO_HINTS_H

#include "base/values/values.h"
#include "io/io.h"

/* " (did you mean 'i64'?)" for int64, or "". `with_text`: str is a type, too. */
enum { KR_TYPE_HINT_NBYTES = 128 };
const char *kr_io_type_hint(const char *name, bool with_text, char hint[KR_TYPE_HINT_NBYTES]);

/* "; read both as text, as in 'orders.csv:order:str'" and the like: what to do where the columns do not
 * compare. Some of these have no remedy; then it says what does compare. */
enum { KR_COMPARE_HINT_NBYTES = 288 };
const char *kr_io_compare_hint(const struct kr_file *a, const struct kr_file *b,
                               char hint[KR_COMPARE_HINT_NBYTES]);

/* "; 'orders.csv:order:f64' reads it as f64" and the like: how to read `like`, so that the value of a row of
 * `file`, which does not convert to its type, does; or "". */
const char *kr_io_convert_hint(kr_value_result result, const struct kr_file *file, uint64_t row,
                               const struct kr_file *like, char hint[KR_COMPARE_HINT_NBYTES]);

/* What to do about a text that is not a value of the type: give its year a sign, or take a coarser unit; or
 * ""; `type` 0: no type is given. */
enum { KR_TIME_HINT_NBYTES = 128 };
const char *kr_io_time_hint(kr_value_result result, kr_type type, kr_unit unit, const char *text,
                            size_t nbytes, char hint[KR_TIME_HINT_NBYTES]);

#endif
