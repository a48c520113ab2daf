/* Text as a value of a type, and back. */
#ifndef KEYRAY_BASE_VALUES_VALUES_H
#define KEYRAY_BASE_VALUES_VALUES_H

#include <keyray/keyray.h>

#include <stdbool.h>

typedef enum kr_value_result {
    KR_VALUE_OK,
    KR_VALUE_MALFORMED, /* not a value of this form */
    KR_VALUE_RANGE,     /* a value, but beyond this type */
    KR_VALUE_INEXACT,   /* a value between two of this type: a time for a date, a fraction for an integer */
    KR_VALUE_NO_UNIT    /* a date or a time for a timestamp64 whose unit is not known */
} kr_value_result;

/* Writes one element of `type` to *value, only on KR_VALUE_OK. The whole text must be the value: no
 * spaces around it. Does not depend on the locale. `unit` counts for timestamp64 only.
 *
 * Integers have an optional sign. Floats are correctly rounded; nan, inf and infinity are accepted in
 * any case. date32 is YYYY-MM-DD, or a time at midnight. A year that has not four digits has a sign:
 * +12024-01-31. timestamp64 is an integer in `unit`, a date, which is its midnight, or YYYY-MM-DD
 * HH:MM[:SS[.fraction]] with a space or a T, and then Z, " UTC", +hh, +hhmm or +hh:mm. Without one of these
 * it is UTC. */
kr_value_result kr_value_parse(kr_type type, kr_unit unit, const char *text, size_t nbytes, void *value);

/* How many bytes of a text are a date, or look like one; 0 if it does not begin with one. A time goes on. */
size_t kr_value_date_nbytes(const char *text, size_t nbytes);
/* Whether it begins like a date or a time. */
static inline bool kr_value_is_time(const char *text, size_t nbytes)
{
    return kr_value_date_nbytes(text, nbytes) > 0;
}

/* What kr_value_parse accepts for the type: "an integer from 0 to 255". */
const char *kr_value_wanted(kr_type type);

/* What the result says of a value: "is out of range for u8: expected an integer from 0 to 255". */
enum { KR_PROBLEM_NBYTES = 160 };
const char *kr_value_problem(kr_value_result result, kr_type type, kr_unit unit,
                             char text[KR_PROBLEM_NBYTES]);

/* Steps of a unit in a second; 0 for KR_UNIT_NONE. */
int64_t kr_value_unit_per_second(kr_unit unit);
/* "timestamp64[us]", "u8". */
enum { KR_TYPE_TEXT_NBYTES = 24 };
const char *kr_value_type_text(kr_type type, kr_unit unit, char text[KR_TYPE_TEXT_NBYTES]);

/* Days since 1970-01-01 in the Gregorian calendar, and back. */
int64_t kr_value_days_from_civil(int64_t year, int month, int day);
void kr_value_days_to_civil(int64_t days, int64_t *year, int *month, int *day);

#endif
