/* The operations of kind `btree` at one key width. */
#include "indexes/btree/btree.h"
#include "indexes/btree/btree_check_body.h"
#include "indexes/btree/btree_walk.h"

#include <stdlib.h>

KR_PROGRAM_DECLARE(btree_find_8);
KR_PROGRAM_DECLARE(btree_find_16);
KR_PROGRAM_DECLARE(btree_find_32);
KR_PROGRAM_DECLARE(btree_find_64);
KR_PROGRAM_DECLARE(btree_nearest_8);
KR_PROGRAM_DECLARE(btree_nearest_16);
KR_PROGRAM_DECLARE(btree_nearest_32);
KR_PROGRAM_DECLARE(btree_nearest_64);
KR_PROGRAM_DECLARE(btree_first_8);
KR_PROGRAM_DECLARE(btree_first_16);
KR_PROGRAM_DECLARE(btree_first_32);
KR_PROGRAM_DECLARE(btree_first_64);

/* ---- Building -------------------------------------------------------------------------------- */

static uint64_t leaves_nbytes(const btree_tree *tree, uint64_t nbytes)
{
    return ((uint64_t)tree->room << tree->node_bits) * nbytes;
}

static kr_status estimate(const kr_shape *shape, kr_need *need, kr_error *err)
{
    const btree_design design = btree_design_of(shape->spec);
    btree_tree tree;
    const kr_status status = btree_size(&design, shape->count, &tree, err);
    if (status != KR_OK)
        return status;
    const uint64_t kept = leaves_nbytes(&tree, sizeof(kr_key) + sizeof(uint32_t)) +
                          (uint64_t)tree.room * sizeof(uint32_t) +
                          btree_directory_nbytes(&tree, sizeof(kr_key));
    kr_sorted_estimate(shape, need);
    const uint64_t both = need->footprint_nbytes + kept;
    *need = (kr_need){kept, both > need->peak_nbytes ? both : need->peak_nbytes};
    return KR_OK;
}

static kr_status allocate(const btree_source *source, btree_index *made, kr_error *err)
{
    static const char *const help = "fill=1.0, or kind array";
    btree_tree *tree = &made->tree;
    kr_status status = kr_buffer_allocate(source->device, leaves_nbytes(tree, sizeof(kr_key)), source->stream,
                                          "the keys of leaves", help, &made->keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(source->device, leaves_nbytes(tree, sizeof(uint32_t)), source->stream,
                                    "the row ids of leaves", help, &made->rows, err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(source->device, btree_directory_nbytes(tree, sizeof(kr_key)), source->stream,
                               "the directory of leaves", "a larger node", &made->directory, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(source->device, (uint64_t)tree->room * sizeof(uint32_t), source->stream,
                                    "the order of leaves", "a larger node", &made->order, err);
    tree->keys = made->keys.data;
    tree->rows = made->rows.data;
    tree->order = made->order.data;
    btree_open_directory(tree, &made->directory, sizeof(kr_key));
    return status;
}

kr_status KR_W(btree_make)(const btree_source *source, btree_index *made, kr_error *err)
{
    btree_index index = {.design = *source->design, .spread = source->sorted->n};
    kr_status status = btree_size(source->design, source->sorted->n, &index.tree, err);
    if (status == KR_OK)
        status = allocate(source, &index, err);
    const btree_spread_params spread = {index.tree, source->sorted->keys.data, source->sorted->rows.data,
                                        source->design->filled, 0};
    if (status == KR_OK)
        status = kr_device_run(source->device, &KR_W(btree_spread), &spread, leaves_nbytes(&index.tree, 1),
                               source->stream, err);
    const btree_levels_params levels = {index.tree, NULL};
    if (status == KR_OK)
        status = kr_device_run(source->device, &KR_W(btree_fill), &levels,
                               index.tree.n_slots - index.tree.n_leaves, source->stream, err);
    kr_stopwatch_lap(source->watch, "leaves");
    if (status == KR_OK)
        *made = index;
    else
        btree_release(source->device, &index, source->stream);
    return status;
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    const btree_design design = btree_design_of(build->spec);
    kr_sorted sorted = {0};
    btree_tree tree;
    kr_status status = btree_size(&design, build->keys.count, &tree, err);
    if (status != KR_OK)
        return status;
    btree_index *index = kr_host_calloc(1, sizeof *index, "an index", err);
    if (!index)
        return KR_ERR_HOST_MEMORY;
    *self = index;
    const btree_source source = {build->device, build->stream, build->watch, &design, &sorted};
    status = kr_sorted_build(build, &sorted, err);
    if (status == KR_OK)
        status = KR_W(btree_make)(&source, index, err);
    index->lowest = sorted.lowest;
    index->highest = sorted.highest;
    kr_sorted_release(build->device, &sorted, build->stream);
    return status;
}

static void destroy(kr_device *device, void *self)
{
    btree_release(device, self, NULL);
    free(self);
}

/* ---- Lookups --------------------------------------------------------------------------------- */

static const kr_program *const finds[] = {&KR_W(btree_find_8), &KR_W(btree_find_16), &KR_W(btree_find_32),
                                          &KR_W(btree_find_64)};
static const kr_program *const nearests[] = {&KR_W(btree_nearest_8), &KR_W(btree_nearest_16),
                                             &KR_W(btree_nearest_32), &KR_W(btree_nearest_64)};
/* On a CPU, for the first match only. */
static const kr_program *const firsts[] = {&KR_W(btree_first_8), &KR_W(btree_first_16), &KR_W(btree_first_32),
                                           &KR_W(btree_first_64)};

static kr_status locate(kr_device *device, const void *self, const kr_locate *job, kr_stream *stream,
                        kr_error *err)
{
    const btree_tree *tree = &((const btree_index *)self)->tree;
    const btree_params params = {.batch = job->batch, .put = job->put, .tree = *tree};
    const uint32_t node = tree->node_bits - BTREE_NODE_BITS;
    if (job->partition)
        return KR_W(btree_parts_locate)(device, tree, job, stream, err);
    const int by_rounds = device->ops->is_host && kr_put_wants_first(&job->put) && tree->n;
    const kr_program *program = job->batch.near.how ? nearests[node] : by_rounds ? firsts[node] : finds[node];
    return kr_device_run(device, program, &params, job->n, stream, err);
}

static kr_rows rows(const void *self)
{
    const btree_tree *tree = &((const btree_index *)self)->tree;
    const btree_walk_view view = {
        .rows = tree->rows,
        .starts = tree->starts,
        .order = tree->in_order ? NULL : tree->order,
        .n_leaves = tree->n_leaves,
        .node_bits = tree->node_bits,
        .per_row = tree->per_row,
    };
    return (kr_rows){
        .walk = &btree_walk,
        .view = kr_view_of(&view, sizeof view),
        .n_rows = tree->n,
        .n_slots = (uint64_t)tree->n_leaves << tree->node_bits,
    };
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const btree_index *index = self;
    *lowest = index->lowest;
    *highest = index->highest;
}

static kr_status cuts(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                      kr_error *err)
{
    const btree_cut_params params = {((const btree_index *)self)->tree, keys, bits, 0};
    return kr_device_run(device, &KR_W(btree_cuts), &params, (uint64_t)1 << bits, stream, err);
}

static const kr_ordered_ops ordered = {key_range, cuts};

/* ---- Facts ----------------------------------------------------------------------------------- */

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const btree_index *index = self;
    components[0] = (kr_component){"keys", index->keys.nbytes};
    components[1] = (kr_component){"row ids", index->rows.nbytes};
    components[2] = (kr_component){"directory", index->order.nbytes + index->directory.nbytes};
    return 3;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const btree_tree *tree = &((const btree_index *)self)->tree;
    const uint64_t slots = (uint64_t)tree->n_leaves << tree->node_bits;
    counters[0] = (kr_counter){"leaves", tree->n_leaves};
    counters[1] = (kr_counter){"leaf room", tree->room};
    counters[2] = (kr_counter){"leaf slots", UINT64_C(1) << tree->node_bits};
    counters[3] = (kr_counter){"levels", tree->n_levels};
    counters[4] = (kr_counter){"leaf fill percent", slots ? 100 * (uint64_t)tree->n / slots : 0};
    return 5;
}

static kr_status read_wrongs(kr_device *device, const kr_buffer *counters, kr_error *err)
{
    static const char *const wrong[BTREE_WRONGS] = {
        [BTREE_WRONG_ORDER] = "place %llu of the order of leaves names another's leaf, or none",
        [BTREE_WRONG_START] = "leaf %llu in key order has no entries, or more than slots",
        [BTREE_WRONG_SLOT] = "slot %llu in key order is empty and should not be, or the other way round",
        [BTREE_WRONG_SEPARATOR] = "slot %llu of the separators and their levels holds the wrong key",
    };
    uint64_t found[BTREE_WRONGS] = {0};
    kr_status status = kr_counters_read(device, NULL, counters, found, BTREE_WRONGS, err);
    for (int i = 0; i < BTREE_WRONGS && status == KR_OK; ++i)
        if (found[i])
            status = kr_fail(err, KR_ERR_INVARIANT, wrong[i], (unsigned long long)found[i] - 1);
    return status;
}

/* The directory first: the other checks follow it. */
static kr_status check(kr_device *device, btree_check_params *params, const kr_buffer *counters,
                       kr_error *err)
{
    const btree_tree *tree = &params->tree;
    kr_status status = kr_device_run(device, &KR_W(btree_check_directory), params, tree->room, NULL, err);
    if (status == KR_OK)
        status = read_wrongs(device, counters, err);
    if (status == KR_OK)
        status = kr_device_run(device, &KR_W(btree_check_leaves), params,
                               (uint64_t)tree->n_leaves << tree->node_bits, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(device, &KR_W(btree_check_levels), params, tree->n_slots, NULL, err);
    return status == KR_OK ? read_wrongs(device, counters, err) : status;
}

static kr_status validate(kr_device *device, const void *self, kr_error *err)
{
    btree_check_params params = {.tree = ((const btree_index *)self)->tree};
    kr_buffer counters = {0}, seen = {0};
    kr_status status = kr_counters_make(device, NULL, BTREE_WRONGS, &counters, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, (uint64_t)params.tree.room * sizeof(uint32_t), NULL,
                                    "the leaves that were met", NULL, &seen, err);
    if (status == KR_OK)
        status = kr_device_fill(device, seen.data, 0, seen.nbytes, NULL, err);
    params.found = counters.data;
    params.seen = seen.data;
    if (status == KR_OK)
        status = check(device, &params, &counters, err);
    kr_buffer_release(device, &seen, NULL);
    kr_buffer_release(device, &counters, NULL);
    return status == KR_OK ? kr_order_check(device, &KR_W(btree_check_entries), &params, &params.found,
                                            params.tree.n, err)
                           : status;
}

/* One node per level, the leaf and the row id. */
static double touches(const kr_shape *shape)
{
    const btree_design design = btree_design_of(shape->spec);
    btree_tree tree = {0};
    return btree_size(&design, shape->count, &tree, NULL) == KR_OK ? tree.n_levels + 2 : 0;
}

extern const kr_family_ops KR_W(btree_ops);
const kr_family_ops KR_W(btree_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = destroy,
    .locate = locate,
    .rows = rows,
    .ordered = &ordered,
    .components = components,
    .validate = validate,
    .touches = touches,
    .program = &KR_W(btree_find_32),
    .update = KR_W(btree_update),
    .counters = counters,
};
