/* Making a part of a table, and checking it. */
#include "base/key/key.h"
#include "table/families/bindex/bindex.h"

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
    uint64_t *codes, *sorted;
    uint32_t *rows;
    uint64_t *picked;
    uint64_t n;
    uint32_t n_picked;
} sample;

static void take_sample(kr_work *work, uint32_t n_columns, sample *s)
{
    static const char *const what = "a sample of a column";
    s->codes = kr_work_take(work, s->n * sizeof *s->codes, what);
    s->sorted = kr_work_take(work, s->n * sizeof *s->sorted, what);
    s->rows = kr_work_take(work, s->n * sizeof *s->rows, what);
    s->picked = kr_work_counters(work, n_columns * (s->n_picked + 1));
}

static void give_sample(kr_work *work, const sample *s)
{
    kr_work_give(work, s->picked);
    kr_work_give(work, s->rows);
    kr_work_give(work, s->sorted);
    kr_work_give(work, s->codes);
}

/* Enqueues. `picked` has room for n_picked + 1. */
static void pick(kr_work *work, const bindex_view *view, const sample *s, uint64_t *picked)
{
    kr_sort sort = sample_sort(view->type, s->n);
    const bindex_sample_params take = {.data = view->data,
                                       .validity = view->validity,
                                       .codes = s->codes,
                                       .nulls = picked,
                                       .validity_offset = view->validity_offset,
                                       .n = view->n,
                                       .count = s->n,
                                       .type = view->type};
    const bindex_pick_params choose = {s->sorted, picked, picked + 1, s->n, s->n_picked};
    kr_work_run(work, &bindex_sample, &take, s->n);
    sort.keys_in = s->codes;
    sort.keys_out = s->sorted;
    sort.rows_out = s->rows;
    kr_work_sort(work, &sort);
    kr_work_run(work, &bindex_pick, &choose, s->n_picked);
}

/* The samples of all columns are taken before the host reads what was picked of the first. */
static void make_borders(kr_work *work, const bindex_part_job *job, bindex_part *part)
{
    sample s = {.n = sample_rows(part->n), .n_picked = picked_rows(part->n)};
    const uint32_t each = s.n_picked + 1;
    const uint64_t nbytes = (uint64_t)job->n_columns * each * sizeof(uint64_t);
    uint64_t *picked = kr_work_array(work, (uint64_t)job->n_columns * each, sizeof *picked, "borders");
    take_sample(work, job->n_columns, &s);
    for (uint32_t c = 0; c < job->n_columns && kr_work_goes_on(work); ++c)
        pick(work, &part->columns[c].view, &s, s.picked + c * each);
    kr_work_read(work, picked, s.picked, nbytes);
    give_sample(work, &s);
    for (uint32_t c = 0; c < job->n_columns && kr_work_goes_on(work); ++c) {
        const bindex_view *view = &part->columns[c].view;
        const bindex_picked from = {picked + c * each + 1, s.n_picked, view->validity != NULL,
                                    kr_plan_most_code(view->type)};
        KR_STEP(work, bindex_borders_make(&from, job->vectors, part->columns + c, work->err));
    }
    free(picked);
    kr_work_lap(work, "borders");
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void set_data(const kr_column *column, uint64_t first, bindex_view *view)
{
    view->type = column->type;
    view->data = (const char *)column->data + first * kr_type_nbytes(column->type);
    view->validity = column->validity;
    view->validity_offset = column->validity_offset + first;
}

/* The buffers are where they will stay. */
static void open_view(bindex_column *column)
{
    bindex_view *view = &column->view;
    char *memory = column->memory.data, *borders = column->borders.data;
    view->vectors = (uint32_t *)memory;
    view->starts = (uint32_t *)(memory + vectors_nbytes(view));
    view->positions = (uint16_t *)(memory + vectors_nbytes(view) + starts_nbytes(view));
    view->codes = (uint64_t *)borders;
    view->ends = (uint32_t *)(borders + view->n_cells * sizeof(uint64_t));
}

static void bring_borders(kr_work *work, bindex_column *column)
{
    const bindex_view *view = &column->view;
    const uint64_t codes_nbytes = view->n_cells * sizeof(uint64_t);
    column->borders = kr_work_keep(work, kr_work_take(work, borders_nbytes(view), "borders of a column"));
    if (!kr_work_goes_on(work))
        return;
    char *borders = column->borders.data;
    kr_work_copy(work, borders, column->codes, codes_nbytes);
    if (view->n_vectors)
        kr_work_copy(work, borders + codes_nbytes, column->ends, view->n_vectors * sizeof(uint32_t));
}

/* Places for positions that no row takes, and what is behind them, become 0: a file of the table has them. */
static void clear_unused(kr_work *work, const bindex_column *column)
{
    const bindex_view *view = &column->view;
    uint16_t *from = view->positions + (view->validity ? 0 : view->n);
    const char *end = (const char *)column->memory.data + column->memory.nbytes;
    kr_work_fill(work, from, 0, (uint64_t)(end - (const char *)from));
}

static void take_column(kr_work *work, bindex_column *column)
{
    column->memory =
        kr_work_keep(work, kr_work_take_or(work, memory_nbytes(&column->view),
                                           "vectors and positions of a column", "fewer `vectors` take less"));
    bring_borders(work, column);
    if (!kr_work_goes_on(work))
        return;
    open_view(column);
    clear_unused(work, column);
}

/* Enqueues, for as many columns from c on as a launch takes. */
static void fill_some(kr_work *work, const bindex_part_job *job, const bindex_part *part, uint32_t c)
{
    bindex_fill_params fill = {.n_tiles = part->columns[c].view.n_tiles,
                               .blocks = {FILL_NBYTES, FILLS_AT_ONCE}};
    uint32_t n = 0;
    for (; n < BINDEX_FILLED && c + n < job->n_columns; ++n)
        fill.views[n] = part->columns[c + n].view;
    kr_work_run(work, &bindex_fill, &fill, n * fill.n_tiles);
}

static void count_cells(kr_work *work, const bindex_view *view, uint64_t *counts)
{
    const bindex_count_params count = {view->starts, counts, view->n_tiles};
    kr_work_run(work, &bindex_count, &count, (uint64_t)view->n_cells * work->device->ops->group_threads);
}

/* The sizes of all columns' cells, in one piece. */
static void count_all(kr_work *work, const bindex_part_job *job, const bindex_part *part)
{
    uint32_t n_cells = 0, first = 0;
    for (uint32_t c = 0; c < job->n_columns; ++c)
        n_cells += part->columns[c].view.n_cells;
    uint64_t *counts = kr_work_array(work, n_cells, sizeof *counts, "sizes of cells");
    uint64_t *counters = kr_work_counters(work, n_cells);
    for (uint32_t c = 0; c < job->n_columns && kr_work_goes_on(work);
         first += part->columns[c++].view.n_cells)
        count_cells(work, &part->columns[c].view, counters + first);
    kr_work_read(work, counts, counters, n_cells * sizeof *counts);
    first = 0;
    for (uint32_t c = 0; c < job->n_columns && kr_work_goes_on(work);
         first += part->columns[c++].view.n_cells)
        memcpy(part->columns[c].counts, counts + first, part->columns[c].view.n_cells * sizeof *counts);
    kr_work_give(work, counters);
    free(counts);
}

static void make_columns(kr_work *work, const bindex_part_job *job, bindex_part *part)
{
    for (uint32_t c = 0; c < job->n_columns; ++c) {
        set_tiles(part->n, &part->columns[c].view);
        set_data(job->columns + c, part->first, &part->columns[c].view);
    }
    make_borders(work, job, part);
    for (uint32_t c = 0; c < job->n_columns && kr_work_goes_on(work); ++c)
        take_column(work, part->columns + c);
    for (uint32_t c = 0; c < job->n_columns && kr_work_goes_on(work); c += BINDEX_FILLED)
        fill_some(work, job, part, c);
    if (kr_work_goes_on(work))
        count_all(work, job, part);
    kr_work_lap(work, "vectors");
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

void bindex_part_make(kr_work *work, const bindex_part_job *job, bindex_part *part)
{
    bindex_part made = {.first = job->first, .n = job->end - job->first};
    made.columns = kr_work_array(work, job->n_columns, sizeof *made.columns, "a table");
    if (!made.columns)
        return;
    make_columns(work, job, &made);
    if (kr_work_goes_on(work))
        *part = made;
    else
        bindex_part_release(work->device, job->n_columns, &made, work->stream);
}

void bindex_part_move(bindex_part *part, const kr_column *columns, uint32_t n_columns)
{
    for (uint32_t c = 0; c < n_columns; ++c)
        set_data(columns + c, part->first, &part->columns[c].view);
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* A vector of all values is there if there was validity when the part was made. */
static void image_column(kr_image *image, uint64_t n, uint32_t vectors, bindex_column *column)
{
    bindex_view *view = &column->view;
    uint32_t has_validity = view->n_vectors == column->n_sections;
    kr_image_u32(image, "cells", &view->n_cells, 1, BINDEX_CELLS);
    kr_image_u32(image, "sections", &column->n_sections, 1, vectors);
    kr_image_u32(image, "vector of all values", &has_validity, 0, 1);
    if (kr_image_loads(image)) {
        set_tiles(n, view);
        view->n_vectors = column->n_sections - !has_validity;
    }
    kr_image_array(image, "codes", (void **)&column->codes, view->n_cells, sizeof *column->codes);
    kr_image_array(image, "counts", (void **)&column->counts, view->n_cells, sizeof *column->counts);
    kr_image_array(image, "ends", (void **)&column->ends, view->n_vectors, sizeof *column->ends);
    kr_image_buffer(image, "memory", &column->memory, memory_nbytes(view));
    if (kr_image_loads(image))
        bring_borders(image->work, column);
    if (kr_image_binds(image))
        open_view(column);
}

void bindex_part_image(kr_image *image, const bindex_table *table, bindex_part *part)
{
    if (kr_image_loads(image))
        part->columns = kr_work_array(image->work, table->n_columns, sizeof *part->columns, "a table");
    for (uint32_t c = 0; part->columns && c < table->n_columns; ++c) {
        const uint32_t entered = kr_image_enter_nth(image, "column", c);
        image_column(image, part->n, table->vectors, part->columns + c);
        kr_image_leave(image, entered);
    }
    if (kr_image_binds(image))
        bindex_part_move(part, table->columns, table->n_columns);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Borders ascend, and no vector ends where another does; that of all values ends behind the last cell. */
static int borders_ascend(const bindex_column *column)
{
    const bindex_view *view = &column->view;
    int good = column->codes[0] == 0;
    for (uint32_t c = 1; c < view->n_cells; ++c)
        good &= column->codes[c - 1] < column->codes[c];
    for (uint32_t v = 0; v < view->n_vectors; ++v) {
        const uint32_t most = v + 1 < column->n_sections ? view->n_cells - 1 : view->n_cells;
        good &= column->ends[v] > (v ? column->ends[v - 1] : 0) && column->ends[v] <= most;
    }
    return good &&
           (view->n_vectors < column->n_sections || column->ends[view->n_vectors - 1] == view->n_cells);
}

/* No cell has more rows than there are. */
static int counts_fit(const bindex_column *column)
{
    int good = 1;
    for (uint32_t c = 0; c < column->view.n_cells; ++c)
        good &= column->counts[c] <= column->view.n;
    return good;
}

/* What the first two programs, or the third, find wrong: `found` is 0, also if a step has failed. */
static void run_checks(kr_work *work, const bindex_column *column, int all, uint64_t found[BINDEX_BADS])
{
    const bindex_view *view = &column->view;
    uint64_t *counters = kr_work_counters(work, BINDEX_BADS);
    const bindex_check_params params = {*view, counters, {FILL_NBYTES, FILLS_AT_ONCE}};
    if (all) {
        kr_work_run(work, &bindex_check, &params, view->n_tiles);
    } else {
        kr_work_run(work, &bindex_check_starts, &params, view->n_cells * view->n_tiles);
        kr_work_run(work, &bindex_check_last, &params, view->n - (view->n_tiles - 1) * 32 * view->words);
    }
    kr_work_read(work, found, counters, BINDEX_BADS * sizeof *found);
    kr_work_give(work, counters);
}

static int has_right_counts(kr_work *work, const bindex_column *column)
{
    const bindex_view *view = &column->view;
    uint64_t counts[BINDEX_CELLS];
    uint64_t *counters = kr_work_counters(work, view->n_cells);
    count_cells(work, view, counters);
    kr_work_read(work, counts, counters, view->n_cells * sizeof *counts);
    kr_work_give(work, counters);
    return kr_work_goes_on(work) && !memcmp(counts, column->counts, view->n_cells * sizeof *counts);
}

/* `all`: what is left after the others were found to be right. */
static void check_tiles(kr_work *work, const bindex_column *column, const char *name, uint64_t first, int all)
{
    static const char *const what[BINDEX_BADS] = {
        "the numbers of rows in cells are wrong",
        "the positions do not name the rows of their cells",
        "a vector has wrong bits",
    };
    uint64_t found[BINDEX_BADS] = {0};
    run_checks(work, column, all, found);
    for (uint32_t i = 0; i < BINDEX_BADS; ++i)
        if (found[i])
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT,
                                  "column '%s': %s in the tile that begins at row %llu", name, what[i],
                                  (unsigned long long)(first + (found[i] - 1) * 32 * column->view.words)));
}

/* Positions of a whole tile name a row of it whatever they are. */
void bindex_part_check(kr_work *work, const bindex_table *table, const bindex_part *part)
{
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const bindex_column *column = part->columns + c;
        if (!borders_ascend(column))
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': borders do not ascend",
                                  table->names[c]));
        if (!counts_fit(column))
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': the sizes of cells are wrong",
                                  table->names[c]));
        check_tiles(work, column, table->names[c], part->first, 0);
    }
}

void bindex_part_validate(kr_work *work, const bindex_table *table, const bindex_part *part)
{
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const bindex_column *column = part->columns + c;
        check_tiles(work, column, table->names[c], part->first, 1);
        if (!has_right_counts(work, column))
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': the sizes of cells are wrong",
                                  table->names[c]));
    }
}
