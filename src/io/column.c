#include "io/column.h"

#include "io/values.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

static kr_status fail_value(const struct kr_builder *builder, kr_value_result result, const char *text,
                            size_t nbytes, kr_error *err)
{
    const struct kr_place *place = builder->place;
    char shown[KR_IO_SHOWN_NBYTES];
    kr_io_show(shown, text, nbytes);
    return kr_fail(err, KR_ERR_FORMAT, "%s:%llu: column %s: '%s' %s %s: expected %s", place->file,
                   (unsigned long long)place->line, place->column, shown,
                   result == KR_VALUE_RANGE ? "is out of range for" : "is not of type",
                   kr_type_name(builder->type), kr_value_wanted(builder->type));
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

kr_status kr_builder_begin(struct kr_builder *builder, kr_type type, bool strings, struct kr_file *file,
                           const struct kr_place *place, kr_error *err)
{
    *builder = (struct kr_builder){.file = file, .place = place, .inferred = !type && !strings};
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

/* The narrowest type that holds this text, 0 for none. *large: it is an integer beyond i64. */
static kr_type classify(const char *text, size_t nbytes, bool *large)
{
    uint64_t value;
    kr_value_result integer = kr_value_parse(KR_I64, text, nbytes, &value);
    *large = integer == KR_VALUE_RANGE;
    if (integer == KR_VALUE_OK)
        return KR_I64;
    if (kr_value_parse(KR_F64, text, nbytes, &value) != KR_VALUE_MALFORMED)
        return KR_F64;
    return kr_value_parse(KR_DATE32, text, nbytes, &value) != KR_VALUE_MALFORMED ? KR_DATE32 : (kr_type)0;
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

/* Changes the column's type to one that holds this field, too. */
static kr_status infer(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    const struct kr_place *place = builder->place;
    bool large = false;
    kr_type type = classify(text, nbytes, &large);
    char shown[KR_IO_SHOWN_NBYTES];
    kr_io_show(shown, text, nbytes);
    if (!type)
        return kr_fail(
            err, KR_ERR_FORMAT,
            "%s:%llu: column %s: '%s' is neither a number nor a date; add ':str' to read text, or a type",
            place->file, (unsigned long long)place->line, place->column, shown);
    if (large && !builder->large_line) {
        builder->large_line = place->line;
        memcpy(builder->large_text, shown, sizeof shown);
    }
    builder->decimals |= type == KR_F64 && !large;
    if (!builder->type)
        return set_type(builder, type, err);
    if ((builder->type == KR_DATE32) != (type == KR_DATE32))
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s:%llu: column %s mixes dates and numbers: '%s'; add ':str' to read text",
                       place->file, (unsigned long long)place->line, place->column, shown);
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

static kr_value_result parse_next(const struct kr_builder *builder, const char *text, size_t nbytes)
{
    void *value = (char *)builder->file->data + builder->count * builder->each;
    return kr_value_parse(builder->type, text, nbytes, value);
}

static kr_status append_value(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    kr_value_result result = KR_VALUE_MALFORMED;
    if (builder->type)
        result = parse_next(builder, text, nbytes);
    if (builder->inferred && (result != KR_VALUE_OK || (builder->large_line && !builder->decimals))) {
        kr_status status = infer(builder, text, nbytes, err);
        if (status != KR_OK)
            return status;
        result = parse_next(builder, text, nbytes);
    }
    if (result != KR_VALUE_OK)
        return fail_value(builder, result, text, nbytes, err);
    builder->count++;
    return KR_OK;
}

kr_status kr_builder_append(struct kr_builder *builder, const char *text, size_t nbytes, kr_error *err)
{
    struct kr_file *file = builder->file;
    if (builder->count == builder->room) {
        kr_status status = grow(builder, err);
        if (status != KR_OK)
            return status;
    }
    if (nbytes > 0)
        return file->dictionary ? append_string(builder, text, nbytes, err)
                                : append_value(builder, text, nbytes, err);
    kr_status status = kr_file_set_null(file, builder->count, builder->room, err);
    if (status != KR_OK)
        return status;
    if (builder->each)
        memset((char *)file->data + builder->count * builder->each, 0, builder->each);
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

kr_status kr_builder_end(struct kr_builder *builder, kr_error *err)
{
    struct kr_file *file = builder->file;
    kr_status status = KR_OK;
    if (builder->large_line && !builder->decimals)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s:%llu: column %s: %s does not fit in i64; add a type such as ':u64' or ':f64'",
                       builder->place->file, (unsigned long long)builder->large_line, builder->place->column,
                       builder->large_text);
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
    return KR_OK;
}
