/* How tables of cubes answer conjunctions. */
#include "scans/cubes/cubes.h"
#include "scans/cubes/sieve_body.h"
#include "scans/describe.h"
#include "scans/grow.h"

#include <stdlib.h>

_Static_assert(CUBES_SIEVE_AXES == (int)CUBES_AXES && CUBES_SIEVE_VECTORS >= CUBES_BINS_MOST + 2,
               "the sieve has room for every leaf of a group");

/* A group's part of a conjunction. */
typedef struct part {
    const cubes_table *table;
    cubes_group *group;
    const kr_leaf *leaves[CUBES_AXES]; /* NULL: every row */
    cubes_sieved sieved[CUBES_AXES];
    uint32_t order[CUBES_AXES]; /* of axes: where least is in both, first */
    cubes_region *regions;
    uint64_t n_regions, room_regions;
    uint64_t n_rays;
} part;

/* ---- Regions --------------------------------------------------------------------------------- */

static kr_status add_region(part *p, const cubes_region *region, kr_error *err)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (region->first[axis] > region->last[axis])
            return KR_OK;
    if (!kr_grow((void **)&p->regions, &p->room_regions, p->n_regions, 1, sizeof *p->regions, "a condition",
                 err))
        return KR_ERR_HOST_MEMORY;
    const cubes_rays rays = cubes_rays_of(&p->group->matrix, region);
    p->n_rays += cubes_rays_count(&rays);
    p->regions[p->n_regions++] = *region;
    return KR_OK;
}

/* A row for which the sieve and the condition differ does so on some axis, of which we take the first: on
 * those before it the row is in both, on those behind it in the leaf, or in kept bins if it is so on this. */
static kr_status add_regions(part *p, uint32_t place, kr_error *err)
{
    const cubes_sieved *here = p->sieved + p->order[place];
    kr_status status = KR_OK;
    for (uint64_t r = 0; r < here->n_rests && status == KR_OK; ++r) {
        const cubes_rest *rest = here->rests + r;
        cubes_region region;
        for (uint32_t i = 0; i < CUBES_AXES; ++i) {
            const cubes_sieved *s = p->sieved + p->order[i];
            const cubes_span span = i < place       ? s->both
                                    : i == place    ? rest->span
                                    : rest->is_kept ? s->kept
                                                    : s->leaf;
            region.first[p->order[i]] = span.first;
            region.last[p->order[i]] = span.last;
        }
        status = add_region(p, &region, err);
    }
    return status;
}

static double share_in_both(const part *p, uint32_t axis)
{
    return (double)cubes_span_count(p->sieved[axis].both) / p->group->extents[axis];
}

static void order_axes(part *p)
{
    for (uint32_t i = 0; i < CUBES_AXES; ++i) {
        uint32_t at = i;
        for (; at > 0 && share_in_both(p, i) < share_in_both(p, p->order[at - 1]); --at)
            p->order[at] = p->order[at - 1];
        p->order[at] = i;
    }
}

static cubes_sieved every_cell(uint32_t extent)
{
    const cubes_span all = {0, (int32_t)extent - 1};
    return (cubes_sieved){.inverts = 1, .leaf = all, .kept = all, .both = all};
}

/* Sieves the leaves, and finds the regions that are left. */
static kr_status plan_part(part *p, kr_error *err)
{
    const cubes_table *table = p->table;
    const uint32_t width = 2 * p->group->matrix.half + 1;
    kr_status status = KR_OK;
    for (uint32_t axis = 0; axis < CUBES_AXES && status == KR_OK; ++axis) {
        p->sieved[axis] = every_cell(p->group->extents[axis]);
        if (p->leaves[axis])
            status = cubes_sieve(table->columns + p->group->columns[axis], p->leaves[axis],
                                 (int)table->design.selects_both, width, p->sieved + axis, err);
    }
    if (status != KR_OK)
        return status;
    order_axes(p);
    for (uint32_t place = 0; place < CUBES_AXES && status == KR_OK; ++place)
        status = add_regions(p, place, err);
    return status;
}

static void release_part(part *p)
{
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        cubes_sieved_release(p->sieved + axis);
    free(p->regions);
}

/* ---- Parts of a conjunction ------------------------------------------------------------------ */

/* How many of the open leaves the group has columns for. */
static uint32_t count_of(const cubes_group *group, const kr_select *job, const uint8_t *is_done)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < job->n_leaves; ++l)
        for (uint32_t axis = 0; axis < group->n_columns && !is_done[l]; ++axis)
            n += group->columns[axis] == job->leaves[l]->column;
    return n;
}

/* Gives each leaf to a group: the group that has most of the open ones is next. Returns how many. */
static uint32_t choose_groups(const cubes_table *table, const kr_select *job, uint8_t *is_done, part *parts)
{
    uint32_t n_parts = 0, open = job->n_leaves;
    while (open) {
        cubes_group *best = table->groups;
        for (uint32_t g = 1; g < table->n_groups; ++g)
            if (count_of(table->groups + g, job, is_done) > count_of(best, job, is_done))
                best = table->groups + g;
        part *p = parts + n_parts++;
        p->table = table;
        p->group = best;
        for (uint32_t l = 0; l < job->n_leaves; ++l)
            for (uint32_t axis = 0; axis < best->n_columns; ++axis)
                if (!is_done[l] && best->columns[axis] == job->leaves[l]->column) {
                    p->leaves[axis] = job->leaves[l];
                    is_done[l] = 1;
                    --open;
                }
    }
    return n_parts;
}

static void release_parts(part *parts, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        release_part(parts + i);
    free(parts);
}

static kr_status plan_parts(const cubes_table *table, const kr_select *job, part **parts, uint32_t *n_parts,
                            kr_error *err)
{
    uint8_t *is_done = kr_host_calloc(job->n_leaves, 1, "a condition", err);
    part *made = kr_host_calloc(job->n_leaves, sizeof *made, "a condition", err);
    kr_status status = is_done && made ? KR_OK : KR_ERR_HOST_MEMORY;
    uint32_t n = 0;
    if (status == KR_OK)
        n = choose_groups(table, job, is_done, made);
    for (uint32_t i = 0; i < n && status == KR_OK; ++i)
        status = plan_part(made + i, err);
    free(is_done);
    if (status != KR_OK) {
        release_parts(made, n);
        return status;
    }
    *parts = made;
    *n_parts = n;
    return KR_OK;
}

/* ---- Sieve ----------------------------------------------------------------------------------- */

static void add_axis(const part *p, uint32_t axis, cubes_sieve_params *params)
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

static kr_status sieve(const part *p, const uint32_t *alive, uint32_t *bitmap, const kr_scan_context *context,
                       kr_error *err)
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

/* Copies the intervals' ends to the device, lows before highs. */
static kr_status bring_intervals(const part *p, const kr_leaf *leaf, const kr_scan_context *context,
                                 kr_buffer *buffer, kr_error *err)
{
    const uint64_t n = leaf->n_intervals;
    uint64_t *ends = kr_host_calloc(2 * n, sizeof *ends, "values of a condition", err);
    if (!ends)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < n; ++i) {
        ends[i] = leaf->intervals[i].low;
        ends[n + i] = leaf->intervals[i].high;
    }
    kr_status status = kr_buffer_allocate(p->table->device, 2 * n * sizeof *ends, context->stream,
                                          "values of a condition", NULL, buffer, err);
    if (status == KR_OK)
        status =
            kr_device_copy(p->table->device, buffer->data, ends, 2 * n * sizeof *ends, context->stream, err);
    free(ends);
    return status;
}

static kr_status add_test(const part *p, uint32_t axis, const kr_scan_context *context, kr_buffer *buffer,
                          cubes_ray_params *params, kr_error *err)
{
    const cubes_column *column = p->table->columns + p->group->columns[axis];
    const kr_leaf *leaf = p->leaves[axis];
    const uint64_t n = leaf->n_intervals;
    cubes_test *to = params->tests + params->n_tests++;
    cubes_span span = {0, -1};
    if (n)
        span = cubes_cells_of(&column->cells, leaf->intervals[0].low, leaf->intervals[n - 1].high);
    *to = (cubes_test){.data = column->column.data,
                       .first = span.first,
                       .last = span.last,
                       .null_first = (int32_t)column->cells.n,
                       .nulls = leaf->nulls,
                       .n_intervals = (uint32_t)n,
                       .type = (uint32_t)column->column.type,
                       .axis = axis};
    if (n == 1) {
        to->low = leaf->intervals[0].low;
        to->high = leaf->intervals[0].high;
    }
    if (n < 2)
        return KR_OK;
    const kr_status status = bring_intervals(p, leaf, context, buffer, err);
    to->lows = buffer->data;
    to->highs = to->lows + n;
    return status;
}

/* Casts the rays of all regions, CUBES_REGIONS at a time. */
static kr_status cast(const part *p, cubes_ray_params *params, const kr_scan_context *context, kr_error *err)
{
    const kr_ray_program *program = p->group->is_wide ? &cubes_visit_u64 : &cubes_visit_u32;
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
        status = kr_scene_run(tracer, program, params, n, context->stream, err);
    }
    return status;
}

static cubes_ray_params params_of(const cubes_group *group, uint32_t *bitmap)
{
    return (cubes_ray_params){.scene = cubes_scene_view(&group->scene),
                              .records = group->records.data,
                              .bitmap = bitmap,
                              .half = group->matrix.half,
                              .interval = group->matrix.interval,
                              .spacing = group->matrix.spacing,
                              .length = group->matrix.length};
}

static kr_status refine(const part *p, const uint32_t *alive, uint32_t *bitmap,
                        const kr_scan_context *context, kr_error *err)
{
    kr_buffer intervals[CUBES_AXES] = {{0}};
    kr_status status = cubes_open_scene(p->table, p->group, context->stream, err);
    if (status != KR_OK)
        return status;
    cubes_ray_params params = params_of(p->group, bitmap);
    params.alive = alive;
    params.work = context->work;
    for (uint32_t axis = 0; axis < CUBES_AXES && status == KR_OK; ++axis)
        if (p->leaves[axis])
            status = add_test(p, axis, context, intervals + axis, &params, err);
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
    part p = {.table = table, .group = group};
    cubes_region all = {{0, 0, 0}, {0, 0, 0}};
    kr_status status = cubes_open_scene(table, group, stream, err);
    if (status != KR_OK)
        return status;
    cubes_ray_params params = params_of(group, bitmap);
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        all.last[axis] = (int32_t)group->extents[axis] - 1;
    status = add_region(&p, &all, err);
    if (status == KR_OK)
        status = kr_device_fill(table->device, bitmap, 0, kr_bitmap_words(table->n_rows) * sizeof(uint32_t),
                                stream, err);
    if (status == KR_OK)
        status = cast(&p, &params, &context, err);
    release_part(&p);
    return status;
}

/* ---- Conjunctions ---------------------------------------------------------------------------- */

static void describe(const part *p, char *text, size_t nbytes)
{
    const char *separator = "";
    uint32_t n_vectors = 0;
    text[0] = '\0';
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        if (p->leaves[axis]) {
            kr_text_add(text, nbytes, "%s%s", separator, p->table->names[p->group->columns[axis]]);
            separator = ", ";
            n_vectors += p->sieved[axis].n_vectors;
        }
    kr_text_add(text, nbytes, ": %u filter vectors, %llu regions, %llu rays", n_vectors,
                (unsigned long long)p->n_regions, (unsigned long long)p->n_rays);
}

static kr_status answer_part(const part *p, const uint32_t *alive, uint32_t *bitmap,
                             const kr_scan_context *context, kr_error *err)
{
    char text[KR_SCAN_STEP_NBYTES];
    kr_status status = sieve(p, alive, bitmap, context, err);
    kr_stopwatch_lap(context->watch, "sieve");
    if (status == KR_OK && p->n_regions)
        status = refine(p, alive, bitmap, context, err);
    kr_stopwatch_lap(context->watch, "refine");
    if (context->log) {
        describe(p, text, sizeof text);
        kr_scan_log_step(context->log, "%s", text);
        context->log->work[KR_SCAN_RAYS] += p->n_rays;
    }
    return status;
}

/* What a part leaves is alive for the next, which merges them by AND: two bitmaps in turn, so that the last
 * writes the result. */
static kr_status answer_parts(const cubes_table *table, const part *parts, uint32_t n, const kr_select *job,
                              const kr_scan_context *context, kr_error *err)
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
    part *parts = NULL;
    uint32_t n_parts = 0;
    (void)device;
    if (!table->n_rows)
        return KR_OK;
    kr_status status = plan_parts(table, job, &parts, &n_parts, err);
    kr_stopwatch_lap(context->watch, "encode");
    if (status != KR_OK)
        return status;
    status = answer_parts(table, parts, n_parts, job, context, err);
    release_parts(parts, n_parts);
    return status;
}

void cubes_explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const cubes_table *table = self;
    char line[KR_SCAN_STEP_NBYTES];
    part *parts = NULL;
    uint32_t n_parts = 0;
    text[0] = '\0';
    if (!table->n_rows || plan_parts(table, job, &parts, &n_parts, NULL) != KR_OK)
        return;
    if (n_parts > 1)
        kr_text_add(text, nbytes,
                    "%u groups in turn, the one with most open columns first; each sees the rows left\n",
                    n_parts);
    for (uint32_t i = 0; i < n_parts; ++i) {
        describe(parts + i, line, sizeof line);
        kr_text_add(text, nbytes, "%s\n", line);
    }
    release_parts(parts, n_parts);
}
