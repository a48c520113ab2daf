/* Changes of tables, in place and as versions: check the arguments. */
#include "table/change/change.h"
#include "table/storage/texts.h"

#include <stdio.h>

static kr_status check_table(const kr_table *table, kr_stream *stream, const char *call, kr_error *err)
{
    if (!table)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: table is NULL", call);
    return kr_stream_check(table->device, stream, call, err);
}

static kr_status check_column(const kr_table *table, const kr_column *columns, uint32_t c, kr_error *err)
{
    const kr_column *column = columns + c;
    const int is_text = kr_strings_are(column->type) && kr_table_dictionary_of(table, c);
    char what[48];
    snprintf(what, sizeof what, "column %u to append", c);
    const kr_status status = is_text ? kr_strings_check(table->device, column, what, NULL, err)
                                     : kr_column_check(table->device, column, what, NULL, err);
    if (status != KR_OK)
        return status;
    if (!is_text && column->type != table->columns[c].type)
        return kr_fail(err, KR_ERR_TYPE, "%s is %s, but column '%s' of the table is %s: convert it", what,
                       kr_type_name(column->type), table->names[c], kr_type_name(table->columns[c].type));
    if (column->count != columns[0].count)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%s has %llu rows, but column 0 has %llu: all must have the same number", what,
                       (unsigned long long)column->count, (unsigned long long)columns[0].count);
    return is_text ? KR_OK
                   : kr_column_check_texts(what, column->dictionary, "that of the table",
                                           table->columns[c].dictionary, err);
}

static kr_status check_append(const kr_table *table, const kr_column *columns, uint32_t n_columns,
                              kr_stream *stream, const char *call, kr_error *err)
{
    kr_status status = check_table(table, stream, call, err);
    if (status != KR_OK)
        return status;
    if (!columns)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: columns is NULL", call);
    if (n_columns != table->n_columns)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%s: %u columns for a table of %u: give one for each of its columns", call, n_columns,
                       table->n_columns);
    for (uint32_t c = 0; c < n_columns && status == KR_OK; ++c)
        status = check_column(table, columns, c, err);
    if (status != KR_OK || !columns[0].count)
        return status;
    if (columns[0].count >= KR_NO_ROW - table->n_rows)
        return kr_fail(err, KR_ERR_LIMIT,
                       "%llu rows and %llu more: a table holds at most 4294967294, deleted rows included; "
                       "create another, of the rows that are alive",
                       (unsigned long long)table->n_rows, (unsigned long long)columns[0].count);
    return KR_OK;
}

static kr_status check_delete(const kr_table *table, const uint32_t *rows, uint64_t n, kr_stream *stream,
                              const char *call, kr_error *err)
{
    char what[48];
    snprintf(what, sizeof what, "%s: rows", call);
    kr_status status = check_table(table, stream, call, err);
    if (status == KR_OK && n && !rows)
        status =
            kr_fail(err, KR_ERR_ARGUMENT, "%s: %llu row ids, but rows is NULL", call, (unsigned long long)n);
    if (status == KR_OK && (uintptr_t)rows % sizeof *rows)
        status = kr_fail(err, KR_ERR_ARGUMENT, "%s: rows is not aligned to 4 bytes", call);
    return status == KR_OK ? kr_pointer_check(table->device, rows, what, NULL, err) : status;
}

/* ---- In place --------------------------------------------------------------------------------- */

kr_status kr_table_append(kr_table *table, const kr_column *columns, uint32_t n_columns, kr_stream *stream,
                          kr_error *err)
{
    const kr_status status = check_append(table, columns, n_columns, stream, "kr_table_append", err);
    if (status != KR_OK || !columns[0].count)
        return status;
    kr_work work = kr_work_on(table->device, stream, err);
    kr_change_append_rows(&work, table, columns);
    return kr_work_end(&work);
}

kr_status kr_table_delete(kr_table *table, const uint32_t *rows, uint64_t n, kr_stream *stream,
                          uint64_t *n_deleted, kr_error *err)
{
    const kr_status status = check_delete(table, rows, n, stream, "kr_table_delete", err);
    if (status == KR_OK && !n && n_deleted)
        *n_deleted = 0;
    if (status != KR_OK || !n)
        return status;
    kr_work work = kr_work_on(table->device, stream, err);
    kr_change_delete_rows(&work, table, rows, n, n_deleted);
    return kr_work_end(&work);
}

kr_status kr_table_delete_where(kr_table *table, const kr_condition *condition, kr_stream *stream,
                                uint64_t *n_deleted, kr_error *err)
{
    const kr_status status = check_table(table, stream, "kr_table_delete_where", err);
    if (status != KR_OK)
        return status;
    kr_work work = kr_work_on(table->device, stream, err);
    kr_change_delete_selected(&work, table, condition, n_deleted);
    return kr_work_end(&work);
}

/* ---- As versions ------------------------------------------------------------------------------ */

static kr_status check_next(kr_table **next, const char *call, kr_error *err)
{
    return next ? KR_OK : kr_fail(err, KR_ERR_ARGUMENT, "%s: next is NULL", call);
}

static kr_status end_version(kr_work *work, kr_table *made, kr_table **next)
{
    const kr_status status = kr_work_end(work);
    if (status == KR_OK)
        *next = made;
    else
        kr_table_destroy(made);
    return status;
}

kr_status kr_table_next_append(const kr_table *table, const kr_column *columns, uint32_t n_columns,
                               kr_stream *stream, kr_table **next, kr_error *err)
{
    kr_status status = check_append(table, columns, n_columns, stream, "kr_table_next_append", err);
    if (status == KR_OK)
        status = check_next(next, "kr_table_next_append", err);
    if (status != KR_OK)
        return status;
    kr_work work = kr_work_on(table->device, stream, err);
    kr_table *made = kr_table_version_make(&work, table);
    if (made && columns[0].count)
        kr_change_append_rows(&work, made, columns);
    return end_version(&work, made, next);
}

kr_status kr_table_next_delete(const kr_table *table, const uint32_t *rows, uint64_t n, kr_stream *stream,
                               uint64_t *n_deleted, kr_table **next, kr_error *err)
{
    uint64_t deleted = 0;
    kr_status status = check_delete(table, rows, n, stream, "kr_table_next_delete", err);
    if (status == KR_OK)
        status = check_next(next, "kr_table_next_delete", err);
    if (status != KR_OK)
        return status;
    kr_work work = kr_work_on(table->device, stream, err);
    kr_table *made = kr_table_version_make(&work, table);
    if (made && n)
        kr_change_delete_rows(&work, made, rows, n, &deleted);
    if (n_deleted && kr_work_goes_on(&work))
        *n_deleted = deleted;
    return end_version(&work, made, next);
}

kr_status kr_table_next_delete_where(const kr_table *table, const kr_condition *condition, kr_stream *stream,
                                     uint64_t *n_deleted, kr_table **next, kr_error *err)
{
    kr_status status = check_table(table, stream, "kr_table_next_delete_where", err);
    if (status == KR_OK)
        status = check_next(next, "kr_table_next_delete_where", err);
    if (status != KR_OK)
        return status;
    kr_work work = kr_work_on(table->device, stream, err);
    kr_table *made = kr_table_version_make(&work, table);
    if (made)
        kr_change_delete_selected(&work, made, condition, n_deleted);
    return end_version(&work, made, next);
}
