/* The life of a table. */
#include "table/storage/table.h"
#include "base/image/saved.h"
#include "base/key/key.h"
#include "table/results/totals.h"
#include "table/storage/texts.h"

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
           (is_copied(job, column->validity) ? kr_column_validity_nbytes(column) : 0);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void bring(kr_work *work, const kr_table_job *job, const void **pointer, uint64_t nbytes,
                  kr_buffer *buffer)
{
    if (!nbytes || !is_copied(job, *pointer))
        return;
    if (job->options.copy == KR_COPY_NEVER)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_ARGUMENT,
                        "a column is in memory that device '%s' does not reach: copy it there, or do not ask "
                        "for KR_COPY_NEVER",
                        work->device->name));
    *buffer = kr_work_keep(work, kr_work_take_or(work, nbytes, "a copy of a column",
                                                 "columns that are on the device already need no copy"));
    KR_STEP(work,
            kr_column_bring_bytes(work->device, buffer->data, *pointer, nbytes, work->stream, work->err));
    *pointer = buffer->data;
}

static void bring_column(kr_work *work, const kr_table_job *job, const kr_column *column,
                         kr_resident *resident, kr_column *on_device)
{
    const void *validity = column->validity ? column->validity + column->validity_offset / 8 : NULL;
    *on_device = *column;
    bring(work, job, &on_device->data, column->count * kr_type_nbytes(column->type), &resident->data);
    bring(work, job, &validity, kr_column_validity_nbytes(column), &resident->validity);
    on_device->validity = validity;
    on_device->validity_offset = column->validity_offset % 8;
    resident->column = *on_device;
}

uint32_t kr_table_first_named(const char *const *names, uint32_t c)
{
    uint32_t first = 0;
    while (strcmp(names[first], names[c]) != 0)
        ++first;
    return first;
}

static void copy_names(kr_work *work, kr_table *table, const kr_table_job *job)
{
    char numbered[16];
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        snprintf(numbered, sizeof numbered, "c%u", c);
        const char *name = job->names ? job->names[c] : numbered;
        table->names[c] = kr_work_array(work, strlen(name) + 1, 1, "names of columns");
        if (!table->names[c])
            return;
        memcpy(table->names[c], name, strlen(name));
    }
}

/* ---- Creation -------------------------------------------------------------------------------- */

kr_status kr_table_runs_on(const kr_scan_ops *ops, kr_device *device, const kr_spec *spec, kr_error *err)
{
    if (!ops->program || device->ops->can_run(device, ops->program))
        return ops->runs_on ? ops->runs_on(device, spec, err) : KR_OK;
    return kr_fail(
        err, KR_ERR_UNSUPPORTED,
        "kind '%s' does not run on device '%s': its programs were not built; build keyray with CUDA",
        spec->kind->name, device->name);
}

/* On failure NULL, or what kr_table_destroy destroys. */
static kr_table *begin(kr_work *work, const kr_table_job *job)
{
    const uint32_t n = job->n_columns;
    kr_table *made = kr_work_object(work, sizeof *made, "a table");
    if (!made)
        return NULL;
    made->device = job->device;
    kr_users_note(made->device, &made->users, work->stream);
    made->ops = kr_table_ops(job->spec);
    made->spec = *job->spec;
    made->n_rows = made->n_alive = job->columns[0].count;
    made->n_columns = n;
    made->options = job->options;
    made->options.units = NULL; /* the caller's */
    made->options.texts = NULL;
    snprintf(made->info.reason, sizeof made->info.reason, "%s", job->reason);
    made->residents = kr_work_array(work, n, sizeof *made->residents, "a table");
    made->columns = kr_work_array(work, n, sizeof *made->columns, "a table");
    made->names = kr_work_array(work, n, sizeof *made->names, "a table");
    made->dictionaries = kr_work_array(work, n, sizeof *made->dictionaries, "a table");
    made->dictionary_of = kr_work_array(work, n, sizeof *made->dictionary_of, "a table");
    if (job->options.units)
        made->units = kr_work_array(work, n, sizeof *made->units, "a table");
    if (made->units)
        memcpy(made->units, job->options.units, n * sizeof *made->units);
    if (kr_work_goes_on(work))
        copy_names(work, made, job);
    return made;
}

uint32_t kr_table_components(const kr_table *table, kr_component components[KR_TABLE_COMPONENTS_MOST])
{
    uint64_t held = 0, used = 0;
    uint32_t n = 1;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const kr_resident *resident = table->residents + c;
        held += resident->data.nbytes + resident->validity.nbytes;
        used += resident->data.data ? table->n_rows * kr_type_nbytes(table->columns[c].type) : 0;
        used += resident->validity.data ? kr_column_validity_nbytes(table->columns + c) : 0;
    }
    components[0] = (kr_component){"columns", used};
    if (held > used)
        components[n++] = (kr_component){"spare room", held - used};
    if (table->alive.data)
        components[n++] = (kr_component){"alive rows", table->alive.nbytes};
    if (kr_table_texts_nbytes(table))
        components[n++] = (kr_component){"texts", kr_table_texts_nbytes(table)};
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

void kr_table_finish(kr_work *work, kr_table *table, const kr_stopwatch *watch, uint64_t peak_nbytes)
{
    fill_info(table, watch, peak_nbytes);
    kr_work_sync(work);
}

kr_table_build kr_table_build_of(const kr_table *table, const kr_column *columns, uint64_t n_rows)
{
    return (kr_table_build){.spec = &table->spec,
                            .n_rows = n_rows,
                            .n_columns = table->n_columns,
                            .columns = columns,
                            .names = (const char *const *)table->names};
}

static void build(kr_work *work, kr_table *table, const kr_table_job *job)
{
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        KR_STEP(work,
                kr_device_report(job->device, "copy", table->n_rows, (double)c / job->n_columns, work->err));
        if (!kr_strings_are(job->columns[c].type))
            bring_column(work, job, job->columns + c, table->residents + c, table->columns + c);
        kr_table_bring_texts(work, table, job, c);
    }
    kr_work_lap(work, "copy");
    const kr_table_build build = kr_table_build_of(table, table->columns, table->n_rows);
    if (kr_work_goes_on(work))
        table->ops->build(work, &build, &table->self);
}

void kr_table_make(kr_work *work, const kr_table_job *job, kr_table **table)
{
    kr_stopwatch watch;
    kr_peak peak;
    kr_table *made = begin(work, job);
    KR_STEP(work, kr_spec_format(job->spec, made->info.spec, sizeof made->info.spec, work->err));
    KR_STEP(work, kr_table_runs_on(made->ops, job->device, job->spec, work->err));
    kr_work_peak_begin(work, &peak);
    kr_stopwatch_start(&watch, job->device, work->stream);
    work->watch = &watch;
    if (kr_work_goes_on(work))
        build(work, made, job);
    kr_stopwatch_stop(kr_work_unwatch(work));
    const uint64_t peak_nbytes = kr_work_peak_end(work, &peak);
    if (kr_work_goes_on(work))
        kr_table_finish(work, made, &watch, peak_nbytes);
    if (kr_work_goes_on(work)) {
        *table = made;
        return;
    }
    kr_work_finish(work);
    kr_table_destroy(made);
}

void kr_table_destroy(kr_table *table)
{
    if (!table)
        return;
    kr_users_wait(table->device, &table->users);
    kr_holders_end(&table->life);
    kr_table_version_leave(table, NULL);
    for (uint32_t c = 0; table->residents && c < table->n_columns; ++c)
        kr_column_resident_release(table->device, table->residents + c, NULL);
    kr_table_version_leave_names(table);
    kr_buffer_release(table->device, &table->alive, NULL);
    kr_table_release_texts(table);
    if (table->saved)
        kr_saved_release(table->saved);
    free(table->units);
    free(table->columns);
    free(table->residents);
    free(table);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

kr_status kr_table_need(const kr_table_job *job, kr_need *need, kr_error *err)
{
    const kr_table_shape shape = {job->device, job->spec, job->columns[0].count, job->n_columns, job->seen};
    kr_need made = {0};
    const kr_status status = kr_table_ops(job->spec)->estimate(&shape, &made, err);
    uint64_t beside = 0; /* at the peak of making the codes of a column */
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        const uint64_t nbytes = copied_nbytes(job, job->columns + c);
        const int is_text = kr_strings_are(job->columns[c].type);
        const kr_need of = is_text ? kr_table_texts_need(job, c) : (kr_need){nbytes, nbytes};
        made.footprint_nbytes += of.footprint_nbytes;
        made.peak_nbytes += of.footprint_nbytes;
        beside =
            of.peak_nbytes - of.footprint_nbytes > beside ? of.peak_nbytes - of.footprint_nbytes : beside;
    }
    made.peak_nbytes += beside;
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
                             .units = table->units,
                             .texts = table->n_dictionaries ? &kr_table_plan_texts : NULL,
                             .of_texts = table};
}

/* The bitmap of alive rows has as many as were counted, and all bits behind them. */
static void check_alive(kr_work *work, const kr_table *table)
{
    const uint64_t bits = table->alive.nbytes * 8, behind = bits - table->n_rows;
    const kr_selected all = {table->alive.data, bits, NULL};
    const uint32_t *words = table->alive.data, after = 0xFFFFFFFFu << table->n_rows % 32;
    uint64_t *counter = kr_work_counters(work, 1), count = table->n_alive + behind;
    uint32_t last = after;
    kr_selected_count(work, &all, counter);
    if (table->n_rows % 32)
        kr_work_read(work, &last, words + table->n_rows / 32, sizeof last);
    kr_work_read(work, &count, counter, sizeof count);
    kr_work_give(work, counter);
    if ((last & after) != after)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT,
                              "the bitmap of rows has a row behind the last that is not alive"));
    if (count != table->n_alive + behind)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT,
                              "%llu rows are alive in the bitmap of rows, but there are %llu",
                              (unsigned long long)(count - behind), (unsigned long long)table->n_alive));
}

void kr_table_check(kr_work *work, const kr_table *table)
{
    kr_users_note(work->device, &((kr_table *)table)->users, work->stream);
    if (table->alive.data)
        check_alive(work, table);
    kr_table_check_all_codes(work, table);
    if (table->ops->check && kr_work_goes_on(work))
        table->ops->check(work, table->self);
}

void kr_table_validate_all(kr_work *work, const kr_table *table)
{
    kr_table_check(work, table);
    kr_table_verify_texts(work, table);
    if (table->ops->validate && kr_work_goes_on(work))
        table->ops->validate(work, table->self);
}
