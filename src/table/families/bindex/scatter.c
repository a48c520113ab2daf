/* Life and facts of tables under `refine=scatter`. */
#include "table/families/bindex/scatter.h"
#include "index/sorted/sorted.h"
#include "table/families/bindex/bindex.h"
#include "table/results/totals.h"

#include <stdlib.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t blocks_of(uint64_t n)
{
    return (n + BINDEX_SCATTER_BLOCK - 1) / BINDEX_SCATTER_BLOCK;
}

/* ---- Build ----------------------------------------------------------------------------------- */

static void choose_limits(kr_work *work, const kr_sorted *sorted, uint32_t vectors,
                          bindex_scatter_column *column)
{
    const kr_codes codes = kr_sorted_as_codes(sorted, (uint32_t)column->column.type);
    kr_border *borders = kr_work_array(work, vectors, sizeof *borders, "limits of filter vectors");
    column->limits = kr_work_array(work, vectors, sizeof *column->limits, "limits of filter vectors");
    if (kr_work_goes_on(work))
        column->n_limits = kr_borders_choose(work, &codes, vectors, borders);
    for (uint32_t i = 0; i < column->n_limits; ++i)
        column->limits[i] = borders[i].limit;
    free(borders);
}

static void read_firsts(kr_work *work, const kr_sorted *sorted, bindex_scatter_column *column)
{
    const uint64_t nbytes = column->n_blocks * sizeof(uint64_t);
    uint64_t *firsts = kr_work_take(work, nbytes, "first codes of blocks");
    const bindex_scatter_firsts_params params = {kr_sorted_as_codes(sorted, (uint32_t)column->column.type),
                                                 firsts};
    column->firsts = kr_work_array(work, column->n_blocks, sizeof *column->firsts, "first codes of blocks");
    kr_work_run(work, &bindex_scatter_firsts, &params, column->n_blocks);
    kr_work_read(work, column->firsts, firsts, nbytes);
    kr_work_give(work, firsts);
}

static void make_column(kr_work *work, uint32_t vectors, bindex_scatter_column *column)
{
    const kr_build build = {.keys = column->column};
    kr_sorted sorted = kr_sorted_build(work, &build);
    column->n_valid = sorted.n;
    column->n_blocks = blocks_of(sorted.n);
    column->has_nulls = sorted.n < column->column.count;
    column->lowest = sorted.n ? sorted.lowest : 1;
    column->highest = sorted.n ? sorted.highest : 0;
    choose_limits(work, &sorted, vectors, column);
    if (sorted.n)
        read_firsts(work, &sorted, column);
    kr_work_give(work, sorted.keys.data);
    column->rows = kr_work_keep(work, sorted.rows.data);
    kr_work_lap(work, "positions");
    if (!kr_work_goes_on(work))
        return;
    if (column->has_nulls)
        column->limits[column->n_limits] = UINT64_MAX;
    column->vectors =
        kr_vectors_make(work, &column->column, column->limits, column->n_limits + column->has_nulls);
    kr_work_lap(work, "vectors");
}

static void begin(kr_work *work, const kr_table_build *build, bindex_scatter_table *table)
{
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->names = build->names;
    table->columns = kr_work_array(work, build->n_columns, sizeof *table->columns, "a table");
}

static void build(kr_work *work, const kr_table_build *build, void **self)
{
    bindex_scatter_table *table = kr_work_object(work, sizeof *table, "a table");
    if (!table)
        return;
    *self = table;
    begin(work, build, table);
    for (uint32_t c = 0; c < build->n_columns && kr_work_goes_on(work); ++c) {
        table->columns[c].column = build->columns[c];
        if (build->n_rows)
            make_column(work, (uint32_t)build->spec->options[BINDEX_OPTION_VECTORS], table->columns + c);
    }
}

static void image_column(kr_image *image, uint32_t vectors, uint64_t n_rows, bindex_scatter_column *column)
{
    kr_image_u64(image, "values", &column->n_valid, 0, n_rows);
    kr_image_u64(image, "lowest", &column->lowest, 0, UINT64_MAX);
    kr_image_u64(image, "highest", &column->highest, 0, UINT64_MAX);
    kr_image_u32(image, "limits", &column->n_limits, 0, vectors - 1);
    if (kr_image_loads(image)) {
        column->n_blocks = blocks_of(column->n_valid);
        column->has_nulls = column->n_valid < n_rows;
    }
    const uint32_t n = column->n_limits + column->has_nulls;
    kr_image_array(image, "limits of vectors", (void **)&column->limits, n, sizeof *column->limits);
    kr_image_array(image, "firsts", (void **)&column->firsts, column->n_blocks, sizeof *column->firsts);
    kr_image_buffer_used(image, "positions", &column->rows, column->n_valid * sizeof(uint32_t));
    kr_vectors_image(image, n_rows, n, &column->vectors);
}

static void image(kr_image *image, const kr_table_build *build, void **self)
{
    const uint32_t vectors = (uint32_t)build->spec->options[BINDEX_OPTION_VECTORS];
    bindex_scatter_table *table = kr_image_object(image, self, sizeof *table);
    if (table && kr_image_loads(image))
        begin(image->work, build, table);
    for (uint32_t c = 0; table && table->columns && c < build->n_columns; ++c) {
        const uint32_t entered = kr_image_enter_nth(image, "column", c);
        if (build->n_rows)
            image_column(image, vectors, build->n_rows, table->columns + c);
        if (kr_image_binds(image))
            table->columns[c].column = build->columns[c];
        kr_image_leave(image, entered);
    }
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    bindex_scatter_table *table = self;
    for (uint32_t c = table->columns ? table->n_columns : 0; c-- > 0;) {
        bindex_scatter_column *column = table->columns + c;
        kr_vectors_release(device, &column->vectors, stream);
        kr_buffer_release(device, &column->rows, stream);
        free(column->firsts);
        free(column->limits);
    }
    free(table->columns);
    free(table);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    const uint32_t vectors = (uint32_t)shape->spec->options[BINDEX_OPTION_VECTORS];
    (void)err;
    *need = (kr_need){0, 0};
    for (uint32_t c = 0; c < shape->n_columns && shape->n_rows; ++c) {
        const kr_column *column = shape->columns + c;
        const kr_shape of = {.device = shape->device,
                             .count = shape->n_rows,
                             .type = (uint32_t)column->type,
                             .has_validity = column->validity != NULL};
        const uint64_t limits = (shape->n_rows < vectors ? shape->n_rows : vectors) - 1;
        const uint32_t most = (uint32_t)limits + (column->validity != NULL);
        const uint64_t scratch =
            larger(kr_borders_scratch(shape->n_rows, vectors), blocks_of(shape->n_rows) * sizeof(uint64_t));
        kr_need sorted;
        kr_sorted_estimate(&of, &sorted);
        const uint64_t kept = need->footprint_nbytes + shape->n_rows * sizeof(uint32_t) +
                              kr_vectors_nbytes(shape->n_rows, most);
        const uint64_t sorting =
            need->footprint_nbytes + larger(sorted.peak_nbytes, sorted.footprint_nbytes + scratch);
        need->peak_nbytes = larger(need->peak_nbytes, larger(sorting, kept + kr_vectors_scratch(most)));
        need->footprint_nbytes = kept;
    }
    return KR_OK;
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const bindex_scatter_table *table = self;
    components[0] = (kr_component){"vectors", 0};
    components[1] = (kr_component){"positions", 0};
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        components[0].nbytes += table->columns[c].vectors.words.nbytes;
        components[1].nbytes += table->columns[c].rows.nbytes;
    }
    return 2;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const bindex_scatter_table *table = self;
    uint64_t vectors = 0, blocks = 0;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        vectors += table->columns[c].vectors.n;
        blocks += table->columns[c].n_blocks;
    }
    counters[0] = (kr_counter){"vectors", vectors};
    counters[1] = (kr_counter){"blocks of positions", blocks};
    return 2;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Limits and first codes ascend, and lie between the lowest code and the highest. */
static int borders_ascend(const bindex_scatter_column *column)
{
    int good = column->lowest <= column->highest || !column->n_valid;
    for (uint32_t i = 0; i < column->n_limits; ++i)
        good &= column->limits[i] >= (i ? column->limits[i - 1] + 1 : column->lowest) &&
                column->limits[i] < column->highest;
    for (uint64_t b = 0; b < column->n_blocks; ++b)
        good &= column->firsts[b] >= (b ? column->firsts[b - 1] : column->lowest) &&
                column->firsts[b] <= column->highest;
    return good;
}

static void check(kr_work *work, const void *self)
{
    const bindex_scatter_table *table = self;
    uint64_t bad = 0, *counter = kr_work_counters(work, 1);
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const bindex_scatter_column *column = table->columns + c;
        const bindex_scatter_rows_params params = {column->rows.data, counter, table->n_rows};
        if (!borders_ascend(column))
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': limits do not ascend",
                                  table->names[c]));
        kr_work_run(work, &bindex_scatter_check_rows, &params, column->n_valid);
        kr_work_read(work, &bad, counter, sizeof bad);
        if (bad)
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': position %llu names no row",
                                  table->names[c], (unsigned long long)bad - 1));
    }
    kr_work_give(work, counter);
}

/* How many rows are not NULL, by the vector that says so. */
static uint64_t count_values(kr_work *work, const bindex_scatter_column *column)
{
    uint64_t n = column->column.count;
    if (!column->has_nulls)
        return n;
    uint64_t *counter = kr_work_counters(work, 1);
    const kr_selected of = {(uint32_t *)kr_vectors_at(&column->vectors, column->n_limits), n, NULL};
    kr_selected_count(work, &of, counter);
    kr_work_read(work, &n, counter, sizeof n);
    kr_work_give(work, counter);
    return n;
}

static void check_positions(kr_work *work, const bindex_scatter_column *column,
                            uint64_t found[BINDEX_SCATTER_BADS])
{
    const uint64_t firsts_nbytes = column->n_blocks * sizeof(uint64_t);
    uint64_t *counters = kr_work_counters(work, BINDEX_SCATTER_BADS);
    uint64_t *firsts = kr_work_take(work, firsts_nbytes, "first codes of blocks");
    const bindex_scatter_check_params params = {.data = column->column.data,
                                                .validity = column->column.validity,
                                                .rows = column->rows.data,
                                                .firsts = firsts,
                                                .found = counters,
                                                .validity_offset = column->column.validity_offset,
                                                .type = (uint32_t)column->column.type};
    kr_work_copy(work, firsts, column->firsts, firsts_nbytes);
    kr_work_run(work, &bindex_scatter_check, &params, column->n_valid);
    kr_work_read(work, found, counters, BINDEX_SCATTER_BADS * sizeof *found);
    kr_work_give(work, firsts);
    kr_work_give(work, counters);
}

static void check_column(kr_work *work, const bindex_scatter_column *column, const char *name)
{
    static const char *const what[BINDEX_SCATTER_BADS] = {"are not in the order of their values",
                                                          "do not begin their block with its first code"};
    uint64_t found[BINDEX_SCATTER_BADS] = {0};
    const uint64_t bad = kr_vectors_check(work, &column->column, column->limits, &column->vectors);
    if (bad)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': a filter vector is wrong at row %llu",
                        name, (unsigned long long)bad - 1));
    if (count_values(work, column) != column->n_valid)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': %llu positions are not its values",
                              name, (unsigned long long)column->n_valid));
    check_positions(work, column, found);
    for (uint32_t i = 0; i < BINDEX_SCATTER_BADS; ++i)
        if (found[i])
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "column '%s': rows at position %llu %s", name,
                                  (unsigned long long)found[i] - 1, what[i]));
}

static void validate(kr_work *work, const void *self)
{
    const bindex_scatter_table *table = self;
    for (uint32_t c = 0; c < table->n_columns && table->n_rows; ++c)
        check_column(work, table->columns + c, table->names[c]);
}

const kr_scan_ops bindex_scatter_ops = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .components = components,
    .counters = counters,
    .check = check,
    .validate = validate,
    .program = &bindex_scatter_refine,
    .image = image,
    .select = bindex_scatter_select,
    .explain = bindex_scatter_explain,
    .compares_columns = 1,
};
