/* Rows appended to a table. The table's columns become copies of its own, with room for more; new rows are
 * written behind the last one, where no scan reads, and count only when the kind has taken them in. */
#include "table/change/append_body.h"
#include "table/change/change.h"
#include "table/change/texts.h"
#include "table/storage/saved.h"

#include <stdlib.h>
#include <string.h>

/* A table about to be longer. Buffers are those that it does not have yet. */
typedef struct growth {
    kr_work *work;
    kr_table *table;
    const kr_column *more;
    uint64_t n_rows, room; /* afterwards */
    int moves;             /* 1: columns go to larger memory */
    kr_column *columns;    /* as they will be */
    kr_resident *fresh;    /* of each column */
    kr_buffer alive;
    kr_change_texts texts;
} growth;

/* An eighth more, so that in the long run a row is copied eight times. */
static uint64_t room_for(uint64_t n_rows)
{
    const uint64_t room = (n_rows + n_rows / 8 + 1023) / 1024 * 1024;
    return room < KR_NO_ROW ? room : KR_NO_ROW;
}

/* Of a bitmap of all rows that there is room for. */
static uint64_t bits_nbytes(const growth *g)
{
    return kr_scans_bitmap_words(g->room) * sizeof(uint32_t);
}

static kr_buffer take(const growth *g, uint64_t nbytes, const char *what)
{
    return kr_work_keep(g->work,
                        kr_work_take_or(g->work, nbytes, what,
                                        "a table that is longer keeps an eighth more room; create it anew"));
}

static void bring(const growth *g, void *to, const void *from, uint64_t nbytes)
{
    KR_STEP(g->work, kr_column_bring_bytes(g->work->device, to, from, nbytes, g->work->stream, g->work->err));
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void put_values(growth *g, uint32_t c)
{
    const kr_column *old = g->table->columns + c, *more = g->more + c;
    const uint64_t each = kr_type_nbytes(old->type);
    char *to = g->table->residents[c].data.data;
    if (g->moves) {
        g->fresh[c].data = take(g, g->room * each, "a longer column");
        to = g->fresh[c].data.data;
        bring(g, to, old->data, old->count * each);
        kr_change_recode(g->work, g->table, &g->texts, c, (uint32_t *)(void *)to, old->count);
    }
    g->columns[c].data = to;
    g->columns[c].dictionary = kr_change_dictionary_of(g->table, &g->texts, c);
    if (kr_work_goes_on(g->work))
        bring(g, to + old->count * each, more->data, more->count * each);
}

/* `from` is a column of n rows in device memory, or has no validity. */
static void put_bits(const growth *g, uint8_t *to, uint64_t first, const kr_column *from, uint64_t n)
{
    const append_bits_params params = {to, from->validity, from->validity_offset, first, n};
    if (n)
        kr_work_run(g->work, &append_bits, &params, (first % 8 + n + 7) / 8);
}

/* A column has validity from the first NULL bitmap on. */
static void put_validity(growth *g, uint32_t c)
{
    kr_work *work = g->work;
    kr_table *table = g->table;
    const kr_column *old = table->columns + c, *more = g->more + c;
    const kr_column bits = {.type = KR_U8,
                            .count = more->count,
                            .validity = more->validity,
                            .validity_offset = more->validity_offset};
    /* Versions may read the byte of the last rows. */
    const int is_fresh =
        g->moves || !old->validity || kr_holders_are_many(table->residents[c].validity.holders);
    kr_resident there = {0};
    if (!old->validity && !more->validity)
        return;
    if (is_fresh)
        g->fresh[c].validity = take(g, bits_nbytes(g), "a longer validity bitmap");
    uint8_t *to = is_fresh ? g->fresh[c].validity.data : table->residents[c].validity.data;
    if (is_fresh)
        put_bits(g, to, 0, old, old->count);
    KR_STEP(work, kr_column_resident_make(work->device, &bits, "a copy of a validity bitmap", work->stream,
                                          &there, work->err));
    put_bits(g, to, old->count, &there.column, more->count);
    kr_column_resident_release(work->device, &there, work->stream);
    g->columns[c].validity = to;
    g->columns[c].validity_offset = 0;
}

/* Appended rows are alive: their bits are 1 already. */
static void put_alive(growth *g)
{
    const kr_buffer *old = &g->table->alive;
    if (!old->data || old->nbytes >= kr_scans_bitmap_words(g->n_rows) * sizeof(uint32_t))
        return;
    g->alive = take(g, bits_nbytes(g), "a bitmap of rows");
    kr_work_fill(g->work, g->alive.data, 0xFF, g->alive.nbytes);
    kr_work_copy(g->work, g->alive.data, old->data, old->nbytes);
}

/* ---- The table ------------------------------------------------------------------------------- */

/* 1: the columns have room that no version has written to. */
static int claim_room(kr_table *table, uint64_t n_rows)
{
    int is_there = table->room >= n_rows;
    for (uint32_t c = 0; c < table->n_columns && is_there; ++c) {
        const uint64_t each = kr_type_nbytes(table->columns[c].type);
        is_there = kr_buffer_extend(&table->residents[c].data, table->n_rows * each, n_rows * each);
    }
    return is_there;
}

static void open_growth(kr_work *work, kr_table *table, const kr_column *more, growth *g)
{
    *g = (growth){.work = work, .table = table, .n_rows = table->n_rows + more[0].count};
    kr_change_open_texts(work, table, more, &g->texts);
    g->more = g->texts.more;
    /* Codes that change move, too: what is there stays until nothing can fail. */
    g->moves = g->texts.is_grown || (kr_work_goes_on(work) && !claim_room(table, g->n_rows));
    g->room = table->room < g->n_rows ? room_for(g->n_rows) : table->room;
    g->columns = kr_work_array(work, table->n_columns, sizeof *g->columns, "a longer table");
    g->fresh = kr_work_array(work, table->n_columns, sizeof *g->fresh, "a longer table");
    if (kr_work_goes_on(work))
        memcpy(g->columns, table->columns, table->n_columns * sizeof *g->columns);
}

static void put_rows(growth *g)
{
    kr_work *work = g->work;
    const uint32_t n = g->table->n_columns;
    const uint64_t n_written = g->moves ? g->n_rows : g->n_rows - g->table->n_rows;
    for (uint32_t c = 0; c < n && kr_work_goes_on(work); ++c) {
        KR_STEP(work, kr_device_report(work->device, "copy", n_written, (double)c / n, work->err));
        put_values(g, c);
        put_validity(g, c);
        g->columns[c].count = g->n_rows;
    }
    put_alive(g);
    kr_work_lap(work, "copy");
}

static void swap(const growth *g, kr_buffer *kept, kr_buffer *fresh)
{
    if (!fresh->data)
        return;
    kr_buffer_release(g->work->device, kept, g->work->stream);
    *kept = *fresh;
    *fresh = (kr_buffer){0};
}

/* Nothing can fail from here on. */
static void take_over(growth *g)
{
    kr_table *table = g->table;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        kr_resident *resident = table->residents + c;
        swap(g, &resident->data, &g->fresh[c].data);
        swap(g, &resident->validity, &g->fresh[c].validity);
        resident->column = table->columns[c] = g->columns[c];
    }
    swap(g, &table->alive, &g->alive);
    kr_change_take_texts(g->work, table, &g->texts);
    table->n_alive += g->n_rows - table->n_rows;
    table->n_rows = g->n_rows;
    table->room = g->room;
}

static void close_growth(growth *g)
{
    for (uint32_t c = 0; g->fresh && c < g->table->n_columns; ++c)
        kr_column_resident_release(g->table->device, g->fresh + c, g->work->stream);
    kr_buffer_release(g->table->device, &g->alive, g->work->stream);
    kr_change_close_texts(g->work, g->table, &g->texts);
    free(g->fresh);
    free(g->columns);
}

/* For kinds that do not append, and for codes that have changed: all is built anew, beside what there is. */
static void rebuild(const growth *g)
{
    kr_work *work = g->work;
    kr_table *table = g->table;
    const kr_table_build job = kr_table_build_of(table, g->columns, g->n_rows);
    void *made = NULL;
    table->ops->build(work, &job, &made);
    kr_work_sync(work);
    const int is_done = kr_work_goes_on(work);
    if (!is_done)
        kr_work_finish(work);
    if (is_done)
        kr_table_version_leave(table, work->stream);
    else if (made)
        table->ops->destroy(table->device, made, work->stream);
    if (is_done)
        table->self = made;
}

static void extend(const growth *g)
{
    const kr_append_job job = {.n_rows_before = g->table->n_rows, .n_rows = g->n_rows, .columns = g->columns};
    if (!g->table->ops->append || g->texts.is_grown) {
        rebuild(g);
        return;
    }
    kr_table_version_part(g->work, g->table);
    if (kr_work_goes_on(g->work))
        g->table->ops->append(g->work, g->table->self, &job);
}

void kr_change_append_rows(kr_work *work, kr_table *table, const kr_column *columns)
{
    kr_stopwatch watch;
    growth g;
    kr_peak peak;
    const uint64_t held = kr_table_nbytes(table);
    kr_work_peak_begin(work, &peak);
    kr_stopwatch_start(&watch, table->device, work->stream);
    work->watch = &watch;
    kr_users_take(table->device, &table->users, work->stream); /* scans read what is there */
    kr_table_own(work, table);
    open_growth(work, table, columns, &g);
    if (kr_work_goes_on(work))
        put_rows(&g);
    if (kr_work_goes_on(work))
        extend(&g);
    const int is_done = kr_work_goes_on(work);
    if (is_done) {
        take_over(&g);
        kr_work_sync(work);
    }
    close_growth(&g);
    kr_users_mark(work->device, work->stream);
    kr_stopwatch_stop(kr_work_unwatch(work));
    const uint64_t peak_nbytes = held + kr_work_peak_end(work, &peak);
    if (is_done)
        kr_table_finish(work, table, &watch, peak_nbytes);
}
