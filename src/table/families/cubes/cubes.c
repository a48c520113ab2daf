/* The life of tables of cubes. */
#include "table/families/cubes/cubes.h"
#include "index/scenes/rays.h"
#include "table/families/cubes/groups.h"
#include "table/families/cubes/order.h"
#include "table/families/cubes/scene.h"
#include "table/results/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Where rays are -------------------------------------------------------------------------- */

/* The width of cubes as a share of the mean distance of rows, as RTScan has it at 10^8 rows (section 5.1:
 * 83,000 of 10^8); and how many fit in a bin at least: regions are on average a quarter of one thick. Rows
 * met by a piece of a ray. All of them for one row in a box: with p rows it is about p^(1/axes) distances
 * wide, and cubes are as much wider, too, which takes fewer rays; pieces are as long. */
static const double share_of_distance = 0.385, cubes_in_bin = 8, rows_a_piece = 0.8;

/* A tracer finds where a ray meets a sphere by differences of squares, which floats round off by 2^-23 of the
 * square of the way, where r^2 and the cube's corner are a width apart. So pieces are at most so many cells
 * long, times the root of the width: the error is then an eighth of that. */
static const double longest_to_spheres = 1024;

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
    cubes_matrix matrix = {.shape = design->shape, .half = half, .along = design->along};
    matrix.interval = cells_of(design->interval * width, 1, width);
    matrix.spacing = cells_of(design->spacing * width, 0, width);
    matrix.length =
        cells_of(design->length < 0 ? piece - matrix.spacing : design->length * width, 1, 2.0 * CUBES_CELLS);
    if (design->shape == CUBES_SPHERE)
        matrix.length = cells_of(matrix.length, 1, longest_to_spheres * sqrt(width));
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

static void make_records(kr_work *work, const kr_table_build *build, cubes_group *group)
{
    const uint64_t nbytes = build->n_rows * sizeof(uint64_t);
    group->records = kr_work_keep(work, kr_work_take_or(work, nbytes, "records", "fewer columns"));
    kr_work_fill(work, group->records.data, 0, nbytes);
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

static void order_rows(kr_work *work, const cubes_table *table, cubes_group *group)
{
    cubes_order_job job = {.n_rows = table->n_rows, .pack = table->design.pack};
    memcpy(job.extents, group->extents, sizeof job.extents);
    cubes_order_make(work, &job, &group->records, &group->rows);
    kr_work_lap(work, "order");
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

static cubes_cells_job cells_job(const cubes_design *design, const kr_column *column)
{
    return (cubes_cells_job){.column = column,
                             .encode = design->encode,
                             .shuffles_ties = design->shuffles_ties,
                             .bins = design->bins,
                             .by_values = design->by_values};
}

static void make_column(kr_work *work, cubes_table *table, uint32_t c)
{
    cubes_column *column = table->columns + c;
    cubes_cells_job job = cells_job(&table->design, &column->column);
    column->limits = kr_work_array(work, table->design.bins, sizeof *column->limits, "limits of bins");
    add_places(table, c, &job);
    if (kr_work_goes_on(work))
        cubes_cells_make(work, &job, &column->cells, column->limits, &column->n_limits);
    KR_STEP(work, cubes_find_bins(column, work->err));
    if (!kr_work_goes_on(work))
        return;
    const uint32_t has_nulls = column->cells.n_nulls > 0;
    if (has_nulls)
        column->limits[column->n_limits] = UINT64_MAX;
    column->vectors = kr_vectors_make(work, &column->column, column->limits, column->n_limits + has_nulls);
    kr_work_lap(work, "vectors");
}

/* ---- Build ----------------------------------------------------------------------------------- */

static void fill_table(kr_work *work, const kr_table_build *build, cubes_table *table)
{
    table->columns = kr_work_array(work, table->n_columns, sizeof *table->columns, "a table");
    table->groups = kr_work_array(work, table->n_groups, sizeof *table->groups, "a table");
    table->names = kr_work_array(work, table->n_columns, sizeof *table->names, "a table");
    if (!kr_work_goes_on(work))
        return;
    memcpy(table->names, build->names, table->n_columns * sizeof *table->names);
    for (uint32_t c = 0; c < table->n_columns; ++c)
        table->columns[c].column = build->columns[c];
    KR_STEP(work, cubes_groups_fill(build->spec->text, table->design.together, table->n_columns, table->names,
                                    table->groups, work->err));
}

static cubes_design design_of(const kr_spec *spec)
{
    return ((const cubes_family *)spec->kind->scan)->design_of(spec);
}

static void begin(kr_work *work, const kr_table_build *build, cubes_table *table)
{
    pthread_mutex_init(&table->lock, NULL);
    table->device = work->device;
    table->design = design_of(build->spec);
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->n_groups = cubes_groups_count(build->spec->text, table->design.together, build->n_columns);
    fill_table(work, build, table);
}

/* All columns have cells. */
static void measure_groups(kr_work *work, const kr_table_build *build, cubes_table *table)
{
    for (uint32_t g = 0; g < table->n_groups && kr_work_goes_on(work); ++g) {
        measure(table, table->groups + g);
        KR_STEP(work, check_rays(build, &table->design, table->groups + g, work->err));
    }
}

static void build_scenes(kr_work *work, cubes_table *table)
{
    for (uint32_t g = 0; g < table->n_groups && !table->design.is_lazy; ++g)
        cubes_scene_build(work, table, table->groups + g);
}

static void cubes_build(kr_work *work, const kr_table_build *build, void **self)
{
    cubes_table *table = kr_work_object(work, sizeof *table, "a table");
    if (!table)
        return;
    *self = table;
    begin(work, build, table);
    if (!kr_work_goes_on(work) || !build->n_rows)
        return;
    for (uint32_t g = 0; g < table->n_groups; ++g)
        make_records(work, build, table->groups + g);
    for (uint32_t c = 0; c < table->n_columns; ++c)
        make_column(work, table, c);
    measure_groups(work, build, table);
    for (uint32_t g = 0; g < table->n_groups && kr_work_goes_on(work); ++g)
        order_rows(work, table, table->groups + g);
    build_scenes(work, table);
}

/* ---- Image ----------------------------------------------------------------------------------- */

static void image_column(kr_image *image, const cubes_table *table, cubes_column *column)
{
    cubes_cells_image(image, table->n_rows, table->design.encode, &column->cells);
    kr_image_u32(image, "limits", &column->n_limits, 0, table->design.bins - 1);
    const uint32_t n = column->n_limits + (column->cells.n_nulls > 0);
    kr_image_array(image, "limits of vectors", (void **)&column->limits, n, sizeof *column->limits);
    kr_vectors_image(image, table->n_rows, n, &column->vectors);
    if (kr_image_loads(image))
        KR_STEP(image->work, cubes_find_bins(column, image->work->err));
}

static void image_group(kr_image *image, const cubes_table *table, cubes_group *group)
{
    const uint64_t n_slots = cubes_slots(table->n_rows, table->design.pack);
    kr_image_buffer(image, "records", &group->records, n_slots * sizeof(uint64_t));
    kr_image_buffer(image, "rows", &group->rows, table->n_rows * sizeof(uint32_t));
}

/* Scenes are built again. */
static void cubes_image(kr_image *image, const kr_table_build *build, void **self)
{
    cubes_table *table = kr_image_object(image, self, sizeof *table);
    if (table && kr_image_loads(image))
        begin(image->work, build, table);
    if (!table || !kr_work_goes_on(image->work))
        return;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        const uint32_t entered = kr_image_enter_nth(image, "column", c);
        if (build->n_rows)
            image_column(image, table, table->columns + c);
        if (kr_image_binds(image))
            table->columns[c].column = build->columns[c];
        kr_image_leave(image, entered);
    }
    for (uint32_t g = 0; g < table->n_groups && build->n_rows; ++g) {
        const uint32_t entered = kr_image_enter_nth(image, "group", g);
        image_group(image, table, table->groups + g);
        kr_image_leave(image, entered);
    }
    if (!build->n_rows || !kr_image_loads(image))
        return;
    kr_work_lap(image->work, "read");
    measure_groups(image->work, build, table);
    build_scenes(image->work, table);
}

static void cubes_destroy(kr_device *device, void *self, kr_stream *stream)
{
    cubes_table *table = self;
    for (uint32_t g = table->groups ? table->n_groups : 0; g-- > 0;) {
        kr_scenes_release(&table->groups[g].scene, stream);
        kr_buffer_release(device, &table->groups[g].rows, stream);
        kr_buffer_release(device, &table->groups[g].records, stream);
    }
    for (uint32_t c = table->columns ? table->n_columns : 0; c-- > 0;) {
        kr_vectors_release(device, &table->columns[c].vectors, stream);
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
        const cubes_cells_job job = cells_job(&design, column);
        const uint64_t scratch = cubes_cells_scratch(shape->device, &job);
        peak = kept + scratch > peak ? kept + scratch : peak;
        kept += kr_vectors_nbytes(shape->n_rows, design.bins - (column->validity ? 0 : 1));
        const uint64_t limits = kept + kr_vectors_scratch(design.bins);
        peak = limits > peak ? limits : peak;
    }
    if (design.is_lazy)
        scene = (kr_scene_estimate){0};
    kept += n_groups * ((slots - shape->n_rows) * sizeof(uint64_t) + shape->n_rows * sizeof(uint32_t));
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
        scenes += kr_scenes_nbytes(&table->groups[g].scene);
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
    uint32_t low_bits = 0;
    for (uint32_t c = 0; c < table->n_columns; ++c) {
        vectors += table->columns[c].vectors.n;
        mapping += table->columns[c].cells.marks ? table->columns[c].cells.n * sizeof(uint64_t) : 0;
        low_bits = table->columns[c].cells.low_bits > low_bits ? table->columns[c].cells.low_bits : low_bits;
    }
    counters[0] = (kr_counter){"groups", table->n_groups};
    counters[1] = (kr_counter){"vectors", vectors};
    counters[2] = (kr_counter){"mapping bytes", mapping};
    counters[3] = (kr_counter){"cells", longest_of(table->groups)};
    counters[4] = (kr_counter){"width", 2 * table->groups[0].matrix.half + 1};
    counters[5] = (kr_counter){"spacing", table->groups[0].matrix.spacing};
    counters[6] = (kr_counter){"length", table->groups[0].matrix.length};
    counters[7] = (kr_counter){"ranks in a cell", (uint64_t)1 << low_bits};
    return 8;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static void cubes_check(kr_work *work, const void *self)
{
    const cubes_table *table = self;
    for (uint32_t c = 0; c < table->n_columns && table->n_rows; ++c) {
        const cubes_column *column = table->columns + c;
        if (!cubes_cells_ascend(&column->cells, column->limits, column->n_limits))
            KR_STEP(work,
                    kr_fail(work->err, KR_ERR_INVARIANT,
                            "limits of bins or of cells of column '%s' do not ascend", table->names[c]));
    }
    for (uint32_t g = 0; g < table->n_groups && table->n_rows; ++g) {
        const cubes_group *group = table->groups + g;
        const uint64_t bad = cubes_order_check(work, &group->records, &group->rows, table->n_rows);
        if (bad)
            KR_STEP(work,
                    kr_fail(work->err, KR_ERR_INVARIANT, "slot %llu in the scene of column '%s' has no row",
                            (unsigned long long)bad - 1, table->names[group->columns[0]]));
    }
}

/* The rows of the group that has the place. */
static const uint32_t *rows_of(const cubes_table *table, const cubes_place *place)
{
    const uint32_t *rows = NULL;
    for (uint32_t g = 0; g < table->n_groups; ++g)
        if (table->groups[g].records.data == place->records)
            rows = table->groups[g].rows.data;
    return rows;
}

static void check_column(kr_work *work, const cubes_table *table, uint32_t c)
{
    const cubes_column *column = table->columns + c;
    cubes_cells_job places = {.n_places = 0};
    uint64_t bad = kr_vectors_check(work, &column->column, column->limits, &column->vectors);
    if (bad)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_INVARIANT, "a filter vector of column '%s' is wrong at row %llu",
                        table->names[c], (unsigned long long)bad - 1));
    add_places(table, c, &places);
    for (uint32_t i = 0; i < places.n_places; ++i) {
        const cubes_place *place = places.places + i;
        bad = cubes_cells_check(work, &column->column, &column->cells, place, rows_of(table, place));
        if (bad)
            KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "row %llu is in a wrong cell of column '%s'",
                                  (unsigned long long)bad - 1, table->names[c]));
    }
}

/* Whether rays meet every row. */
static void check_scene(kr_work *work, const cubes_table *table, cubes_group *group)
{
    uint64_t met = table->n_rows;
    uint32_t *bitmap = kr_work_take(work, kr_scans_bitmap_words(met) * sizeof *bitmap, "a bitmap of rows");
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

static void cubes_validate(kr_work *work, const void *self)
{
    const cubes_table *table = self;
    for (uint32_t c = 0; c < table->n_columns && table->n_rows; ++c)
        check_column(work, table, c);
    for (uint32_t g = 0; g < table->n_groups && table->n_rows; ++g)
        check_scene(work, table, table->groups + g);
}

const kr_scan_ops cubes_ops = {
    .estimate = cubes_estimate,
    .build = cubes_build,
    .destroy = cubes_destroy,
    .components = cubes_components,
    .counters = cubes_counters,
    .check = cubes_check,
    .validate = cubes_validate,
    .tracer = kr_rays_tracer,
    .runs_on = kr_rays_runs_on,
    .image = cubes_image,
    .select = cubes_select,
    .select_batch = cubes_select_batch,
    .explain = cubes_explain,
    .explain_plan = cubes_explain_plan,
};
