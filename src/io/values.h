/* The text of a field as a value of a type. */
#ifndef KEYRAY_IO_VALUES_H
#define KEYRAY_IO_VALUES_H

#include <keyray/keyray.h>

typedef enum kr_value_result {
    KR_VALUE_OK,
    KR_VALUE_MALFORMED, /* not a value of this form */
    KR_VALUE_RANGE      /* a value, but not one of this type */
} kr_value_result;

/* Writes one element of `type` to *value, only on KR_VALUE_OK. The whole text must be the value: no
 * spaces around it. Does not depend on the locale.
 *
 * Integers have an optional sign. Floats are correctly rounded; nan, inf and infinity are accepted in
 * any case. date32 is YYYY-MM-DD. timestamp64 is an integer in any unit, or YYYY-MM-DD HH:MM:SS[.fraction],
 * with a space or a T, as microseconds since 1970. */
kr_value_result kr_value_parse(kr_type type, const char *text, size_t nbytes, void *value);

/* What kr_value_parse accepts for the type: "an integer from 0 to 255". */
const char *kr_value_wanted(kr_type type);

#endif
