/* How tables of cubes answer conjunctions. */
#include "scans/cubes/groups.h"
#include "scans/cubes/parts.h"
#include "scans/cubes/sieve_params.h"
#include "scans/describe.h"

#include <stdlib.h>

KR_PROGRAM_DECLARE(cubes_sieve_words);

_Static_assert(CUBES_SIEVE_AXES == (int)CUBES_AXES && CUBES_SIEVE_VECTORS >= CUBES_BINS_MOST + 2,
               "the sieve has room for every leaf of a group");

/* ---- Sieve ----------------------------------------------------------------------------------- */

static void add_axis(const cubes_part *p, uint32_t axis, cubes_sieve_params *params)
{
    const kr_vectors *vectors = &p->table->columns[p->group->columns[axis]].vectors;
    const cubes_sieved *from = p->sieved + axis;
    cubes_sieve_axis *to = params->axes + params->n_axes++;
    to->words = vectors->words.data;
    to->stride = vectors->stride;
    to->n_vectors = from->n_vectors;
    to->inverts = from->inverts;
    for (uint32_t v = 0; v < from->n_vectors; ++v)
        to->vectors[v] = from->vectors[v];
}

static kr_status sieve(const cubes_part *p, const uint32_t *alive, uint32_t *bitmap,
                       const kr_scan_context *context, kr_error *err)
{
    cubes_sieve_params params = {.bitmap = bitmap,
                                 .alive = alive,
                                 .found = context->work ? context->work + KR_SCAN_SPARED : NULL,
                                 .n_rows = p->table->n_rows};
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (p->leaves[axis] && !p->sieved[axis].n_vectors && !p->sieved[axis].inverts)
            return kr_device_fill(p->table->device, bitmap, 0,
                                  kr_bitmap_words(p->table->n_rows) * sizeof(uint32_t), context->stream, err);
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (p->leaves[axis])
            add_axis(p, axis, &params);
    return kr_device_run(p->table->device, &cubes_sieve_words, &params, kr_bitmap_words(p->table->n_rows),
                         context->stream, err);
}

/* ---- Refine ---------------------------------------------------------------------------------- */

void cubes_write_ends(const kr_leaf *leaf, uint64_t *ends)
{
    for (uint64_t i = 0; i < leaf->n_intervals; ++i) {
        ends[i] = leaf->intervals[i].low;
        ends[leaf->n_intervals + i] = leaf->intervals[i].high;
    }
}

cubes_test cubes_test_of(const cubes_part *p, uint32_t axis)
{
    const cubes_column *column = p->table->columns + p->group->columns[axis];
    const kr_leaf *leaf = p->leaves[axis];
    const uint64_t n = leaf->n_intervals;
    cubes_span span = {0, -1};
    if (n)
        span = cubes_cells_of(&column->cells, leaf->intervals[0].low, leaf->intervals[n - 1].high);
    return (cubes_test){.data = column->column.data,
                        .low = n == 1 ? leaf->intervals[0].low : 0,
                        .high = n == 1 ? leaf->intervals[0].high : 0,
                        .first = span.first,
                        .last = span.last,
                        .null_first = (int32_t)column->cells.n,
                        .nulls = leaf->nulls,
                        .n_intervals = (uint32_t)n,
                        .type = (uint32_t)column->column.type,
                        .axis = axis};
}

static kr_status bring_intervals(const cubes_part *p, const kr_leaf *leaf, const kr_scan_context *context,
                                 kr_buffer *buffer, kr_error *err)
{
    const uint64_t nbytes = 2 * leaf->n_intervals * sizeof(uint64_t);
    uint64_t *ends = kr_host_calloc(nbytes, 1, "values of a condition", err);
    if (!ends)
        return KR_ERR_HOST_MEMORY;
    cubes_write_ends(leaf, ends);
    kr_status status = kr_buffer_allocate(p->table->device, nbytes, context->stream, "values of a condition",
                                          NULL, buffer, err);
    if (status == KR_OK)
        status = kr_device_copy(p->table->device, buffer->data, ends, nbytes, context->stream, err);
    free(ends);
    return status;
}

static kr_status add_test(const cubes_part *p, uint32_t axis, const kr_scan_context *context,
                          kr_buffer *buffer, cubes_ray_params *params, kr_error *err)
{
    const kr_leaf *leaf = p->leaves[axis];
    cubes_test *to = params->tests + params->only.end_test++;
    *to = cubes_test_of(p, axis);
    if (leaf->n_intervals < 2)
        return KR_OK;
    const kr_status status = bring_intervals(p, leaf, context, buffer, err);
    to->lows = buffer->data;
    to->highs = to->lows + leaf->n_intervals;
    return status;
}

const kr_ray_program *cubes_program_of(const cubes_group *group)
{
    return group->is_wide ? &cubes_visit_u64 : &cubes_visit_u32;
}

/* Casts the rays of all regions, CUBES_REGIONS at a time. */
static kr_status cast(const cubes_part *p, cubes_ray_params *params, const kr_scan_context *context,
                      kr_error *err)
{
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(p->table->device, &tracer, err);
    for (uint64_t next = 0; next < p->n_regions && status == KR_OK;) {
        uint64_t n = 0;
        for (params->n_regions = 0; params->n_regions < CUBES_REGIONS && next < p->n_regions; ++next) {
            cubes_rays *rays = params->rays + params->n_regions++;
            *rays = cubes_rays_of(&p->group->matrix, p->regions + next);
            rays->first = n;
            n += cubes_rays_count(rays);
        }
        status = kr_scene_run(tracer, cubes_program_of(p->group), params, n, context->stream, err);
    }
    return status;
}

cubes_ray_params cubes_ray_params_of(const cubes_group *group, uint32_t pack, const kr_scan_context *context)
{
    return (cubes_ray_params){.scene = cubes_scene_view(&group->scene),
                              .records = group->records.data,
                              .rows = group->rows.data,
                              .work = context->work,
                              .pack = pack,
                              .half = group->matrix.half,
                              .interval = group->matrix.interval,
                              .spacing = group->matrix.spacing,
                              .length = group->matrix.length};
}

static kr_status refine(const cubes_part *p, const uint32_t *alive, uint32_t *bitmap,
                        const kr_scan_context *context, kr_error *err)
{
    kr_buffer intervals[CUBES_AXES] = {{0}};
    kr_status status = cubes_open_scene(p->table, p->group, context->stream, err);
    if (status != KR_OK)
        return status;
    cubes_ray_params params = cubes_ray_params_of(p->group, p->table->design.pack, context);
    params.only = (cubes_ray_job){.alive = alive, .bitmap = bitmap};
    for (uint32_t axis = 0; axis < CUBES_AXES && status == KR_OK; ++axis)
        if (p->leaves[axis])
            status = add_test(p, axis, context, intervals + axis, &params, err);
    if (params.only.end_test)
        params.tests[params.only.end_test - 1].ends = 1;
    if (status == KR_OK)
        status = cast(p, &params, context, err);
    for (uint32_t axis = CUBES_AXES; axis-- > 0;)
        kr_buffer_release(p->table->device, intervals + axis, context->stream);
    return status;
}

/* A condition without tests is true for every row that is met. */
kr_status cubes_visit_all(const cubes_table *table, cubes_group *group, uint32_t *bitmap, kr_stream *stream,
                          kr_error *err)
{
    const kr_scan_context context = {.stream = stream};
    cubes_part p = {.table = table, .group = group};
    cubes_region all = {{0, 0, 0}, {0, 0, 0}};
    kr_status status = cubes_open_scene(table, group, stream, err);
    if (status != KR_OK)
        return status;
    cubes_ray_params params = cubes_ray_params_of(group, table->design.pack, &context);
    params.only.bitmap = bitmap;
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        all.last[axis] = (int32_t)group->extents[axis] - 1;
    status = cubes_part_add(&p, &all, err);
    if (status == KR_OK)
        status = kr_device_fill(table->device, bitmap, 0, kr_bitmap_words(table->n_rows) * sizeof(uint32_t),
                                stream, err);
    if (status == KR_OK)
        status = cast(&p, &params, &context, err);
    cubes_part_release(&p);
    return status;
}

/* ---- Conjunctions ---------------------------------------------------------------------------- */

static kr_status answer_part(const cubes_part *p, const uint32_t *alive, uint32_t *bitmap,
                             const kr_scan_context *context, kr_error *err)
{
    char text[KR_SCAN_STEP_NBYTES];
    kr_status status = sieve(p, alive, bitmap, context, err);
    kr_stopwatch_lap(context->watch, "sieve");
    if (status == KR_OK && p->n_regions)
        status = refine(p, alive, bitmap, context, err);
    kr_stopwatch_lap(context->watch, "refine");
    if (context->log) {
        cubes_part_describe(p, text, sizeof text);
        kr_scan_log_step(context->log, "%s", text);
        context->log->work[KR_SCAN_RAYS] += p->n_rays;
    }
    return status;
}

/* What a part leaves is alive for the next, which merges them by AND: two bitmaps in turn, so that the last
 * writes the result. */
static kr_status answer_parts(const cubes_table *table, const cubes_part *parts, uint32_t n,
                              const kr_select *job, const kr_scan_context *context, kr_error *err)
{
    const uint32_t *alive = job->alive;
    kr_buffer other = {0};
    kr_status status = KR_OK;
    if (n > 1)
        status = kr_buffer_allocate(table->device, kr_bitmap_words(table->n_rows) * sizeof(uint32_t),
                                    context->stream, "a bitmap of a part of a condition", NULL, &other, err);
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        uint32_t *bitmap = (n - 1 - i) % 2 ? other.data : job->bitmap;
        status = answer_part(parts + i, alive, bitmap, context, err);
        alive = bitmap;
    }
    kr_buffer_release(table->device, &other, context->stream);
    return status;
}

kr_status cubes_select(kr_device *device, const void *self, const kr_select *job,
                       const kr_scan_context *context, kr_error *err)
{
    const cubes_table *table = self;
    cubes_part *parts = NULL;
    uint32_t n_parts = 0;
    (void)device;
    if (!table->n_rows)
        return KR_OK;
    kr_status status = cubes_parts_make(table, job, &parts, &n_parts, err);
    kr_stopwatch_lap(context->watch, "encode");
    if (status != KR_OK)
        return status;
    status = answer_parts(table, parts, n_parts, job, context, err);
    cubes_parts_release(parts, n_parts);
    return status;
}

void cubes_explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const cubes_table *table = self;
    char line[KR_SCAN_STEP_NBYTES];
    cubes_part *parts = NULL;
    uint32_t n_parts = 0;
    text[0] = '\0';
    if (!table->n_rows || cubes_parts_make(table, job, &parts, &n_parts, NULL) != KR_OK)
        return;
    if (n_parts > 1) {
        kr_text_add(text, nbytes, "scenes of ");
        cubes_groups_describe(table->groups, table->n_groups, table->names, text, nbytes);
        kr_text_add(text, nbytes, "%s\n",
                    table->design.together > 1 ? "; columns that no option names are split evenly" : "");
        kr_text_add(text, nbytes,
                    "%u groups in turn, the one with most open columns first; each sees the rows left\n",
                    n_parts);
    }
    for (uint32_t i = 0; i < n_parts; ++i) {
        cubes_part_describe(parts + i, line, sizeof line);
        kr_text_add(text, nbytes, "%s\n", line);
    }
    cubes_parts_release(parts, n_parts);
}
