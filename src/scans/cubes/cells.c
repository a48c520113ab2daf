#include "scans/cubes/cells.h"
#include "scans/cubes/cells_body.h"
#include "sorted/sorted.h"

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
        return (cubes_span){(int32_t)cells_by_scale(from, cells->lowest, cells->scale, cells->n),
                            (int32_t)cells_by_scale(to, cells->lowest, cells->scale, cells->n)};
    /* Codes from `from` on may begin within the last cell whose mark is below it, unless that is one row. */
    const int32_t below = last_mark(cells, from, 0), first = cells->low_bits ? below : below + 1;
    return (cubes_span){first < 0 ? 0 : first, last_mark(cells, to, 1)};
}

/* ---- Encoded ---------------------------------------------------------------------------------- */

static kr_build build_of(const cubes_cells_job *job)
{
    return (kr_build){
        .device = job->device, .stream = job->stream, .keys = *job->column, .watch = job->watch};
}

static kr_status read_marks(const cubes_cells_job *job, const kr_sorted *sorted, cubes_cells *cells,
                            kr_error *err)
{
    const uint64_t nbytes = cells->n * sizeof(uint64_t);
    kr_buffer marks = {0};
    cells->marks = kr_host_calloc(cells->n, sizeof(uint64_t), "a mapping table", err);
    if (!cells->marks)
        return KR_ERR_HOST_MEMORY;
    kr_status status =
        kr_buffer_allocate(job->device, nbytes, job->stream, "a mapping table", NULL, &marks, err);
    const marks_params params = {sorted->keys.data, marks.data, kr_type_key_bits((uint32_t)job->column->type),
                                 cells->low_bits};
    if (status == KR_OK)
        status = kr_device_run(job->device, &cubes_cells_mark, &params, cells->n, job->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(job->device, cells->marks, marks.data, nbytes, job->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(job->device, job->stream, err);
    kr_buffer_release(job->device, &marks, job->stream);
    return status;
}

static kr_status spread(const cubes_cells_job *job, const kr_sorted *sorted, const cubes_cells *cells,
                        kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < job->n_places && status == KR_OK; ++i) {
        const cubes_place *place = job->places + i;
        const spread_params params = {sorted->rows.data, place->records,  place->shift,
                                      place->low_shift,  cells->low_bits, 0};
        status = kr_device_run(job->device, &cubes_cells_spread, &params, sorted->n, job->stream, err);
    }
    return status;
}

static kr_status choose_limits(const cubes_cells_job *job, const kr_sorted *sorted, uint64_t *limits,
                               uint32_t *n_limits, kr_error *err)
{
    kr_border *borders = kr_host_calloc(job->bins, sizeof *borders, "borders of filter vectors", err);
    if (!borders)
        return KR_ERR_HOST_MEMORY;
    const kr_status status =
        kr_borders_choose(job->device, sorted->keys.data, kr_type_key_bits((uint32_t)job->column->type),
                          sorted->n, job->bins, job->stream, borders, n_limits, err);
    for (uint32_t i = 0; i < *n_limits; ++i)
        limits[i] = borders[i].limit;
    free(borders);
    return status;
}

static kr_status encode(const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits, uint32_t *n_limits,
                        kr_error *err)
{
    const kr_build build = build_of(job);
    kr_work w = kr_work_of_build(&build, err);
    kr_sorted sorted = kr_sorted_build(&w, &build);
    kr_sorted_keep(&w, &sorted);
    kr_status status = kr_work_end(&w);
    if (status != KR_OK)
        return status;
    while (job->column->count >> cells->low_bits >= CUBES_CELLS)
        ++cells->low_bits;
    const uint64_t each = (uint64_t)1 << cells->low_bits;
    cells->n_valid = sorted.n;
    cells->n = (uint32_t)((sorted.n + each - 1) >> cells->low_bits);
    cells->n_nulls = (uint32_t)((job->column->count - sorted.n + each - 1) >> cells->low_bits);
    if (sorted.n) {
        cells->lowest = sorted.lowest;
        cells->highest = sorted.highest;
        status = read_marks(job, &sorted, cells, err);
    }
    if (status == KR_OK)
        status = choose_limits(job, &sorted, limits, n_limits, err);
    if (status == KR_OK)
        status = spread(job, &sorted, cells, err);
    kr_sorted_release(job->device, &sorted, job->stream);
    return status;
}

/* ---- Not encoded ------------------------------------------------------------------------------ */

static kr_status find_ends(const cubes_cells_job *job, cubes_cells *cells, kr_error *err)
{
    const kr_column *column = job->column;
    kr_buffer counters = {0};
    uint64_t found[3] = {0};
    kr_status status = kr_counters_make(job->device, job->stream, 3, &counters, err);
    const ends_params params = {column->data, column->validity, counters.data,
                                (uint32_t)column->validity_offset, (uint32_t)column->type};
    if (status == KR_OK)
        status = kr_device_run(job->device, &cubes_cells_ends, &params, column->count, job->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(job->device, job->stream, &counters, found, 3, err);
    kr_buffer_release(job->device, &counters, job->stream);
    cells->n_valid = found[2];
    if (found[2]) {
        cells->lowest = ~found[1];
        cells->highest = found[0];
    }
    return status;
}

/* The last code of cell `cell`: found by halving, as rounding is the device's. */
static uint64_t last_code_of(const cubes_cells *cells, uint32_t cell)
{
    uint64_t low = cells->lowest, high = cells->highest;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2 + (high - low) % 2;
        if (cells_by_scale(middle, cells->lowest, cells->scale, cells->n) <= cell)
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

static kr_status scale(const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits, uint32_t *n_limits,
                       kr_error *err)
{
    const kr_column *column = job->column;
    kr_status status = find_ends(job, cells, err);
    if (status != KR_OK)
        return status;
    const uint64_t range = cells->highest - cells->lowest;
    cells->n = !cells->n_valid ? 0 : range ? CUBES_CELLS : 1;
    cells->n_nulls = cells->n_valid < column->count;
    cells->scale = cells->n > 1 ? CUBES_CELLS / (double)range : 0;
    cut_evenly(cells, job->bins, limits, n_limits);
    for (uint32_t i = 0; i < job->n_places && cells->n && status == KR_OK; ++i) {
        const scale_params params = {.data = column->data,
                                     .validity = column->validity,
                                     .records = job->places[i].records,
                                     .lowest = cells->lowest,
                                     .scale = cells->scale,
                                     .validity_offset = (uint32_t)column->validity_offset,
                                     .type = (uint32_t)column->type,
                                     .shift = job->places[i].shift,
                                     .n = cells->n};
        status = kr_device_run(job->device, &cubes_cells_scale, &params, column->count, job->stream, err);
    }
    return status;
}

/* ---- Both ------------------------------------------------------------------------------------- */

static kr_status place_nulls(const cubes_cells_job *job, const cubes_cells *cells, kr_error *err)
{
    const kr_column *column = job->column;
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < job->n_places && cells->n_nulls && status == KR_OK; ++i) {
        const nulls_params params = {.validity = column->validity,
                                     .records = job->places[i].records,
                                     .n_rows = column->count,
                                     .validity_offset = (uint32_t)column->validity_offset,
                                     .shift = job->places[i].shift,
                                     .first = cells->n,
                                     .n = cells->n_nulls};
        status = kr_device_run(job->device, &cubes_cells_nulls, &params, column->count, job->stream, err);
    }
    return status;
}

kr_status cubes_cells_make(const cubes_cells_job *job, cubes_cells *cells, uint64_t *limits,
                           uint32_t *n_limits, kr_error *err)
{
    cubes_cells made = {.lowest = 1};
    *n_limits = 0;
    kr_status status =
        job->encode ? encode(job, &made, limits, n_limits, err) : scale(job, &made, limits, n_limits, err);
    if (status == KR_OK)
        status = place_nulls(job, &made, err);
    kr_stopwatch_lap(job->watch, "encode");
    if (status == KR_OK)
        *cells = made;
    else
        cubes_cells_release(&made);
    return status;
}

void cubes_cells_release(cubes_cells *cells)
{
    free(cells->marks);
    *cells = (cubes_cells){.lowest = 1};
}

uint64_t cubes_cells_scratch(kr_device *device, const kr_column *column, uint32_t bins, int encode)
{
    const kr_shape shape = {.device = device,
                            .count = column->count,
                            .type = (uint32_t)column->type,
                            .has_validity = column->validity != NULL};
    kr_need sorted;
    if (!encode)
        return 0;
    kr_sorted_estimate(&shape, &sorted);
    const uint64_t cells = column->count < CUBES_CELLS ? column->count : CUBES_CELLS;
    const uint64_t marks = cells * sizeof(uint64_t), borders = kr_borders_scratch(column->count, bins);
    const uint64_t after = sorted.footprint_nbytes + (marks > borders ? marks : borders);
    return sorted.peak_nbytes > after ? sorted.peak_nbytes : after;
}

kr_status cubes_cells_check(kr_device *device, const kr_column *column, const cubes_cells *cells,
                            const cubes_place *place, const uint32_t *rows, uint64_t *bad, kr_error *err)
{
    const uint64_t nbytes = cells->n * sizeof(uint64_t);
    kr_buffer counter = {0}, marks = {0};
    kr_status status = kr_counters_make(device, NULL, 1, &counter, err);
    if (status == KR_OK && cells->marks)
        status = kr_buffer_allocate(device, nbytes, NULL, "a mapping table", NULL, &marks, err);
    if (status == KR_OK && cells->marks)
        status = kr_device_copy(device, marks.data, cells->marks, nbytes, NULL, err);
    const cells_check_params params = {.data = column->data,
                                       .validity = column->validity,
                                       .records = place->records,
                                       .rows = rows,
                                       .marks = marks.data,
                                       .bad = counter.data,
                                       .lowest = cells->lowest,
                                       .highest = cells->highest,
                                       .scale = cells->scale,
                                       .validity_offset = (uint32_t)column->validity_offset,
                                       .type = (uint32_t)column->type,
                                       .shift = place->shift,
                                       .n = cells->n,
                                       .n_nulls = cells->n_nulls};
    if (status == KR_OK)
        status = kr_device_run(device, &cubes_cells_check_rows, &params, column->count, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counter, bad, 1, err);
    kr_buffer_release(device, &marks, NULL);
    kr_buffer_release(device, &counter, NULL);
    return status;
}
