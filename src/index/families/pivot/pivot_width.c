/* The operations of kind `pivot` at one key width. */
#include "index/families/pivot/pivot.h"
#include "index/families/pivot/pivot_width_body.h"
#include "index/lightweight/parts.h"
#include "index/lightweight/update.h"
#include "index/sorted/rows.h"

#include <stdlib.h>

typedef struct pivot_index {
    kr_store store;
    kr_buffer pivots;
    pivot_shape shape;
    kr_launch launch;
    const kr_program *program;
    const kr_program *first; /* for lookups of the first match only */
    kr_spec spec;
} pivot_index;

static void shape_of(const kr_spec *spec, uint64_t n, pivot_shape *shape)
{
    pivot_shape_of(n, (uint32_t)spec->options[PIVOT_OPTION_K], (uint32_t)spec->options[PIVOT_OPTION_LEVELS],
                   shape);
}

/* The fan-outs whose programs have k as a constant: by one thread for each probe alone, or by k - 1 threads
 * together, too. k0 takes any k. */
#define FAN_OUTS(alone, grouped) alone(2) grouped(3) grouped(5) grouped(9) grouped(17) grouped(33)

#define DECLARE(k)                  \
    KR_PROGRAM_DECLARE(pivot_k##k); \
    KR_PROGRAM_DECLARE(pivot_first_k##k);
#define DECLARE_GROUPED(k) \
    DECLARE(k)             \
    KR_PROGRAM_DECLARE(pivot_group_k##k);
#define ALONE(k) {k, &KR_W(pivot_k##k), NULL},
#define GROUPED(k) {k, &KR_W(pivot_k##k), &KR_W(pivot_group_k##k)},
#define FIRST(k) {k, &KR_W(pivot_first_k##k), NULL},

FAN_OUTS(DECLARE, DECLARE_GROUPED)
DECLARE(0)
KR_PROGRAM_DECLARE(pivot_nearest_k0);
KR_PROGRAM_DECLARE(pivot_sum_k0);
KR_PROGRAM_DECLARE(pivot_sum_k2);
KR_PROGRAM_DECLARE(pivot_sum_k9);
KR_PROGRAM_DECLARE(pivot_nearest_k9);
KR_PROGRAM_DECLARE(pivot_nearest_k17);

static const kr_search_programs programs[] = {FAN_OUTS(ALONE, GROUPED) ALONE(0)};

/* For lookups of the first match only, if no levels are cut off. */
static const kr_search_programs firsts[] = {FAN_OUTS(FIRST, FIRST) FIRST(0)};

static const kr_program *program_of(const kr_device *device, const kr_spec *spec)
{
    return kr_search_program(device, spec, spec->options[PIVOT_OPTION_K], programs);
}

static const kr_program *first_of(const kr_device *device, const kr_spec *spec, const pivot_shape *shape)
{
    const int as_usual = device->ops->is_host || !kr_search_launches(spec);
    return as_usual && shape->leaves == 1 ? kr_search_program(device, spec, shape->k, firsts)
                                          : program_of(device, spec);
}

static const kr_program *nearest_of(const pivot_shape *shape)
{
    return shape->k == 17  ? &KR_W(pivot_nearest_k17)
           : shape->k == 9 ? &KR_W(pivot_nearest_k9)
                           : &KR_W(pivot_nearest_k0);
}

static kr_launch launch_of(const kr_device *device, const kr_spec *spec, const pivot_shape *shape)
{
    uint64_t pins[PIVOT_LEVELS];
    const uint32_t n = shape->n_levels;
    for (uint32_t i = 0; i < n; ++i)
        pins[i] = i + 1 < n ? shape->starts[n - 2 - i] : shape->n_slots;
    return kr_search_launch(spec, device->block_nbytes, shape->k, sizeof(kr_key), pins, n);
}

static kr_status estimate(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    pivot_shape levels;
    (void)err;
    shape_of(shape->spec, shape->count, &levels);
    kr_store_estimate(shape, shape->count, kr_store_packs(shape->spec), estimate);
    estimate->footprint_nbytes += (uint64_t)levels.n_slots * sizeof(kr_key);
    if (estimate->peak_nbytes < estimate->footprint_nbytes)
        estimate->peak_nbytes = estimate->footprint_nbytes;
    return KR_OK;
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    kr_buffer_release(device, &((pivot_index *)self)->pivots, stream);
    kr_store_destroy(device, self, stream);
}

/* For the entries that the store holds. */
static void set_search(const kr_device *device, pivot_index *index)
{
    const kr_spec *spec = &index->spec;
    shape_of(spec, index->store.n, &index->shape);
    index->launch = launch_of(device, spec, &index->shape);
    index->program = program_of(device, spec);
    index->first = first_of(device, spec, &index->shape);
}

/* The pivots are scratch memory of the work. */
static void fill(kr_work *w, pivot_index *index)
{
    set_search(w->device, index);
    kr_key *pivots = kr_work_take_or(w, (uint64_t)index->shape.n_slots * sizeof *pivots, "the pivots",
                                     "fewer levels, or a larger k");
    const pivot_build_params params = {kr_store_entries(&index->store), pivots, NULL, index->shape};
    kr_work_run(w, &KR_W(pivot_fill), &params, index->shape.n_slots);
    index->pivots.data = pivots;
}

static void keep(kr_work *w, pivot_index *made)
{
    kr_store_keep(w, &made->store);
    made->pivots = kr_work_keep(w, made->pivots.data);
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    pivot_index *index = kr_work_object(w, sizeof *index, "an index");
    pivot_index made = {.store = kr_store_build(w, build), .spec = *build->spec};
    fill(w, &made);
    keep(w, &made);
    if (kr_work_goes_on(w))
        *index = made;
    *self = index;
    kr_work_lap(w, "pivots");
}

static void next(kr_work *w, const void *self, const kr_update *job, void **made)
{
    const pivot_index *index = self;
    pivot_index later = {.spec = index->spec};
    int changed = 0;
    later.store = KR_W(kr_store_update)(w, &index->store, job, &changed);
    if (changed)
        fill(w, &later);
    pivot_index *kept = changed ? kr_work_object(w, sizeof *kept, "an index") : NULL;
    if (!kept)
        return;
    keep(w, &later);
    *kept = later;
    *made = kept;
    kr_work_lap(w, "pivots");
}

/* For partitioned batches, if nodes have 8 pivots. */
static kr_parts_levels levels_of(const pivot_index *index)
{
    const pivot_shape *shape = &index->shape;
    kr_parts_levels levels = {NULL, shape->n_levels, 0, {0}};
    if (shape->leaf != KR_PARTS_NODE || shape->leaves > 1 || index->store.layout != KR_LAYOUT_SOA)
        return levels;
    levels.pivots = index->pivots.data;
    for (uint32_t i = 0; i < shape->n_levels && i < KR_PARTS_LEVELS; ++i)
        levels.starts[i] = shape->starts[i];
    return levels;
}

static pivot_params params_of(const pivot_index *index, const kr_batch *batch, const kr_put *put)
{
    return (pivot_params){
        .batch = *batch,
        .put = *put,
        .launch = index->launch,
        .entries = kr_store_entries(&index->store),
        .pivots = index->pivots.data,
        .shape = index->shape,
    };
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    const pivot_index *index = self;
    const int first = kr_put_wants_first(&job->put);
    if (job->partition) {
        const kr_parts_levels levels = levels_of(index);
        KR_W(kr_parts_locate)(w, &index->store, &levels, job);
        return;
    }
    const pivot_params params = params_of(index, &job->batch, &job->put);
    const kr_program *program = job->batch.near.how ? nearest_of(&index->shape)
                                : first             ? index->first
                                                    : index->program;
    kr_work_run(w, program, &params, job->n);
}

static int sums(const void *self, int is_range)
{
    return kr_search_sums(&((const pivot_index *)self)->spec, is_range);
}

static void sum(kr_work *w, const void *self, const kr_sum *job)
{
    const kr_put first = {.what = KR_PUT_ROW};
    const uint32_t k = ((const pivot_index *)self)->shape.k;
    pivot_sum_params params = {.search = params_of(self, &job->batch, &first), .how = job->how->params};
    params.how.out = job->out;
    params.how.order = job->order;
    kr_work_run(w,
                k == 2   ? &KR_W(pivot_sum_k2)
                : k == 9 ? &KR_W(pivot_sum_k9)
                         : &KR_W(pivot_sum_k0),
                &params, job->n);
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const pivot_index *index = self;
    const uint32_t n = kr_store_components(self, components);
    components[n] = (kr_component){"pivots", index->pivots.nbytes};
    return n + 1;
}

static void check_pivots(kr_work *w, const pivot_index *index)
{
    uint64_t *counter = kr_work_counters(w, 1), found = 0;
    const pivot_build_params params = {kr_store_entries(&index->store), index->pivots.data, counter,
                                       index->shape};
    kr_work_run(w, &KR_W(pivot_check), &params, index->shape.n_slots);
    kr_work_read(w, &found, counter, sizeof found);
    if (found)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "slot %llu of the pivots holds the wrong key",
                           (unsigned long long)found - 1));
}

static int validate(kr_work *w, const void *self)
{
    const int is_unique = kr_store_validate(w, self);
    check_pivots(w, self);
    return is_unique;
}

static void image(kr_image *image, const kr_image_of *of, void **self)
{
    pivot_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    kr_store_image(image, of, 0, 1, &index->store);
    if (kr_image_loads(image)) {
        index->spec = *of->spec;
        set_search(image->work->device, index);
    }
    kr_image_buffer(image, "pivots", &index->pivots, (uint64_t)index->shape.n_slots * sizeof(kr_key));
}

/* One node per level, the halvings in place of levels that were cut off, the leaf and the row id. */
static double touches(const kr_shape *shape)
{
    pivot_shape levels;
    double steps = 2;
    shape_of(shape->spec, shape->count, &levels);
    for (uint32_t left = levels.leaves; left > 1; left /= 2)
        steps += 1;
    return steps + levels.n_levels;
}

extern const kr_family_ops KR_W(pivot_ops);
const kr_family_ops KR_W(pivot_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .sums = sums,
    .sum = sum,
    .rows = kr_store_rows,
    .ordered = &KR_W(kr_store_ordered),
    .components = components,
    .validate = validate,
    .touches = touches,
    .program = &KR_W(pivot_k17),
    .runs_on = kr_search_runs_on,
    .next = next,
    .image = image,
};
