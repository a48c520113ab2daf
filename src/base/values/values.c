#include "base/values/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool take_sign(const char **at, const char *end)
{
    bool negative = *at < end && **at == '-';
    *at += negative || (*at < end && **at == '+');
    return negative;
}

/* ---- Integers ------------------------------------------------------------------------------ */

static kr_value_result parse_integer(const char *text, size_t nbytes, int64_t minimum, uint64_t maximum,
                                     uint64_t *bits)
{
    const char *at = text, *end = text + nbytes;
    bool negative = take_sign(&at, end), overflow = false;
    if (at == end)
        return KR_VALUE_MALFORMED;
    uint64_t magnitude = 0;
    for (const char *safe = end - at < 19 ? end : at + 19; at < safe; at++) { /* 10^19 has no more bits */
        if (!is_digit(*at))
            return KR_VALUE_MALFORMED;
        magnitude = magnitude * 10 + (uint64_t)(*at - '0');
    }
    for (; at < end; at++) {
        if (!is_digit(*at))
            return KR_VALUE_MALFORMED;
        overflow |= __builtin_mul_overflow(magnitude, (uint64_t)10, &magnitude);
        overflow |= __builtin_add_overflow(magnitude, (uint64_t)(*at - '0'), &magnitude);
    }
    if (overflow || magnitude > (negative ? 0 - (uint64_t)minimum : maximum))
        return KR_VALUE_RANGE;
    *bits = negative ? 0 - magnitude : magnitude;
    return KR_VALUE_OK;
}

/* ---- Decimals ------------------------------------------------------------------------------ */

/* Further significant digits cannot change a double, if one more digit marks a nonzero rest. */
enum { DIGITS_MOST = 800 };

struct decimal {
    bool negative;
    uint64_t mantissa;  /* exact for at most 19 digits */
    uint64_t n_digits;  /* significant ones */
    int64_t exponent;   /* value = digits * 10^exponent */
    const char *digits; /* the first significant one; a point may be among them */
};

/* Digits and point. False where there is no digit. */
static bool scan_digits(const char **at, const char *end, struct decimal *decimal)
{
    bool any = false, point = false;
    for (; *at < end && (is_digit(**at) || (**at == '.' && !point)); ++*at) {
        if (**at == '.') {
            point = true;
            continue;
        }
        any = true;
        decimal->exponent -= point;
        if (decimal->n_digits == 0 && **at == '0')
            continue;
        if (decimal->n_digits++ == 0)
            decimal->digits = *at;
        decimal->mantissa = decimal->mantissa * 10 + (uint64_t)(**at - '0');
    }
    return any;
}

static bool scan_decimal(const char *at, const char *end, struct decimal *decimal)
{
    if (!scan_digits(&at, end, decimal))
        return false;
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        bool negative = take_sign(&at, end);
        int64_t exponent = 0;
        if (at == end)
            return false;
        for (; at < end && is_digit(*at); at++)
            if (exponent < INT64_MAX / 100)
                exponent = exponent * 10 + (*at - '0');
        decimal->exponent += negative ? -exponent : exponent;
    }
    return at == end;
}

/* The digits without a point and with an exponent, so that strtod reads them alike in every locale. */
static void print_decimal(const struct decimal *decimal, char text[DIGITS_MOST + 32])
{
    uint64_t kept = 0;
    const char *at = decimal->digits;
    bool rest = false;
    for (uint64_t seen = 0; seen < decimal->n_digits; at++) {
        if (*at == '.')
            continue;
        seen++;
        if (kept < DIGITS_MOST)
            text[kept++] = *at;
        else
            rest |= *at != '0';
    }
    int64_t exponent = decimal->exponent + (int64_t)(decimal->n_digits - kept);
    if (rest) {
        text[kept++] = '1';
        exponent--;
    }
    const int64_t most = 99999;
    exponent = exponent > most ? most : exponent < -most ? -most : exponent;
    snprintf(text + kept, 24, "e%lld", (long long)exponent);
}

static kr_value_result parse_special(const char *at, const char *end, bool negative, double *value)
{
    size_t n = (size_t)(end - at);
    bool infinite =
        (n == 3 && strncasecmp(at, "inf", n) == 0) || (n == 8 && strncasecmp(at, "infinity", n) == 0);
    if (!infinite && !(n == 3 && strncasecmp(at, "nan", n) == 0))
        return KR_VALUE_MALFORMED;
    *value = !infinite ? NAN : negative ? -INFINITY : INFINITY;
    return KR_VALUE_OK;
}

static kr_value_result parse_f64(const char *text, size_t nbytes, double *value)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text, *end = text + nbytes;
    struct decimal decimal = {.negative = take_sign(&at, end)};
    if (!scan_decimal(at, end, &decimal))
        return parse_special(at, end, decimal.negative, value);

    double result = 0;
    if (decimal.n_digits <= 15 && decimal.exponent >= -22 && decimal.exponent <= 22) {
        /* Both numbers are exact, so one operation rounds once. */
        result = (double)decimal.mantissa;
        result = decimal.exponent < 0 ? result / tens[-decimal.exponent] : result * tens[decimal.exponent];
    } else if (decimal.n_digits > 0) {
        char digits[DIGITS_MOST + 32];
        print_decimal(&decimal, digits);
        result = strtod(digits, NULL);
        if (isinf(result))
            return KR_VALUE_RANGE;
    }
    *value = decimal.negative ? -result : result;
    return KR_VALUE_OK;
}

/* Not through f64, which would round twice. */
static kr_value_result parse_f32(const char *text, size_t nbytes, float *value)
{
    static const float tens[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
    const char *at = text, *end = text + nbytes;
    struct decimal decimal = {.negative = take_sign(&at, end)};
    if (!scan_decimal(at, end, &decimal)) {
        double special;
        kr_value_result result = parse_special(at, end, decimal.negative, &special);
        if (result == KR_VALUE_OK)
            *value = (float)special;
        return result;
    }

    float result = 0;
    if (decimal.n_digits <= 7 && decimal.exponent >= -10 && decimal.exponent <= 10) {
        result = (float)decimal.mantissa;
        result = decimal.exponent < 0 ? result / tens[-decimal.exponent] : result * tens[decimal.exponent];
    } else if (decimal.n_digits > 0) {
        char digits[DIGITS_MOST + 32];
        print_decimal(&decimal, digits);
        result = strtof(digits, NULL);
        if (isinf(result))
            return KR_VALUE_RANGE;
    }
    *value = decimal.negative ? -result : result;
    return KR_VALUE_OK;
}

/* ---- Dates and times ----------------------------------------------------------------------- */

/* Exactly n digits at `at`; -1 otherwise. */
static int number(const char *at, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (!is_digit(at[i]))
            return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value;
}

/* The Gregorian calendar, whose 400 years have 146097 days; years are counted from March so that the leap day
 * comes last. */
int64_t kr_value_days_from_civil(int64_t year, int month, int day)
{
    const int64_t shifted = year - (month <= 2);
    const int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400, year_of_era = shifted - era * 400;
    const int day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

void kr_value_days_to_civil(int64_t days, int64_t *year, int *month, int *day)
{
    const int64_t shifted = days + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    const int64_t of_era = shifted - era * 146097;
    const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int day_of_year = (int)(of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100));
    const int shifted_month = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    *month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    *year = year_of_era + era * 400 + (*month <= 2);
}

/* Years of four digits, or with a sign of four or more, as in ISO 8601. All that any type holds have fewer
 * digits than the most, whose days and seconds in turn fit in 64 bits or are found not to. */
enum { YEAR_NBYTES = 4, YEAR_DIGITS_MOST = 12, MONTH_DAY_NBYTES = sizeof "-MM-DD" - 1 };

size_t kr_value_date_nbytes(const char *text, size_t nbytes)
{
    size_t year = YEAR_NBYTES;
    if (nbytes > 0 && (*text == '+' || *text == '-'))
        for (year = 1; year < nbytes && is_digit(text[year]);)
            year++;
    const bool is_short = year == YEAR_NBYTES && !is_digit(*text);
    const size_t n = year + MONTH_DAY_NBYTES;
    return year >= YEAR_NBYTES && !is_short && nbytes >= n && text[year] == '-' && text[year + 3] == '-' ? n
                                                                                                         : 0;
}

/* All of the text is the date. */
static kr_value_result parse_day(const char *text, size_t nbytes, int64_t *days)
{
    static const signed char lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char *at = text, *end = text + nbytes - MONTH_DAY_NBYTES;
    const int month = number(end + 1, 2), day = number(end + 4, 2);
    const bool negative = take_sign(&at, end), is_long = end - at > YEAR_DIGITS_MOST;
    int64_t year = 0;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return KR_VALUE_MALFORMED;
        year = is_long ? 0 : year * 10 + (*at - '0');
    }
    if (month < 0 || day < 0)
        return KR_VALUE_MALFORMED;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (is_long || month < 1 || month > 12 || day < 1 || day > lengths[month - 1] ||
        (month == 2 && day == 29 && !leap))
        return KR_VALUE_RANGE;
    *days = kr_value_days_from_civil(negative ? -year : year, month, day);
    return KR_VALUE_OK;
}

/* An instant: seconds since 1970, and nanoseconds after them. */
struct instant {
    int64_t seconds, nanos;
};

/* Digits after a point; *at is behind them. */
static kr_value_result take_fraction(const char **at, const char *end, int64_t *nanos)
{
    int64_t unit = 100000000;
    bool finer = false;
    const char *begin = ++*at;
    for (; *at < end && is_digit(**at); ++*at, unit /= 10) {
        *nanos += unit * (**at - '0');
        finer |= unit == 0 && **at != '0';
    }
    return *at == begin ? KR_VALUE_MALFORMED : finer ? KR_VALUE_INEXACT : KR_VALUE_OK;
}

/* HH:MM[:SS[.fraction]]; *at is behind it. */
static kr_value_result take_clock(const char **at, const char *end, struct instant *when)
{
    const char *text = *at;
    if (end - text < 5 || text[2] != ':')
        return KR_VALUE_MALFORMED;
    const bool has_seconds = end - text >= 8 && text[5] == ':';
    const int hour = number(text, 2), minute = number(text + 3, 2);
    const int second = has_seconds ? number(text + 6, 2) : 0;
    if (hour < 0 || minute < 0 || second < 0)
        return KR_VALUE_MALFORMED;
    *at += has_seconds ? 8 : 5;
    const kr_value_result fraction =
        has_seconds && *at < end && **at == '.' ? take_fraction(at, end, &when->nanos) : KR_VALUE_OK;
    when->seconds += (hour * INT64_C(60) + minute) * 60 + second;
    return hour > 23 || minute > 59 || second > 59 ? KR_VALUE_RANGE : fraction;
}

/* Z, " UTC", +hh, +hhmm, +hh:mm: all that is left. *offset: how many seconds it is ahead of UTC. */
static kr_value_result parse_zone(const char *at, const char *end, int64_t *offset)
{
    const size_t n = (size_t)(end - at);
    *offset = 0;
    if (n == 0 || (n == 1 && (*at == 'Z' || *at == 'z')) || (n == 4 && memcmp(at, " UTC", 4) == 0))
        return KR_VALUE_OK;
    const bool colon = n == 6 && at[3] == ':';
    if ((*at != '+' && *at != '-') || (n != 3 && n != 5 && !colon))
        return KR_VALUE_MALFORMED;
    const int hours = number(at + 1, 2), minutes = n == 3 ? 0 : number(end - 2, 2);
    if (hours < 0 || minutes < 0)
        return KR_VALUE_MALFORMED;
    if (hours > 23 || minutes > 59)
        return KR_VALUE_RANGE;
    *offset = (hours * 60 + minutes) * INT64_C(60) * (*at == '-' ? -1 : 1);
    return KR_VALUE_OK;
}

/* The seconds of a day's begin and more, of at most two days. *seconds is wrong where they do not fit. */
static bool add_day(int64_t days, int64_t more, int64_t *seconds)
{
    const bool below = days < 0; /* its begin may be out of range where its end is not */
    int64_t begin;
    return !__builtin_mul_overflow(days + below, INT64_C(86400), &begin) &&
           !__builtin_add_overflow(begin, more - (below ? 86400 : 0), seconds);
}

/* A date or a time. A malformed text is reported before a value that is out of range. */
static kr_value_result parse_instant(const char *text, size_t nbytes, struct instant *when)
{
    const size_t date_nbytes = kr_value_date_nbytes(text, nbytes);
    int64_t days = 0, offset = 0;
    *when = (struct instant){0, 0};
    if (!date_nbytes)
        return KR_VALUE_MALFORMED;
    const char *at = text + date_nbytes, *end = text + nbytes;
    const kr_value_result date = parse_day(text, date_nbytes, &days);
    kr_value_result clock = KR_VALUE_OK, zone = KR_VALUE_OK;
    if (at < end) {
        if (*at != ' ' && *at != 'T')
            return KR_VALUE_MALFORMED;
        at++;
        clock = take_clock(&at, end, when);
        zone = clock == KR_VALUE_MALFORMED ? clock : parse_zone(at, end, &offset);
    }
    if (date == KR_VALUE_MALFORMED || zone == KR_VALUE_MALFORMED)
        return KR_VALUE_MALFORMED;
    const bool fits = add_day(days, when->seconds - offset, &when->seconds);
    return date != KR_VALUE_OK ? date : clock != KR_VALUE_OK ? clock : fits ? zone : KR_VALUE_RANGE;
}

static kr_value_result parse_date(const char *text, size_t nbytes, int32_t *days)
{
    struct instant when;
    int64_t day = 0;
    kr_value_result result;
    if (nbytes > 0 && kr_value_date_nbytes(text, nbytes) == nbytes) {
        result = parse_day(text, nbytes, &day);
    } else {
        result = parse_instant(text, nbytes, &when);
        if (result == KR_VALUE_OK && (when.nanos || when.seconds % 86400))
            return KR_VALUE_INEXACT;
        day = when.seconds / 86400;
    }
    if (result == KR_VALUE_OK && (day < INT32_MIN || day > INT32_MAX))
        return KR_VALUE_RANGE;
    if (result == KR_VALUE_OK)
        *days = (int32_t)day;
    return result;
}

static kr_value_result parse_timestamp(const char *text, size_t nbytes, kr_unit unit, int64_t *value)
{
    struct instant when;
    if (!kr_value_is_time(text, nbytes))
        return parse_integer(text, nbytes, INT64_MIN, INT64_MAX, (uint64_t *)value);
    const kr_value_result result = parse_instant(text, nbytes, &when);
    if (result != KR_VALUE_OK)
        return result;
    const int64_t per_second = kr_value_unit_per_second(unit),
                  nanos = per_second ? 1000000000 / per_second : 1;
    int64_t steps;
    if (!per_second)
        return KR_VALUE_NO_UNIT;
    if (when.nanos % nanos)
        return KR_VALUE_INEXACT;
    /* Of a negative second the nanoseconds may keep the sum in range. */
    const bool below = when.seconds < 0 && when.nanos;
    if (__builtin_mul_overflow(when.seconds + below, per_second, &steps) ||
        __builtin_add_overflow(steps, when.nanos / nanos - (below ? per_second : 0), &steps))
        return KR_VALUE_RANGE;
    *value = steps;
    return KR_VALUE_OK;
}

/* ---- Units --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t per_second;
} units[] = {[KR_UNIT_NONE] = {"", 0},
             [KR_UNIT_S] = {"s", 1},
             [KR_UNIT_MS] = {"ms", 1000},
             [KR_UNIT_US] = {"us", 1000000},
             [KR_UNIT_NS] = {"ns", 1000000000}};

int64_t kr_value_unit_per_second(kr_unit unit)
{
    return units[unit].per_second;
}

const char *kr_value_type_text(kr_type type, kr_unit unit, char text[KR_TYPE_TEXT_NBYTES])
{
    const bool shown = type == KR_TIMESTAMP64 && unit != KR_UNIT_NONE;
    snprintf(text, KR_TYPE_TEXT_NBYTES, shown ? "%s[%s]" : "%s", kr_type_name(type), units[unit].name);
    return text;
}

/* ---- One line per type --------------------------------------------------------------------- */

static const struct form {
    enum { INTEGER = 1, F32, F64, DATE, TIMESTAMP } parser;
    uint32_t nbytes;
    int64_t minimum;
    uint64_t maximum;
    const char *wanted;
} forms[] = {
    [KR_U8] = {INTEGER, 1, 0, UINT8_MAX, "an integer from 0 to 255"},
    [KR_I8] = {INTEGER, 1, INT8_MIN, INT8_MAX, "an integer from -128 to 127"},
    [KR_U16] = {INTEGER, 2, 0, UINT16_MAX, "an integer from 0 to 65535"},
    [KR_I16] = {INTEGER, 2, INT16_MIN, INT16_MAX, "an integer from -32768 to 32767"},
    [KR_U32] = {INTEGER, 4, 0, UINT32_MAX, "an integer from 0 to 4294967295"},
    [KR_I32] = {INTEGER, 4, INT32_MIN, INT32_MAX, "an integer from -2147483648 to 2147483647"},
    [KR_U64] = {INTEGER, 8, 0, UINT64_MAX, "an integer from 0 to 18446744073709551615"},
    [KR_I64] = {INTEGER, 8, INT64_MIN, INT64_MAX,
                "an integer from -9223372036854775808 to 9223372036854775807"},
    [KR_F32] = {F32, 4, 0, 0, "a number up to 3.4e38, nan or inf"},
    [KR_F64] = {F64, 8, 0, 0, "a number up to 1.7e308, nan or inf"},
    [KR_DATE32] = {DATE, 4, 0, 0, "a date such as 1995-03-15"},
    [KR_TIMESTAMP64] = {TIMESTAMP, 8, 0, 0,
                        "a 64-bit integer, or a time such as 1995-03-15 12:30:00.000001+02:00"},
};

kr_value_result kr_value_parse(kr_type type, kr_unit unit, const char *text, size_t nbytes, void *value)
{
    const struct form *form = &forms[type];
    switch (form->parser) {
    case INTEGER: {
        uint64_t bits;
        kr_value_result result = parse_integer(text, nbytes, form->minimum, form->maximum, &bits);
        if (result == KR_VALUE_OK)
            memcpy(value, &bits, form->nbytes);
        return result;
    }
    case F32: return parse_f32(text, nbytes, value);
    case F64: return parse_f64(text, nbytes, value);
    case DATE: return parse_date(text, nbytes, value);
    case TIMESTAMP: return parse_timestamp(text, nbytes, unit, value);
    }
    return KR_VALUE_MALFORMED;
}

const char *kr_value_wanted(kr_type type)
{
    return forms[type].wanted;
}

const char *kr_value_problem(kr_value_result result, kr_type type, kr_unit unit, char text[KR_PROBLEM_NBYTES])
{
    char name[KR_TYPE_TEXT_NBYTES];
    kr_value_type_text(type, unit, name);
    if (result == KR_VALUE_NO_UNIT)
        snprintf(text, KR_PROBLEM_NBYTES,
                 "is a time, but the unit of these timestamps is not known: read them as ':timestamp64[s]', "
                 "[ms], [us] or [ns]");
    else if (result == KR_VALUE_INEXACT && type == KR_DATE32)
        snprintf(text, KR_PROBLEM_NBYTES,
                 "has a time of day, which date32 lacks: read timestamps on both sides, with "
                 "':timestamp64', or give dates");
    else if (result == KR_VALUE_INEXACT && type == KR_TIMESTAMP64)
        snprintf(text, KR_PROBLEM_NBYTES, "is finer than %s%s", name,
                 unit == KR_UNIT_NS ? ", the finest unit"
                                    : ": read a finer unit, such as ':timestamp64[ns]'");
    else if (result == KR_VALUE_INEXACT && (type == KR_F32 || type == KR_F64))
        snprintf(text, KR_PROBLEM_NBYTES, "cannot be held exactly by %s", name);
    else if (result == KR_VALUE_INEXACT)
        snprintf(text, KR_PROBLEM_NBYTES, "is not an integer; the column is %s", name);
    else
        snprintf(text, KR_PROBLEM_NBYTES, "%s %s: expected %s",
                 result == KR_VALUE_RANGE ? "is out of range for" : "is not of type", name,
                 kr_value_wanted(type));
    return text;
}
