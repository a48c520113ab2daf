#include "table/families/cubes/scene.h"
#include "table/families/cubes/scene_body.h"

static uint32_t prim_of(const cubes_design *design)
{
    return design->shape == CUBES_BOX      ? KR_PRIM_AABB
           : design->shape == CUBES_SPHERE ? KR_PRIM_SPHERE
                                           : KR_PRIM_TRIANGLE;
}

static uint64_t primitives_of(const cubes_design *design, uint64_t n_rows)
{
    return (n_rows + design->pack - 1) / design->pack;
}

kr_status cubes_scene_estimate(kr_device *device, const cubes_design *design, uint64_t n_rows,
                               kr_scene_estimate *estimate, kr_error *err)
{
    return kr_scenes_estimate(device, prim_of(design), primitives_of(design, n_rows), design->parts,
                              design->scene_flags, estimate, err);
}

/* What primitives are made of. */
typedef struct source {
    const cubes_table *table;
    const cubes_group *group;
} source;

static void fill(kr_work *work, const void *from, uint32_t part, uint64_t first, uint64_t n, float *out)
{
    const source *s = from;
    const cubes_design *design = &s->table->design;
    const cubes_mesh_params params = {.records = s->group->records.data,
                                      .out = out,
                                      .first = first,
                                      .half = s->group->matrix.half,
                                      .shape = design->shape,
                                      .pack = design->pack};
    (void)part;
    kr_work_run(work, &cubes_mesh, &params, n);
}

void cubes_scene_build(kr_work *work, const cubes_table *table, cubes_group *group)
{
    static const char *const what[KR_PRIMS] = {"triangles", "spheres", "boxes"};
    const cubes_design *design = &table->design;
    const uint64_t n = primitives_of(design, table->n_rows);
    const uint64_t fewest = kr_scenes_size(n, KR_MOST_PRIMITIVES);
    const source from = {table, group};
    const kr_parts_job job = {
        .what = what[prim_of(design)],
        .help = design->saves_memory,
        .prim = prim_of(design),
        .radius = cubes_sphere_radius(group->matrix.half),
        .flags = design->scene_flags,
        .compact = (uint32_t)design->compact,
        .n = n,
        .part = kr_scenes_size(n, design->parts > fewest ? design->parts : fewest),
        .fill = fill,
        .source = &from,
    };
    group->scene = kr_scenes_build(work, &job);
}

void cubes_scene_open(kr_work *work, const cubes_table *table, cubes_group *group)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&table->lock;
    if (!table->design.is_lazy)
        return;
    pthread_mutex_lock(lock);
    if (!group->scene.n_parts) {
        kr_stopwatch *watch = kr_work_unwatch(work);
        cubes_scene_build(work, table, group);
        kr_work_sync(work); /* for scans on other streams */
        work->watch = watch;
    }
    pthread_mutex_unlock(lock);
}
