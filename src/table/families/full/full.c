/* What kind `full` is, and what it keeps: zones, and samples on the host. */
#include "table/families/full/full.h"
#include "base/key/encode.h"
#include "base/key/key.h"
#include "table/condition/describe.h"

#include <stdlib.h>
#include <string.h>

static const kr_option options[FULL_OPTIONS] = {
    [FULL_OPTION_LOGIC] =
        {"logic", KR_OPTION_CHOICE, "and|branching|auto", 0, 2, FULL_LOGIC_AUTO,
         "whether the next predicate reads rows that an earlier one ruled out. and: it reads all rows; "
         "branching: it reads none of these; auto: branching if few rows are left, on a GPU up to two "
         "fifths, or a 32nd where a column has less than 4 bytes a value"},
    [FULL_OPTION_ZONES] =
        {"zones", KR_OPTION_CHOICE, "on|off", 0, 1, FULL_ZONES_ON,
         "keep the lowest and highest value of each 1024 rows; where a column is clustered, rows need not "
         "be read"},
    [FULL_OPTION_NARROW] =
        {"narrow", KR_OPTION_CHOICE, "auto|on|off", 0, 2, FULL_NARROW_AUTO,
         "keep a copy of an integer column whose values lie close together, in 1 or 2 bytes for each row, "
         "and read it in the column's place. auto: where it takes at most a quarter of the column's bytes; "
         "on: at most half; off: read columns as they are"},
};

/* ---- Samples --------------------------------------------------------------------------------- */

static int by_code(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Rows at equal distances. */
static void list_rows(kr_work *work, uint64_t n_rows, uint32_t n, uint32_t *rows)
{
    uint32_t list[FULL_SAMPLES];
    for (uint32_t i = 0; i < n; ++i)
        list[i] = (uint32_t)(n_rows * i / n);
    kr_work_copy(work, rows, list, n * sizeof *list);
}

static void sample_column(kr_work *work, const kr_column *column, const uint32_t *rows, void *codes,
                          uint32_t n, uint64_t *sample)
{
    const uint32_t is_wide = kr_type_key_bits(column->type) == 64;
    const kr_encode_job job = {column->data, rows, codes, n, column->type};
    uint32_t narrow[FULL_SAMPLES] = {0};
    kr_encode(work, &job);
    kr_work_read(work, is_wide ? (void *)sample : narrow, codes, n * (is_wide ? 8 : 4));
    for (uint32_t i = 0; i < n && !is_wide; ++i)
        sample[i] = narrow[i];
    qsort(sample, n, sizeof *sample, by_code);
}

static void sample_all(kr_work *work, full_table *table)
{
    const uint32_t n = table->n_samples;
    uint32_t *rows = kr_work_take(work, FULL_SAMPLES * sizeof *rows, "rows of a sample");
    uint64_t *codes = kr_work_take(work, FULL_SAMPLES * sizeof *codes, "codes of a sample");
    list_rows(work, table->n_rows, n, rows);
    for (uint32_t c = 0; c < table->n_columns; ++c)
        sample_column(work, table->reads + c, rows, codes, n, full_sample_of(table, c));
    kr_work_give(work, codes);
    kr_work_give(work, rows);
    kr_work_lap(work, "sample");
}

double full_selectivity(const full_table *table, const kr_leaf *leaf)
{
    const uint64_t *sample = full_sample_of(table, leaf->column);
    uint32_t n = 0;
    if (leaf->other != KR_NO_COLUMN || !table->n_samples)
        return 0.5;
    const full_codes codes = full_codes_in(table, leaf);
    for (uint32_t i = 0; i < table->n_samples; ++i)
        n += (uint32_t)full_codes_hold(&codes, sample[i]);
    return (double)n / table->n_samples;
}

/* ---- Life ------------------------------------------------------------------------------------ */

enum { SAMPLE_NBYTES = FULL_SAMPLES * (sizeof(uint32_t) + sizeof(uint64_t)) };

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    const uint64_t tiles = full_zones_count(shape->n_rows);
    const int64_t *of = shape->spec->options;
    uint64_t beside = SAMPLE_NBYTES; /* or the zones that a narrow copy is made of, which go before samples */
    (void)err;
    *need = (kr_need){0, 0};
    for (uint32_t c = 0; c < shape->n_columns; ++c) {
        const kr_type type = shape->columns[c].type;
        const uint64_t zones = 2 * tiles * kr_type_key_bits(type) / 8;
        const uint64_t copy = shape->n_rows * full_narrow_most_nbytes((uint32_t)of[FULL_OPTION_NARROW], type);
        need->footprint_nbytes += copy + (of[FULL_OPTION_ZONES] == FULL_ZONES_ON ? zones : 0);
        beside = copy && zones > beside ? zones : beside;
    }
    need->peak_nbytes = need->footprint_nbytes + beside;
    return KR_OK;
}

static void zones_of(kr_work *work, const kr_column *column, const full_zones *before, uint64_t n_before,
                     full_zones *zones)
{
    if (kr_type_key_bits(column->type) == 64)
        full_zones_make_u64(work, column, before, n_before, zones);
    else
        full_zones_make_u32(work, column, before, n_before, zones);
}

/* Zones of what there is to read: those of before go on where that has not changed. */
static void make_zones(kr_work *work, const full_table *before, full_table *table)
{
    for (uint32_t c = 0; table->zones && c < table->n_columns && kr_work_goes_on(work); ++c) {
        const full_zones *old =
            before && before->zones && full_reads_alike(before, table, c) ? before->zones + c : NULL;
        const uint64_t n_old = old ? before->n_rows : 0;
        KR_STEP(work, kr_device_report(work->device, "zones", table->n_rows - n_old,
                                       (double)c / table->n_columns, work->err));
        if (!table->zones[c].buffer.data && kr_work_goes_on(work))
            zones_of(work, table->reads + c, old, n_old, table->zones + c);
    }
    kr_work_lap(work, "zones");
}

/* ---- Narrow copies --------------------------------------------------------------------------- */

/* The rows that are new. */
static kr_column rows_from(const kr_column *column, uint64_t first)
{
    kr_column rest = *column;
    rest.data = (const char *)column->data + first * kr_type_nbytes(column->type);
    rest.validity_offset += first;
    rest.count -= first;
    return rest;
}

/* The zones of new rows tell their lowest and highest code. Of a table that is built, and a column that is
 * read as it is, they are kept. */
static void narrow_column(kr_work *work, const full_table *before, uint32_t c, full_table *table)
{
    const kr_column *column = table->columns + c;
    const uint64_t n_old = before ? before->n_rows : 0;
    const kr_column rest = rows_from(column, n_old);
    full_narrow *made = table->narrow + c;
    full_zones zones = {0};
    if (before)
        full_narrow_widen(made, before->narrow[c].lowest, before->narrow[c].highest);
    if (!full_narrow_most_nbytes(table->narrow_option, column->type) || full_narrow_is_settled(made)) {
        *made = full_narrow_unknown();
        return;
    }
    zones_of(work, &rest, NULL, 0, &zones);
    full_narrow_widen(made, zones.lowest, zones.highest);
    full_narrow_make(work, table->narrow_option, column, before ? before->narrow + c : NULL, n_old, made);
    table->reads[c] = full_narrow_column(made, column);
    if (table->zones && !before && !made->nbytes)
        table->zones[c] = zones;
    else
        kr_buffer_release(work->device, &zones.buffer, work->stream);
}

static void make_narrow(kr_work *work, const full_table *before, full_table *table)
{
    const uint64_t n_new = table->n_rows - (before ? before->n_rows : 0);
    for (uint32_t c = 0; table->narrow && n_new && c < table->n_columns && kr_work_goes_on(work); ++c) {
        KR_STEP(work,
                kr_device_report(work->device, "narrow", n_new, (double)c / table->n_columns, work->err));
        if (kr_work_goes_on(work))
            narrow_column(work, before, c, table);
    }
    if (table->narrow)
        kr_work_lap(work, "narrow");
}

/* `table` has its options. */
static void begin(kr_work *work, const kr_table_build *build, full_table *table)
{
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->n_samples = build->n_rows < FULL_SAMPLES ? (uint32_t)build->n_rows : FULL_SAMPLES;
    table->names = build->names;
    table->columns = kr_work_array(work, build->n_columns, sizeof *table->columns, "a table");
    table->reads = kr_work_array(work, build->n_columns, sizeof *table->reads, "a table");
    if (table->narrow_option != FULL_NARROW_OFF)
        table->narrow = kr_work_array(work, build->n_columns, sizeof *table->narrow, "a table");
    for (uint32_t c = 0; table->narrow && c < table->n_columns; ++c)
        table->narrow[c].lowest = UINT64_MAX; /* no row has a value yet */
    if (table->has_zones && table->n_rows)
        table->zones = kr_work_array(work, build->n_columns, sizeof *table->zones, "zones of a table");
}

static void take_columns(const kr_table_build *build, full_table *table)
{
    memcpy(table->columns, build->columns, build->n_columns * sizeof *table->columns);
    for (uint32_t c = 0; c < build->n_columns; ++c)
        table->reads[c] = full_narrow_column(table->narrow ? table->narrow + c : NULL, table->columns + c);
}

/* `before`: NULL, or what there is of the first rows. On failure the table has what `release` releases. */
static void make(kr_work *work, const kr_table_build *build, const full_table *before, full_table *table)
{
    begin(work, build, table);
    table->samples = kr_work_array(work, (uint64_t)build->n_columns * table->n_samples,
                                   sizeof *table->samples, "samples of a table");
    if (!kr_work_goes_on(work))
        return;
    take_columns(build, table);
    make_narrow(work, before, table);
    sample_all(work, table);
    make_zones(work, before, table);
}

static void release(kr_device *device, full_table *table, kr_stream *stream)
{
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        kr_buffer_release(device, &table->zones[c].buffer, stream);
    for (uint32_t c = 0; table->narrow && c < table->n_columns; ++c)
        kr_buffer_release(device, &table->narrow[c].buffer, stream);
    free(table->zones);
    free(table->narrow);
    free(table->samples);
    free(table->reads);
    free(table->columns);
}

static void take_options(const kr_spec *spec, full_table *table)
{
    table->logic = (uint32_t)spec->options[FULL_OPTION_LOGIC];
    table->has_zones = spec->options[FULL_OPTION_ZONES] == FULL_ZONES_ON;
    table->narrow_option = (uint32_t)spec->options[FULL_OPTION_NARROW];
}

static void build(kr_work *work, const kr_table_build *build, void **self)
{
    full_table *table = kr_work_object(work, sizeof *table, "a table");
    if (!table)
        return;
    *self = table;
    take_options(build->spec, table);
    make(work, build, NULL, table);
}

static void image_zones(kr_image *image, uint32_t type, uint64_t n, full_zones *zones)
{
    if (kr_image_loads(image))
        zones->n = n;
    kr_image_buffer_shared(image, "ends", &zones->buffer, 2 * n * kr_type_key_bits(type) / 8);
    kr_image_u64(image, "lowest", &zones->spread.lowest, 0, UINT64_MAX);
    kr_image_u64(image, "highest", &zones->spread.highest, 0, UINT64_MAX);
    kr_image_u64(image, "counted", &zones->spread.counted, 0, n);
    kr_image_f64(image, "widths", &zones->spread.widths);
    kr_image_u32(image, "are used", &zones->are_used, 0, 1);
}

/* Nothing in zones and samples lets a scan leave its buffers: they decide what is read, and in which order.
 */
static void image(kr_image *image, const kr_table_build *build, void **self)
{
    full_table *table = kr_image_object(image, self, sizeof *table);
    if (table && kr_image_loads(image)) {
        take_options(build->spec, table);
        begin(image->work, build, table);
    }
    if (!table || !kr_work_goes_on(image->work))
        return;
    kr_image_array(image, "samples", (void **)&table->samples, (uint64_t)table->n_columns * table->n_samples,
                   sizeof *table->samples);
    for (uint32_t c = 0; table->narrow && c < table->n_columns && kr_work_goes_on(image->work); ++c) {
        const uint32_t entered = kr_image_enter_nth(image, "narrow", c);
        full_narrow_image(image, build->columns + c, table->n_rows, table->narrow + c);
        kr_image_leave(image, entered);
    }
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c) {
        const uint32_t entered = kr_image_enter_nth(image, "zones", c);
        const full_narrow *narrow = table->narrow ? table->narrow + c : NULL;
        image_zones(image, full_narrow_column(narrow, build->columns + c).type,
                    full_zones_count(table->n_rows), table->zones + c);
        kr_image_leave(image, entered);
    }
    if (kr_image_binds(image))
        take_columns(build, table);
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    release(device, self, stream);
    free(self);
}

/* Copies that became longer where they are belong to the table that stays. */
static void leave_copies(const full_table *stays, full_table *goes)
{
    for (uint32_t c = 0; stays->narrow && goes->narrow && c < goes->n_columns; ++c)
        if (goes->narrow[c].buffer.data == stays->narrow[c].buffer.data)
            goes->narrow[c].buffer = (kr_buffer){0};
}

/* Samples are taken anew; zones change from the first tile on that gets rows, and narrow copies become
 * longer, unless new values lie outside of what they can hold. */
static void append(kr_work *work, void *self, const kr_append_job *job)
{
    full_table *table = self;
    full_table longer = {
        .logic = table->logic, .has_zones = table->has_zones, .narrow_option = table->narrow_option};
    const kr_table_build all = {
        .n_rows = job->n_rows, .n_columns = table->n_columns, .columns = job->columns, .names = table->names};
    make(work, &all, table, &longer);
    const int is_done = kr_work_goes_on(work);
    leave_copies(is_done ? &longer : table, is_done ? table : &longer);
    release(work->device, is_done ? table : &longer, work->stream);
    if (is_done)
        *table = longer;
}

static uint32_t count_narrow(const full_table *table)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < table->n_columns; ++c)
        n += (uint32_t)full_is_narrow(table, c);
    return n;
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const full_table *table = self;
    uint32_t n = 0;
    if (table->zones)
        components[n++] = (kr_component){"zones", 0};
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        components[0].nbytes += table->zones[c].buffer.nbytes;
    if (!count_narrow(table))
        return n;
    components[n] = (kr_component){"narrow copies", 0};
    for (uint32_t c = 0; c < table->n_columns; ++c)
        components[n].nbytes += table->narrow[c].buffer.nbytes;
    return n + 1;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const full_table *table = self;
    uint32_t n = 0;
    if (table->zones)
        counters[n++] = (kr_counter){"clustered columns", 0};
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        counters[0].value += table->zones[c].are_used;
    if (table->narrow)
        counters[n++] = (kr_counter){"narrow columns", count_narrow(table)};
    return n;
}

static void validate(kr_work *work, const void *self)
{
    const full_table *table = self;
    for (uint32_t c = 0; table->narrow && c < table->n_columns; ++c)
        full_narrow_validate(work, table->names[c], table->columns + c, table->narrow + c);
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        if (kr_type_key_bits(table->reads[c].type) == 64)
            full_zones_validate_u64(work, table->reads + c, table->zones + c);
        else
            full_zones_validate_u32(work, table->reads + c, table->zones + c);
}

/* Which columns are not read as they are. */
static void explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const full_table *table = self;
    for (uint32_t i = 0; i < job->n_leaves; ++i) {
        const kr_leaf *leaf = job->leaves[i];
        if (leaf->other != KR_NO_COLUMN || !full_is_narrow(table, leaf->column))
            continue;
        const uint32_t each = table->narrow[leaf->column].nbytes;
        kr_leaf_text_add(text, nbytes,
                         "%s: a narrow copy is read, %u byte%s for each row in the place of %u\n",
                         table->names[leaf->column], each, each == 1 ? "" : "s",
                         kr_type_nbytes(table->columns[leaf->column].type));
    }
}

static const kr_scan_ops ops = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .components = components,
    .counters = counters,
    .validate = validate,
    .program = &full_select_u32,
    .select = full_select_rows,
    .select_batch = full_select_batch,
    .explain = explain,
    .explain_plan = full_explain_plan,
    .append = append,
    .image = image,
    .compares_columns = 1,
};

static const kr_scan_family family = {.ops = &ops};

extern const kr_kind kr_kind_full;
const kr_kind kr_kind_full = {
    .name = "full",
    .summary = "scans: no index, columns are read at the rate of the memory",
    .source = "Lv et al., \"RTScan\", 3.1, as what scans are compared with",
    .capabilities = KR_CAN_SCAN,
    .n_options = FULL_OPTIONS,
    .options = options,
    .scan = &family,
};
