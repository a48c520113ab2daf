#include "io/hints.h"

#include "base/util/spelling.h"
#include "base/values/convert.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- Types --------------------------------------------------------------------------------- */

/* Names of types elsewhere: numpy, SQL, C. */
static const struct {
    const char *other, *type;
} aliases[] = {
    {"int", "i64"},
    {"integer", "i64"},
    {"long", "i64"},
    {"bigint", "i64"},
    {"int8", "i8"},
    {"int16", "i16"},
    {"smallint", "i16"},
    {"int32", "i32"},
    {"int64", "i64"},
    {"uint8", "u8"},
    {"byte", "u8"},
    {"uint16", "u16"},
    {"uint32", "u32"},
    {"uint", "u64"},
    {"uint64", "u64"},
    {"float", "f64"},
    {"real", "f64"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"double", "f64"},
    {"decimal", "f64"},
    {"numeric", "f64"},
    {"number", "f64"},
    {"date", "date32"},
    {"day", "date32"},
    {"time", "timestamp64"},
    {"timestamp", "timestamp64"},
    {"datetime", "timestamp64"},
    {"datetime64", "timestamp64"},
    {"string", "str"},
    {"text", "str"},
    {"varchar", "str"},
    {"char", "str"},
};

const char *kr_io_type_hint(const char *name, bool with_text, char hint[KR_TYPE_HINT_NBYTES])
{
    char spelled[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(name, strlen(name));
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcasecmp(aliases[i].other, name) == 0 && (with_text || strcmp(aliases[i].type, "str") != 0)) {
            snprintf(hint, KR_TYPE_HINT_NBYTES, " (did you mean '%s'?)", aliases[i].type);
            return hint;
        }
    for (unsigned type = 1; kr_type_nbytes((kr_type)type); type++)
        kr_spelling_offer(&nearest, kr_type_name((kr_type)type), strlen(kr_type_name((kr_type)type)));
    if (with_text)
        kr_spelling_offer(&nearest, "str", strlen("str"));
    snprintf(hint, KR_TYPE_HINT_NBYTES, "%s", kr_spelling_hint(&nearest, "'", "'", spelled));
    return hint;
}

/* ---- Columns that do not compare ----------------------------------------------------------- */

/* The extension of a source, ".csv"; "" for values written by hand. */
static const char *extension_of(const char *source, char extension[8])
{
    size_t end = kr_file_path_nbytes(source);
    if (end > 3 && strncasecmp(source + end - 3, ".gz", 3) == 0)
        end -= 3;
    snprintf(extension, 8, "%.4s", end > 4 ? source + end - 4 : end ? ".csv" : "");
    return extension;
}

static bool is_text_file(const char *extension)
{
    return strcasecmp(extension, ".csv") == 0 || strcasecmp(extension, ".tsv") == 0 ||
           strcasecmp(extension, ".tbl") == 0;
}

/* "a.csv:k:str" of "a.csv:k" and of "a.csv:k:u32", "i8.npy:u8" of "i8.npy". */
static void with_type(const char *source, const char *type, char text[KR_IO_SHOWN_NBYTES + 24])
{
    char extension[8];
    kr_unit unit;
    const char *selector = source + kr_file_path_nbytes(source), *colon = strrchr(selector, ':');
    const bool named = is_text_file(extension_of(source, extension));
    size_t nbytes = strlen(source);
    if (colon && !(named && colon == selector) &&
        (strcmp(colon + 1, "str") == 0 || kr_io_type_named(colon + 1, &unit)))
        nbytes = (size_t)(colon - source);
    snprintf(text, KR_IO_SHOWN_NBYTES + 24, "%.*s:%s", (int)nbytes, source, type);
}

static bool is_time(const struct kr_file *file)
{
    return !file->dictionary && (file->column.type == KR_DATE32 || file->column.type == KR_TIMESTAMP64);
}

const char *kr_io_compare_hint(const struct kr_file *a, const struct kr_file *b,
                               char hint[KR_COMPARE_HINT_NBYTES])
{
    char extension[8], source[KR_IO_SHOWN_NBYTES + 24];
    const struct kr_file *other = kr_file_is_text(a) || (!kr_file_is_text(b) && is_time(a)) ? b : a;
    const bool of_text = kr_file_is_text(a) || kr_file_is_text(b);
    const kr_type type = other->column.type;
    extension_of(other->name, extension);
    if (of_text && is_text_file(extension)) {
        with_type(other->name, "str", source);
        snprintf(hint, KR_COMPARE_HINT_NBYTES, "; '%s' reads it as text", source);
    } else if (of_text && !*extension) {
        snprintf(hint, KR_COMPARE_HINT_NBYTES, "; texts compare with texts");
    } else if (of_text) {
        snprintf(hint, KR_COMPARE_HINT_NBYTES, "; only columns of .csv, .tsv and .tbl files can be texts");
    } else if (type == KR_I64 && *extension) {
        with_type(other->name, "timestamp64[s]", source);
        snprintf(hint, KR_COMPARE_HINT_NBYTES,
                 "; if these integers are times, give their unit: '%s', or [ms], [us] or [ns]", source);
    } else {
        snprintf(hint, KR_COMPARE_HINT_NBYTES,
                 "; numbers compare with numbers, and dates and times with each other");
    }
    return hint;
}

/* ---- Values that do not convert ------------------------------------------------------------ */

static bool is_real(kr_type type)
{
    return type == KR_F32 || type == KR_F64;
}

/* Whether all values of a column of timestamps, and one value of another file, are some of that unit. */
static bool unit_holds(kr_unit unit, const struct kr_file *all, const struct kr_file *file, uint64_t row)
{
    const char *values = all->column.data, *value = file->column.data;
    int64_t steps;
    if (kr_value_convert(file->column.type, file->unit, value + row * kr_type_nbytes(file->column.type),
                         KR_TIMESTAMP64, unit, &steps) != KR_VALUE_OK)
        return false;
    for (uint64_t i = 0; i < all->column.count; i++)
        if (!kr_io_is_null(&all->column, i) &&
            kr_value_convert(KR_TIMESTAMP64, all->unit, values + i * sizeof steps, KR_TIMESTAMP64, unit,
                             &steps) != KR_VALUE_OK)
            return false;
    return true;
}

const char *kr_io_convert_hint(kr_value_result result, const struct kr_file *file, uint64_t row,
                               const struct kr_file *like, char hint[KR_COMPARE_HINT_NBYTES])
{
    char extension[8], source[KR_IO_SHOWN_NBYTES + 24], type[KR_TYPE_TEXT_NBYTES];
    const bool is_text = is_text_file(extension_of(like->name, extension));
    *hint = '\0';
    /* The type of a .bin file says how its bytes are laid out, so another one would read other values. */
    if (!is_text && strcasecmp(extension, ".npy") != 0)
        return hint;
    if (result == KR_VALUE_INEXACT && is_real(file->column.type)) {
        with_type(like->name, "f64", source);
        snprintf(hint, KR_COMPARE_HINT_NBYTES, "; '%s' reads it as f64%s", source,
                 is_text && !is_real(like->column.type) ? ", which rounds large integers" : "");
    }
    for (int unit = (int)like->unit - 1; result == KR_VALUE_RANGE && unit >= KR_UNIT_S; unit--)
        if (unit_holds((kr_unit)unit, like, file, row)) {
            with_type(like->name, kr_value_type_text(KR_TIMESTAMP64, (kr_unit)unit, type), source);
            snprintf(hint, KR_COMPARE_HINT_NBYTES, "; '%s' reads it in a unit that holds both", source);
            break;
        }
    return hint;
}

/* ---- Texts that do not fit the type ---------------------------------------------------------- */

const char *kr_io_time_hint(kr_value_result result, kr_type type, kr_unit unit, const char *text,
                            size_t nbytes, char hint[KR_TIME_HINT_NBYTES])
{
    char name[KR_TYPE_TEXT_NBYTES], with_sign[64];
    int64_t value;
    *hint = '\0';
    for (int coarser = (int)unit - 1; result == KR_VALUE_RANGE && coarser >= KR_UNIT_S; coarser--)
        if (kr_value_parse(type, (kr_unit)coarser, text, nbytes, &value) == KR_VALUE_OK) {
            snprintf(hint, KR_TIME_HINT_NBYTES, "; read a coarser unit, such as ':%s'",
                     kr_value_type_text(type, (kr_unit)coarser, name));
            return hint;
        }
    const bool may_be_time = !type || type == KR_DATE32 || type == KR_TIMESTAMP64;
    if (result != KR_VALUE_MALFORMED || !may_be_time || nbytes + 2 > sizeof with_sign)
        return hint;
    snprintf(with_sign, sizeof with_sign, "+%.*s", (int)nbytes, text);
    if (kr_value_is_time(with_sign, nbytes + 1) &&
        kr_value_parse(KR_TIMESTAMP64, KR_UNIT_S, with_sign, nbytes + 1, &value) != KR_VALUE_MALFORMED)
        snprintf(hint, KR_TIME_HINT_NBYTES, "; a year above 9999 has a sign, as in '%s'", with_sign);
    return hint;
}
