/* kr_table_*: check the arguments, resolve the spec, report. */
#include "base/util/structs.h"
#include "table/storage/saved.h"
#include "table/storage/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kr_status check_names(const kr_table_job *job, kr_error *err)
{
    for (uint32_t c = 0; job->names && c < job->n_columns; ++c) {
        if (!job->names[c] || !job->names[c][0])
            return kr_fail(err, KR_ERR_ARGUMENT, "column %u has no name: give one for each column", c);
        const uint32_t first = kr_table_first_named(job->names, c);
        if (first != c)
            return kr_fail(err, KR_ERR_ARGUMENT, "columns %u and %u are both named '%s': give each its own",
                           first, c, job->names[c]);
    }
    return KR_OK;
}

static kr_status check_columns(const kr_table_job *job, int reads, kr_error *err)
{
    const kr_column *columns = job->columns;
    kr_status status = KR_OK;
    char what[32];
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; ++c) {
        snprintf(what, sizeof what, "column %u", c);
        status = kr_table_check_texts(job, c, reads, err);
        if (status == KR_OK && !kr_strings_are(columns[c].type))
            status = reads ? kr_column_check(job->device, columns + c, what, NULL, err)
                           : kr_column_check_shape(job->device, columns + c, what, NULL, err);
        if (status == KR_OK && columns[c].count != columns[0].count)
            status = kr_fail(err, KR_ERR_ARGUMENT,
                             "column %u has %llu rows, but column 0 has %llu: all must have the same number",
                             c, (unsigned long long)columns[c].count, (unsigned long long)columns[0].count);
    }
    if (status == KR_OK && columns[0].count >= KR_NO_ROW)
        status = kr_fail(err, KR_ERR_LIMIT, "%llu rows: a table holds at most 4294967294; split it",
                         (unsigned long long)columns[0].count);
    return status;
}

static kr_status check_options(const kr_table_options *given, uint32_t n_columns, kr_table_options *options,
                               kr_error *err)
{
    *options = (kr_table_options){.struct_size = sizeof *options};
    kr_status status = given ? kr_struct_read(&kr_struct_table_options, given, options, err) : KR_OK;
    if (status == KR_OK && ((unsigned)options->copy > KR_COPY_NEVER || options->reserved))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_options.%s is %u: use %s",
                       options->reserved ? "reserved" : "copy",
                       options->reserved ? options->reserved : (unsigned)options->copy,
                       options->reserved ? "0" : "one of kr_copy");
    for (uint32_t c = 0; status == KR_OK && options->units && c < n_columns; ++c)
        if ((unsigned)options->units[c] > KR_UNIT_NS)
            status = kr_fail(err, KR_ERR_ARGUMENT, "kr_table_options.units[%u] is %d: use one of kr_unit", c,
                             (int)options->units[c]);
    return status;
}

/* What kinds see of the columns; the caller frees it. */
static kr_column *see_columns(const kr_table_job *job, kr_error *err)
{
    kr_column *seen = kr_host_calloc(job->n_columns, sizeof *seen, "columns of a table", err);
    for (uint32_t c = 0; seen && c < job->n_columns; ++c) {
        const kr_column *column = job->columns + c;
        seen[c] = *column;
        if (kr_strings_are(column->type))
            seen[c] = (kr_column){.type = KR_U32, .count = column->count, .validity = column->validity};
    }
    return seen;
}

/* The checks that create and estimate start with. */
static kr_status resolve(kr_table_job *job, const char *spec, const kr_table_options *options,
                         kr_spec *parsed, int reads, kr_error *err)
{
    if (!job->device || !job->columns)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s is NULL", job->device ? "columns" : "device");
    if (!job->n_columns)
        return kr_fail(err, KR_ERR_ARGUMENT, "a table needs at least one column");
    kr_status status = check_options(options, job->n_columns, &job->options, err);
    if (status == KR_OK)
        status = check_names(job, err);
    if (status == KR_OK)
        status = check_columns(job, reads, err);
    if (status != KR_OK)
        return status;
    job->seen = see_columns(job, err);
    return job->seen ? kr_table_choose(job, spec, parsed, err) : KR_ERR_HOST_MEMORY;
}

kr_status kr_table_create(kr_device *device, const char *spec, const kr_column *columns,
                          const char *const *names, uint32_t n_columns, const kr_table_options *options,
                          kr_stream *stream, kr_table **table, kr_error *err)
{
    kr_table_job job = {.device = device, .columns = columns, .names = names, .n_columns = n_columns};
    kr_spec parsed;
    if (!table)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_create: table is NULL");
    kr_status status = resolve(&job, spec, options, &parsed, 1, err);
    if (status == KR_OK)
        status = kr_stream_check(device, stream, "kr_table_create", err);
    if (status == KR_OK) {
        kr_work work = kr_work_on(device, stream, err);
        kr_table_make(&work, &job, table);
        status = kr_work_end(&work);
    }
    free((void *)job.seen);
    return status;
}

kr_status kr_table_estimate(kr_device *device, const char *spec, const kr_column *columns, uint32_t n_columns,
                            const kr_table_options *options, kr_estimate *estimate, kr_error *err)
{
    kr_table_job job = {.device = device, .columns = columns, .n_columns = n_columns};
    kr_spec parsed;
    kr_need need;
    if (!estimate)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_estimate: estimate is NULL");
    kr_status status = kr_struct_check(&kr_struct_estimate, estimate, err);
    if (status == KR_OK)
        status = resolve(&job, spec, options, &parsed, 0, err);
    if (status == KR_OK)
        status = kr_table_need(&job, &need, err);
    free((void *)job.seen);
    if (status != KR_OK)
        return status;
    const kr_estimate made = {sizeof made, need.footprint_nbytes, need.peak_nbytes};
    kr_struct_write(&kr_struct_estimate, &made, estimate);
    return KR_OK;
}

kr_status kr_table_load(kr_device *device, const kr_saved *saved, const kr_table_options *options,
                        kr_stream *stream, kr_table **table, kr_error *err)
{
    kr_table_load_job job = {.device = device, .saved = saved};
    if (!saved || !table)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_load: %s is NULL", saved ? "table" : "saved");
    kr_status status = kr_stream_check(device, stream, "kr_table_load", err);
    if (status == KR_OK)
        status = check_options(options, 0, &job.options, err);
    if (status == KR_OK && (job.options.units || job.options.texts))
        status =
            kr_fail(err, KR_ERR_ARGUMENT, "kr_table_options.%s must be NULL: the file has %s of its columns",
                    job.options.units ? "units" : "texts", job.options.units ? "the units" : "the texts");
    if (status != KR_OK)
        return status;
    kr_work work = kr_work_on(device, stream, err);
    kr_table_make_loaded(&work, &job, table);
    return kr_work_end(&work);
}

kr_status kr_table_query(const kr_table *table, kr_table_info *info, kr_error *err)
{
    if (!table || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_query: table or info is NULL");
    const kr_status status = kr_struct_check(&kr_struct_table_info, info, err);
    if (status != KR_OK)
        return status;
    kr_table_info made = table->info;
    made.footprint_nbytes = kr_table_nbytes(table); /* scenes may have been built since */
    kr_struct_write(&kr_struct_table_info, &made, info);
    return KR_OK;
}

const kr_texts *kr_table_texts(const kr_table *table, uint32_t column)
{
    const kr_table_dictionary *found =
        table && column < table->n_columns ? kr_table_dictionary_of(table, column) : NULL;
    return found ? found->texts : NULL;
}

kr_status kr_table_column(const kr_table *table, uint32_t column, const char **name, kr_unit *unit,
                          kr_column *values, kr_error *err)
{
    if (!table)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_column: table is NULL");
    if (column >= table->n_columns)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_column: there is no column %u, the table has %u",
                       column, table->n_columns);
    const kr_column *found = &table->columns[column];
    const kr_unit of_times = table->units ? table->units[column] : KR_UNIT_US;
    if (name)
        *name = table->names[column];
    if (unit)
        *unit = found->type == KR_TIMESTAMP64 ? of_times : KR_UNIT_NONE;
    if (values)
        *values = *found;
    return KR_OK;
}

kr_status kr_table_validate(kr_table *table, kr_error *err)
{
    if (!table)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_table_validate: table is NULL");
    kr_work work = kr_work_on(table->device, NULL, err);
    kr_table_validate_all(&work, table);
    return kr_work_end(&work);
}
