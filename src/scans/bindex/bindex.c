/* What kind `bindex` is, and how it answers. */
#include "scans/bindex/bindex.h"
#include "scans/describe.h"

#include <stdlib.h>
#include <string.h>

static const kr_option options[BINDEX_OPTIONS] = {
    [BINDEX_OPTION_VECTORS] =
        {"vectors", KR_OPTION_INTEGER, NULL, 2, BINDEX_VECTORS, 128,
         "shares of the rows between which a column has filter vectors, of one bit a row each: with more, "
         "fewer rows are refined"},
};

/* ---- Life ------------------------------------------------------------------------------------ */

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    (void)err;
    bindex_part_need(shape->device, shape->columns, shape->n_columns,
                     (uint32_t)shape->spec->options[BINDEX_OPTION_VECTORS], need);
    return KR_OK;
}

static kr_status build(const kr_table_build *build, void **self, kr_error *err)
{
    bindex_table *table = kr_host_calloc(1, sizeof *table, "a table", err);
    if (!table)
        return KR_ERR_HOST_MEMORY;
    *self = table;
    table->n_rows = build->n_rows;
    table->n_columns = build->n_columns;
    table->vectors = (uint32_t)build->spec->options[BINDEX_OPTION_VECTORS];
    table->names = build->names;
    table->columns = kr_host_calloc(build->n_columns, sizeof *table->columns, "a table", err);
    if (!table->columns)
        return KR_ERR_HOST_MEMORY;
    memcpy(table->columns, build->columns, build->n_columns * sizeof *table->columns);
    const bindex_part_job job = {.device = build->device,
                                 .stream = build->stream,
                                 .watch = build->watch,
                                 .columns = table->columns,
                                 .n_columns = table->n_columns,
                                 .vectors = table->vectors,
                                 .end = table->n_rows};
    const kr_status status = table->n_rows ? bindex_part_make(&job, table->parts, err) : KR_OK;
    table->n_parts = status == KR_OK && table->n_rows;
    return status;
}

static void destroy(kr_device *device, void *self)
{
    bindex_table *table = self;
    for (uint32_t p = 0; p < table->n_parts; ++p)
        bindex_part_release(device, table->n_columns, table->parts + p, NULL);
    free(table->columns);
    free(table);
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    const bindex_table *table = self;
    uint64_t covered = 0;
    kr_status status = KR_OK;
    for (uint32_t p = 0; p < table->n_parts && status == KR_OK; ++p) {
        const bindex_part *part = table->parts + p;
        if (part->first != covered / 32 * 32)
            return kr_fail(err, KR_ERR_INVARIANT, "rows from %llu on are in no part",
                           (unsigned long long)covered);
        covered = part->first + part->n;
        status = bindex_part_check(device, table, part, err);
    }
    return status == KR_OK && covered != table->n_rows
               ? kr_fail(err, KR_ERR_INVARIANT, "rows from %llu on are in no part",
                         (unsigned long long)covered)
               : status;
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

/* ---- Answers --------------------------------------------------------------------------------- */

/* A conjunction over a part, a few leaves at a time. */
typedef struct pass {
    kr_device *device;
    const kr_scan_context *context;
    const bindex_part *part;
    const kr_select *job;
    bindex_lists lists;
    bindex_params params;
    uint32_t is_later; /* 1: there was a pass before, whose result the next one goes on with */
    kr_error *err;
} pass;

/* Lists of more elements than the parameters hold, one after the other, in device memory. */
static kr_status copy_lists(pass *p, kr_buffer *memory)
{
    const bindex_lists *lists = &p->lists;
    const uint64_t edges = lists->n_edges * sizeof *lists->edges, runs = lists->n_runs * sizeof *lists->runs;
    const uint64_t vectors = lists->n_vectors * sizeof *lists->vectors;
    kr_stream *stream = p->context->stream;
    kr_status status = kr_buffer_allocate(p->device, edges + runs + vectors, stream, "values of a condition",
                                          NULL, memory, p->err);
    char *at = memory->data;
    if (status == KR_OK && edges)
        status = kr_device_copy(p->device, at, lists->edges, edges, stream, p->err);
    if (status == KR_OK && runs)
        status = kr_device_copy(p->device, at + edges, lists->runs, runs, stream, p->err);
    if (status == KR_OK && vectors)
        status = kr_device_copy(p->device, at + edges + runs, lists->vectors, vectors, stream, p->err);
    p->params.more_edges = (uint64_t *)at;
    p->params.more_runs = (bindex_run *)(at + edges);
    p->params.more_vectors = (uint32_t *)(at + edges + runs);
    return status;
}

static void put_lists(pass *p)
{
    const bindex_lists *lists = &p->lists;
    p->params.more_edges = NULL;
    p->params.more_runs = NULL;
    p->params.more_vectors = NULL;
    for (uint64_t i = 0; i < lists->n_edges; ++i)
        p->params.edges[i] = lists->edges[i];
    for (uint64_t i = 0; i < lists->n_runs; ++i)
        p->params.runs[i] = lists->runs[i];
    for (uint64_t i = 0; i < lists->n_vectors; ++i)
        p->params.vectors[i] = lists->vectors[i];
}

static kr_status run(pass *p)
{
    bindex_lists *lists = &p->lists;
    const bindex_view *view = &p->part->columns[0].view;
    const uint64_t first_word = p->part->first / 32;
    const uint32_t *alive = p->is_later ? p->job->bitmap : p->job->alive;
    kr_buffer memory = {0};
    kr_status status = KR_OK;
    if (lists->n_runs > BINDEX_INLINE || lists->n_edges > BINDEX_INLINE || lists->n_vectors > BINDEX_INLINE)
        status = copy_lists(p, &memory);
    else
        put_lists(p);
    p->params.alive = alive ? alive + first_word : NULL;
    p->params.bitmap = p->job->bitmap + first_word;
    p->params.n = p->part->n;
    p->params.n_tiles = view->n_tiles;
    p->params.n_runs = (uint32_t)lists->n_runs;
    p->params.words = view->words;
    p->params.blocks = (kr_blocks){(uint32_t)(p->params.n_leaves * BINDEX_WORDS * sizeof(uint32_t) +
                                              lists->n_runs * 2 * sizeof(uint32_t)),
                                   0};
    if (status == KR_OK)
        status =
            kr_device_run(p->device, &bindex_select, &p->params, view->n_tiles, p->context->stream, p->err);
    kr_buffer_release(p->device, &memory, p->context->stream);
    lists->n_runs = lists->n_edges = lists->n_vectors = 0;
    p->params.n_leaves = 0;
    p->is_later = 1;
    return status;
}

/* Leaves whose bits a block of the device has room for. */
static uint32_t leaves_most(const kr_device *device)
{
    const uint32_t nbytes = device->block_nbytes - BINDEX_RUNS * 2 * sizeof(uint32_t);
    const uint32_t most = nbytes / (BINDEX_WORDS * sizeof(uint32_t));
    return most < BINDEX_LEAVES ? most : BINDEX_LEAVES;
}

static void take_first_vector(pass *p, const bindex_view *view)
{
    bindex_leaf *leaf = p->params.leaves + p->params.n_leaves++;
    leaf->vector = leaf->first_more < leaf->end_more
                       ? view->vectors + p->lists.vectors[leaf->first_more++] * view->n_tiles * view->words
                       : NULL;
}

static kr_status add_leaf(pass *p, const kr_leaf *leaf, bindex_work *work)
{
    const bindex_column *column = p->part->columns + leaf->column;
    bindex_work ignored = {0};
    kr_status status = KR_OK;
    if (p->params.n_leaves == leaves_most(p->device) || p->lists.n_runs + BINDEX_LEAF_RUNS > BINDEX_RUNS)
        status = run(p);
    if (status == KR_OK)
        status = bindex_leaf_add(column, leaf, p->params.n_leaves, &p->lists,
                                 p->params.leaves + p->params.n_leaves, work ? work : &ignored, p->err);
    if (status == KR_OK)
        take_first_vector(p, &column->view);
    return status;
}

static kr_status select_part(kr_device *device, const bindex_part *part, const kr_select *job,
                             const kr_scan_context *context, bindex_work *works, kr_error *err)
{
    pass p = {.device = device, .context = context, .part = part, .job = job, .err = err};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < job->n_leaves && status == KR_OK; ++i)
        status = add_leaf(&p, job->leaves[i], works ? works + i : NULL);
    if (status == KR_OK)
        status = run(&p);
    bindex_lists_release(&p.lists);
    return status;
}

enum { LINE_NBYTES = 120 };

static void describe_leaf(const bindex_table *table, const kr_leaf *leaf, char line[LINE_NBYTES])
{
    const kr_plan_columns columns = {.n = table->n_columns, .columns = table->columns, .names = table->names};
    kr_leaf_describe(leaf, &columns, line, LINE_NBYTES);
}

static void log_work(const bindex_table *table, const kr_select *job, const bindex_work *works,
                     kr_scan_log *log)
{
    for (uint32_t i = 0; i < job->n_leaves; ++i) {
        const bindex_work *work = works + i;
        char line[LINE_NBYTES];
        describe_leaf(table, job->leaves[i], line);
        log->work[KR_SCAN_REFINED] += work->refined;
        log->work[KR_SCAN_SPARED] +=
            table->n_rows - (work->refined < table->n_rows ? work->refined : table->n_rows);
        kr_scan_log_step(log, "%s: vectors %llu, refined rows %llu, compared rows %llu", line,
                         (unsigned long long)work->vectors, (unsigned long long)work->refined,
                         (unsigned long long)work->compared);
    }
}

static kr_status select_rows(kr_device *device, const void *self, const kr_select *job,
                             const kr_scan_context *context, kr_error *err)
{
    const bindex_table *table = self;
    bindex_work *works = NULL;
    kr_status status = KR_OK;
    if (context->log) {
        works = kr_host_calloc(job->n_leaves, sizeof *works, "a report", err);
        status = works ? KR_OK : KR_ERR_HOST_MEMORY;
    }
    /* Of rows that two parts have, the later one writes the word. */
    for (uint32_t p = 0; p < table->n_parts && status == KR_OK; ++p)
        status = select_part(device, table->parts + p, job, context, works, err);
    if (status == KR_OK && works)
        log_work(table, job, works, context->log);
    kr_stopwatch_lap(context->watch, "refine");
    free(works);
    return status;
}

static void explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const bindex_table *table = self;
    for (uint32_t i = 0; i < job->n_leaves; ++i) {
        const kr_leaf *leaf = job->leaves[i];
        bindex_lists lists = {.n_runs = 0};
        bindex_work work = {0};
        bindex_leaf made;
        char line[LINE_NBYTES];
        describe_leaf(table, leaf, line);
        for (uint32_t p = 0; p < table->n_parts; ++p)
            if (bindex_leaf_add(table->parts[p].columns + leaf->column, leaf, 0, &lists, &made, &work,
                                NULL) != KR_OK)
                break;
        bindex_lists_release(&lists);
        kr_text_add(text, nbytes, "%s: vectors %llu, refined rows %llu, compared rows %llu\n", line,
                    (unsigned long long)work.vectors, (unsigned long long)work.refined,
                    (unsigned long long)work.compared);
    }
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
static kr_status append(kr_device *device, void *self, const kr_append_job *job, kr_error *err)
{
    bindex_table *table = self;
    bindex_part made = {0};
    uint32_t kept = table->n_parts;
    bindex_part_job part = {.device = device,
                            .stream = job->stream,
                            .watch = job->watch,
                            .columns = job->columns,
                            .n_columns = table->n_columns,
                            .vectors = table->vectors,
                            .first = job->n_rows_before / 32 * 32,
                            .end = job->n_rows};
    kr_status status = KR_OK;
    while (kept && table->parts[kept - 1].n / BINDEX_GROWTH <= part.end - part.first)
        part.first = table->parts[--kept].first;
    if (job->n_rows > job->n_rows_before) {
        status = bindex_part_make(&part, &made, err);
        if (status != KR_OK)
            return status;
        put_part(device, table, kept, &made, job->stream);
    }
    for (uint32_t p = 0; p < table->n_parts; ++p)
        bindex_part_move(table->parts + p, job->columns, table->n_columns);
    memcpy(table->columns, job->columns, table->n_columns * sizeof *table->columns);
    table->n_rows = job->n_rows;
    return KR_OK;
}

static const kr_scan_ops ops = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .components = components,
    .counters = counters,
    .validate = validate,
    .program = &bindex_select,
    .select = select_rows,
    .explain = explain,
    .append = append,
};

static const kr_scan_family family = {.ops = &ops};

extern const kr_kind kr_kind_bindex;
const kr_kind kr_kind_bindex = {
    .name = "bindex",
    .summary = "scans: a filter vector a column, and the rows between it and the value asked for",
    .source = "compared with in Lv et al., \"RTScan\", 5.1",
    .capabilities = KR_CAN_SCAN,
    .n_options = BINDEX_OPTIONS,
    .options = options,
    .scan = &family,
};
