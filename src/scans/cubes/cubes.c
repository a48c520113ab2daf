/* The life of tables of cubes. */
#include "scans/cubes/cubes.h"
#include "scans/cubes/groups.h"
#include "scans/cubes/order.h"
#include "scans/cubes/scene.h"
#include "scans/totals.h"
#include "scenes/rays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Where rays are -------------------------------------------------------------------------- */

/* The width of cubes as a share of the mean distance of rows, as RTScan has it at 10^8 rows (section 5.1:
 * 83,000 of 10^8); and how many fit in a bin at least: regions are on average a quarter of one thick. Rows
 * met by a piece of a ray. All of them for one row in a box: with p rows it is about p^(1/axes) distances
 * wide, and cubes are as much wider, too, which takes fewer rays; pieces are as long. */
static const double share_of_distance = 0.385, cubes_in_bin = 8, rows_a_piece = 0.8;

static uint32_t extent_of_values(const cubes_cells *cells)
{
    const uint32_t n = cells->n + cells->n_nulls;
    return n ? n : 1;
}

/* Cells of the scene for one row, and on how many axes rows differ. */
static double space_of(const cubes_group *group, uint64_t n_rows, uint32_t *n_axes)
{
    double space = 1.0 / (double)n_rows;
    *n_axes = 0;
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        space *= group->extents[axis];
        *n_axes += group->extents[axis] > 1;
    }
    *n_axes += *n_axes == 0;
    return space;
}

static uint32_t longest_of(const cubes_group *group)
{
    uint32_t longest = 1;
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        longest = group->extents[axis] > longest ? group->extents[axis] : longest;
    return longest;
}

static double width_of(const cubes_design *design, const cubes_group *group, double space, uint32_t n_axes)
{
    const double distance = pow(space, 1.0 / n_axes), longest = longest_of(group);
    const double by_rule = pow(design->pack, 1.0 / n_axes) *
                           fmin(share_of_distance * distance, longest / (cubes_in_bin * design->bins));
    return design->across ? longest / design->across
                          : (design->width < 0 ? by_rule : design->width * distance);
}

static uint32_t cells_of(double cells, double least, double most)
{
    return (uint32_t)fmin(fmax(cells, least), most);
}

static cubes_matrix matrix_of(const cubes_design *design, const cubes_group *group, uint64_t n_rows)
{
    uint32_t n_axes;
    const double space = space_of(group, n_rows, &n_axes);
    const uint32_t half = cells_of((width_of(design, group, space, n_axes) - 1) / 2, 0, CUBES_CELLS);
    const double width = 2.0 * half + 1, across = n_axes - 1.0;
    const double piece = rows_a_piece * space * pow(design->pack, across / n_axes) / pow(width, across);
    cubes_matrix matrix = {.half = half, .along = design->along};
    matrix.interval = cells_of(design->interval * width, 1, width);
    matrix.spacing = cells_of(design->spacing * width, 0, width);
    matrix.length =
        cells_of(design->length < 0 ? piece - matrix.spacing : design->length * width, 1, 2.0 * CUBES_CELLS);
    return matrix;
}

/* So many rays through a whole scene are more than any condition should take. */
#define MOST_RAYS ((uint64_t)1 << 32)

static kr_status check_rays(const kr_table_build *build, const cubes_design *design, const cubes_group *group,
                            kr_error *err)
{
    cubes_region all = {{0, 0, 0}, {0, 0, 0}};
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        all.last[axis] = (int32_t)group->extents[axis] - 1;
    const cubes_rays rays = cubes_rays_of(&group->matrix, &all);
    const uint64_t n = cubes_rays_count(&rays);
    if (n <= MOST_RAYS)
        return KR_OK;
    return kr_fail(err, KR_ERR_LIMIT,
                   "kind '%s': cubes %u cells wide take %llu rays to visit the scene of column '%s', but the "
                   "limit is %llu; %s",
                   build->spec->kind->name, 2 * group->matrix.half + 1, (unsigned long long)n,
                   build->names[group->columns[0]], (unsigned long long)MOST_RAYS, design->saves_rays);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static kr_status make_records(const kr_table_build *build, cubes_group *group, kr_error *err)
{
    const uint64_t nbytes = build->n_rows * sizeof(uint64_t);
    kr_status status = kr_buffer_allocate(build->device, nbytes, build->stream, "records", "fewer columns",
                                          &group->records, err);
    return status == KR_OK ? kr_device_fill(build->device, group->records.data, 0, nbytes, build->stream, err)
                           : status;
}

/* A scene of one column has its rows' numbers within a cell as a second axis. */
static void measure(const cubes_table *table, cubes_group *group)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        const cubes_column *column = axis < group->n_columns ? table->columns + group->columns[axis] : NULL;
        group->extents[axis] = column ? extent_of_values(&column->cells) : 1;
        group->is_wide |= column && kr_type_key_bits((uint32_t)column->column.type) == 64;
    }
    if (group->n_columns == 1)
        group->extents[1] = (uint32_t)1 << table->columns[group->columns[0]].cells.low_bits;
    group->matrix = matrix_of(&table->design, group, table->n_rows);
}

static kr_status order_rows(const kr_table_build *build, const cubes_table *table, cubes_group *group,
                            kr_error *err)
{
    cubes_order_job job = {.device = build->device,
                           .stream = build->stream,
                           .n_rows = table->n_rows,
                           .pack = table->design.pack};
    memcpy(job.extents, group->extents, sizeof job.extents);
    const kr_status status = cubes_order_make(&job, &group->records, &group->rows, err);
    kr_stopwatch_lap(build->watch, "order");
    return status;
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* The place of a column in each group that has it. */
static void add_places(const cubes_table *table, uint32_t column, cubes_cells_job *job)
{
    for (uint32_t g = 0; g < table->n_groups; ++g) {
        const cubes_group *group = table->groups + g;
        for (uint32_t axis = 0; axis < group->n_columns; ++axis)
            if (group->columns[axis] == column)
                job->places[job->n_places++] = (cubes_place){
                    .records = group->records.data,
                    .shift = axis * CUBES_RECORD_BITS,
                    .low_shift = group->n_columns == 1 ? CUBES_RECORD_BITS : 0,
                };
    }
}

static kr_status make_column(const kr_table_build *build, cubes_table *table, uint32_t c, kr_error *err)
{
    cubes_column *column = table->columns + c;
    cubes_cells_job job = {.device = build->device,
                           .stream = build->stream,
                           .watch = build->watch,
                           .column = &column->column,
                           .encode = table->design.encode,
                           .bins = table->design.bins};
    column->limits = kr_host_calloc(table->design.bins, sizeof *column->limits, "limits of bins", err);
    if (!column->limits)
        return KR_ERR_HOST_MEMORY;
    add_places(table, c, &job);
    kr_status status = cubes_cells_make(&job, &column->cells, column->limits, &column->n_limits, err);
    if (status != KR_OK)
        return status;
    status = cubes_find_bins(column, err);
    if (status != KR_OK)
        return status;
    const uint32_t has_nulls = column->cells.n_nulls > 0;
    if (has_nulls)
        column->limits[column->n_limits] = UINT64_MAX;
    status = kr_vectors_make(build->device, &column->column, column->limits, column->n_limits + has_nulls,
                             build->stream, &column->vectors, err);
    kr_stopwatch_lap(build->watch, "vectors");
    return status;
}

/* ---- Build ----------------------------------------------------------------------------------- */

static kr_status allocate(const kr_table_build *build, cubes_table *table, kr_error *err)
{
    table->columns = kr_host_calloc(table->n_columns, sizeof *table->columns, "a table", err);
    table->groups = kr_host_calloc(table->n_groups, sizeof *table->groups, "a table", err);
    table->names = kr_host_calloc(table->n_columns, sizeof *table->names, "a table", err);
    if (!table->columns || !table->groups || !table->names)
        return KR_ERR_HOST_MEMORY;
    memcpy(table->names, build->names, table->n_columns * sizeof *table->names);
    for (uint32_t c = 0; c < table->n_columns; ++c)
        table->columns[c].column = build->columns[c];
    return cubes_groups_fill(build->spec->text, table->design.together, table->n_columns, table->names,
                             table->groups, err);
}

static cubes_design design_of(const kr_spec *spec)
{
    return ((const cubes_family *)spec->kind->scan)->design_of(spec);
}

static kr_status cubes_build(const kr_table_build *build, void **self, kr_error *err)
{
    const cubes_design design = design_of(build->spec);
    cubes_table *table = kr_host_calloc(1, sizeof *table, "a table", err);
    if (!table)
        return KR_ERR_HOST_MEMORY;
    pthread_mutex_init(&table->lock, NULL);
    *self = table;
    table->device = build->device;
    table->design = design;
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->n_groups = cubes_groups_count(build->spec->text, design.together, build->n_columns);
    kr_status status = allocate(build, table, err);
    if (status != KR_OK || !build->n_rows)
        return status;
    for (uint32_t g = 0; g < table->n_groups && status == KR_OK; ++g)
        status = make_records(build, table->groups + g, err);
    for (uint32_t c = 0; c < table->n_columns && status == KR_OK; ++c)
        status = make_column(build, table, c, err);
    for (uint32_t g = 0; g < table->n_groups && status == KR_OK; ++g) {
        measure(table, table->groups + g);
        status = check_rays(build, &table->design, table->groups + g, err);
        if (status == KR_OK)
            status = order_rows(build, table, table->groups + g, err);
    }
    for (uint32_t g = 0; g < table->n_groups && !design.is_lazy && status == KR_OK; ++g)
        status = cubes_scene_build(table, table->groups + g, build->stream, build->watch, err);
    return status;
}

static void cubes_destroy(kr_device *device, void *self)
{
    cubes_table *table = self;
    for (uint32_t g = table->groups ? table->n_groups : 0; g-- > 0;) {
        kr_parts_release(&table->groups[g].scene, NULL);
        kr_buffer_release(device, &table->groups[g].rows, NULL);
        kr_buffer_release(device, &table->groups[g].records, NULL);
    }
    for (uint32_t c = table->columns ? table->n_columns : 0; c-- > 0;) {
        kr_vectors_release(device, &table->columns[c].vectors, NULL);
        cubes_cells_release(&table->columns[c].cells);
        free(table->columns[c].bins);
        free(table->columns[c].limits);
    }
    pthread_mutex_destroy(&table->lock);
    free(table->names);
    free(table->groups);
    free(table->columns);
    free(table);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static kr_status cubes_estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    const cubes_design design = design_of(shape->spec);
    const uint32_t n_groups = cubes_groups_count(shape->spec->text, design.together, shape->n_columns);
    kr_scene_estimate scene = {0};
    const uint64_t slots = cubes_slots(shape->n_rows, design.pack);
    uint64_t kept = n_groups * shape->n_rows * sizeof(uint64_t), peak = 0;
    *need = (kr_need){0, 0};
    if (!shape->n_rows)
        return KR_OK;
    const kr_status status = cubes_scene_estimate(shape->device, &design, shape->n_rows, &scene, err);
    for (uint32_t c = 0; c < shape->n_columns; ++c) {
        const kr_column *column = shape->columns + c;
        const uint64_t scratch = cubes_cells_scratch(shape->device, column, design.bins, (int)design.encode);
        peak = kept + scratch > peak ? kept + scratch : peak;
        kept += kr_vectors_nbytes(shape->n_rows, design.bins - (column->validity ? 0 : 1));
        const uint64_t limits = kept + kr_vectors_scratch(design.bins);
        peak = limits > peak ? limits : peak;
    }
    if (design.is_lazy)
        scene = (kr_scene_estimate){0};
    kept += n_groups * (slots * (sizeof(uint64_t) + sizeof(uint32_t)) - shape->n_rows * sizeof(uint64_t));
    const uint64_t ordered = kept + cubes_order_scratch(shape->device, shape->n_rows);
    const uint64_t last = kept + (n_groups - 1) * scene.footprint_nbytes + scene.peak_nbytes;
    peak = ordered > peak ? ordered : peak;
    need->footprint_nbytes = kept + n_groups * scene.footprint_nbytes;
    need->peak_nbytes = last > peak ? last : peak;
    return status;
}

static uint32_t cubes_components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const cubes_table *table = self;
    pthread_mutex_t *lock = (pthread_mutex_t *)&table->lock;
    uint64_t vectors = 0, records = 0, rows = 0, scenes = 0;
    pthread_mutex_lock(lock);
    for (uint32_t c = 0; c < table->n_columns; ++c)
        vectors += table->columns[c].vectors.words.nbytes;
    for (uint32_t g = 0; g < table->n_groups; ++g) {
        records += table->groups[g].records.nbytes;
        rows += table->groups[g].rows.nbytes;
        scenes += kr_parts_nbytes(&table->groups[g].scene);
    }
    pthread_mutex_unlock(lock);
    components[0] = (kr_component){"vectors", vectors};
    components[1] = (kr_component){"records", records};
    components[2] = (kr_component){"row ids", rows};
    components[3] = (kr_component){"bvh", scenes};
    return 4;
}

static uint32_t cubes_counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const cubes_table *table = self;
    uint64_t vectors = 0, mapping = 0;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        vectors += table->columns[c].vectors.n;
        mapping += table->columns[c].cells.marks ? table->columns[c].cells.n * sizeof(uint64_t) : 0;
    }
    counters[0] = (kr_counter){"groups", table->n_groups};
    counters[1] = (kr_counter){"vectors", vectors};
    counters[2] = (kr_counter){"mapping bytes", mapping};
    counters[3] = (kr_counter){"cells", longest_of(table->groups)};
    counters[4] = (kr_counter){"width", 2 * table->groups[0].matrix.half + 1};
    counters[5] = (kr_counter){"spacing", table->groups[0].matrix.spacing};
    counters[6] = (kr_counter){"length", table->groups[0].matrix.length};
    return 7;
}

/* ---- Validate -------------------------------------------------------------------------------- */

/* The rows of the group that has the place. */
static const uint32_t *rows_of(const cubes_table *table, const cubes_place *place)
{
    const uint32_t *rows = NULL;
    for (uint32_t g = 0; g < table->n_groups; ++g)
        if (table->groups[g].records.data == place->records)
            rows = table->groups[g].rows.data;
    return rows;
}

static kr_status check_column(kr_device *device, const cubes_table *table, uint32_t c, kr_error *err)
{
    const cubes_column *column = table->columns + c;
    cubes_cells_job places = {.n_places = 0};
    uint64_t bad = 0;
    kr_status status = kr_vectors_check(device, &column->column, column->limits, &column->vectors, &bad, err);
    if (status == KR_OK && bad)
        return kr_fail(err, KR_ERR_INVARIANT, "a filter vector of column '%s' is wrong at row %llu",
                       table->names[c], (unsigned long long)bad - 1);
    add_places(table, c, &places);
    for (uint32_t i = 0; i < places.n_places && status == KR_OK; ++i) {
        status = cubes_cells_check(device, &column->column, &column->cells, places.places + i,
                                   rows_of(table, places.places + i), &bad, err);
        if (status == KR_OK && bad)
            status = kr_fail(err, KR_ERR_INVARIANT, "row %llu is in a wrong cell of column '%s'",
                             (unsigned long long)bad - 1, table->names[c]);
    }
    return status;
}

/* Whether rays meet every row. */
static void check_scene(kr_work *work, const cubes_table *table, cubes_group *group)
{
    uint64_t met = table->n_rows;
    uint32_t *bitmap = kr_work_take(work, kr_bitmap_words(met) * sizeof *bitmap, "a bitmap of rows");
    uint64_t *counter = kr_work_counters(work, 1);
    const kr_selected of = {bitmap, table->n_rows, NULL};
    cubes_visit_all(work, table, group, bitmap);
    kr_selected_count(work, &of, counter);
    kr_work_read(work, &met, counter, sizeof met);
    kr_work_give(work, counter);
    kr_work_give(work, bitmap);
    if (met < table->n_rows)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT,
                              "rays miss %llu of %llu rows in the scene of column '%s'; report it with the "
                              "tracer's name",
                              (unsigned long long)(table->n_rows - met), (unsigned long long)table->n_rows,
                              table->names[group->columns[0]]));
}

static kr_status cubes_validate(kr_device *device, const void *self, kr_error *err)
{
    const cubes_table *table = self;
    kr_status status = KR_OK;
    for (uint32_t c = 0; c < table->n_columns && table->n_rows && status == KR_OK; ++c)
        status = check_column(device, table, c, err);
    kr_work work = kr_work_on(device, NULL, err);
    KR_STEP(&work, status);
    for (uint32_t g = 0; g < table->n_groups && table->n_rows; ++g)
        check_scene(&work, table, table->groups + g);
    return kr_work_end(&work);
}

const kr_scan_ops cubes_ops = {
    .estimate = cubes_estimate,
    .build = cubes_build,
    .destroy = cubes_destroy,
    .components = cubes_components,
    .counters = cubes_counters,
    .validate = cubes_validate,
    .tracer = kr_rays_tracer,
    .runs_on = kr_rays_runs_on,
    .select = cubes_select,
    .select_batch = cubes_select_batch,
    .explain = cubes_explain,
    .explain_plan = cubes_explain_plan,
};
