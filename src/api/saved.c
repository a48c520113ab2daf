/* kr_saved_*, kr_*_save, kr_*_pieces, kr_*_load: check the arguments. */
#include "base/image/saved.h"
#include "base/util/structs.h"
#include "index/kinds/index.h"
#include "table/storage/saved.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Opening ---------------------------------------------------------------------------------- */

static kr_status read_options(const kr_saved_options *options, kr_saved_options *read, kr_error *err)
{
    *read = (kr_saved_options){0};
    kr_status status = options ? kr_struct_read(&kr_struct_saved_options, options, read, err) : KR_OK;
    if (status == KR_OK && (unsigned)read->verify > KR_VERIFY_HEADER)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_options.verify: %d is none of kr_verify",
                         (int)read->verify);
    if (status == KR_OK && read->n_dictionaries && !read->dictionaries)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_options.dictionaries is NULL, n_dictionaries is %u",
                         read->n_dictionaries);
    return status == KR_OK ? kr_progress_check(read->progress, "kr_saved_options.progress", err) : status;
}

kr_status kr_saved_open(const char *path, const kr_saved_options *options, kr_saved **saved, kr_error *err)
{
    kr_saved_options read;
    if (!path || !*path || !saved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_open: %s is NULL", saved ? "path" : "saved");
    const kr_status status = read_options(options, &read, err);
    return status == KR_OK ? kr_saved_open_path(path, &read, saved, err) : status;
}

kr_status kr_saved_open_memory(const void *data, uint64_t nbytes, const kr_saved_options *options,
                               kr_saved **saved, kr_error *err)
{
    kr_saved_options read;
    if (!data || !saved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_open_memory: %s is NULL", saved ? "data" : "saved");
    const kr_status status = read_options(options, &read, err);
    return status == KR_OK ? kr_saved_open_bytes(data, nbytes, &read, saved, err) : status;
}

void kr_saved_close(kr_saved *saved)
{
    if (!saved)
        return;
    if (saved->fd >= 0) /* an index that is mapped needs no more than the mapping */
        close(saved->fd);
    saved->fd = -1;
    kr_saved_release(saved);
}

/* ---- What a file holds ------------------------------------------------------------------------ */

static kr_status count_columns(const kr_saved *saved, uint64_t *n, kr_error *err)
{
    *n = 1;
    return kr_saved_what_of(saved) == KR_SAVED_INDEX && !kr_saved_find(saved, KR_FIELD_NUMBER, "", "columns")
               ? KR_OK
               : kr_saved_find_number(saved, "columns", 0, UINT32_MAX, n, err);
}

kr_status kr_saved_query(const kr_saved *saved, kr_saved_info *info, kr_error *err)
{
    if (!saved || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_query: %s is NULL", saved ? "info" : "saved");
    kr_saved_info made = {.what = kr_saved_what_of(saved),
                          .format = KR_SAVED_FORMAT,
                          .nbytes = saved->layout.nbytes,
                          .n_attachments = saved->n_attachments};
    uint64_t columns = 0;
    kr_status status = kr_struct_check(&kr_struct_saved_info, info, err);
    if (status == KR_OK)
        status = count_columns(saved, &columns, err);
    if (status == KR_OK)
        status = kr_saved_find_number(saved, "rows", 0, KR_NO_ROW, &made.rows, err);
    made.next_row = made.rows;
    if (status == KR_OK && made.what == KR_SAVED_INDEX)
        status = kr_saved_find_number(saved, "next row", 0, KR_NO_ROW, &made.next_row, err);
    if (status != KR_OK)
        return status;
    made.n_columns = (uint32_t)columns;
    snprintf(made.version, sizeof made.version, "%s", kr_saved_version_of(saved));
    snprintf(made.spec, sizeof made.spec, "%s", kr_saved_spec_of(saved));
    kr_struct_write(&kr_struct_saved_info, &made, info);
    return KR_OK;
}

/* A number of a column that may not be there. */
static kr_status find_in_column(const kr_saved *saved, const char *scope, const char *name, uint64_t least,
                                uint64_t most, uint64_t *value, kr_error *err)
{
    const kr_field *field = kr_saved_find(saved, KR_FIELD_NUMBER, scope, name);
    *value = field ? field->value : least;
    if (*value < least || *value > most)
        return kr_fail(err, KR_ERR_FORMAT, "%s does not hold what it says: field '%s%s' is out of bounds",
                       saved->name, scope, name);
    return KR_OK;
}

kr_status kr_saved_column(const kr_saved *saved, uint32_t i, const char **name, kr_type *type, kr_unit *unit,
                          int *has_texts, kr_error *err)
{
    char scope[KR_FIELD_NAME_NBYTES];
    uint64_t columns, found_type, found_unit, texts, text_type = 0;
    if (!saved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_column: saved is NULL");
    kr_status status = count_columns(saved, &columns, err);
    if (status == KR_OK && i >= columns)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_column: there is no column %u, but %llu columns", i,
                         (unsigned long long)columns);
    if (status != KR_OK)
        return status;
    snprintf(scope, sizeof scope, "column %u.", i);
    status = find_in_column(saved, scope, "type", KR_U8, KR_TIMESTAMP64, &found_type, err);
    if (status == KR_OK)
        status = find_in_column(saved, scope, "unit", KR_UNIT_NONE, KR_UNIT_NS, &found_unit, err);
    if (status == KR_OK)
        status = find_in_column(saved, scope, "texts", 0, 3, &texts, err);
    if (status == KR_OK && kr_saved_find(saved, KR_FIELD_NUMBER, scope, "text type"))
        status = find_in_column(saved, scope, "text type", KR_STRING, KR_BINARY_VIEW, &text_type, err);
    if (status != KR_OK)
        return status;
    const kr_field *named = kr_saved_find(saved, KR_FIELD_TEXT, scope, "name");
    if (name)
        *name = named ? named->data : "";
    if (type)
        *type = (kr_type)(text_type ? text_type : found_type);
    if (unit)
        *unit = (kr_unit)found_unit;
    if (has_texts)
        *has_texts = texts > 1 ? 2 : (int)texts;
    return KR_OK;
}

const char *kr_saved_attachment_name(const kr_saved *saved, uint32_t i)
{
    const kr_field *field = saved ? kr_saved_attachment_at(saved, i) : NULL;
    return field ? field->name + strlen(KR_SAVED_ATTACHMENT) : NULL;
}

const void *kr_saved_attachment(const kr_saved *saved, const char *name, uint64_t *nbytes)
{
    const char *found;
    for (uint32_t i = 0; name && (found = kr_saved_attachment_name(saved, i)); ++i)
        if (strcmp(found, name) == 0) {
            const kr_field *field = kr_saved_attachment_at(saved, i);
            if (nbytes)
                *nbytes = field->value;
            return saved->base + field->offset;
        }
    return NULL;
}

kr_status kr_saved_check(const kr_saved *saved, kr_error *err)
{
    if (!saved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_saved_check: saved is NULL");
    return kr_saved_verify(saved, err);
}

/* ---- Saving ----------------------------------------------------------------------------------- */

static kr_status read_save_options(const kr_save_options *options, kr_save_options *read, kr_error *err)
{
    *read = (kr_save_options){0};
    const kr_status status = options ? kr_struct_read(&kr_struct_save_options, options, read, err) : KR_OK;
    if (status == KR_OK && read->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_save_options.reserved must be 0; zero the struct first");
    if (status == KR_OK && read->n_attachments && !read->attachments)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_save_options.attachments is NULL, n_attachments is %u",
                       read->n_attachments);
    return status;
}

kr_status kr_index_pieces(const kr_index *index, const kr_save_options *options, kr_pieces **pieces,
                          kr_error *err)
{
    kr_save_options read;
    if (!index || !pieces)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_pieces: %s is NULL", index ? "pieces" : "index");
    const kr_status status = read_save_options(options, &read, err);
    return status == KR_OK ? kr_index_make_pieces(index, &read, pieces, err) : status;
}

kr_status kr_table_pieces(const kr_table *table, const kr_save_options *options, kr_pieces **pieces,
                          kr_error *err)
{
    kr_save_options read;
    if (!table || !pieces)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_pieces: %s is NULL", table ? "pieces" : "table");
    const kr_status status = read_save_options(options, &read, err);
    return status == KR_OK ? kr_table_make_pieces(table, &read, pieces, err) : status;
}

/* Releases the pieces. */
static kr_status write_pieces(const char *path, kr_pieces *pieces, const kr_progress *progress, kr_error *err)
{
    kr_output *output = NULL;
    kr_status status = kr_output_create(&output, err);
    if (status == KR_OK)
        status = kr_output_add_pieces(output, path, kr_pieces_next, pieces, progress, err);
    if (status == KR_OK)
        status = kr_output_commit(output, err);
    kr_output_destroy(output);
    kr_pieces_destroy(pieces);
    return status;
}

kr_status kr_index_save(const kr_index *index, const char *path, const kr_save_options *options,
                        const kr_progress *progress, kr_error *err)
{
    kr_pieces *pieces = NULL;
    const kr_status status = kr_index_pieces(index, options, &pieces, err);
    return status == KR_OK ? write_pieces(path, pieces, progress, err) : status;
}

kr_status kr_table_save(const kr_table *table, const char *path, const kr_save_options *options,
                        const kr_progress *progress, kr_error *err)
{
    kr_pieces *pieces = NULL;
    const kr_status status = kr_table_pieces(table, options, &pieces, err);
    return status == KR_OK ? write_pieces(path, pieces, progress, err) : status;
}

/* ---- Loading ---------------------------------------------------------------------------------- */

kr_status kr_index_load(kr_device *device, const kr_saved *saved, kr_stream *stream, kr_index **index,
                        kr_error *err)
{
    if (!saved || !index)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_load: %s is NULL", saved ? "index" : "saved");
    const kr_status status = kr_stream_check(device, stream, "kr_index_load", err);
    return status == KR_OK ? kr_index_make_loaded(device, saved, stream, index, err) : status;
}
