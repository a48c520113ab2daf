#include "io/column.h"

#include "base/util/error.h"
#include "base/values/convert.h"
#include "io/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HINT_NBYTES = 64 };

/* A word for NULL, as databases, R and pandas write it: what to do about it where it is not a value. */
static const char *null_hint(const struct kr_builder *builder, const char *text, size_t nbytes,
                             char hint[HINT_NBYTES])
{
    static const char *const words[] = {"NULL", "Null", "null", "NA",   "na", "N/A", "n/a", "#N/A", "\\N",
                                        "NaT",  "NaN",  "nan",  "None", "-",  "--",  "?",   "."};
    *hint = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words && !builder->quoted; i++)
        if (strlen(words[i]) == nbytes && memcmp(words[i], text, nbytes) == 0)
            snprintf(hint, HINT_NBYTES, "; kr_file_options.nulls '%s' reads it as NULL", words[i]);
    return hint;
}

static kr_status fail_value(const struct kr_builder *builder, kr_value_result result, const char *text,
                            size_t nbytes, kr_error *err)
{
    const struct kr_place *place = builder->place;
    char shown[KR_IO_SHOWN_NBYTES], problem[KR_PROBLEM_NBYTES], hint[HINT_NBYTES];
    char time_hint[KR_TIME_HINT_NBYTES];
    kr_io_show(shown, text, nbytes);
    kr_value_problem(result, builder->type, builder->unit, problem);
    return kr_fail(err, KR_ERR_FORMAT, "%s:%llu: column %s: '%s' %s%s%s", place->file,
                   (unsigned long long)place->line, place->column, shown, problem,
                   null_hint(builder, text, nbytes, hint),
                   kr_io_time_hint(result, builder->type, builder->unit, text, nbytes, time_hint));
}

static kr_status grow(struct kr_builder *builder, kr_error *err)
{
    struct kr_file *file = builder->file;
    uint64_t room = builder->room ? 2 * builder->room : 4096;
    if (builder->each) {
        void *data = kr_io_resize(file->data, room, builder->each, "a column", err);
        if (!data)
            return KR_ERR_HOST_MEMORY;
        file->data = data;
    }
    if (file->validity) {
        uint8_t *validity = kr_io_resize(file->validity, room / 8 + 1, 1, "a validity bitmap", err);
        if (!validity)
            return KR_ERR_HOST_MEMORY;
        file->validity = validity;
        memset(validity + builder->room / 8 + 1, 0xff, (size_t)(room / 8 - builder->room / 8));
    }
    builder->room = room;
    return KR_OK;
}

/* The rows so far, if any, are NULL. */
static kr_status set_type(struct kr_builder *builder, kr_type type, kr_error *err)
{
    builder->type = type;
    builder->each = kr_type_nbytes(type);
    builder->file->data = kr_host_calloc(builder->room, builder->each, "a column", err);
    return builder->file->data ? KR_OK : KR_ERR_HOST_MEMORY;
}

kr_status kr_builder_begin(struct kr_builder *builder, kr_type type, kr_unit unit, bool strings,
                           const char *nulls, struct kr_file *file, const struct kr_place *place,
                           kr_error *err)
{
    *builder = (struct kr_builder){.file = file,
                                   .place = place,
                                   .nulls = nulls,
                                   .unit = unit,
                                   .inferred = !type && !strings,
                                   .unit_inferred = type == KR_TIMESTAMP64 && unit == KR_UNIT_NONE};
    if (strings) {
        file->dictionary = kr_dictionary_create(err);
        if (!file->dictionary)
            return KR_ERR_HOST_MEMORY;
    }
    kr_status status = grow(builder, err);
    if (status == KR_OK && !builder->inferred)
        status = set_type(builder, strings ? KR_U32 : type, err);
    return status;
}

/* ---- Finding the type ---------------------------------------------------------------------- */

/* Without a time of day. */
static bool is_date(const char *text, size_t nbytes)
{
    return nbytes > 0 && kr_value_date_nbytes(text, nbytes) == nbytes;
}

/* The narrowest type that holds this text, 0 for none. *large: it is an integer beyond i64. */
static kr_type classify(const char *text, size_t nbytes, bool *large)
{
    uint64_t value;
    kr_value_result integer = kr_value_parse(KR_I64, KR_UNIT_NONE, text, nbytes, &value);
    *large = integer == KR_VALUE_RANGE;
    if (integer == KR_VALUE_OK)
        return KR_I64;
    if (kr_value_parse(KR_F64, KR_UNIT_NONE, text, nbytes, &value) != KR_VALUE_MALFORMED)
        return KR_F64;
    const kr_type type = is_date(text, nbytes) ? KR_DATE32 : KR_TIMESTAMP64;
    return kr_value_parse(type, KR_UNIT_US, text, nbytes, &value) != KR_VALUE_MALFORMED ? type : (kr_type)0;
}

static bool is_number(kr_type type)
{
    return type == KR_I64 || type == KR_F64;
}

static void integers_to_decimals(struct kr_builder *builder)
{
    char *data = builder->file->data;
    for (uint64_t i = 0; i < builder->count; i++) {
        int64_t integer;
        memcpy(&integer, data + 8 * i, sizeof integer);
        double decimal = (double)integer;
        memcpy(data + 8 * i, &decimal, sizeof decimal);
    }
    builder->type = KR_F64;
}

static kr_status dates_to_times(struct kr_builder *builder, kr_error *err)
{
    char *data = kr_io_resize(builder->file->data, builder->room, sizeof(int64_t), "a column", err);
    if (!data)
        return KR_ERR_HOST_MEMORY;
    builder->file->data = data;
    for (uint64_t i = builder->count; i-- > 0;) { /* the last first: times take the place of later dates */
        int32_t days;
        memcpy(&days, data + sizeof days * i, sizeof days);
        const int64_t time = days * INT64_C(86400000000);
        memcpy(data + sizeof time * i, &time, sizeof time);
    }
    builder->type = KR_TIMESTAMP64;
    builder->each = sizeof(int64_t);
    return KR_OK;
}

/* The first field that is not NULL is text: so is the column. */
static kr_status become_text(struct kr_builder *builder, kr_error *err)
{
    builder->inferred = false;
    builder->file->dictionary = kr_dictionary_create(err);
    return builder->file->dictionary ? set_type(builder, KR_U32, err) : KR_ERR_HOST_MEMORY;
}

/* No number, date or time. A word for NULL or a date in another form says what was meant, so that it is not
 * taken for text in silence; nor is what follows numbers. */
static kr_status infer_text(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    const struct kr_place *place = builder->place;
    char shown[KR_IO_SHOWN_NBYTES], hint[HINT_NBYTES], time_hint[KR_TIME_HINT_NBYTES];
    null_hint(builder, text, nbytes, hint);
    kr_io_time_hint(KR_VALUE_MALFORMED, (kr_type)0, KR_UNIT_NONE, text, nbytes, time_hint);
    if (!builder->type && !*hint && !*time_hint)
        return become_text(builder, err);
    kr_io_show(shown, text, nbytes);
    return kr_fail(err, KR_ERR_FORMAT,
                   "%s:%llu: column %s: '%s' is not a number, date or time%s%s; add ':str' to read text",
                   place->file, (unsigned long long)place->line, place->column, shown, hint, time_hint);
}

/* Changes the column's type to one that holds this field, too. */
static kr_status infer(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    const struct kr_place *place = builder->place;
    bool large = false;
    kr_type type = classify(text, nbytes, &large);
    char shown[KR_IO_SHOWN_NBYTES], hint[HINT_NBYTES];
    kr_io_show(shown, text, nbytes);
    if (!type)
        return infer_text(builder, text, nbytes, err);
    if (large && !builder->large_line) {
        builder->large_line = place->line;
        memcpy(builder->large_text, shown, sizeof shown);
    }
    builder->decimals |= type == KR_F64 && !large;
    if (type == KR_TIMESTAMP64)
        builder->unit = KR_UNIT_US;
    if (!builder->type)
        return set_type(builder, type, err);
    if (is_number(builder->type) != is_number(type))
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s:%llu: column %s mixes dates and numbers: '%s'%s; add ':str' to read text",
                       place->file, (unsigned long long)place->line, place->column, shown,
                       null_hint(builder, text, nbytes, hint));
    if (builder->type == KR_DATE32 && type == KR_TIMESTAMP64)
        return dates_to_times(builder, err);
    if (builder->type == KR_I64 && type == KR_F64)
        integers_to_decimals(builder);
    return KR_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static kr_status append_string(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    uint32_t *code = (uint32_t *)builder->file->data + builder->count;
    kr_status status = kr_dictionary_code(builder->file->dictionary, text, nbytes, code, err);
    builder->count += status == KR_OK;
    return status;
}

static kr_status append_null(struct kr_builder *builder, kr_error *err)
{
    kr_status status = kr_file_set_null(builder->file, builder->count, builder->room, err);
    if (status != KR_OK)
        return status;
    if (builder->each)
        memset((char *)builder->file->data + builder->count * builder->each, 0, builder->each);
    builder->count++;
    return KR_OK;
}

static bool is_null(const struct kr_builder *builder, const char *text, size_t nbytes)
{
    if (nbytes == 0)
        return true;
    const char *word = builder->quoted ? NULL : builder->nulls;
    while (word && *word) {
        const size_t length = strcspn(word, ",");
        if (length == nbytes && memcmp(word, text, nbytes) == 0)
            return true;
        word += length + (word[length] == ',');
    }
    return false;
}

static kr_value_result parse_next(const struct kr_builder *builder, const char *text, size_t nbytes)
{
    void *value = (char *)builder->file->data + builder->count * builder->each;
    return kr_value_parse(builder->type, builder->unit, text, nbytes, value);
}

/* Whether the value just parsed says anything new of the column's type. A date32 takes times at midnight, and
 * a timestamp64 integers; but the type must not depend on the order of the fields. */
static bool must_infer(const struct kr_builder *builder, kr_value_result result, const char *text,
                       size_t nbytes)
{
    if (!builder->inferred)
        return false;
    return result != KR_VALUE_OK || (builder->large_line && !builder->decimals) ||
           (builder->type == KR_DATE32 && !is_date(text, nbytes)) ||
           (builder->type == KR_TIMESTAMP64 && !kr_value_is_time(text, nbytes));
}

/* Integers say nothing of their unit, so they do not go with times. */
static kr_status infer_unit(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    const struct kr_place *place = builder->place;
    const kr_unit unit = kr_value_is_time(text, nbytes) ? KR_UNIT_US : KR_UNIT_NONE;
    if (!builder->any_value)
        builder->unit = unit;
    builder->any_value = true;
    if (builder->unit == unit)
        return KR_OK;
    char shown[KR_IO_SHOWN_NBYTES];
    kr_io_show(shown, text, nbytes);
    return kr_fail(err, KR_ERR_FORMAT,
                   "%s:%llu: column %s mixes integers and times: '%s'; give the unit of the integers, as in "
                   "':timestamp64[s]'",
                   place->file, (unsigned long long)place->line, place->column, shown);
}

static kr_status append_value(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    kr_value_result result = KR_VALUE_MALFORMED;
    if (builder->type)
        result = parse_next(builder, text, nbytes);
    const bool by_type = must_infer(builder, result, text, nbytes),
               by_unit = builder->unit_inferred && result != KR_VALUE_MALFORMED;
    if (by_type || by_unit) {
        kr_status status =
            by_type ? infer(builder, text, nbytes, err) : infer_unit(builder, text, nbytes, err);
        if (status == KR_OK && builder->file->dictionary)
            return append_string(builder, text, nbytes, err);
        if (status != KR_OK)
            return status;
        result = parse_next(builder, text, nbytes);
    }
    if (result != KR_VALUE_OK)
        return fail_value(builder, result, text, nbytes, err);
    builder->count++;
    return KR_OK;
}

static kr_status make_room(struct kr_builder *builder, kr_error *err)
{
    return builder->count == builder->room ? grow(builder, err) : KR_OK;
}

kr_status kr_builder_append(struct kr_builder *builder, const char *text, size_t nbytes, bool quoted,
                            kr_error *err)
{
    kr_status status = make_room(builder, err);
    if (status != KR_OK)
        return status;
    builder->quoted = quoted;
    if (is_null(builder, text, nbytes))
        return append_null(builder, err);
    return builder->file->dictionary ? append_string(builder, text, nbytes, err)
                                     : append_value(builder, text, nbytes, err);
}

kr_status kr_builder_append_literal(struct kr_builder *builder, const char *text, size_t nbytes, bool quoted,
                                    uint64_t n, kr_error *err)
{
    kr_status status = make_room(builder, err);
    if (status != KR_OK)
        return status;
    builder->quoted = quoted;
    if (is_null(builder, text, nbytes))
        return append_null(builder, err);
    if (builder->file->dictionary)
        return append_string(builder, text, nbytes, err);
    char shown[KR_IO_SHOWN_NBYTES], problem[KR_PROBLEM_NBYTES], hint[KR_TIME_HINT_NBYTES];
    void *value = (char *)builder->file->data + builder->count * builder->each;
    const kr_value_result result = kr_value_parse_literal(builder->type, builder->unit, text, nbytes, value);
    kr_io_show(shown, text, nbytes);
    if (result != KR_VALUE_OK)
        return kr_fail(err, KR_ERR_ARGUMENT, "value %llu of the list, '%s', %s%s", (unsigned long long)n,
                       shown, kr_value_problem(result, builder->type, builder->unit, problem),
                       result == KR_VALUE_MALFORMED
                           ? kr_io_time_hint(result, builder->type, builder->unit, text, nbytes, hint)
                           : "");
    builder->count++;
    return KR_OK;
}

static kr_status sort_strings(struct kr_builder *builder, kr_error *err)
{
    struct kr_file *file = builder->file;
    uint32_t *rank = NULL, *codes = file->data;
    kr_status status = kr_dictionary_sort(file->dictionary, &rank, err);
    if (status != KR_OK)
        return status;
    for (uint64_t i = 0; i < builder->count; i++)
        if (!file->validity || (file->validity[i / 8] >> (i % 8) & 1))
            codes[i] = rank[codes[i]];
    free(rank);
    return KR_OK;
}

/* Of integers that were read as doubles, since one is beyond i64. */
static bool fits_u64(const struct kr_builder *builder)
{
    uint64_t value;
    for (uint64_t i = 0; i < builder->count; i++)
        if (((const double *)builder->file->data)[i] < 0 ||
            ((const double *)builder->file->data)[i] >= 0x1p64)
            return false;
    return kr_value_parse(KR_U64, KR_UNIT_NONE, builder->large_text, strlen(builder->large_text), &value) ==
           KR_VALUE_OK;
}

kr_status kr_builder_end(struct kr_builder *builder, kr_error *err)
{
    struct kr_file *file = builder->file;
    kr_status status = KR_OK;
    if (builder->large_line && !builder->decimals)
        return kr_fail(err, KR_ERR_FORMAT, "%s:%llu: column %s: %s does not fit in i64; add '%s'",
                       builder->place->file, (unsigned long long)builder->large_line, builder->place->column,
                       builder->large_text,
                       fits_u64(builder) ? ":u64" : ":f64', which rounds large integers, or ':str");
    if (!builder->type) /* every field is empty */
        status = set_type(builder, KR_I64, err);
    if (status == KR_OK && file->dictionary)
        status = sort_strings(builder, err);
    void *data =
        status == KR_OK ? kr_io_resize(file->data, builder->count, builder->each, "a column", err) : NULL;
    if (!data)
        return status == KR_OK ? KR_ERR_HOST_MEMORY : status;
    file->data = data;
    file->column = (kr_column){.type = builder->type, .count = builder->count};
    if (file->dictionary)
        file->column.dictionary = kr_dictionary_identity(file->dictionary);
    file->unit = builder->type == KR_TIMESTAMP64 ? builder->unit : KR_UNIT_NONE;
    return KR_OK;
}
