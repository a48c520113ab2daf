/* What kind `full` is, and how it answers. */
#include "scans/full/full.h"
#include "key/key.h"

#include <stdlib.h>
#include <string.h>

typedef struct full_table {
    uint64_t n_rows;
    uint32_t n_columns;
    uint32_t logic;
    kr_column *columns;
} full_table;

static const kr_option options[FULL_OPTIONS] = {
    [FULL_OPTION_LOGIC] =
        {"logic", KR_OPTION_CHOICE, "and|branching|auto", 0, 2, FULL_LOGIC_AUTO,
         "whether rows that one predicate ruled out are still read for the next: always, never, "
         "or as few rows are left"},
    [FULL_OPTION_ZONES] =
        {"zones", KR_OPTION_CHOICE, "off|on", 0, 1, FULL_ZONES_OFF,
         "keeps the lowest and highest value of each 1024 rows, of columns where that spares "
         "reading"},
};

/* ---- Life ------------------------------------------------------------------------------------ */

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    (void)shape, (void)err;
    *need = (kr_need){0, 0};
    return KR_OK;
}

static kr_status build(const kr_table_build *build, void **self, kr_error *err)
{
    full_table *table = kr_host_calloc(1, sizeof *table, "a table", err);
    if (!table)
        return KR_ERR_HOST_MEMORY;
    *self = table;
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->logic = (uint32_t)build->spec->options[FULL_OPTION_LOGIC];
    table->columns = kr_host_calloc(build->n_columns, sizeof *table->columns, "a table", err);
    if (!table->columns)
        return KR_ERR_HOST_MEMORY;
    memcpy(table->columns, build->columns, build->n_columns * sizeof *table->columns);
    return KR_OK;
}

static void destroy(kr_device *device, void *self)
{
    full_table *table = self;
    (void)device;
    free(table->columns);
    free(table);
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    (void)self, (void)components;
    return 0;
}

/* ---- Leaves as programs take them ------------------------------------------------------------ */

/* A condition under way: its parameters, and the intervals that they point to. */
typedef struct full_job {
    const full_table *table;
    kr_device *device;
    const kr_scan_context *context;
    full_params params;
    uint32_t n_leaves, is_wide; /* is_wide: codes of 64 bits */
    kr_buffer intervals[FULL_LEAVES];
} full_job;

static uint32_t load_of(const kr_column *column, uint32_t is_wide)
{
    const uint32_t width = kr_type_nbytes(column->type);
    const uint64_t wanted = width == 8 ? 16 : 4 * width;
    if ((uintptr_t)column->data % wanted || (width == 8 && !is_wide))
        return FULL_LOAD_ONE_BY_ONE;
    return width == 8 ? FULL_LOAD_8 : width == 4 ? FULL_LOAD_4 : width == 2 ? FULL_LOAD_2 : FULL_LOAD_1;
}

/* One interval, or all but one, is a comparison. */
static int as_interval(const kr_leaf *leaf, uint32_t type, full_leaf *to)
{
    const kr_interval *at = leaf->intervals;
    const uint64_t most = ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
    uint64_t low = 0, high = most;
    to->negate = leaf->n_intervals == 0;
    if (leaf->n_intervals == 1) {
        low = at[0].low;
        high = at[0].high;
    } else if (leaf->n_intervals == 2 && at[0].low == 0 && at[1].high == most) {
        to->negate = 1;
        low = at[0].high + 1;
        high = at[1].low - 1;
    } else if (leaf->n_intervals) {
        return 0;
    }
    to->base = type == KR_F32 || type == KR_F64 ? low : low - kr_type_bias(type);
    to->span = high - low;
    return 1;
}

/* Copies the intervals' ends to the device, lows before highs. */
static kr_status as_search(full_job *job, const kr_leaf *leaf, full_leaf *to, kr_error *err)
{
    const uint64_t n = leaf->n_intervals, each = job->is_wide ? 8 : 4, nbytes = 2 * n * each;
    kr_buffer *buffer = job->intervals + job->n_leaves;
    char *ends = kr_host_calloc(2 * n, each, "values of a condition", err);
    if (!ends)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < n; ++i) {
        const kr_interval at = leaf->intervals[i];
        if (job->is_wide) {
            ((uint64_t *)ends)[i] = at.low;
            ((uint64_t *)ends)[n + i] = at.high;
        } else {
            ((uint32_t *)ends)[i] = (uint32_t)at.low;
            ((uint32_t *)ends)[n + i] = (uint32_t)at.high;
        }
    }
    kr_status status = kr_buffer_allocate(job->device, nbytes, job->context->stream, "values of a condition",
                                          NULL, buffer, err);
    if (status == KR_OK)
        status = kr_device_copy(job->device, buffer->data, ends, nbytes, job->context->stream, err);
    to->lows = buffer->data;
    to->highs = (char *)buffer->data + n * each;
    to->n_intervals = (uint32_t)n;
    free(ends);
    return status;
}

static kr_status add_leaf(full_job *job, const kr_leaf *leaf, kr_error *err)
{
    const kr_column *column = job->table->columns + leaf->column;
    full_leaf *to = job->params.leaves + job->n_leaves;
    kr_status status = KR_OK;
    *to = (full_leaf){.data = column->data,
                      .validity = column->validity,
                      .validity_offset = (uint32_t)column->validity_offset,
                      .type = column->type,
                      .load = load_of(column, job->is_wide),
                      .nulls = leaf->nulls};
    if (leaf->other != KR_NO_COLUMN) {
        const kr_column *other = job->table->columns + leaf->other;
        to->form = FULL_COLUMNS;
        to->compare = leaf->compare;
        to->other = other->data;
        to->other_validity = other->validity;
        to->other_offset = (uint32_t)other->validity_offset;
        to->load = load_of(other, job->is_wide) ? to->load : FULL_LOAD_ONE_BY_ONE;
    } else if (!as_interval(leaf, column->type, to)) {
        to->form = FULL_SEARCH;
        status = as_search(job, leaf, to, err);
    }
    ++job->n_leaves;
    return status;
}

static void add_code(full_job *job, uint32_t op, uint32_t leaf)
{
    job->params.code[2 * job->params.n_code] = (uint8_t)op;
    job->params.code[2 * job->params.n_code++ + 1] = (uint8_t)leaf;
}

static int is_wide(const full_table *table, const kr_leaf *const *leaves, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        if (kr_type_key_bits(table->columns[leaves[i]->column].type) == 64)
            return 1;
    return 0;
}

static kr_status run(full_job *job, kr_error *err)
{
    const uint64_t tiles = (job->table->n_rows + FULL_TILE - 1) / FULL_TILE;
    const kr_status status =
        kr_device_run(job->device, job->is_wide ? &full_select_u64 : &full_select_u32, &job->params,
                      tiles * job->device->ops->group_threads, job->context->stream, err);
    kr_stopwatch_lap(job->context->watch, "scan");
    return status;
}

static void release(full_job *job)
{
    for (uint32_t i = 0; i < FULL_LEAVES; ++i)
        kr_buffer_release(job->device, job->intervals + i, job->context->stream);
}

/* ---- A conjunction --------------------------------------------------------------------------- */

/* At most FULL_LEAVES at once; what is left of the rows is alive for the next. */
static kr_status select_some(kr_device *device, const full_table *table, const kr_select *part,
                             const kr_scan_context *context, kr_error *err)
{
    full_job *job = kr_host_calloc(1, sizeof *job, "a condition", err);
    kr_status status = KR_OK;
    if (!job)
        return KR_ERR_HOST_MEMORY;
    job->table = table;
    job->device = device;
    job->context = context;
    job->is_wide = is_wide(table, part->leaves, part->n_leaves);
    job->params.bitmap = part->bitmap;
    job->params.alive = part->alive;
    job->params.n = table->n_rows;
    job->params.branches = table->logic == FULL_LOGIC_BRANCHING;
    for (uint32_t i = 0; i < part->n_leaves && status == KR_OK; ++i) {
        add_code(job, i ? FULL_AND_LEAF : FULL_PUSH, i);
        status = add_leaf(job, part->leaves[i], err);
    }
    if (status == KR_OK)
        status = run(job, err);
    release(job);
    free(job);
    return status;
}

static kr_status select_rows(kr_device *device, const void *self, const kr_select *job,
                             const kr_scan_context *context, kr_error *err)
{
    kr_select part = *job;
    kr_status status = KR_OK;
    for (uint32_t first = 0; first < job->n_leaves && status == KR_OK; first += FULL_LEAVES) {
        part.leaves = job->leaves + first;
        part.n_leaves = job->n_leaves - first < FULL_LEAVES ? job->n_leaves - first : FULL_LEAVES;
        status = select_some(device, self, &part, context, err);
        part.alive = job->bitmap;
    }
    return status;
}

static const kr_scan_ops ops = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .components = components,
    .program = &full_select_u32,
    .select = select_rows,
    .compares_columns = 1,
};

static const kr_scan_family family = {.ops = &ops};

extern const kr_kind kr_kind_full;
const kr_kind kr_kind_full = {
    .name = "full",
    .summary = "scans: every row is read, at the rate of the memory",
    .source = "none",
    .capabilities = KR_CAN_SCAN,
    .n_options = FULL_OPTIONS,
    .options = options,
    .scan = &family,
};
