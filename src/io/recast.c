#include "base/util/error.h"
#include "base/values/convert.h"
#include "io/hints.h"
#include "io/io.h"

#include <stdlib.h>

/* ---- Values -------------------------------------------------------------------------------- */

static kr_status fail_types(const struct kr_file *file, const struct kr_file *like, kr_error *err)
{
    const bool text = kr_file_is_text(file), like_text = kr_file_is_text(like);
    char is[KR_TYPE_TEXT_NBYTES], wanted[KR_TYPE_TEXT_NBYTES];
    kr_value_type_text(file->column.type, file->unit, is);
    kr_value_type_text(like->column.type, like->unit, wanted);
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

/* ---- Texts --------------------------------------------------------------------------------- */

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

/* ---- Either -------------------------------------------------------------------------------- */

kr_status kr_file_convert(kr_file *file, const kr_file *like, kr_error *err)
{
    if (!file || !like)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_convert: %s is NULL", file ? "like" : "file");
    if (kr_file_is_spelled(file) && kr_file_is_spelled(like))
        return KR_OK; /* texts compare as they are */
    if (kr_file_is_text(file) && kr_file_is_text(like) &&
        (kr_file_is_spelled(file) || kr_file_is_spelled(like)))
        return kr_fail(err, KR_ERR_TYPE,
                       "%s has texts, and %s codes of texts: read both with kr_file_options.texts, or none",
                       kr_file_is_spelled(file) ? file->name : like->name,
                       kr_file_is_spelled(file) ? like->name : file->name);
    if (file->dictionary && like->dictionary)
        return file->dictionary == like->dictionary ? KR_OK : recode(file, like, err);
    if (kr_file_is_text(file) || kr_file_is_text(like) ||
        !kr_value_types_compare(file->column.type, like->column.type))
        return fail_types(file, like, err);
    if (file->column.type == like->column.type && file->unit == like->unit)
        return KR_OK;
    return kr_file_recast(file, like, err);
}
