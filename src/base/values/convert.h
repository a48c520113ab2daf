/* Values of one type as values of another: the one place that says which of them compare, and how.
 *
 * A value converts where the other type holds the same value. Numbers are compared by value. A date is the
 * instant of its midnight in UTC. Numbers and dates or times do not compare. */
#ifndef KEYRAY_BASE_VALUES_CONVERT_H
#define KEYRAY_BASE_VALUES_CONVERT_H

#include "base/values/values.h"

/* Whether values of the one type compare with those of the other at all. */
bool kr_value_types_compare(kr_type a, kr_type b);

/* Converts an element. KR_VALUE_MALFORMED if the types do not compare; *to is written only on KR_VALUE_OK. */
kr_value_result kr_value_convert(kr_type from_type, kr_unit from_unit, const void *from, kr_type to_type,
                                 kr_unit to_unit, void *to);

/* kr_value_parse, and numbers as kr_value_convert converts them: 5.0 is an integer, too. For values that are
 * written by hand; a column of a file says what it holds. */
kr_value_result kr_value_parse_literal(kr_type type, kr_unit unit, const char *text, size_t nbytes,
                                       void *value);

#endif
