/* Parts of conjunctions as the programs take them. */
#include "table/families/cubes/parts.h"
#include "table/families/cubes/scene.h"
#include "table/families/cubes/sieve_params.h"

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

void cubes_part_sieve(kr_work *work, const cubes_part *p, const uint32_t *alive, uint32_t *bitmap,
                      const kr_scan_notes *notes)
{
    const uint64_t words = kr_scans_bitmap_words(p->table->n_rows);
    cubes_sieve_params params = {.bitmap = bitmap,
                                 .alive = alive,
                                 .found = notes->counters ? notes->counters + KR_SCAN_SPARED : NULL,
                                 .n_rows = p->table->n_rows};
    int is_empty = 0;
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis) {
        if (!p->leaves[axis])
            continue;
        is_empty |= !p->sieved[axis].n_vectors && !p->sieved[axis].inverts;
        add_axis(p, axis, &params);
    }
    if (is_empty)
        kr_work_fill(work, bitmap, 0, words * sizeof *bitmap);
    else
        kr_work_run(work, &cubes_sieve_words, &params, words);
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

cubes_ray_params cubes_ray_params_of(const cubes_group *group, uint32_t pack, uint64_t *counters)
{
    return (cubes_ray_params){.scene = kr_scenes_view(&group->scene),
                              .records = group->records.data,
                              .rows = group->rows.data,
                              .work = counters,
                              .pack = pack,
                              .half = group->matrix.half,
                              .interval = group->matrix.interval,
                              .spacing = group->matrix.spacing,
                              .length = group->matrix.length,
                              .shape = group->matrix.shape,
                              .reach = cubes_rays_reach(&group->matrix)};
}

/* A condition without tests is true for every row that is met. */
void cubes_visit_all(kr_work *work, const cubes_table *table, cubes_group *group, uint32_t *bitmap)
{
    cubes_region all = {{0, 0, 0}, {0, 0, 0}};
    kr_tracer *tracer = NULL;
    KR_STEP(work, kr_tracer_of(work->device, &tracer, work->err));
    cubes_scene_open(work, table, group);
    if (!kr_work_goes_on(work))
        return;
    cubes_ray_params params = cubes_ray_params_of(group, table->design.pack, NULL);
    for (uint32_t axis = 0; axis < CUBES_AXES; ++axis)
        all.last[axis] = (int32_t)group->extents[axis] - 1;
    params.only.bitmap = bitmap;
    params.n_regions = 1;
    params.rays[0] = cubes_rays_of(&group->matrix, &all);
    kr_work_fill(work, bitmap, 0, kr_scans_bitmap_words(table->n_rows) * sizeof *bitmap);
    kr_scene_run(work, tracer, cubes_program_of(group), &params, cubes_rays_count(params.rays));
}
