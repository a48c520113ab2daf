#include "table/families/cubes/cells.h"
#include "index/sorted/sorted.h"
#include "table/families/cubes/cells_body.h"

#include <stdlib.h>

_Static_assert(CELLS_FIELD == (int)CUBES_FIELD, "both are the bits of a cell in a record");

/* ---- Codes to cells --------------------------------------------------------------------------- */

/* The last cell whose mark is below `code`, or not above it; -1: none. */
static int32_t last_mark(const cubes_cells *cells, uint64_t code, int with_equals)
{
    uint32_t low = 0, high = cells->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (cells->marks[middle] < code || (with_equals && cells->marks[middle] == code))
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low - 1;
}

cubes_span cubes_cells_of(const cubes_cells *cells, uint64_t low, uint64_t high)
{
    const uint64_t from = low > cells->lowest ? low : cells->lowest;
    const uint64_t to = high < cells->highest ? high : cells->highest;
    if (from > to)
        return (cubes_span){0, -1};
    if (!cells->marks)
        return (cubes_span){(int32_t)cubes_cells_by_scale(from, cells->lowest, cells->scale, cells->n),
                            (int32_t)cubes_cells_by_scale(to, cells->lowest, cells->scale, cells->n)};
    /* Codes from `from` on may begin within the last cell whose mark is below it, unless that is one row. */
    const int32_t below = last_mark(cells, from, 0), first = cells->low_bits ? below : below + 1;
    return (cubes_span){first < 0 ? 0 : first, last_mark(cells, to, 1)};
}

/* ---- Numbers of cells ------------------------------------------------------------------------- */

/* What follows from how many values there are, and from the lowest and the highest. */
static void count_cells(uint64_t n_rows, uint32_t encode, cubes_cells *cells)
{
    const uint64_t range = cells->highest - cells->lowest, n_nulls = n_rows - cells->n_valid;
    if (!encode) {
        cells->n = !cells->n_valid ? 0 : range ? CUBES_CELLS : 1;
        cells->n_nulls = n_nulls > 0;
        cells->scale = cells->n > 1 ? CUBES_CELLS / (double)range : 0;
        return;
    }
    while (n_rows >> cells->low_bits >= CUBES_CELLS)
        ++cells->low_bits;
    const uint64_t each = (uint64_t)1 << cells->low_bits;
    cells->n = (uint32_t)((cells->n_valid + each - 1) >> cells->low_bits);
    cells->n_nulls = (uint32_t)((n_nulls + each - 1) >> cells->low_bits);
}

void cubes_cells_image(kr_image *image, uint64_t n_rows, uint32_t encode, cubes_cells *cells)
{
    kr_image_u64(image, "values", &cells->n_valid, 0, n_rows);
    kr_image_u64(image, "lowest", &cells->lowest, 0, UINT64_MAX);
    kr_image_u64(image, "highest", &cells->highest, 0, UINT64_MAX);
    if (kr_image_loads(image))
        count_cells(n_rows, encode, cells);
    if (encode)
        kr_image_array(image, "marks", (void **)&cells->marks, cells->n, sizeof *cells->marks);
}

/* ---- Encoded ---------------------------------------------------------------------------------- */

static void read_marks(kr_work *work, const cubes_cells_job *job, const kr_sorted *sorted, cubes_cells *cells)
{
    const uint64_t nbytes = cells->n * sizeof(uint64_t);
    cells->marks = kr_work_array(work, cells->n, sizeof *cells->marks, "a mapping table");
    uint64_t *marks = kr_work_take(work, nbytes, "a mapping table");
    const marks_params params = {kr_sorted_as_codes(sorted, (uint32_t)job->column->type), marks,
                                 cells->low_bits, 0};
    kr_work_run(work, &cubes_cells_mark, &params, cells->n);
    kr_work_read(work, cells->marks, marks, nbytes);
    kr_work_give(work, marks);
}

static void spread(kr_work *work, const cubes_cells_job *job, const kr_sorted *sorted,
                   const cubes_cells *cells)
{
    for (uint32_t i = 0; i < job->n_places; ++i) {
        const cubes_place *place = job->places + i;
        const spread_params params = {.codes = kr_sorted_as_codes(sorted, (uint32_t)job->column->type),
                                      .rows = sorted->rows.data,
                                      .records = place->records,
                                      .shift = place->shift,
                                      .low_shift = place->low_shift,
                                      .low_bits = cells->low_bits,
                                      .shuffles_ties = job->shuffles_ties};
        kr_work_run(work, &cubes_cells_spread, &params, sorted->n);
    }
}

static uint32_t choose_limits(kr_work *work, const cubes_cells_job *job, const kr_sorted *sorted,
                              uint64_t *limits)
{
    kr_border *borders = kr_work_array(work, job->bins, sizeof *borders, "borders of filter vectors");
    const kr_codes codes = kr_sorted_as_codes(sorted, (uint32_t)job->column->type);
    const uint32_t n = kr_borders_choose(work, &codes, job->bins, borders);
    for (uint32_t i = 0; i < n; ++i)
        limits[i] = borders[i].limit;
    free(borders);
    return n;
}

static void encode(kr_work *work, const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits,
                   uint32_t *n_limits)
{
    const kr_build build = {.keys = *job->column};
    const kr_sorted sorted = kr_sorted_build(work, &build);
    cells->n_valid = sorted.n;
    count_cells(job->column->count, 1, cells);
    if (sorted.n) {
        cells->lowest = sorted.lowest;
        cells->highest = sorted.highest;
        read_marks(work, job, &sorted, cells);
    }
    *n_limits = choose_limits(work, job, &sorted, limits);
    spread(work, job, &sorted, cells);
    kr_sorted_give(work, &sorted);
}

/* ---- Not encoded ------------------------------------------------------------------------------ */

static void find_ends(kr_work *work, const cubes_cells_job *job, cubes_cells *cells)
{
    const kr_column *column = job->column;
    uint64_t *counters = kr_work_counters(work, 3), found[3] = {0};
    const ends_params params = {column->data, column->validity, counters, (uint32_t)column->validity_offset,
                                (uint32_t)column->type};
    kr_work_run(work, &cubes_cells_ends, &params, column->count);
    kr_work_read(work, found, counters, sizeof found);
    kr_work_give(work, counters);
    cells->n_valid = found[2];
    if (found[2]) {
        cells->lowest = ~found[1];
        cells->highest = found[0];
    }
}

/* The last code of cell `cell`: found by halving, as rounding is the device's. */
static uint64_t last_code_of(const cubes_cells *cells, uint32_t cell)
{
    uint64_t low = cells->lowest, high = cells->highest;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2 + (high - low) % 2;
        if (cubes_cells_by_scale(middle, cells->lowest, cells->scale, cells->n) <= cell)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void cut_evenly(const cubes_cells *cells, uint32_t bins, uint64_t *limits, uint32_t *n_limits)
{
    uint32_t kept = 0;
    for (uint32_t b = 1; b < bins && cells->n > 1; ++b) {
        const uint32_t cell = (uint32_t)((uint64_t)b * cells->n / bins);
        const uint64_t limit = cell ? last_code_of(cells, cell - 1) : 0;
        if (cell && limit < cells->highest && (!kept || limit > limits[kept - 1]))
            limits[kept++] = limit;
    }
    *n_limits = kept;
}

/* Without codes for them, rows are sorted for the limits alone. */
static void cut(kr_work *work, const cubes_cells_job *job, const cubes_cells *cells, uint64_t *limits,
                uint32_t *n_limits)
{
    const kr_build build = {.keys = *job->column};
    if (job->by_values || job->bins < 2) {
        cut_evenly(cells, job->bins, limits, n_limits);
        return;
    }
    const kr_sorted sorted = kr_sorted_build(work, &build);
    *n_limits = choose_limits(work, job, &sorted, limits);
    kr_sorted_give(work, &sorted);
}

static void scale(kr_work *work, const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits,
                  uint32_t *n_limits)
{
    const kr_column *column = job->column;
    find_ends(work, job, cells);
    count_cells(column->count, 0, cells);
    cut(work, job, cells, limits, n_limits);
    for (uint32_t i = 0; i < job->n_places && cells->n; ++i) {
        const scale_params params = {.data = column->data,
                                     .validity = column->validity,
                                     .records = job->places[i].records,
                                     .lowest = cells->lowest,
                                     .scale = cells->scale,
                                     .validity_offset = (uint32_t)column->validity_offset,
                                     .type = (uint32_t)column->type,
                                     .shift = job->places[i].shift,
                                     .n = cells->n};
        kr_work_run(work, &cubes_cells_scale, &params, column->count);
    }
}

/* ---- Both ------------------------------------------------------------------------------------- */

static void place_nulls(kr_work *work, const cubes_cells_job *job, const cubes_cells *cells)
{
    const kr_column *column = job->column;
    for (uint32_t i = 0; i < job->n_places && cells->n_nulls; ++i) {
        const nulls_params params = {.validity = column->validity,
                                     .records = job->places[i].records,
                                     .n_rows = column->count,
                                     .validity_offset = (uint32_t)column->validity_offset,
                                     .shift = job->places[i].shift,
                                     .first = cells->n,
                                     .n = cells->n_nulls};
        kr_work_run(work, &cubes_cells_nulls, &params, column->count);
    }
}

void cubes_cells_make(kr_work *work, const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits,
                      uint32_t *n_limits)
{
    cubes_cells made = {.lowest = 1};
    *n_limits = 0;
    if (job->encode)
        encode(work, job, &made, limits, n_limits);
    else
        scale(work, job, &made, limits, n_limits);
    place_nulls(work, job, &made);
    kr_work_lap(work, "encode");
    if (kr_work_goes_on(work))
        *cells = made;
    else
        cubes_cells_release(&made);
}

void cubes_cells_release(cubes_cells *cells)
{
    free(cells->marks);
    *cells = (cubes_cells){.lowest = 1};
}

uint64_t cubes_cells_scratch(kr_device *device, const cubes_cells_job *job)
{
    const kr_column *column = job->column;
    const kr_shape shape = {.device = device,
                            .count = column->count,
                            .type = (uint32_t)column->type,
                            .has_validity = column->validity != NULL};
    kr_need sorted;
    if (!job->encode && (job->by_values || job->bins < 2))
        return 0;
    kr_sorted_estimate(&shape, &sorted);
    const uint64_t cells = column->count < CUBES_CELLS ? column->count : CUBES_CELLS;
    const uint64_t marks = job->encode ? cells * sizeof(uint64_t) : 0;
    const uint64_t borders = kr_borders_scratch(column->count, job->bins);
    const uint64_t after = sorted.footprint_nbytes + (marks > borders ? marks : borders);
    return sorted.peak_nbytes > after ? sorted.peak_nbytes : after;
}

int cubes_cells_ascend(const cubes_cells *cells, const uint64_t *limits, uint32_t n_limits)
{
    int good = cells->lowest <= cells->highest || !cells->n_valid;
    for (uint32_t i = 0; i < n_limits; ++i)
        good &= limits[i] >= (i ? limits[i - 1] + 1 : cells->lowest) && limits[i] < cells->highest;
    for (uint32_t m = 0; cells->marks && m < cells->n; ++m)
        good &=
            cells->marks[m] >= (m ? cells->marks[m - 1] : cells->lowest) && cells->marks[m] <= cells->highest;
    return good;
}

uint64_t cubes_cells_check(kr_work *work, const kr_column *column, const cubes_cells *cells,
                           const cubes_place *place, const uint32_t *rows)
{
    const uint64_t nbytes = cells->marks ? cells->n * sizeof *cells->marks : 0;
    uint64_t *counter = kr_work_counters(work, 1), *marks = kr_work_take(work, nbytes, "a mapping table");
    uint64_t bad = 0;
    kr_work_copy(work, marks, cells->marks, nbytes);
    const cells_check_params params = {.data = column->data,
                                       .validity = column->validity,
                                       .records = place->records,
                                       .rows = rows,
                                       .marks = marks,
                                       .bad = counter,
                                       .lowest = cells->lowest,
                                       .highest = cells->highest,
                                       .scale = cells->scale,
                                       .validity_offset = (uint32_t)column->validity_offset,
                                       .type = (uint32_t)column->type,
                                       .shift = place->shift,
                                       .n = cells->n,
                                       .n_nulls = cells->n_nulls};
    kr_work_run(work, &cubes_cells_check_rows, &params, column->count);
    kr_work_read(work, &bad, counter, sizeof bad);
    kr_work_give(work, marks);
    kr_work_give(work, counter);
    return bad;
}
