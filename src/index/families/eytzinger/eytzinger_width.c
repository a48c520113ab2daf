/* The operations of kind `eytzinger` at one key width. */
#include "index/families/eytzinger/eytzinger.h"
#include "index/families/eytzinger/eytzinger_params.h"
#include "index/families/eytzinger/eytzinger_walk.h"
#include "index/families/eytzinger/eytzinger_width_body.h"
#include "index/lightweight/update.h"

#include <stdlib.h>

typedef struct eytzinger_index {
    kr_store store; /* entry e is in slot eytzinger_first(k) + e */
    eytzinger_tree tree;
    kr_launch launch;
    const kr_program *program, *points; /* points: of lookups for points */
    uint32_t by_level;                  /* reductions read level by level */
    kr_spec spec;
} eytzinger_index;

enum { MOST_LEVELS = 32 };

static uint32_t k_of(const kr_spec *spec)
{
    return (uint32_t)spec->options[EYTZINGER_OPTION_K];
}

KR_MERGE_PROGRAMS_DECLARE(eytzinger_merge);
#define PROGRAMS_DECLARE(name)           \
    KR_PROGRAM_DECLARE(name##_any);      \
    KR_PROGRAM_DECLARE(name##_2);        \
    KR_PROGRAM_DECLARE(name##_3);        \
    KR_PROGRAM_DECLARE(name##_5);        \
    KR_PROGRAM_DECLARE(name##_9);        \
    KR_PROGRAM_DECLARE(name##_17);       \
    KR_PROGRAM_DECLARE(name##_33);       \
    KR_PROGRAM_DECLARE(name##_group_3);  \
    KR_PROGRAM_DECLARE(name##_group_5);  \
    KR_PROGRAM_DECLARE(name##_group_9);  \
    KR_PROGRAM_DECLARE(name##_group_17); \
    KR_PROGRAM_DECLARE(name##_group_33)
PROGRAMS_DECLARE(eytzinger);
PROGRAMS_DECLARE(eytzinger_stop);
KR_PROGRAM_DECLARE(eytzinger_sum_any);
KR_PROGRAM_DECLARE(eytzinger_sum_2);
KR_PROGRAM_DECLARE(eytzinger_sum_9);
KR_PROGRAM_DECLARE(eytzinger_nearest_any);
KR_PROGRAM_DECLARE(eytzinger_nearest_9);

#define PROGRAMS_OF(name)                                                                                   \
    {                                                                                                       \
        {2, &KR_W(name##_2), NULL}, {3, &KR_W(name##_3), &KR_W(name##_group_3)},                            \
            {5, &KR_W(name##_5), &KR_W(name##_group_5)}, {9, &KR_W(name##_9), &KR_W(name##_group_9)},       \
            {17, &KR_W(name##_17), &KR_W(name##_group_17)}, {33, &KR_W(name##_33), &KR_W(name##_group_33)}, \
            {0, &KR_W(name##_any), NULL},                                                                   \
    }
static const kr_search_programs programs[] = PROGRAMS_OF(eytzinger);
static const kr_search_programs programs_that_stop[] = PROGRAMS_OF(eytzinger_stop);

/* The first steps read the first slots. */
static kr_launch launch_of(const kr_device *device, const kr_spec *spec, uint64_t n)
{
    const uint64_t k = k_of(spec);
    uint64_t pins[MOST_LEVELS], size = 0;
    uint32_t levels = 0;
    while (size < n && levels < MOST_LEVELS) {
        size = size * k + k - 1;
        pins[levels++] = size < n ? size : n;
    }
    return kr_search_launch(spec, device->block_nbytes, (int64_t)k, sizeof(kr_key), pins, levels);
}

static uint64_t slots_of(const kr_spec *spec, uint64_t n)
{
    return n ? n + eytzinger_first(k_of(spec)) : 0;
}

static kr_status estimate(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    (void)err;
    kr_store_estimate(shape, slots_of(shape->spec, shape->count), 1, estimate);
    return KR_OK;
}

static kr_store place(kr_work *w, const kr_build *build, const kr_sorted *sorted, const eytzinger_tree *tree)
{
    const kr_store store = kr_store_open(w, build, sorted, slots_of(build->spec, sorted->n), "kind array");
    const eytzinger_place_params params = {sorted->keys.data, sorted->rows.data, kr_store_entries(&store),
                                           *tree};
    kr_work_run(w, &KR_W(eytzinger_place), &params, sorted->n);
    kr_sorted_give(w, sorted);
    kr_work_lap(w, "place");
    return store;
}

static eytzinger_ranks_params ranks_of(const eytzinger_index *index)
{
    return (eytzinger_ranks_params){.entries = kr_store_entries(&index->store), .tree = index->tree};
}

/* 1: searches for points may stop at a key. Waits for the stream. */
static int can_stop(kr_work *w, const eytzinger_index *index)
{
    uint64_t repeats = 0;
    eytzinger_ranks_params params = ranks_of(index);
    if (index->spec.options[EYTZINGER_OPTION_STOP] != EYTZINGER_STOP_HIT)
        return 0;
    if (index->store.n < 2)
        return 1;
    params.found = kr_work_counters(w, 1);
    kr_work_run(w, &KR_W(eytzinger_repeats), &params, index->store.n);
    kr_work_read(w, &repeats, params.found, sizeof repeats);
    kr_work_give(w, params.found);
    return !repeats;
}

/* All but `points`. */
static eytzinger_index describe(const kr_device *device, const kr_spec *spec, kr_store store,
                                eytzinger_tree tree)
{
    return (eytzinger_index){
        .store = store,
        .tree = tree,
        .launch = launch_of(device, spec, store.n),
        .program = kr_search_program(device, spec, k_of(spec), programs),
        .by_level = spec->options[EYTZINGER_OPTION_SCAN] == EYTZINGER_SCAN_LEVELS,
        .spec = *spec,
    };
}

static const kr_program *points_of(const kr_device *device, const eytzinger_index *index, int stops)
{
    const kr_spec *spec = &index->spec;
    return stops ? kr_search_program(device, spec, k_of(spec), programs_that_stop) : index->program;
}

/* An index of these entries, which are not kept yet. */
static eytzinger_index index_of(kr_work *w, const kr_spec *spec, kr_store store, eytzinger_tree tree)
{
    eytzinger_index index = describe(w->device, spec, store, tree);
    index.points = points_of(w->device, &index, can_stop(w, &index));
    kr_store_keep(w, &index.store);
    return index;
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    const kr_spec *spec = build->spec;
    eytzinger_index *index = kr_work_object(w, sizeof *index, "an index");
    const kr_sorted sorted = kr_sorted_build(w, build);
    const eytzinger_tree tree = eytzinger_tree_of(k_of(spec), (uint32_t)sorted.n);
    const eytzinger_index made = index_of(w, spec, place(w, build, &sorted, &tree), tree);
    if (kr_work_goes_on(w))
        *index = made;
    *self = index;
}

static void next(kr_work *w, const void *self, const kr_update *job, void **made)
{
    const eytzinger_index *index = self;
    eytzinger_merge_params params = {.merge = {.old = kr_store_entries(&index->store)},
                                     .blocks = {KR_MERGE_SHARED, 0},
                                     .old = index->tree};
    kr_merge m = {.work = w,
                  .programs = KR_MERGE_PROGRAMS_OF(eytzinger_merge),
                  .params = &params,
                  .merge = &params.merge};
    const kr_changes changes = kr_changes_make(w, job, NULL);
    KR_W(kr_merge_plan)(&m, &changes);
    if (KR_W(kr_merge_has_changes)(&m)) {
        params.merged = eytzinger_tree_of(k_of(&index->spec), (uint32_t)m.n);
        const kr_store merged = KR_W(kr_store_merge)(&m, &index->store, slots_of(&index->spec, m.n));
        eytzinger_index *kept = kr_work_object(w, sizeof *kept, "an index");
        const eytzinger_index later = index_of(w, &index->spec, merged, params.merged);
        if (kr_work_goes_on(w))
            *kept = later;
        *made = kept;
    }
    kr_work_lap(w, "merge");
}

static eytzinger_params params_of(const eytzinger_index *index, const kr_batch *batch, const kr_put *put)
{
    return (eytzinger_params){
        .batch = *batch,
        .put = *put,
        .launch = index->launch,
        .entries = kr_store_entries(&index->store),
        .tree = index->tree,
    };
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    const eytzinger_index *index = self;
    const eytzinger_params params = params_of(index, &job->batch, &job->put);
    const kr_program *nearest =
        index->tree.k == 9 ? &KR_W(eytzinger_nearest_9) : &KR_W(eytzinger_nearest_any);
    const kr_program *program = job->batch.upper ? index->program : index->points;
    kr_work_run(w, job->batch.near.how ? nearest : program, &params, job->n);
}

static int sums(const void *self, int is_range)
{
    return kr_search_sums(&((const eytzinger_index *)self)->spec, is_range);
}

static void sum(kr_work *w, const void *self, const kr_sum *job)
{
    const kr_put none = {.out = NULL};
    const uint32_t k = ((const eytzinger_index *)self)->tree.k;
    eytzinger_sum_params params = {.search = params_of(self, &job->batch, &none), .how = job->how->params};
    params.how.out = job->out;
    params.how.order = job->order;
    kr_work_run(w,
                k == 2   ? &KR_W(eytzinger_sum_2)
                : k == 9 ? &KR_W(eytzinger_sum_9)
                         : &KR_W(eytzinger_sum_any),
                &params, job->n);
}

static kr_rows rows(const void *self)
{
    const eytzinger_index *index = self;
    const kr_entries entries = kr_store_entries(&index->store);
    eytzinger_walk_view view = {.rows = entries.rows, .stride = entries.row_stride, .tree = index->tree};
    if (view.rows)
        view.rows += eytzinger_first(index->tree.k) * view.stride;
    return (kr_rows){
        .walk = &eytzinger_by_rank,
        .any_order = index->by_level ? &eytzinger_by_level : NULL,
        .view = kr_match_view_of(&view, sizeof view),
        .n_rows = index->store.n,
        .n_slots = index->store.n,
        .by_one = index->store.by_one,
    };
}

static void cuts(kr_work *w, const void *self, uint32_t bits, void *keys)
{
    eytzinger_ranks_params params = ranks_of(self);
    params.keys = keys;
    params.bits = bits;
    kr_work_run(w, &KR_W(eytzinger_cuts), &params, (uint64_t)1 << bits);
}

static const kr_ordered_ops ordered = {kr_store_key_range, cuts};

static int validate(kr_work *w, const void *self)
{
    const eytzinger_index *index = self;
    eytzinger_ranks_params params = ranks_of(index);
    const kr_order_check order = {.program = &KR_W(eytzinger_check),
                                  .params = &params,
                                  .found = &params.found,
                                  .n = index->store.n,
                                  .lowest = index->store.lowest,
                                  .highest = index->store.highest};
    const int is_unique = kr_sorted_order_check(w, &order);
    if (index->points != index->program && !is_unique)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "searches stop at the first key, but keys repeat"));
    return is_unique;
}

static void image(kr_image *image, const kr_image_of *of, void **self)
{
    const uint32_t k = k_of(of->spec);
    const kr_device *device = image->work->device;
    eytzinger_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    uint32_t stops = index->points != index->program;
    kr_store_image(image, of, eytzinger_first(k), 0, &index->store);
    kr_image_u32(image, "stops at keys", &stops, 0,
                 of->spec->options[EYTZINGER_OPTION_STOP] == EYTZINGER_STOP_HIT);
    if (kr_image_loads(image)) {
        *index = describe(device, of->spec, index->store, eytzinger_tree_of(k, (uint32_t)index->store.n));
        index->points = points_of(device, index, (int)stops);
    }
}

/* Whether searches stop, where they were asked to. */
static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const eytzinger_index *index = self;
    counters[0] = (kr_counter){"stops at keys", index->points != index->program};
    return index->spec.options[EYTZINGER_OPTION_STOP] == EYTZINGER_STOP_HIT;
}

/* One node per level, whose keys are adjacent; then the row. */
static double touches(const kr_shape *shape)
{
    double levels = 0;
    for (uint64_t left = shape->count; left; left /= k_of(shape->spec))
        levels += 1;
    return levels + 1;
}

extern const kr_family_ops KR_W(eytzinger_ops);
const kr_family_ops KR_W(eytzinger_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = kr_store_destroy,
    .locate = locate,
    .sums = sums,
    .sum = sum,
    .rows = rows,
    .ordered = &ordered,
    .components = kr_store_components,
    .validate = validate,
    .touches = touches,
    .program = &KR_W(eytzinger_9),
    .runs_on = kr_search_runs_on,
    .next = next,
    .counters = counters,
    .image = image,
};
