/* Rows deleted from a table. They stay where they are; a bitmap of the others goes into every scan. */
#include "scans/answer.h"
#include "scans/change.h"
#include "scans/delete_body.h"
#include "scans/merge.h"
#include "scans/totals.h"

/* One change. */
typedef struct deletion {
    kr_table *table;
    kr_stream *stream;
    kr_stopwatch watch;
    kr_peak peak;
    uint64_t held, n_words; /* held: bytes of the table before */
    kr_buffer doomed;       /* a bitmap of the rows to delete, all of them alive */
    kr_buffer counter;      /* what is counted, or found wrong */
} deletion;

static kr_status open_deletion(kr_table *table, kr_stream *stream, deletion *d, kr_error *err)
{
    *d = (deletion){.table = table, .stream = stream, .n_words = kr_bitmap_words(table->n_rows)};
    d->held = kr_table_nbytes(table);
    kr_peak_begin(&d->peak, table->device);
    kr_stopwatch_start(&d->watch, table->device, stream);
    const kr_status status = kr_buffer_allocate(table->device, (d->n_words + 1) * sizeof(uint32_t), stream,
                                                "a bitmap of rows", NULL, &d->doomed, err);
    return status == KR_OK ? kr_counters_make(table->device, stream, 1, &d->counter, err) : status;
}

static kr_status close_deletion(deletion *d, kr_status status, kr_error *err)
{
    kr_table *table = d->table;
    kr_buffer_release(table->device, &d->counter, d->stream);
    kr_buffer_release(table->device, &d->doomed, d->stream);
    kr_stopwatch_stop(&d->watch);
    const uint64_t peak_nbytes = d->held + kr_peak_end(&d->peak);
    return status == KR_OK ? kr_table_finish(table, &d->watch, peak_nbytes, d->stream, err) : status;
}

/* The table gets a bitmap of rows with its first deletion, with as much room as its columns have. */
static kr_status open_alive(const deletion *d, kr_buffer *made, kr_error *err)
{
    const kr_table *table = d->table;
    const uint64_t room = table->room > table->n_rows ? table->room : table->n_rows;
    if (table->alive.data)
        return KR_OK;
    kr_status status = kr_buffer_allocate(table->device, kr_bitmap_words(room) * sizeof(uint32_t), d->stream,
                                          "a bitmap of rows", NULL, made, err);
    if (status == KR_OK)
        status = kr_device_fill(table->device, made->data, 0xFF, made->nbytes, d->stream, err);
    if (status != KR_OK)
        kr_buffer_release(table->device, made, d->stream);
    return status;
}

/* Counts the rows of d->doomed and deletes them. */
static kr_status delete_doomed(deletion *d, uint64_t *n_deleted, kr_error *err)
{
    kr_table *table = d->table;
    const kr_selected doomed = {d->doomed.data, table->n_rows, NULL};
    kr_buffer alive = {0};
    uint64_t count = 0;
    kr_status status = kr_device_report(table->device, "delete", table->n_rows, 0.5, err);
    if (status == KR_OK)
        status = kr_selected_count(table->device, &doomed, d->counter.data, d->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(table->device, d->stream, &d->counter, &count, 1, err);
    if (status == KR_OK && count)
        status = open_alive(d, &alive, err);
    if (status != KR_OK)
        return status;
    if (count) {
        kr_device_drain(table->device); /* scans that still read the bitmap */
        table->alive = alive.data ? alive : table->alive;
        status =
            kr_bitmap_clear(table->device, table->alive.data, d->doomed.data, d->n_words, d->stream, err);
        if (status == KR_OK)
            status = kr_device_sync(table->device, d->stream, err);
    }
    kr_stopwatch_lap(&d->watch, "delete");
    if (status != KR_OK)
        return status;
    table->n_alive -= count;
    if (n_deleted)
        *n_deleted = count;
    return KR_OK;
}

/* ---- By row id ------------------------------------------------------------------------------- */

static kr_status mark(deletion *d, const uint32_t *rows, uint64_t n, kr_error *err)
{
    kr_table *table = d->table;
    uint64_t found = 0;
    const delete_mark_params params = {rows, d->doomed.data, d->counter.data, n, table->n_rows};
    kr_status status = kr_device_report(table->device, "delete", table->n_rows, 0, err);
    if (status == KR_OK)
        status = kr_device_fill(table->device, d->doomed.data, 0, d->doomed.nbytes, d->stream, err);
    if (status == KR_OK)
        status = kr_device_run(table->device, &delete_mark, &params, n, d->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(table->device, d->stream, &d->counter, &found, 1, err);
    if (status == KR_OK && found)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "rows[%llu] is not a row of the table, whose row ids are below %llu; nothing is deleted",
            (unsigned long long)(n - found), (unsigned long long)table->n_rows);
    return status == KR_OK && table->alive.data
               ? kr_bitmap_and(table->device, d->doomed.data, table->alive.data, d->n_words, d->stream, err)
               : status;
}

kr_status kr_table_delete_rows(kr_table *table, const uint32_t *rows, uint64_t n, kr_stream *stream,
                               uint64_t *n_deleted, kr_error *err)
{
    const kr_column ids = {.type = KR_U32, .count = n, .data = rows};
    kr_resident there = {0};
    deletion d;
    kr_status status = open_deletion(table, stream, &d, err);
    if (status == KR_OK)
        status = kr_resident_make(table->device, &ids, "a copy of the row ids", stream, &there, err);
    kr_stopwatch_lap(&d.watch, "copy");
    if (status == KR_OK)
        status = mark(&d, there.column.data, n, err);
    if (status == KR_OK)
        status = delete_doomed(&d, n_deleted, err);
    kr_resident_release(table->device, &there, stream);
    return close_deletion(&d, status, err);
}

/* ---- By condition ---------------------------------------------------------------------------- */

kr_status kr_table_delete_selected(kr_table *table, const kr_condition *condition, kr_stream *stream,
                                   uint64_t *n_deleted, kr_error *err)
{
    deletion d;
    kr_status status = open_deletion(table, stream, &d, err);
    const kr_answer_sink sink = {
        .asked = {.struct_size = sizeof sink.asked, .result = KR_SCAN_BITMAP, .out = d.doomed.data},
        .reaches_out = 1,
        .reaches_valid = 1,
        .reaches_rows = 1};
    const kr_answer answer = {.table = table,
                              .conditions = &condition,
                              .sinks = &sink,
                              .n = 1,
                              .reaches_alive = 1,
                              .context = {.stream = stream, .watch = &d.watch}};
    if (status == KR_OK)
        status = kr_answer_all(&answer, err);
    if (status == KR_OK)
        status = delete_doomed(&d, n_deleted, err);
    return close_deletion(&d, status, err);
}
