/* Rows deleted from a table. They stay where they are; a bitmap of the others goes into every scan. */
#include "table/change/change.h"
#include "table/change/delete_body.h"
#include "table/results/merge.h"
#include "table/results/totals.h"
#include "table/run/answer.h"
#include "table/storage/saved.h"

/* One change. */
typedef struct deletion {
    kr_work *work;
    kr_table *table;
    kr_stopwatch watch;
    kr_peak peak;
    uint64_t held, n_words; /* held: bytes of the table before */
    uint32_t *doomed;       /* a bitmap of the rows to delete, all of them alive */
    uint64_t *counter;      /* what is counted, or found wrong */
} deletion;

static uint64_t doomed_nbytes(const deletion *d)
{
    return (d->n_words + 1) * sizeof *d->doomed;
}

static void open_deletion(kr_work *work, kr_table *table, deletion *d)
{
    *d = (deletion){.work = work, .table = table, .n_words = kr_scans_bitmap_words(table->n_rows)};
    d->held = kr_table_nbytes(table);
    kr_users_take(table->device, &table->users, work->stream); /* scans read the bitmap of rows */
    kr_work_peak_begin(work, &d->peak);
    kr_stopwatch_start(&d->watch, table->device, work->stream);
    work->watch = &d->watch;
    d->doomed = kr_work_take(work, doomed_nbytes(d), "a bitmap of rows");
    d->counter = kr_work_counters(work, 1);
}

static void close_deletion(deletion *d)
{
    kr_work *work = d->work;
    kr_work_give(work, d->counter);
    kr_work_give(work, d->doomed);
    kr_users_mark(work->device, work->stream);
    kr_stopwatch_stop(kr_work_unwatch(work));
    const uint64_t peak_nbytes = d->held + kr_work_peak_end(work, &d->peak);
    if (kr_work_goes_on(work))
        kr_table_finish(work, d->table, &d->watch, peak_nbytes);
}

/* The table gets a bitmap of rows with its first deletion, with as much room as its columns have, and another
 * one where versions share it. */
static void open_alive(const deletion *d)
{
    kr_work *work = d->work;
    kr_table *table = d->table;
    kr_buffer old = table->alive;
    const uint64_t room = table->room > table->n_rows ? table->room : table->n_rows;
    if (old.data && !old.is_borrowed && !kr_holders_are_many(old.holders))
        return;
    const kr_buffer made =
        kr_work_buffer(work, kr_scans_bitmap_words(room) * sizeof(uint32_t), "a bitmap of rows", NULL);
    kr_work_fill(work, made.data, 0xFF, made.nbytes);
    kr_work_copy(work, made.data, old.data, old.nbytes < made.nbytes ? old.nbytes : made.nbytes);
    if (!kr_work_goes_on(work))
        return;
    table->alive = kr_work_keep(work, made.data);
    kr_buffer_release(table->device, &old, work->stream);
}

/* Counts the rows of d->doomed and deletes them. */
static void delete_doomed(deletion *d, uint64_t *n_deleted)
{
    kr_work *work = d->work;
    kr_table *table = d->table;
    const kr_selected doomed = {d->doomed, table->n_rows, NULL};
    uint64_t count = 0;
    KR_STEP(work, kr_device_report(table->device, "delete", table->n_rows, 0.5, work->err));
    kr_selected_count(work, &doomed, d->counter);
    kr_work_read(work, &count, d->counter, sizeof count);
    if (count && !kr_holders_are_many(table->self_holders))
        kr_table_own(work, table);
    if (count)
        open_alive(d);
    if (!kr_work_goes_on(work))
        return;
    if (count) {
        kr_selected_clear(work, table->alive.data, d->doomed, d->n_words);
        kr_work_sync(work);
    }
    kr_work_lap(work, "delete");
    if (!kr_work_goes_on(work))
        return;
    table->n_alive -= count;
    if (n_deleted)
        *n_deleted = count;
}

/* ---- By row id ------------------------------------------------------------------------------- */

static void mark(deletion *d, const uint32_t *rows, uint64_t n)
{
    kr_work *work = d->work;
    kr_table *table = d->table;
    uint64_t found = 0;
    const delete_mark_params params = {rows, d->doomed, d->counter, n, table->n_rows};
    KR_STEP(work, kr_device_report(table->device, "delete", table->n_rows, 0, work->err));
    kr_work_fill(work, d->doomed, 0, doomed_nbytes(d));
    kr_work_run(work, &delete_mark, &params, n);
    kr_work_read(work, &found, d->counter, sizeof found);
    if (found)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_ARGUMENT,
                        "rows[%llu] is not a row of the table, whose row ids are below %llu; nothing is "
                        "deleted",
                        (unsigned long long)(n - found), (unsigned long long)table->n_rows));
    if (table->alive.data)
        kr_selected_and(work, d->doomed, table->alive.data, d->n_words);
}

void kr_change_delete_rows(kr_work *work, kr_table *table, const uint32_t *rows, uint64_t n,
                           uint64_t *n_deleted)
{
    const kr_column ids = {.type = KR_U32, .count = n, .data = rows};
    kr_resident there = {0};
    deletion d;
    open_deletion(work, table, &d);
    KR_STEP(work, kr_column_resident_make(table->device, &ids, "a copy of the row ids", work->stream, &there,
                                          work->err));
    kr_work_lap(work, "copy");
    mark(&d, there.column.data, n);
    delete_doomed(&d, n_deleted);
    kr_column_resident_release(table->device, &there, work->stream);
    close_deletion(&d);
}

/* ---- By condition ---------------------------------------------------------------------------- */

void kr_change_delete_selected(kr_work *work, kr_table *table, const kr_condition *condition,
                               uint64_t *n_deleted)
{
    deletion d;
    open_deletion(work, table, &d);
    const kr_answer_sink sink = {
        .asked = {.struct_size = sizeof sink.asked, .result = KR_SCAN_BITMAP, .out = d.doomed},
        .reaches_out = 1,
        .reaches_valid = 1,
        .reaches_rows = 1};
    const kr_answer answer = {
        .table = table, .conditions = &condition, .sinks = &sink, .n = 1, .reaches_alive = 1};
    kr_scan_answer_all(work, &answer);
    delete_doomed(&d, n_deleted);
    close_deletion(&d);
}
