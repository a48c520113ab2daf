/* The operations of kind `array` at one key width. */
#include "index/families/array/array.h"
#include "index/families/array/array_width_body.h"
#include "index/lightweight/parts.h"
#include "index/lightweight/update.h"

#include <stdlib.h>

typedef struct array_index {
    kr_store store;
    kr_launch launch;
    const kr_program *program, *nearest;
    uint32_t top, k;
    kr_spec spec;
} array_index;

static kr_status estimate(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    (void)err;
    kr_store_estimate(shape, shape->count, kr_store_packs(shape->spec), estimate);
    return KR_OK;
}

/* Step d of the binary search compares one of 2^d keys, which can be pinned; the K-ary search pins none. */
static void set_search(const kr_device *device, array_index *index)
{
    const kr_spec *spec = &index->spec;
    const uint32_t n = (uint32_t)index->store.n;
    uint64_t pins[32];
    uint32_t levels = 0;
    index->k = (uint32_t)spec->options[ARRAY_OPTION_K];
    index->top = n ? 0x80000000u >> kr_clz32(n) : 0;
    for (uint32_t step = index->top; step && index->k == 2; step >>= 1, ++levels)
        pins[levels] = ((uint64_t)2 << levels) - 1;
    index->launch = kr_search_launch(spec, device->block_nbytes, index->k, sizeof(kr_key), pins, levels);
    index->program = index->k > 2                           ? &KR_W(array_kary)
                     : index->store.layout == KR_LAYOUT_AOS ? &KR_W(array_aos)
                                                            : &KR_W(array_soa);
    index->nearest = index->k > 2                           ? &KR_W(array_kary_nearest)
                     : index->store.layout == KR_LAYOUT_AOS ? &KR_W(array_aos_nearest)
                                                            : &KR_W(array_soa_nearest);
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    array_index *index = kr_work_object(w, sizeof *index, "an index");
    kr_store store = kr_store_build(w, build);
    kr_store_keep(w, &store);
    if (kr_work_goes_on(w)) {
        index->store = store;
        index->spec = *build->spec;
        set_search(w->device, index);
    }
    *self = index;
}

static array_params params_of(const array_index *index, const kr_batch *batch, const kr_put *put)
{
    return (array_params){
        .batch = *batch,
        .put = *put,
        .launch = index->launch,
        .entries = kr_store_entries(&index->store),
        .top = index->top,
        .k = index->k,
    };
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    const array_index *index = self;
    if (job->partition) {
        KR_W(kr_parts_locate)(w, &index->store, NULL, job);
        return;
    }
    const array_params params = params_of(index, &job->batch, &job->put);
    const kr_program *program = job->batch.near.how ? index->nearest : index->program;
    kr_work_run(w, program, &params, job->n);
}

static int sums(const void *self, int is_range)
{
    return kr_search_sums(&((const array_index *)self)->spec, is_range);
}

static void sum(kr_work *w, const void *self, const kr_sum *job)
{
    const kr_put first = {.what = KR_PUT_ROW};
    array_sum_params params = {.search = params_of(self, &job->batch, &first), .how = job->how->params};
    params.how.out = job->out;
    params.how.order = job->order;
    kr_work_run(w, &KR_W(array_sum), &params, job->n);
}

static void next(kr_work *w, const void *self, const kr_update *job, void **made)
{
    const array_index *index = self;
    int changed = 0;
    kr_store merged = KR_W(kr_store_update)(w, &index->store, job, &changed);
    array_index *later = changed ? kr_work_object(w, sizeof *later, "an index") : NULL;
    if (!later)
        return;
    kr_store_keep(w, &merged);
    later->store = merged;
    later->spec = index->spec;
    set_search(w->device, later);
    *made = later;
}

static void image(kr_image *image, const kr_image_of *of, void **self)
{
    array_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    kr_store_image(image, of, 0, 1, &index->store);
    if (kr_image_loads(image)) {
        index->spec = *of->spec;
        set_search(image->work->device, index);
    }
}

/* Binary search halves n + 1 places; K-ary search divides them by k and reads up to k - 1 pivots. Then comes
 * the row. */
static double touches(const kr_shape *shape)
{
    const uint64_t k = (uint64_t)shape->spec->options[ARRAY_OPTION_K];
    const int shared = shape->spec->options[KR_SEARCH_GROUP] != 0; /* a step's pivots are read at once */
    double steps = 0;
    for (uint64_t left = shape->count; left; left /= k)
        steps += k > 2 && !shared ? (double)(k - 1) / 2 + 0.5 : 1;
    return steps + 1;
}

extern const kr_family_ops KR_W(array_ops);
const kr_family_ops KR_W(array_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = kr_store_destroy,
    .locate = locate,
    .sums = sums,
    .sum = sum,
    .rows = kr_store_rows,
    .ordered = &KR_W(kr_store_ordered),
    .components = kr_store_components,
    .validate = kr_store_validate,
    .touches = touches,
    .program = &KR_W(array_soa),
    .runs_on = kr_search_runs_on,
    .next = next,
    .image = image,
};
