#include "io/convert.h"

#include "io/hints.h"
#include "io/io.h"
#include "util/error.h"

#include <math.h>
#include <stdlib.h>
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

bool kr_types_compare(kr_type a, kr_type b)
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
    return type == KR_DATE32 ? 1 : 86400 * kr_unit_per_second(unit);
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
    if (!kr_types_compare(from_type, to_type))
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

/* ---- Columns ------------------------------------------------------------------------------- */

static kr_status fail_types(const struct kr_file *file, const struct kr_file *like, kr_error *err)
{
    const bool text = file->dictionary != NULL, like_text = like->dictionary != NULL;
    char is[KR_TYPE_TEXT_NBYTES], wanted[KR_TYPE_TEXT_NBYTES];
    kr_type_text(file->column.type, file->unit, is);
    kr_type_text(like->column.type, like->unit, wanted);
    char hint[KR_COMPARE_HINT_NBYTES];
    return kr_fail(err, KR_ERR_TYPE, "%s is %s, which does not compare with %s, which is %s%s", file->name,
                   text ? "str" : is, like->name, like_text ? "str" : wanted,
                   kr_io_compare_hint(file, like, hint));
}

static kr_status fail_row(const struct kr_file *file, const struct kr_file *like, uint64_t row,
                          kr_value_result result, kr_error *err)
{
    char shown[KR_VALUE_NBYTES], problem[KR_PROBLEM_NBYTES], hint[KR_COMPARE_HINT_NBYTES];
    const bool file_unknown = file->column.type == KR_TIMESTAMP64 && file->unit == KR_UNIT_NONE;
    const char *value = (const char *)file->column.data + row * kr_type_nbytes(file->column.type);
    if (result == KR_VALUE_NO_UNIT)
        return kr_fail(
            err, KR_ERR_TYPE,
            "%s has timestamps whose unit is not known, so it does not compare with %s; read it as "
            "':timestamp64[s]', [ms], [us] or [ns]",
            file_unknown ? file->name : like->name, file_unknown ? like->name : file->name);
    kr_value_text(file->column.type, file->unit, value, shown);
    kr_value_problem(result, like->column.type, like->unit, problem);
    return kr_fail(err, KR_ERR_TYPE, "%s: row %llu is %s, which %s%s%s%s", file->name,
                   (unsigned long long)row, shown, problem, *like->name ? "; it is compared with " : "",
                   like->name, kr_io_convert_hint(result, file, row, like, hint));
}

kr_status kr_file_recast(struct kr_file *file, const struct kr_file *like, kr_error *err)
{
    const kr_column *from = &file->column;
    const kr_type type = like->column.type;
    const uint32_t each = kr_type_nbytes(from->type), to_each = kr_type_nbytes(type);
    char *data = kr_host_calloc(from->count, to_each, "a converted column", err);
    if (!data)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t row = 0; row < from->count; row++) {
        const void *value = (const char *)from->data + row * each;
        const kr_value_result result =
            kr_io_is_null(from, row)
                ? KR_VALUE_OK
                : kr_value_convert(from->type, file->unit, value, type, like->unit, data + row * to_each);
        if (result != KR_VALUE_OK) {
            free(data);
            return fail_row(file, like, row, result, err);
        }
    }
    free(file->data);
    file->data = data;
    file->column.data = data;
    file->column.type = type;
    file->unit = like->unit;
    return KR_OK;
}

static kr_status fail_text(const struct kr_file *file, const struct kr_file *like, uint64_t row,
                           kr_error *err)
{
    char shown[KR_IO_SHOWN_NBYTES];
    size_t nbytes = 0;
    const char *text = kr_dictionary_string(file->dictionary, ((const uint32_t *)file->data)[row], &nbytes);
    kr_io_show(shown, text, nbytes);
    return kr_fail(
        err, KR_ERR_TYPE,
        "%s: row %llu is '%s', which is not among the texts of %s, so it has no code there; leave such "
        "rows out, as nothing there is equal to them",
        file->name, (unsigned long long)row, shown, *like->name ? like->name : "the other column");
}

/* The codes that the strings of a file have in another dictionary; KR_NO_ROW for those that it lacks. NULL if
 * there is no memory. */
static uint32_t *map_strings(const struct kr_file *file, const struct kr_dictionary *to, kr_error *err)
{
    uint32_t n = 0;
    size_t nbytes = 0;
    while (kr_dictionary_string(file->dictionary, n, &nbytes))
        ++n;
    uint32_t *map = kr_host_calloc(n, sizeof *map, "codes of texts", err);
    for (uint32_t code = 0; map && code < n; code++) {
        const char *text = kr_dictionary_string(file->dictionary, code, &nbytes);
        if (!kr_dictionary_find(to, text, nbytes, &map[code]))
            map[code] = KR_NO_ROW;
    }
    return map;
}

/* Gives the texts the codes that they have in the dictionary of `like`. */
static kr_status recode(struct kr_file *file, const struct kr_file *like, kr_error *err)
{
    uint32_t *codes = file->data, *map = map_strings(file, like->dictionary, err);
    const uint64_t n = file->column.count;
    kr_status status = map ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint64_t row = 0; row < n && status == KR_OK; row++)
        if (!kr_io_is_null(&file->column, row) && map[codes[row]] == KR_NO_ROW)
            status = fail_text(file, like, row, err);
    for (uint64_t row = 0; row < n && status == KR_OK; row++)
        if (!kr_io_is_null(&file->column, row))
            codes[row] = map[codes[row]];
    free(map);
    if (status != KR_OK)
        return status;
    kr_dictionary_destroy(file->dictionary);
    file->dictionary = kr_dictionary_share(like->dictionary);
    file->column.dictionary = like->column.dictionary;
    return KR_OK;
}

kr_status kr_file_convert(kr_file *file, const kr_file *like, kr_error *err)
{
    if (!file || !like)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_convert: %s is NULL", file ? "like" : "file");
    if (file->dictionary && like->dictionary)
        return file->dictionary == like->dictionary ? KR_OK : recode(file, like, err);
    if (file->dictionary || like->dictionary || !kr_types_compare(file->column.type, like->column.type))
        return fail_types(file, like, err);
    if (file->column.type == like->column.type && file->unit == like->unit)
        return KR_OK;
    return kr_file_recast(file, like, err);
}
