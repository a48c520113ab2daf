/* Parts of conjunctions as the programs take them. */
#include "scans/cubes/parts.h"
#include "scans/cubes/scene.h"
#include "scans/cubes/sieve_body.h"

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

kr_status cubes_part_sieve(const cubes_part *p, const uint32_t *alive, uint32_t *bitmap,
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

/* ---- Rays ---------------------------------------------------------------------------------- */

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

const kr_ray_program *cubes_program_of(const cubes_group *group)
{
    return group->is_wide ? &cubes_visit_u64 : &cubes_visit_u32;
}

cubes_ray_params cubes_ray_params_of(const cubes_group *group, uint32_t pack, const kr_scan_context *context)
{
    return (cubes_ray_params){.scene = kr_parts_view(&group->scene),
                              .records = group->records.data,
                              .rows = group->rows.data,
                              .work = context->work,
                              .pack = pack,
                              .half = group->matrix.half,
                              .interval = group->matrix.interval,
                              .spacing = group->matrix.spacing,
                              .length = group->matrix.length};
}

/* A condition without tests is true for every row that is met. */
kr_status cubes_visit_all(const cubes_table *table, cubes_group *group, uint32_t *bitmap, kr_stream *stream,
                          kr_error *err)
{
    const kr_scan_context context = {.stream = stream};
    cubes_region all = {{0, 0, 0}, {0, 0, 0}};
    kr_tracer *tracer;
    kr_status status = kr_tracer_of(table->device, &tracer, err);
    if (status == KR_OK)
        status = cubes_scene_open(table, group, stream, err);
    if (status != KR_OK)
        return status;
    cubes_ray_params params = cubes_ray_params_of(group, table->design.pack, &context);
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        all.last[axis] = (int32_t)group->extents[axis] - 1;
    params.only.bitmap = bitmap;
    params.n_regions = 1;
    params.rays[0] = cubes_rays_of(&group->matrix, &all);
    status = kr_device_fill(table->device, bitmap, 0, kr_bitmap_words(table->n_rows) * sizeof(uint32_t),
                            stream, err);
    return status == KR_OK ? kr_scene_run(tracer, cubes_program_of(group), &params,
                                          cubes_rays_count(params.rays), stream, err)
                           : status;
}
