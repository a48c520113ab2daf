/* What kind `full` is, and what it keeps: zones, and samples on the host. */
#include "scans/full/full.h"
#include "key/encode.h"
#include "key/key.h"
#include "scans/describe.h"

#include <stdlib.h>
#include <string.h>

static const kr_option options[FULL_OPTIONS] = {
    [FULL_OPTION_LOGIC] =
        {"logic", KR_OPTION_CHOICE, "and|branching|auto", 0, 2, FULL_LOGIC_AUTO,
         "whether the next predicate reads rows that an earlier one ruled out. and: it reads all rows; "
         "branching: it reads none of these; auto: branching if few rows are left"},
    [FULL_OPTION_ZONES] =
        {"zones", KR_OPTION_CHOICE, "on|off", 0, 1, FULL_ZONES_ON,
         "keep the lowest and highest value of each 1024 rows; where a column is clustered, rows need not "
         "be read"},
};

/* ---- Samples --------------------------------------------------------------------------------- */

static int by_code(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Rows at equal distances. */
static kr_status list_rows(const kr_table_build *build, uint32_t n, const kr_buffer *rows, kr_error *err)
{
    uint32_t list[FULL_SAMPLES];
    for (uint32_t i = 0; i < n; ++i)
        list[i] = (uint32_t)(build->n_rows * i / n);
    return kr_device_copy(build->device, rows->data, list, n * sizeof *list, build->stream, err);
}

static kr_status sample_column(const kr_table_build *build, const kr_column *column, const kr_buffer *rows,
                               const kr_buffer *codes, full_sample *sample, kr_error *err)
{
    const uint32_t is_wide = kr_type_key_bits(column->type) == 64;
    const kr_encode_job job = {column->data, rows->data, codes->data, sample->n, column->type};
    uint32_t narrow[FULL_SAMPLES] = {0};
    kr_work w = kr_work_on(build->device, build->stream, err);
    kr_encode(&w, &job);
    kr_work_read(&w, is_wide ? (void *)sample->codes : narrow, codes->data, sample->n * (is_wide ? 8 : 4));
    for (uint32_t i = 0; i < sample->n && !is_wide; ++i)
        sample->codes[i] = narrow[i];
    if (kr_work_goes_on(&w))
        qsort(sample->codes, sample->n, sizeof *sample->codes, by_code);
    return kr_work_end(&w);
}

static kr_status sample_all(const kr_table_build *build, full_table *table, kr_error *err)
{
    const uint32_t n = build->n_rows < FULL_SAMPLES ? (uint32_t)build->n_rows : FULL_SAMPLES;
    kr_buffer rows = {0}, codes = {0};
    kr_status status = kr_buffer_allocate(build->device, FULL_SAMPLES * sizeof(uint32_t), build->stream,
                                          "rows of a sample", NULL, &rows, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(build->device, FULL_SAMPLES * sizeof(uint64_t), build->stream,
                                    "codes of a sample", NULL, &codes, err);
    if (status == KR_OK)
        status = list_rows(build, n, &rows, err);
    for (uint32_t c = 0; c < build->n_columns && status == KR_OK; ++c) {
        table->samples[c].n = n;
        status = sample_column(build, build->columns + c, &rows, &codes, table->samples + c, err);
    }
    kr_buffer_release(build->device, &codes, build->stream);
    kr_buffer_release(build->device, &rows, build->stream);
    kr_stopwatch_lap(build->watch, "sample");
    return status;
}

static int holds(const kr_leaf *leaf, uint64_t code)
{
    uint64_t low = 0, high = leaf->n_intervals;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (leaf->intervals[middle].low <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && code <= leaf->intervals[low - 1].high;
}

double full_selectivity(const full_table *table, const kr_leaf *leaf)
{
    const full_sample *sample = table->samples + leaf->column;
    uint32_t n = 0;
    if (leaf->other != KR_NO_COLUMN || !sample->n)
        return 0.5;
    for (uint32_t i = 0; i < sample->n; ++i)
        n += (uint32_t)holds(leaf, sample->codes[i]);
    return (double)n / sample->n;
}

/* ---- Life ------------------------------------------------------------------------------------ */

enum { SAMPLE_NBYTES = FULL_SAMPLES * (sizeof(uint32_t) + sizeof(uint64_t)) };

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    const uint64_t tiles = (shape->n_rows + FULL_TILE - 1) / FULL_TILE;
    (void)err;
    *need = (kr_need){0, SAMPLE_NBYTES};
    for (uint32_t c = 0; c < shape->n_columns; ++c)
        if (shape->spec->options[FULL_OPTION_ZONES] == FULL_ZONES_ON)
            need->footprint_nbytes += 2 * tiles * kr_type_key_bits(shape->columns[c].type) / 8;
    need->peak_nbytes += need->footprint_nbytes;
    return KR_OK;
}

static kr_status make_zones(const kr_table_build *build, const full_table *before, full_table *table,
                            kr_error *err)
{
    kr_status status = KR_OK;
    if (!table->has_zones || !build->n_rows)
        return KR_OK;
    table->zones = kr_host_calloc(build->n_columns, sizeof *table->zones, "zones of a table", err);
    if (!table->zones)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t c = 0; c < build->n_columns && status == KR_OK; ++c) {
        const full_zones *old = before && before->zones ? before->zones + c : NULL;
        const uint64_t n_old = old ? before->n_rows : 0;
        status = kr_device_report(build->device, "zones", build->n_rows - n_old, (double)c / build->n_columns,
                                  err);
        if (status != KR_OK)
            break;
        status = kr_type_key_bits(table->columns[c].type) == 64
                     ? full_zones_make_u64(build, table->columns + c, old, n_old, table->zones + c, err)
                     : full_zones_make_u32(build, table->columns + c, old, n_old, table->zones + c, err);
    }
    kr_stopwatch_lap(build->watch, "zones");
    return status;
}

/* `before`: NULL, or what there is of the first rows. `table` has its options. On failure it has what
 * `release` releases. */
static kr_status make(const kr_table_build *build, const full_table *before, full_table *table, kr_error *err)
{
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->columns = kr_host_calloc(build->n_columns, sizeof *table->columns, "a table", err);
    table->samples = kr_host_calloc(build->n_columns, sizeof *table->samples, "samples of a table", err);
    if (!table->columns || !table->samples)
        return KR_ERR_HOST_MEMORY;
    memcpy(table->columns, build->columns, build->n_columns * sizeof *table->columns);
    const kr_status status = sample_all(build, table, err);
    return status == KR_OK ? make_zones(build, before, table, err) : status;
}

static void release(kr_device *device, full_table *table, kr_stream *stream)
{
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        kr_buffer_release(device, &table->zones[c].buffer, stream);
    free(table->zones);
    free(table->samples);
    free(table->columns);
}

static kr_status build(const kr_table_build *build, void **self, kr_error *err)
{
    full_table *table = kr_host_calloc(1, sizeof *table, "a table", err);
    if (!table)
        return KR_ERR_HOST_MEMORY;
    *self = table;
    table->logic = (uint32_t)build->spec->options[FULL_OPTION_LOGIC];
    table->has_zones = build->spec->options[FULL_OPTION_ZONES] == FULL_ZONES_ON;
    return make(build, NULL, table, err);
}

static void destroy(kr_device *device, void *self)
{
    release(device, self, NULL);
    free(self);
}

/* Samples are taken anew; zones change from the first tile on that gets rows. */
static kr_status append(kr_device *device, void *self, const kr_append_job *job, kr_error *err)
{
    full_table *table = self;
    full_table longer = {.logic = table->logic, .has_zones = table->has_zones};
    const kr_table_build all = {.device = device,
                                .stream = job->stream,
                                .n_rows = job->n_rows,
                                .n_columns = table->n_columns,
                                .columns = job->columns,
                                .watch = job->watch};
    const kr_status status = make(&all, table, &longer, err);
    release(device, status == KR_OK ? table : &longer, job->stream);
    if (status == KR_OK)
        *table = longer;
    return status;
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const full_table *table = self;
    components[0] = (kr_component){"zones", 0};
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        components[0].nbytes += table->zones[c].buffer.nbytes;
    return table->zones ? 1 : 0;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const full_table *table = self;
    counters[0] = (kr_counter){"clustered columns", 0};
    for (uint32_t c = 0; table->zones && c < table->n_columns; ++c)
        counters[0].value += table->zones[c].are_used;
    return table->zones ? 1 : 0;
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    const full_table *table = self;
    kr_status status = KR_OK;
    for (uint32_t c = 0; table->zones && c < table->n_columns && status == KR_OK; ++c)
        status = kr_type_key_bits(table->columns[c].type) == 64
                     ? full_zones_validate_u64(device, table->columns + c, table->zones + c, err)
                     : full_zones_validate_u32(device, table->columns + c, table->zones + c, err);
    return status;
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
    .explain_plan = full_explain_plan,
    .append = append,
    .compares_columns = 1,
};

static const kr_scan_family family = {.ops = &ops};

extern const kr_kind kr_kind_full;
const kr_kind kr_kind_full = {
    .name = "full",
    .summary = "scans: every row is read, at the rate of the memory",
    .source = "Lv et al., \"RTScan\", 3.1, as what scans are compared with",
    .capabilities = KR_CAN_SCAN,
    .n_options = FULL_OPTIONS,
    .options = options,
    .scan = &family,
};
