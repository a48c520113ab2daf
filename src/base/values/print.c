/* A value as text that kr_value_parse reads back as the same. */
#include "base/values/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fewest digits that read back as the same number, with a point in every locale. */
static int print_real(double value, bool narrow, char text[KR_VALUE_NBYTES])
{
    int n = 0;
    if (isnan(value) || isinf(value))
        return snprintf(text, KR_VALUE_NBYTES, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    for (int digits = narrow ? 6 : 15; digits <= (narrow ? 9 : 17); digits++) {
        n = snprintf(text, KR_VALUE_NBYTES, "%.*g", digits, value);
        if (narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    for (char *at = text; *at; at++)
        if (!strchr("0123456789+-e", *at))
            *at = '.';
    return n;
}

static int print_days(int64_t days, char text[KR_VALUE_NBYTES])
{
    int64_t year;
    int month, day;
    kr_value_days_to_civil(days, &year, &month, &day);
    return snprintf(text, KR_VALUE_NBYTES, "%s%04lld-%02d-%02d",
                    year < 0      ? "-"
                    : year > 9999 ? "+"
                                  : "",
                    (long long)(year < 0 ? -year : year), month, day);
}

static int print_timestamp(int64_t steps, kr_unit unit, char text[KR_VALUE_NBYTES])
{
    const int64_t per_second = kr_value_unit_per_second(unit);
    if (!per_second)
        return snprintf(text, KR_VALUE_NBYTES, "%lld", (long long)steps);
    int64_t fraction = steps % per_second;
    fraction += fraction < 0 ? per_second : 0;
    /* Of the largest steps `steps - fraction` would overflow. */
    const int64_t seconds = steps / per_second - (steps % per_second < 0);
    int64_t second = seconds % 86400;
    second += second < 0 ? 86400 : 0;
    int n = print_days(seconds / 86400 - (seconds % 86400 < 0), text);
    n += snprintf(text + n, KR_VALUE_NBYTES - (size_t)n, " %02d:%02d:%02d", (int)(second / 3600),
                  (int)(second / 60 % 60), (int)(second % 60));
    if (!fraction)
        return n;
    n += snprintf(text + n, KR_VALUE_NBYTES - (size_t)n, ".%0*lld", 3 * (int)(unit - KR_UNIT_S),
                  (long long)fraction);
    while (text[n - 1] == '0') /* it ends at a digit that is not: the fraction is not 0 */
        text[--n] = '\0';
    return n;
}

uint32_t kr_value_text(kr_type type, kr_unit unit, const void *value, char text[KR_VALUE_NBYTES])
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } v = {.u64 = 0};
    int n = 0;
    text[0] = '\0';
    if (!kr_type_name(type) || (unsigned)unit > KR_UNIT_NS)
        return 0;
    memcpy(&v, value, kr_type_nbytes(type));
    switch (type) {
    case KR_I8: n = snprintf(text, KR_VALUE_NBYTES, "%d", v.i8); break;
    case KR_I16: n = snprintf(text, KR_VALUE_NBYTES, "%d", v.i16); break;
    case KR_I32: n = snprintf(text, KR_VALUE_NBYTES, "%d", v.i32); break;
    case KR_I64: n = snprintf(text, KR_VALUE_NBYTES, "%lld", (long long)v.i64); break;
    case KR_F32: n = print_real((double)v.f32, true, text); break;
    case KR_F64: n = print_real(v.f64, false, text); break;
    case KR_DATE32: n = print_days(v.i32, text); break;
    case KR_TIMESTAMP64: n = print_timestamp(v.i64, unit, text); break;
    default: n = snprintf(text, KR_VALUE_NBYTES, "%llu", (unsigned long long)v.u64); break;
    }
    return (uint32_t)n;
}
