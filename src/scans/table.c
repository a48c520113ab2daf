/* The life of a table. */
#include "scans/table.h"
#include "key/key.h"
#include "scans/totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_copied(const kr_table_job *job, const void *data)
{
    return data && (job->options.copy == KR_COPY_ALWAYS || !kr_device_reaches(job->device, data));
}

/* Bytes of the copies of a column, as its structs say without its values. */
static uint64_t copied_nbytes(const kr_table_job *job, const kr_column *column)
{
    const uint64_t data = column->count * kr_type_nbytes(column->type);
    return (is_copied(job, column->data) || job->options.copy == KR_COPY_ALWAYS ? data : 0) +
           (is_copied(job, column->validity) ? kr_validity_nbytes(column) : 0);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static kr_status bring(const kr_table_job *job, const void **pointer, uint64_t nbytes, kr_buffer *buffer,
                       kr_error *err)
{
    kr_device *device = job->device;
    if (!nbytes || !is_copied(job, *pointer))
        return KR_OK;
    if (job->options.copy == KR_COPY_NEVER)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "a column is in memory that device '%s' does not reach: copy it there, or do not ask for "
            "KR_COPY_NEVER",
            device->name);
    kr_status status = kr_buffer_allocate(device, nbytes, job->stream, "a copy of a column",
                                          "columns that are on the device already need no copy", buffer, err);
    if (status == KR_OK)
        status = kr_bring(device, buffer->data, *pointer, nbytes, job->stream, err);
    *pointer = buffer->data;
    return status;
}

static kr_status bring_column(const kr_table_job *job, const kr_column *column, kr_resident *resident,
                              kr_column *on_device, kr_error *err)
{
    const void *validity = column->validity ? column->validity + column->validity_offset / 8 : NULL;
    *on_device = *column;
    kr_status status =
        bring(job, &on_device->data, column->count * kr_type_nbytes(column->type), &resident->data, err);
    if (status == KR_OK)
        status = bring(job, &validity, kr_validity_nbytes(column), &resident->validity, err);
    on_device->validity = validity;
    on_device->validity_offset = column->validity_offset % 8;
    resident->column = *on_device;
    return status;
}

static kr_status copy_names(kr_table *table, const kr_table_job *job, kr_error *err)
{
    char numbered[16];
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        snprintf(numbered, sizeof numbered, "c%u", c);
        const char *name = job->names ? job->names[c] : numbered;
        table->names[c] = kr_host_calloc(strlen(name) + 1, 1, "names of columns", err);
        if (!table->names[c])
            return KR_ERR_HOST_MEMORY;
        memcpy(table->names[c], name, strlen(name));
    }
    return KR_OK;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static kr_status runs_on(const kr_scan_ops *ops, kr_device *device, const kr_spec *spec, kr_error *err)
{
    if (!ops->program || device->ops->can_run(device, ops->program))
        return ops->runs_on ? ops->runs_on(device, spec, err) : KR_OK;
    return kr_fail(
        err, KR_ERR_UNSUPPORTED,
        "kind '%s' does not run on device '%s': its programs were not built; build keyray with CUDA",
        spec->kind->name, device->name);
}

static kr_status allocate(const kr_table_job *job, kr_table **table, kr_error *err)
{
    kr_table *made = kr_host_calloc(1, sizeof *made, "a table", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    *table = made;
    made->device = job->device;
    made->ops = job->spec->kind->scan->ops;
    made->spec = *job->spec;
    made->n_rows = made->n_alive = job->columns[0].count;
    made->n_columns = job->n_columns;
    made->options = job->options;
    made->options.units = NULL; /* the caller's */
    snprintf(made->info.reason, sizeof made->info.reason, "%s", job->reason);
    made->residents = kr_host_calloc(job->n_columns, sizeof *made->residents, "a table", err);
    made->columns = kr_host_calloc(job->n_columns, sizeof *made->columns, "a table", err);
    made->names = kr_host_calloc(job->n_columns, sizeof *made->names, "a table", err);
    if (!made->residents || !made->columns || !made->names)
        return KR_ERR_HOST_MEMORY;
    if (job->options.units) {
        made->units = kr_host_calloc(job->n_columns, sizeof *made->units, "a table", err);
        if (!made->units)
            return KR_ERR_HOST_MEMORY;
        memcpy(made->units, job->options.units, job->n_columns * sizeof *made->units);
    }
    return copy_names(made, job, err);
}

uint32_t kr_table_components(const kr_table *table, kr_component components[KR_TABLE_COMPONENTS_MOST])
{
    uint64_t held = 0, used = 0;
    uint32_t n = 1;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const kr_resident *resident = table->residents + c;
        held += resident->data.nbytes + resident->validity.nbytes;
        used += resident->data.data ? table->n_rows * kr_type_nbytes(table->columns[c].type) : 0;
        used += resident->validity.data ? kr_validity_nbytes(table->columns + c) : 0;
    }
    components[0] = (kr_component){"columns", used};
    if (held > used)
        components[n++] = (kr_component){"spare room", held - used};
    if (table->alive.data)
        components[n++] = (kr_component){"alive rows", table->alive.nbytes};
    return n + table->ops->components(table->self, components + n);
}

uint64_t kr_table_nbytes(const kr_table *table)
{
    kr_component components[KR_TABLE_COMPONENTS_MOST];
    const uint32_t n = kr_table_components(table, components);
    uint64_t nbytes = 0;
    for (uint32_t i = 0; i < n; ++i)
        nbytes += components[i].nbytes;
    return nbytes;
}

static void fill_info(kr_table *table, const kr_stopwatch *watch, uint64_t peak_nbytes)
{
    kr_table_info *info = &table->info;
    snprintf(info->device, sizeof info->device, "%s", table->device->name);
    snprintf(info->tracer, sizeof info->tracer, "none");
    if (table->ops->tracer)
        table->ops->tracer(table->device, info->tracer);
    info->rows = table->n_rows;
    info->alive_rows = table->n_alive;
    info->columns = table->n_columns;
    info->copied_columns = 0;
    for (uint32_t c = 0; c < table->n_columns; ++c)
        info->copied_columns += table->residents[c].data.data != NULL;
    info->footprint_nbytes = kr_table_nbytes(table);
    info->peak_nbytes = peak_nbytes;
    table->phases = watch->phases;
    ++table->version;
}

kr_status kr_table_finish(kr_table *table, const kr_stopwatch *watch, uint64_t peak_nbytes, kr_stream *stream,
                          kr_error *err)
{
    fill_info(table, watch, peak_nbytes);
    return kr_device_sync(table->device, stream, err);
}

kr_table_build kr_table_build_of(const kr_table *table, const kr_column *columns, uint64_t n_rows,
                                 kr_stream *stream, kr_stopwatch *watch)
{
    return (kr_table_build){.device = table->device,
                            .stream = stream,
                            .spec = &table->spec,
                            .n_rows = n_rows,
                            .n_columns = table->n_columns,
                            .columns = columns,
                            .names = (const char *const *)table->names,
                            .watch = watch};
}

static kr_status build(kr_table *table, const kr_table_job *job, kr_stopwatch *watch, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; ++c) {
        status = kr_device_report(job->device, "copy", table->n_rows, (double)c / job->n_columns, err);
        if (status == KR_OK)
            status = bring_column(job, job->columns + c, table->residents + c, table->columns + c, err);
    }
    kr_stopwatch_lap(watch, "copy");
    const kr_table_build build = kr_table_build_of(table, table->columns, table->n_rows, job->stream, watch);
    return status == KR_OK ? table->ops->build(&build, &table->self, err) : status;
}

kr_status kr_table_make(const kr_table_job *job, kr_table **table, kr_error *err)
{
    kr_table *made = NULL;
    kr_stopwatch watch;
    kr_peak peak;
    kr_status status = allocate(job, &made, err);
    if (status == KR_OK)
        status = kr_spec_format(job->spec, made->info.spec, sizeof made->info.spec, err);
    if (status == KR_OK)
        status = runs_on(made->ops, job->device, job->spec, err);
    kr_peak_begin(&peak, job->device);
    kr_stopwatch_start(&watch, job->device, job->stream);
    if (status == KR_OK)
        status = build(made, job, &watch, err);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = kr_peak_end(&peak);
    if (status == KR_OK)
        status = kr_table_finish(made, &watch, peak_nbytes, job->stream, err);
    if (status != KR_OK) {
        kr_table_destroy(made);
        return status;
    }
    *table = made;
    return KR_OK;
}

void kr_table_destroy(kr_table *table)
{
    if (!table)
        return;
    kr_device_drain(table->device);
    if (table->self)
        table->ops->destroy(table->device, table->self);
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        if (table->residents)
            kr_resident_release(table->device, table->residents + c, NULL);
        if (table->names)
            free(table->names[c]);
    }
    kr_buffer_release(table->device, &table->alive, NULL);
    free(table->names);
    free(table->units);
    free(table->columns);
    free(table->residents);
    free(table);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

kr_status kr_table_need(const kr_table_job *job, kr_need *need, kr_error *err)
{
    const kr_table_shape shape = {job->device, job->spec, job->columns[0].count, job->n_columns,
                                  job->columns};
    kr_need made = {0};
    const kr_status status = job->spec->kind->scan->ops->estimate(&shape, &made, err);
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        const uint64_t nbytes = copied_nbytes(job, job->columns + c);
        made.footprint_nbytes += nbytes;
        made.peak_nbytes += nbytes;
    }
    if (status == KR_OK)
        *need = made;
    return status;
}

kr_plan_columns kr_table_plan_columns(const kr_table *table)
{
    return (kr_plan_columns){.n = table->n_columns,
                             .columns = table->columns,
                             .names = (const char *const *)table->names,
                             .find_text = table->options.find_text,
                             .ctx = table->options.ctx,
                             .units = table->units};
}

/* The bitmap of alive rows has as many as were counted, and all bits behind them. */
static void check_alive(kr_work *work, const kr_table *table)
{
    const uint64_t bits = table->alive.nbytes * 8, behind = bits - table->n_rows;
    const kr_selected all = {table->alive.data, bits, NULL};
    uint64_t *counter = kr_work_counters(work, 1), count = table->n_alive + behind;
    kr_selected_count(work, &all, counter);
    kr_work_read(work, &count, counter, sizeof count);
    kr_work_give(work, counter);
    if (count != table->n_alive + behind)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT,
                              "%llu rows are alive in the bitmap of rows, but there are %llu",
                              (unsigned long long)(count - behind), (unsigned long long)table->n_alive));
}

kr_status kr_table_check(const kr_table *table, kr_error *err)
{
    kr_work work = kr_work_on(table->device, NULL, err);
    if (table->alive.data)
        check_alive(&work, table);
    if (table->ops->validate)
        KR_STEP(&work, table->ops->validate(table->device, table->self, err));
    return kr_work_end(&work);
}
