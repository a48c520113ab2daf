#include "nearest.h"
#include "tools/terminal/tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int nearest_check(const nearest_options *options, const char *option)
{
    if (!options->side && (options->strict || options->tolerance))
        return tool_fail(USAGE, "--%s needs %s", options->strict ? "strict" : "tolerance", option);
    return DONE;
}

/* Units of durations in nanoseconds. */
static const struct {
    const char *name;
    uint64_t nanos;
} units[] = {{"ns", 1},
             {"us", 1000},
             {"ms", 1000000},
             {"s", 1000000000},
             {"min", 60 * UINT64_C(1000000000)},
             {"h", 3600 * UINT64_C(1000000000)},
             {"d", 86400 * UINT64_C(1000000000)}};

enum { N_UNITS = sizeof units / sizeof *units };

#define UNITS "ns, us, ms, s, min, h or d"

/* Nanoseconds of the unit of that name, or 0. */
static uint64_t nanos_of(const char *name)
{
    for (int i = 0; i < N_UNITS; ++i)
        if (strcmp(units[i].name, name) == 0)
            return units[i].nanos;
    return 0;
}

/* Nanoseconds of a step of the keys; 0 where they are not times, or their unit is not known. */
static uint64_t nanos_of_step(kr_type type, kr_unit unit)
{
    static const char *const names[] = {[KR_UNIT_NONE] = "",
                                        [KR_UNIT_S] = "s",
                                        [KR_UNIT_MS] = "ms",
                                        [KR_UNIT_US] = "us",
                                        [KR_UNIT_NS] = "ns"};
    return type == KR_DATE32 ? nanos_of("d") : type == KR_TIMESTAMP64 ? nanos_of(names[unit]) : 0;
}

/* What a number without a unit counts: "us", "days". */
static const char *name_of_step(kr_type type, kr_unit unit)
{
    if (type == KR_DATE32)
        return "days";
    for (int i = 0; i < N_UNITS && unit != KR_UNIT_NONE; ++i)
        if (units[i].nanos == nanos_of_step(type, unit))
            return units[i].name;
    return "steps of its unit";
}

/* "1.5min" in steps of `step` nanoseconds, rounded down: distances of keys are whole steps, so none lies
 * between. 0: it is not a duration. *large: it is beyond 63 bits. */
static int read_duration(const char *text, uint64_t step, int64_t *steps, int *large)
{
    const size_t whole = strspn(text, "0123456789");
    const char *fraction = text + whole + (text[whole] == '.');
    const size_t decimals = text[whole] == '.' ? strspn(fraction, "0123456789") : 0;
    const uint64_t nanos = nanos_of(fraction + decimals);
    if (!whole || !nanos || (text[whole] == '.' && !decimals))
        return 0;
    const uint64_t per_unit = nanos / step; /* 0: the unit is finer than a step */
    uint64_t value, part = 0;
    errno = 0;
    value = strtoull(text, NULL, 10);
    *large = errno == ERANGE;
    for (size_t i = decimals; i > 0; --i) /* from the last digit on, so that it is exact */
        part = ((uint64_t)(fraction[i - 1] - '0') * per_unit + part) / 10;
    if (!per_unit)
        value /= step / nanos;
    *large |= per_unit && __builtin_mul_overflow(value, per_unit, &value);
    *large |= __builtin_add_overflow(value, part, &value) || value > INT64_MAX;
    *steps = (int64_t)value;
    return 1;
}

static int refuse(const char *text, const char *source, kr_type type, kr_unit unit)
{
    if (type == KR_TIMESTAMP64 && unit == KR_UNIT_NONE)
        return tool_fail(
            USAGE,
            "--tolerance %s: the unit of the timestamps of %s is not known; give a whole number, or "
            "read them with a unit, as in ':timestamp64[s]'",
            text, source);
    if (type == KR_DATE32 || type == KR_TIMESTAMP64)
        return tool_fail(USAGE,
                         "--tolerance %s is not a duration; give one in " UNITS
                         ", as in 1d or 36h, or a whole number of %s, which %s counts in",
                         text, name_of_step(type, unit), source);
    const int is_float = type == KR_F32 || type == KR_F64;
    return tool_fail(USAGE, "--tolerance %s is not a %s, and %s is %s", text,
                     is_float ? "number" : "whole number", source, kr_type_name(type));
}

/* A number or duration without a sign. 0: it is none. *large: it is beyond 63 bits. */
static int read_distance(const char *text, kr_type type, uint64_t step, kr_nearest_options *made, int *large)
{
    const int is_float = type == KR_F32 || type == KR_F64;
    char *end = NULL;
    *large = 0;
    if (step && read_duration(text, step, &made->tolerance, large))
        return 1;
    if (*text == '-')
        return 0;
    errno = 0;
    if (is_float)
        made->float_tolerance = strtod(text, &end);
    else
        made->tolerance = strtoll(text, &end, 10);
    *large = errno == ERANGE && !is_float;
    return end != text && !*end && !isnan(made->float_tolerance) && made->tolerance >= 0 &&
           made->float_tolerance >= 0;
}

int nearest_read(const nearest_options *options, const char *source, kr_type type, kr_unit unit,
                 kr_nearest_options *made)
{
    const char *text = options->tolerance;
    int large = 0;
    *made = (kr_nearest_options){.struct_size = sizeof *made,
                                 .side = (kr_nearest_side)options->side,
                                 .strict = options->strict,
                                 .limited = text != NULL};
    if (!text)
        return DONE;
    const int has_minus = *text == '-';
    if (!read_distance(text + has_minus, type, nanos_of_step(type, unit), made, &large))
        return refuse(text, source, type, unit);
    if (has_minus && (large || made->tolerance > 0 || made->float_tolerance > 0))
        return tool_fail(USAGE, "--tolerance %s: a tolerance is not negative; give %s", text, text + 1);
    if (large)
        return tool_fail(USAGE,
                         "--tolerance %s is more than any distance between two values of %s; leave it out",
                         text, source);
    return DONE;
}

void nearest_rename(kr_error *err)
{
    tool_rename(err, "kr_nearest_options.tolerance", "--tolerance");
    tool_rename(err, "kr_nearest_options.float_tolerance", "--tolerance");
}
