#include "base/values/convert.h"

#include <math.h>
#include <string.h>

enum kind { INTEGER, REAL, DAY, TIME };

static enum kind kind_of(kr_type type)
{
    switch (type) {
    case KR_F32:
    case KR_F64: return REAL;
    case KR_DATE32: return DAY;
    case KR_TIMESTAMP64: return TIME;
    default: return INTEGER;
    }
}

bool kr_value_types_compare(kr_type a, kr_type b)
{
    const enum kind x = kind_of(a), y = kind_of(b);
    return (x <= REAL) == (y <= REAL);
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* An integer of 64 bits and a sign. */
struct integer {
    bool negative;
    uint64_t magnitude;
};

static struct integer load_integer(kr_type type, const void *from)
{
    int64_t value = 0;
    uint64_t positive = 0;
    switch (type) {
    case KR_I8: value = *(const int8_t *)from; break;
    case KR_I16: value = *(const int16_t *)from; break;
    case KR_I32:
    case KR_DATE32: value = *(const int32_t *)from; break;
    case KR_I64:
    case KR_TIMESTAMP64: value = *(const int64_t *)from; break;
    default: memcpy(&positive, from, kr_type_nbytes(type)); return (struct integer){false, positive};
    }
    return (struct integer){value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value};
}

static kr_value_result store_integer(struct integer integer, kr_type type, void *to)
{
    static const struct {
        uint64_t below, above; /* the largest magnitudes */
    } limits[] = {
        [KR_U8] = {0, UINT8_MAX},
        [KR_I8] = {(uint64_t)INT8_MAX + 1, INT8_MAX},
        [KR_U16] = {0, UINT16_MAX},
        [KR_I16] = {(uint64_t)INT16_MAX + 1, INT16_MAX},
        [KR_U32] = {0, UINT32_MAX},
        [KR_I32] = {(uint64_t)INT32_MAX + 1, INT32_MAX},
        [KR_U64] = {0, UINT64_MAX},
        [KR_I64] = {(uint64_t)INT64_MAX + 1, INT64_MAX},
        [KR_DATE32] = {(uint64_t)INT32_MAX + 1, INT32_MAX},
        [KR_TIMESTAMP64] = {(uint64_t)INT64_MAX + 1, INT64_MAX},
    };
    if (integer.magnitude > (integer.negative ? limits[type].below : limits[type].above))
        return KR_VALUE_RANGE;
    const uint64_t bits = integer.negative ? 0 - integer.magnitude : integer.magnitude;
    memcpy(to, &bits, kr_type_nbytes(type));
    return KR_VALUE_OK;
}

static double load_real(kr_type type, const void *from)
{
    return type == KR_F32 ? (double)*(const float *)from : *(const double *)from;
}

static kr_value_result store_real(double value, kr_type type, void *to)
{
    if (type == KR_F32) {
        const float narrow = (float)value;
        if (!isnan(value) && (double)narrow != value)
            return isinf(narrow) ? KR_VALUE_RANGE : KR_VALUE_INEXACT;
        memcpy(to, &narrow, sizeof narrow);
    } else {
        memcpy(to, &value, sizeof value);
    }
    return KR_VALUE_OK;
}

static kr_value_result integer_to_real(struct integer integer, kr_type type, void *to)
{
    const double size = (double)integer.magnitude;
    if (size >= 0x1p64 || (uint64_t)size != integer.magnitude)
        return KR_VALUE_INEXACT;
    return store_real(integer.negative ? -size : size, type, to);
}

static kr_value_result real_to_integer(double value, kr_type type, void *to)
{
    const double size = fabs(value);
    if (isnan(value) || (size < 0x1p64 && floor(size) != size))
        return KR_VALUE_INEXACT;
    return size < 0x1p64 ? store_integer((struct integer){value < 0, (uint64_t)size}, type, to)
                         : KR_VALUE_RANGE;
}

/* ---- Dates and times ----------------------------------------------------------------------- */

/* Steps of one unit as steps of another, both given as steps per day. */
static kr_value_result rescale(int64_t steps, int64_t from_per_day, int64_t to_per_day, kr_type type,
                               void *to)
{
    if (from_per_day == 0 || to_per_day == 0)
        return KR_VALUE_NO_UNIT;
    if (to_per_day < from_per_day) {
        const int64_t factor = from_per_day / to_per_day;
        if (steps % factor)
            return KR_VALUE_INEXACT;
        steps /= factor;
    } else if (__builtin_mul_overflow(steps, to_per_day / from_per_day, &steps)) {
        return KR_VALUE_RANGE;
    }
    return store_integer((struct integer){steps < 0, steps < 0 ? 0 - (uint64_t)steps : (uint64_t)steps}, type,
                         to);
}

static int64_t per_day(kr_type type, kr_unit unit)
{
    return type == KR_DATE32 ? 1 : 86400 * kr_value_unit_per_second(unit);
}

static kr_value_result convert_time(kr_type from_type, kr_unit from_unit, const void *from, kr_type to_type,
                                    kr_unit to_unit, void *to)
{
    const int64_t steps = from_type == KR_DATE32 ? *(const int32_t *)from : *(const int64_t *)from;
    if (from_type == to_type && from_unit == to_unit) {
        memcpy(to, from, kr_type_nbytes(to_type));
        return KR_VALUE_OK;
    }
    return rescale(steps, per_day(from_type, from_unit), per_day(to_type, to_unit), to_type, to);
}

/* ---- Values -------------------------------------------------------------------------------- */

kr_value_result kr_value_convert(kr_type from_type, kr_unit from_unit, const void *from, kr_type to_type,
                                 kr_unit to_unit, void *to)
{
    const enum kind is = kind_of(from_type), wanted = kind_of(to_type);
    if (!kr_value_types_compare(from_type, to_type))
        return KR_VALUE_MALFORMED;
    if (is >= DAY)
        return convert_time(from_type, from_unit, from, to_type, to_unit, to);
    if (is == REAL)
        return wanted == REAL ? store_real(load_real(from_type, from), to_type, to)
                              : real_to_integer(load_real(from_type, from), to_type, to);
    return wanted == REAL ? integer_to_real(load_integer(from_type, from), to_type, to)
                          : store_integer(load_integer(from_type, from), to_type, to);
}

kr_value_result kr_value_parse_literal(kr_type type, kr_unit unit, const char *text, size_t nbytes,
                                       void *value)
{
    double real = 0;
    const kr_value_result result = kr_value_parse(type, unit, text, nbytes, value);
    if (result != KR_VALUE_MALFORMED || kind_of(type) != INTEGER)
        return result;
    const kr_value_result as_real = kr_value_parse(KR_F64, KR_UNIT_NONE, text, nbytes, &real);
    /* A double that is larger than all integers it tells apart may stand for another number. */
    if (as_real == KR_VALUE_OK && fabs(real) > 0x1p53 && !isinf(real))
        return KR_VALUE_MALFORMED;
    return as_real == KR_VALUE_OK ? real_to_integer(real, type, value) : as_real;
}
