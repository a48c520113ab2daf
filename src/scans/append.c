/* Rows appended to a table. The table's columns become copies of its own, with room for more; new rows are
 * written behind the last one, where no scan reads, and count only when the kind has taken them in. */
#include "scans/append_body.h"
#include "scans/change.h"

#include <stdlib.h>
#include <string.h>

/* A table about to be longer. Buffers are those that it does not have yet. */
typedef struct growth {
    kr_table *table;
    kr_stream *stream;
    const kr_column *more;
    uint64_t n_rows, room; /* afterwards */
    int moves;             /* 1: columns go to larger memory */
    kr_column *columns;    /* as they will be */
    kr_resident *fresh;    /* of each column */
    kr_buffer alive;
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
    return kr_bitmap_words(g->room) * sizeof(uint32_t);
}

static kr_status allocate(const growth *g, uint64_t nbytes, const char *what, kr_buffer *buffer,
                          kr_error *err)
{
    return kr_buffer_allocate(g->table->device, nbytes, g->stream, what,
                              "a table that is longer keeps an eighth more room; create it anew", buffer,
                              err);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static kr_status put_values(growth *g, uint32_t c, kr_error *err)
{
    kr_device *device = g->table->device;
    const kr_column *old = g->table->columns + c, *more = g->more + c;
    const uint64_t each = kr_type_nbytes(old->type);
    char *to = g->table->residents[c].data.data;
    kr_status status = KR_OK;
    if (g->moves) {
        status = allocate(g, g->room * each, "a longer column", &g->fresh[c].data, err);
        to = g->fresh[c].data.data;
        if (status == KR_OK)
            status = kr_bring(device, to, old->data, old->count * each, g->stream, err);
    }
    g->columns[c].data = to;
    if (status != KR_OK)
        return status;
    return kr_bring(device, to + old->count * each, more->data, more->count * each, g->stream, err);
}

/* `from` is a column of n rows in device memory, or has no validity. */
static kr_status put_bits(const growth *g, uint8_t *to, uint64_t first, const kr_column *from, uint64_t n,
                          kr_error *err)
{
    const append_bits_params params = {to, from->validity, from->validity_offset, first, n};
    return n ? kr_device_run(g->table->device, &append_bits, &params, (first % 8 + n + 7) / 8, g->stream, err)
             : KR_OK;
}

/* A column has validity from the first NULL bitmap on. */
static kr_status put_validity(growth *g, uint32_t c, kr_error *err)
{
    kr_table *table = g->table;
    const kr_column *old = table->columns + c, *more = g->more + c;
    const kr_column bits = {.type = KR_U8,
                            .count = more->count,
                            .validity = more->validity,
                            .validity_offset = more->validity_offset};
    const int is_fresh = g->moves || !old->validity;
    kr_resident there = {0};
    kr_status status = KR_OK;
    if (!old->validity && !more->validity)
        return KR_OK;
    if (is_fresh)
        status = allocate(g, bits_nbytes(g), "a longer validity bitmap", &g->fresh[c].validity, err);
    uint8_t *to = is_fresh ? g->fresh[c].validity.data : table->residents[c].validity.data;
    if (status == KR_OK && is_fresh)
        status = put_bits(g, to, 0, old, old->count, err);
    if (status == KR_OK)
        status =
            kr_resident_make(table->device, &bits, "a copy of a validity bitmap", g->stream, &there, err);
    if (status == KR_OK)
        status = put_bits(g, to, old->count, &there.column, more->count, err);
    kr_resident_release(table->device, &there, g->stream);
    g->columns[c].validity = to;
    g->columns[c].validity_offset = 0;
    return status;
}

/* Appended rows are alive: their bits are 1 already. */
static kr_status put_alive(growth *g, kr_error *err)
{
    kr_device *device = g->table->device;
    const kr_buffer *old = &g->table->alive;
    if (!old->data || old->nbytes >= kr_bitmap_words(g->n_rows) * sizeof(uint32_t))
        return KR_OK;
    kr_status status = allocate(g, bits_nbytes(g), "a bitmap of rows", &g->alive, err);
    if (status == KR_OK)
        status = kr_device_fill(device, g->alive.data, 0xFF, g->alive.nbytes, g->stream, err);
    return status == KR_OK ? kr_device_copy(device, g->alive.data, old->data, old->nbytes, g->stream, err)
                           : status;
}

/* ---- The table ------------------------------------------------------------------------------- */

static kr_status open_growth(kr_table *table, const kr_column *more, kr_stream *stream, growth *g,
                             kr_error *err)
{
    *g = (growth){.table = table, .stream = stream, .more = more, .n_rows = table->n_rows + more[0].count};
    g->moves = table->room < g->n_rows;
    g->room = g->moves ? room_for(g->n_rows) : table->room;
    g->columns = kr_host_calloc(table->n_columns, sizeof *g->columns, "a longer table", err);
    g->fresh = kr_host_calloc(table->n_columns, sizeof *g->fresh, "a longer table", err);
    if (!g->columns || !g->fresh)
        return KR_ERR_HOST_MEMORY;
    memcpy(g->columns, table->columns, table->n_columns * sizeof *g->columns);
    return KR_OK;
}

static kr_status put_rows(growth *g, kr_stopwatch *watch, kr_error *err)
{
    const uint32_t n = g->table->n_columns;
    const uint64_t n_written = g->moves ? g->n_rows : g->more[0].count;
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < n && status == KR_OK; ++c) {
        status = kr_device_report(g->table->device, "copy", n_written, (double)c / n, err);
        if (status == KR_OK)
            status = put_values(g, c, err);
        if (status == KR_OK)
            status = put_validity(g, c, err);
        g->columns[c].count = g->n_rows;
    }
    if (status == KR_OK)
        status = put_alive(g, err);
    kr_stopwatch_lap(watch, "copy");
    return status;
}

static void swap(kr_device *device, kr_buffer *kept, kr_buffer *fresh, kr_stream *stream)
{
    if (!fresh->data)
        return;
    kr_buffer_release(device, kept, stream);
    *kept = *fresh;
    *fresh = (kr_buffer){0};
}

/* Nothing can fail from here on. */
static void take_over(growth *g)
{
    kr_table *table = g->table;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        kr_resident *resident = table->residents + c;
        swap(table->device, &resident->data, &g->fresh[c].data, g->stream);
        swap(table->device, &resident->validity, &g->fresh[c].validity, g->stream);
        resident->column = table->columns[c] = g->columns[c];
    }
    swap(table->device, &table->alive, &g->alive, g->stream);
    table->n_alive += g->n_rows - table->n_rows;
    table->n_rows = g->n_rows;
    table->room = g->room;
}

static void close_growth(growth *g)
{
    for (uint32_t c = 0; g->fresh && c < g->table->n_columns; ++c)
        kr_resident_release(g->table->device, g->fresh + c, g->stream);
    kr_buffer_release(g->table->device, &g->alive, g->stream);
    free(g->fresh);
    free(g->columns);
}

/* For kinds that do not append: all is built anew, beside what there is. */
static kr_status rebuild(const growth *g, kr_stopwatch *watch, kr_error *err)
{
    kr_table *table = g->table;
    const kr_table_build job = kr_table_build_of(table, g->columns, g->n_rows, g->stream, watch);
    void *made = NULL;
    kr_status status = table->ops->build(&job, &made, err);
    if (status == KR_OK)
        status = kr_device_sync(table->device, g->stream, err);
    else
        kr_device_drain(table->device);
    void *unused = status == KR_OK ? table->self : made;
    if (unused)
        table->ops->destroy(table->device, unused);
    if (status == KR_OK)
        table->self = made;
    return status;
}

static kr_status extend(const growth *g, kr_stopwatch *watch, kr_error *err)
{
    const kr_append_job job = {.stream = g->stream,
                               .n_rows_before = g->table->n_rows,
                               .n_rows = g->n_rows,
                               .columns = g->columns,
                               .watch = watch};
    return g->table->ops->append ? g->table->ops->append(g->table->device, g->table->self, &job, err)
                                 : rebuild(g, watch, err);
}

kr_status kr_table_append_rows(kr_table *table, const kr_column *columns, kr_stream *stream, kr_error *err)
{
    kr_stopwatch watch;
    growth g;
    kr_peak peak;
    const uint64_t held = kr_table_nbytes(table);
    kr_peak_begin(&peak, table->device);
    kr_stopwatch_start(&watch, table->device, stream);
    kr_device_drain(table->device); /* scans that still read what is there */
    kr_status status = open_growth(table, columns, stream, &g, err);
    if (status == KR_OK)
        status = put_rows(&g, &watch, err);
    if (status == KR_OK)
        status = extend(&g, &watch, err);
    const int is_done = status == KR_OK;
    if (is_done) {
        take_over(&g);
        status = kr_device_sync(table->device, stream, err);
    }
    close_growth(&g);
    kr_stopwatch_stop(&watch);
    const uint64_t peak_nbytes = held + kr_peak_end(&peak);
    if (!is_done)
        return status;
    const kr_status end = kr_table_finish(table, &watch, peak_nbytes, stream, status == KR_OK ? err : NULL);
    return status == KR_OK ? end : status;
}
