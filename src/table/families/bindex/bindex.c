/* What kind `bindex` is: options, life, facts, appended rows. */
#include "table/families/bindex/bindex.h"
#include "table/families/bindex/scatter.h"

#include <stdlib.h>
#include <string.h>

static const kr_option options[BINDEX_OPTIONS] = {
    [BINDEX_OPTION_VECTORS] =
        {"vectors", KR_OPTION_INTEGER, NULL, 2, BINDEX_VECTORS, 128,
         "into how many shares the filter vectors of a column divide the rows; a vector has one bit per "
         "row. With more vectors, fewer rows are compared"},
    [BINDEX_OPTION_REFINE] =
        {"refine", KR_OPTION_CHOICE, "tiles|scatter", 0, 1, BINDEX_TILES,
         "how bits that vectors leave wrong are put right. tiles: rows are kept in the order of their values "
         "in tiles of 65536, and answers of a tile are made in one place; scatter: in that of the whole "
         "column, "
         "and bits are written all over the bitmap, as RTScan's authors built BinDex for GPUs (RTScan, 5.1)"},
};

/* ---- Life ------------------------------------------------------------------------------------ */

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    (void)err;
    bindex_part_need(shape->device, shape->columns, shape->n_columns,
                     (uint32_t)shape->spec->options[BINDEX_OPTION_VECTORS], need);
    return KR_OK;
}

static void begin(kr_work *work, const kr_table_build *build, bindex_table *table)
{
    table->device = work->device;
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->vectors = (uint32_t)build->spec->options[BINDEX_OPTION_VECTORS];
    table->names = build->names;
    table->columns = kr_work_array(work, build->n_columns, sizeof *table->columns, "a table");
    if (table->columns)
        memcpy(table->columns, build->columns, build->n_columns * sizeof *table->columns);
}

static void build(kr_work *work, const kr_table_build *build, void **self)
{
    bindex_table *table = kr_work_object(work, sizeof *table, "a table");
    if (!table)
        return;
    *self = table;
    begin(work, build, table);
    if (!table->columns || !table->n_rows)
        return;
    const bindex_part_job job = {.columns = table->columns,
                                 .n_columns = table->n_columns,
                                 .vectors = table->vectors,
                                 .end = table->n_rows};
    bindex_part_make(work, &job, table->parts);
    table->n_parts = (uint32_t)kr_work_goes_on(work);
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    bindex_table *table = self;
    for (uint32_t p = 0; p < table->n_parts; ++p)
        bindex_part_release(device, table->n_columns, table->parts + p, stream);
    free(table->columns);
    free(table);
}

/* A part begins where the one before ends, at a multiple of 32 rows, and goes on behind it. */
static void image(kr_image *image, const kr_table_build *build, void **self)
{
    bindex_table *table = kr_image_object(image, self, sizeof *table);
    uint64_t covered = 0;
    if (!table)
        return;
    if (kr_image_loads(image))
        begin(image->work, build, table);
    else if (kr_image_binds(image))
        memcpy(table->columns, build->columns, table->n_columns * sizeof *table->columns);
    kr_image_u32(image, "parts", &table->n_parts, build->n_rows != 0, build->n_rows ? BINDEX_PARTS : 0);
    for (uint32_t p = 0; p < table->n_parts && kr_work_goes_on(image->work); ++p) {
        bindex_part *part = table->parts + p;
        const uint32_t entered = kr_image_enter_nth(image, "part", p);
        const uint64_t first = covered / 32 * 32;
        kr_image_u64(image, "rows", &part->n, covered - first + 1, build->n_rows - first);
        if (kr_image_loads(image))
            part->first = first;
        bindex_part_image(image, table, part);
        covered = first + part->n;
        kr_image_leave(image, entered);
    }
    if (kr_image_loads(image) && covered != build->n_rows)
        kr_image_refuse(image, "rows from %llu on are in no part", (unsigned long long)covered);
}

static void check(kr_work *work, const void *self)
{
    const bindex_table *table = self;
    uint64_t covered = 0;
    uint32_t p = 0;
    for (; p < table->n_parts && table->parts[p].first == covered / 32 * 32; ++p) {
        covered = table->parts[p].first + table->parts[p].n;
        bindex_part_check(work, table, table->parts + p);
    }
    if (p < table->n_parts || covered != table->n_rows)
        KR_STEP(work, kr_fail(work->err, KR_ERR_INVARIANT, "rows from %llu on are in no part",
                              (unsigned long long)covered));
}

static void validate(kr_work *work, const void *self)
{
    const bindex_table *table = self;
    for (uint32_t p = 0; p < table->n_parts; ++p)
        bindex_part_validate(work, table, table->parts + p);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const bindex_table *table = self;
    uint64_t vectors = 0, positions = 0;
    for (uint32_t p = 0; p < table->n_parts; ++p)
        for (uint32_t c = 0; c < table->n_columns; ++c) {
            const bindex_column *column = table->parts[p].columns + c;
            const uint64_t nbytes = (uint64_t)((char *)column->view.starts - (char *)column->view.vectors);
            vectors += nbytes;
            positions += column->memory.nbytes - nbytes + column->borders.nbytes;
        }
    components[0] = (kr_component){"vectors", vectors};
    components[1] = (kr_component){"positions", positions};
    return 2;
}

static uint64_t largest_section(const bindex_column *column)
{
    uint64_t largest = 0, rows = 0;
    for (uint32_t c = 0, s = 0; c < column->view.n_cells; ++c) {
        if (s + 1 < column->n_sections && c == column->ends[s]) {
            rows = 0;
            ++s;
        }
        rows += column->counts[c];
        largest = rows > largest ? rows : largest;
    }
    return largest;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const bindex_table *table = self;
    uint64_t vectors = 0, cells = 0, largest = 0;
    for (uint32_t p = 0; p < table->n_parts; ++p)
        for (uint32_t c = 0; c < table->n_columns; ++c) {
            const bindex_column *column = table->parts[p].columns + c;
            const uint64_t rows = largest_section(column);
            vectors += column->view.n_vectors;
            cells += column->view.n_cells;
            largest = rows > largest ? rows : largest;
        }
    counters[0] = (kr_counter){"parts", table->n_parts};
    counters[1] = (kr_counter){"vectors", vectors};
    counters[2] = (kr_counter){"cells", cells};
    counters[3] = (kr_counter){"largest section", largest};
    return 4;
}

/* ---- Appended rows --------------------------------------------------------------------------- */

/* The rows become a part, which replaces parts of the table from `kept` on. */
static void put_part(kr_device *device, bindex_table *table, uint32_t kept, const bindex_part *made,
                     kr_stream *stream)
{
    for (uint32_t p = kept; p < table->n_parts; ++p)
        bindex_part_release(device, table->n_columns, table->parts + p, stream);
    table->parts[kept] = *made;
    table->n_parts = kept + 1;
}

/* Parts that are not much larger than all behind them are made anew with these. */
static void append(kr_work *work, void *self, const kr_append_job *job)
{
    bindex_table *table = self;
    bindex_part made = {0};
    uint32_t kept = table->n_parts;
    bindex_part_job part = {.columns = job->columns,
                            .n_columns = table->n_columns,
                            .vectors = table->vectors,
                            .first = job->n_rows_before / 32 * 32,
                            .end = job->n_rows};
    while (kept && table->parts[kept - 1].n / BINDEX_GROWTH <= part.end - part.first)
        part.first = table->parts[--kept].first;
    if (job->n_rows > job->n_rows_before) {
        bindex_part_make(work, &part, &made);
        if (!kr_work_goes_on(work))
            return;
        put_part(work->device, table, kept, &made, work->stream);
    }
    for (uint32_t p = 0; p < table->n_parts; ++p)
        bindex_part_move(table->parts + p, job->columns, table->n_columns);
    memcpy(table->columns, job->columns, table->n_columns * sizeof *table->columns);
    table->n_rows = job->n_rows;
}

static const kr_scan_ops ops = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .components = components,
    .counters = counters,
    .check = check,
    .validate = validate,
    .program = &bindex_select,
    .select = bindex_select_rows,
    .select_batch = bindex_select_batch,
    .explain = bindex_explain,
    .explain_plan = bindex_explain_plan,
    .append = append,
    .image = image,
    .compares_columns = 1,
    .counts = 1,
};

static const kr_scan_ops *ops_of(const kr_spec *spec)
{
    return spec->options[BINDEX_OPTION_REFINE] == BINDEX_SCATTER ? &bindex_scatter_ops : &ops;
}

static const kr_scan_family family = {.ops = &ops, .ops_of = ops_of};

extern const kr_kind kr_kind_bindex;
const kr_kind kr_kind_bindex = {
    .name = "bindex",
    .summary = "scans: reads a filter vector of each column, and checks the remaining rows exactly",
    .source = "compared with in Lv et al., \"RTScan\", 5.1; refine=scatter as its authors built it for GPUs",
    .capabilities = KR_CAN_SCAN,
    .n_options = BINDEX_OPTIONS,
    .options = options,
    .scan = &family,
};
