/* Making a part of a table, and checking it. */
#include "key/key.h"
#include "scans/bindex/bindex.h"

#include <stdlib.h>
#include <string.h>

/* A sample of the rows decides where borders lie: a cell of 4,096 has 16 to 256 of them. */
enum { SAMPLE_LEAST = 1 << 16, SAMPLE_MOST = 1 << 20, SAMPLE_SHARE = 16, PICKED = BINDEX_CELLS - 1 };
enum { FILL_NBYTES = BINDEX_CELLS * 12 + BINDEX_WORDS * 4 + BINDEX_VECTORS * 4, FILLS_AT_ONCE = 2 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sample_rows(uint64_t n)
{
    return least(n, larger(SAMPLE_LEAST, least(n / SAMPLE_SHARE, SAMPLE_MOST)));
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Words of a tile and tiles, of n rows. A table of one tile has a smaller one. */
static void set_tiles(uint64_t n, bindex_view *view)
{
    view->n = n;
    view->words = (uint32_t)least((n + 255) / 256 * 8, BINDEX_WORDS);
    view->n_tiles = (n + 32 * (uint64_t)view->words - 1) / (32 * (uint64_t)view->words);
}

static uint64_t vectors_nbytes(const bindex_view *view)
{
    return view->n_vectors * view->n_tiles * view->words * sizeof(uint32_t);
}

static uint64_t starts_nbytes(const bindex_view *view)
{
    return (view->n_cells + 1) * view->n_tiles * sizeof(uint32_t);
}

/* Threads read as many words as a whole tile has: so there must be that many behind the last. */
static uint64_t memory_nbytes(const bindex_view *view)
{
    const uint64_t positions = view->n_tiles * view->words * 32 * sizeof(uint16_t);
    return vectors_nbytes(view) + starts_nbytes(view) + positions + BINDEX_WORDS * sizeof(uint32_t);
}

static uint64_t borders_nbytes(const bindex_view *view)
{
    return view->n_cells * sizeof(uint64_t) + view->n_vectors * sizeof(uint32_t);
}

static kr_sort sample_sort(uint32_t type, uint64_t n)
{
    return (kr_sort){.key_bits = 64, .end_bit = kr_type_significant_bits(type), .n = n};
}

static uint32_t picked_rows(uint64_t n)
{
    return (uint32_t)least(n, PICKED);
}

/* What picking borders takes: a sample of one column at a time, and what is picked of all. */
static uint64_t picking_nbytes(kr_device *device, const kr_column *columns, uint32_t n_columns)
{
    const uint64_t n = columns[0].count, n_sample = sample_rows(n);
    uint64_t sorting = 0;
    for (uint32_t c = 0; c < n_columns; ++c) {
        const kr_sort sort = sample_sort(columns[c].type, n_sample);
        sorting = larger(sorting, kr_device_sort_temp(device, &sort));
    }
    return n_sample * 20 + sorting + n_columns * (picked_rows(n) + 1) * sizeof(uint64_t);
}

void bindex_part_need(kr_device *device, const kr_column *columns, uint32_t n_columns, uint32_t vectors,
                      kr_need *need)
{
    uint64_t counts = 0;
    *need = (kr_need){0, 0};
    if (!columns[0].count)
        return;
    for (uint32_t c = 0; c < n_columns; ++c) {
        const uint32_t bits = kr_type_significant_bits(columns[c].type);
        const uint64_t values = bits < 16 ? (uint64_t)1 << bits : UINT64_MAX;
        bindex_view view = {.n_cells = (uint32_t)least(picked_rows(columns[c].count) + 1, values)};
        view.n_vectors = (uint32_t)least(vectors - 1, view.n_cells - 1) + (columns[c].validity != NULL);
        set_tiles(columns[c].count, &view);
        need->footprint_nbytes += memory_nbytes(&view) + borders_nbytes(&view);
        counts += view.n_cells * sizeof(uint64_t);
    }
    need->peak_nbytes = larger(picking_nbytes(device, columns, n_columns), need->footprint_nbytes + counts);
}

/* ---- Borders --------------------------------------------------------------------------------- */

/* Memory for the sample of one column, which the columns take in turn, and what is picked of each: how many
 * NULLs its sample has, then codes. */
typedef struct sample {
    kr_buffer codes, sorted, rows, picked;
    uint64_t n;
    uint32_t n_picked;
} sample;

static void release_sample(const bindex_part_job *job, sample *s)
{
    kr_buffer_release(job->device, &s->picked, job->stream);
    kr_buffer_release(job->device, &s->rows, job->stream);
    kr_buffer_release(job->device, &s->sorted, job->stream);
    kr_buffer_release(job->device, &s->codes, job->stream);
}

static kr_status allocate_sample(const bindex_part_job *job, sample *s, kr_error *err)
{
    static const char *const what = "a sample of a column";
    kr_status status =
        kr_buffer_allocate(job->device, s->n * sizeof(uint64_t), job->stream, what, NULL, &s->codes, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(job->device, s->n * sizeof(uint64_t), job->stream, what, NULL, &s->sorted,
                                    err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(job->device, s->n * sizeof(uint32_t), job->stream, what, NULL, &s->rows, err);
    return status == KR_OK ? kr_counters_make(job->device, job->stream, job->n_columns * (s->n_picked + 1),
                                              &s->picked, err)
                           : status;
}

/* Enqueues. */
static kr_status pick(const bindex_part_job *job, const bindex_view *view, const sample *s, uint64_t *picked,
                      kr_error *err)
{
    kr_sort sort = sample_sort(view->type, s->n);
    const bindex_sample_params take = {.data = view->data,
                                       .validity = view->validity,
                                       .codes = s->codes.data,
                                       .nulls = picked,
                                       .validity_offset = view->validity_offset,
                                       .n = view->n,
                                       .count = s->n,
                                       .type = view->type};
    const bindex_pick_params choose = {s->sorted.data, picked, picked + 1, s->n, s->n_picked};
    kr_status status = kr_device_run(job->device, &bindex_sample, &take, s->n, job->stream, err);
    sort.keys_in = s->codes.data;
    sort.keys_out = s->sorted.data;
    sort.rows_out = s->rows.data;
    if (status == KR_OK)
        status = kr_device_sort(job->device, &sort, job->stream, err);
    return status == KR_OK ? kr_device_run(job->device, &bindex_pick, &choose, s->n_picked, job->stream, err)
                           : status;
}

static kr_status pick_all(const bindex_part_job *job, const bindex_part *part, const sample *s,
                          uint64_t *picked, kr_error *err)
{
    const uint32_t each = s->n_picked + 1;
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; ++c)
        status = pick(job, &part->columns[c].view, s, (uint64_t *)s->picked.data + c * each, err);
    return status == KR_OK
               ? kr_counters_read(job->device, job->stream, &s->picked, picked, job->n_columns * each, err)
               : status;
}

/* The samples of all columns are taken before the host reads what was picked of the first. */
static kr_status make_borders(const bindex_part_job *job, bindex_part *part, kr_error *err)
{
    sample s = {.n = sample_rows(part->n), .n_picked = picked_rows(part->n)};
    const uint32_t each = s.n_picked + 1;
    uint64_t *picked = kr_host_calloc((uint64_t)job->n_columns * each, sizeof *picked, "borders", err);
    kr_status status = picked ? allocate_sample(job, &s, err) : KR_ERR_HOST_MEMORY;
    if (status == KR_OK)
        status = pick_all(job, part, &s, picked, err);
    release_sample(job, &s);
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; ++c) {
        const bindex_view *view = &part->columns[c].view;
        const bindex_picked from = {picked + c * each + 1, s.n_picked, view->validity != NULL,
                                    ~(uint64_t)0 >> (64 - kr_type_significant_bits(view->type))};
        status = bindex_borders_make(&from, job->vectors, part->columns + c, err);
    }
    free(picked);
    kr_stopwatch_lap(job->watch, "borders");
    return status;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void set_data(const kr_column *column, uint64_t first, bindex_view *view)
{
    view->type = column->type;
    view->data = (const char *)column->data + first * kr_type_nbytes(column->type);
    view->validity = column->validity;
    view->validity_offset = column->validity_offset + first;
}

static kr_status allocate_column(const bindex_part_job *job, bindex_column *column, kr_error *err)
{
    bindex_view *view = &column->view;
    const uint64_t codes_nbytes = view->n_cells * sizeof(uint64_t);
    kr_status status =
        kr_buffer_allocate(job->device, memory_nbytes(view), job->stream, "vectors and positions of a column",
                           "fewer `vectors` take less", &column->memory, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(job->device, borders_nbytes(view), job->stream, "borders of a column",
                                    NULL, &column->borders, err);
    if (status != KR_OK)
        return status;
    char *memory = column->memory.data, *borders = column->borders.data;
    view->vectors = (uint32_t *)memory;
    view->starts = (uint32_t *)(memory + vectors_nbytes(view));
    view->positions = (uint16_t *)(memory + vectors_nbytes(view) + starts_nbytes(view));
    view->codes = (uint64_t *)borders;
    view->ends = (uint32_t *)(borders + codes_nbytes);
    status = kr_device_copy(job->device, borders, column->codes, codes_nbytes, job->stream, err);
    return status == KR_OK && view->n_vectors
               ? kr_device_copy(job->device, borders + codes_nbytes, column->ends,
                                view->n_vectors * sizeof(uint32_t), job->stream, err)
               : status;
}

/* Enqueues, for as many columns from c on as a launch takes. */
static kr_status fill_some(const bindex_part_job *job, const bindex_part *part, uint32_t c, kr_error *err)
{
    bindex_fill_params fill = {.n_tiles = part->columns[c].view.n_tiles,
                               .blocks = {FILL_NBYTES, FILLS_AT_ONCE}};
    uint32_t n = 0;
    for (; n < BINDEX_FILLED && c + n < job->n_columns; ++n)
        fill.views[n] = part->columns[c + n].view;
    return kr_device_run(job->device, &bindex_fill, &fill, n * fill.n_tiles, job->stream, err);
}

static kr_status count_cells(kr_device *device, const bindex_view *view, uint64_t *counts, kr_stream *stream,
                             kr_error *err)
{
    const bindex_count_params count = {view->starts, counts, view->n_tiles};
    return kr_device_run(device, &bindex_count, &count, (uint64_t)view->n_cells * device->ops->group_threads,
                         stream, err);
}

/* The sizes of all columns' cells, in one piece. */
static kr_status count_all(const bindex_part_job *job, const bindex_part *part, kr_error *err)
{
    uint32_t n_cells = 0, first = 0;
    kr_buffer counters = {0};
    for (uint32_t c = 0; c < job->n_columns; ++c)
        n_cells += part->columns[c].view.n_cells;
    uint64_t *counts = kr_host_calloc(n_cells, sizeof *counts, "sizes of cells", err);
    kr_status status =
        counts ? kr_counters_make(job->device, job->stream, n_cells, &counters, err) : KR_ERR_HOST_MEMORY;
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; first += part->columns[c++].view.n_cells)
        status = count_cells(job->device, &part->columns[c].view, (uint64_t *)counters.data + first,
                             job->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(job->device, job->stream, &counters, counts, n_cells, err);
    first = 0;
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; first += part->columns[c++].view.n_cells)
        memcpy(part->columns[c].counts, counts + first, part->columns[c].view.n_cells * sizeof *counts);
    kr_buffer_release(job->device, &counters, job->stream);
    free(counts);
    return status;
}

static kr_status make_columns(const bindex_part_job *job, bindex_part *part, kr_error *err)
{
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        set_tiles(part->n, &part->columns[c].view);
        set_data(job->columns + c, part->first, &part->columns[c].view);
    }
    kr_status status = make_borders(job, part, err);
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; ++c)
        status = allocate_column(job, part->columns + c, err);
    for (uint32_t c = 0; c < job->n_columns && status == KR_OK; c += BINDEX_FILLED)
        status = fill_some(job, part, c, err);
    if (status == KR_OK)
        status = count_all(job, part, err);
    kr_stopwatch_lap(job->watch, "vectors");
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

void bindex_part_release(kr_device *device, uint32_t n_columns, bindex_part *part, kr_stream *stream)
{
    for (uint32_t c = 0; c < n_columns && part->columns; ++c) {
        kr_buffer_release(device, &part->columns[c].borders, stream);
        kr_buffer_release(device, &part->columns[c].memory, stream);
        bindex_borders_release(part->columns + c);
    }
    free(part->columns);
    part->columns = NULL;
}

kr_status bindex_part_make(const bindex_part_job *job, bindex_part *part, kr_error *err)
{
    bindex_part made = {.first = job->first, .n = job->end - job->first};
    made.columns = kr_host_calloc(job->n_columns, sizeof *made.columns, "a table", err);
    if (!made.columns)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = make_columns(job, &made, err);
    if (status == KR_OK)
        *part = made;
    else
        bindex_part_release(job->device, job->n_columns, &made, job->stream);
    return status;
}

void bindex_part_move(bindex_part *part, const kr_column *columns, uint32_t n_columns)
{
    for (uint32_t c = 0; c < n_columns; ++c)
        set_data(columns + c, part->first, &part->columns[c].view);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Borders ascend, and no vector ends where another does. */
static int borders_ascend(const bindex_column *column)
{
    const bindex_view *view = &column->view;
    int good = column->codes[0] == 0;
    for (uint32_t c = 1; c < view->n_cells; ++c)
        good &= column->codes[c - 1] < column->codes[c];
    for (uint32_t v = 0; v < view->n_vectors; ++v)
        good &= column->ends[v] > (v ? column->ends[v - 1] : 0) && column->ends[v] <= view->n_cells;
    return good;
}

static kr_status run_checks(kr_device *device, const bindex_column *column, uint64_t found[BINDEX_BADS],
                            kr_error *err)
{
    const bindex_view *view = &column->view;
    kr_buffer counters = {0};
    kr_status status = kr_counters_make(device, NULL, BINDEX_BADS, &counters, err);
    const bindex_check_params params = {*view, counters.data, {FILL_NBYTES, FILLS_AT_ONCE}};
    if (status == KR_OK)
        status =
            kr_device_run(device, &bindex_check_starts, &params, view->n_cells * view->n_tiles, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, found, BINDEX_BADS, err);
    if (status == KR_OK && !found[BINDEX_BAD_STARTS])
        status = kr_device_run(device, &bindex_check, &params, view->n_tiles, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, found, BINDEX_BADS, err);
    kr_buffer_release(device, &counters, NULL);
    return status;
}

static kr_status check_counts(kr_device *device, const bindex_column *column, int *good, kr_error *err)
{
    const bindex_view *view = &column->view;
    uint64_t counts[BINDEX_CELLS];
    kr_buffer counters = {0};
    kr_status status = kr_counters_make(device, NULL, view->n_cells, &counters, err);
    if (status == KR_OK)
        status = count_cells(device, view, counters.data, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, counts, view->n_cells, err);
    kr_buffer_release(device, &counters, NULL);
    *good = status == KR_OK && !memcmp(counts, column->counts, view->n_cells * sizeof *counts);
    return status;
}

static kr_status check_column(kr_device *device, const bindex_column *column, const char *name,
                              uint64_t first, kr_error *err)
{
    static const char *const what[BINDEX_BADS] = {
        "the numbers of rows in cells are wrong",
        "the positions do not name the rows of their cells",
        "a vector has wrong bits",
    };
    uint64_t found[BINDEX_BADS] = {0};
    int good = 0;
    if (!borders_ascend(column))
        return kr_fail(err, KR_ERR_INVARIANT, "column '%s': borders do not ascend", name);
    kr_status status = run_checks(device, column, found, err);
    for (uint32_t i = 0; i < BINDEX_BADS && status == KR_OK; ++i)
        if (found[i])
            status =
                kr_fail(err, KR_ERR_INVARIANT, "column '%s': %s in the tile that begins at row %llu", name,
                        what[i], (unsigned long long)(first + (found[i] - 1) * 32 * column->view.words));
    if (status == KR_OK)
        status = check_counts(device, column, &good, err);
    return status == KR_OK && !good
               ? kr_fail(err, KR_ERR_INVARIANT, "column '%s': the sizes of cells are wrong", name)
               : status;
}

kr_status bindex_part_check(kr_device *device, const bindex_table *table, const bindex_part *part,
                            kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < table->n_columns && status == KR_OK; ++c)
        status = check_column(device, part->columns + c, table->names[c], part->first, err);
    return status;
}
