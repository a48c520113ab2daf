/* The operations of kind `btree` at one key width. */
#include "index/families/btree/btree.h"
#include "index/families/btree/btree_walk.h"
#include "index/families/btree/btree_width_body.h"
#include "index/results/dense.h"

#include <stdlib.h>

KR_PROGRAM_DECLARE(btree_find_8);
KR_PROGRAM_DECLARE(btree_find_16);
KR_PROGRAM_DECLARE(btree_find_32);
KR_PROGRAM_DECLARE(btree_find_64);
KR_PROGRAM_DECLARE(btree_find_half);
KR_PROGRAM_DECLARE(btree_find_group);
KR_PROGRAM_DECLARE(btree_sum_group);
KR_PROGRAM_DECLARE(btree_nearest_8);
KR_PROGRAM_DECLARE(btree_nearest_16);
KR_PROGRAM_DECLARE(btree_nearest_32);
KR_PROGRAM_DECLARE(btree_nearest_64);
KR_PROGRAM_DECLARE(btree_nearest_half);
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

/* Where the tree finds what is in the buffers. */
static void open_arrays(btree_index *index)
{
    btree_tree *tree = &index->tree;
    tree->keys = index->keys.data;
    tree->rows = index->rows.data;
    tree->order = index->order.data;
    btree_open_directory(tree, &index->directory, sizeof(kr_key));
}

static void allocate(kr_work *w, btree_index *made)
{
    static const char *const help = "fill=1.0, or kind array";
    const btree_tree *tree = &made->tree;
    made->keys = kr_work_buffer(w, leaves_nbytes(tree, sizeof(kr_key)), "the keys of leaves", help);
    if (!tree->filled)
        made->rows = kr_work_buffer(w, leaves_nbytes(tree, sizeof(uint32_t)), "the row ids of leaves", help);
    made->directory = kr_work_buffer(w, btree_directory_nbytes(tree, sizeof(kr_key)),
                                     "the directory of leaves", "a larger node");
    made->order =
        kr_work_buffer(w, (uint64_t)tree->room * sizeof(uint32_t), "the order of leaves", "a larger node");
    open_arrays(made);
}

btree_index KR_W(btree_make)(kr_work *w, const btree_design *design, const kr_sorted *sorted)
{
    btree_index made = {.design = *design, .spread = sorted->n};
    KR_STEP(w, btree_size(design, sorted->n, &made.tree, w->err));
    if (sorted->n && !sorted->rows.data) {
        made.tree.filled = design->filled;
        made.tree.first_row = sorted->first_row;
    }
    allocate(w, &made);
    const btree_spread_params spread = {made.tree, sorted->keys.data, sorted->rows.data, design->filled, 0};
    const btree_levels_params levels = {made.tree, NULL};
    kr_work_run(w, &KR_W(btree_spread), &spread, leaves_nbytes(&made.tree, 1));
    kr_work_run(w, &KR_W(btree_fill), &levels, made.tree.n_slots - made.tree.n_leaves);
    kr_work_lap(w, "leaves");
    return made;
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    const btree_design design = btree_design_of(build->spec);
    btree_tree tree;
    KR_STEP(w, btree_size(&design, build->keys.count, &tree, w->err)); /* before anything is sorted */
    btree_index *index = kr_work_object(w, sizeof *index, "an index");
    const kr_sorted sorted = kr_sorted_build_clustered(w, build);
    btree_index made = KR_W(btree_make)(w, &design, &sorted);
    btree_keep(w, &made);
    if (kr_work_goes_on(w)) {
        *index = made;
        index->lowest = sorted.lowest;
        index->highest = sorted.highest;
    }
    *self = index;
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    btree_release(device, self, stream);
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

/* What searches a batch as it is. */
static const kr_program *find_of(const kr_work *w, const btree_index *index, const kr_locate *job)
{
    const btree_tree *tree = &index->tree;
    const uint32_t node = tree->node_bits - BTREE_NODE_BITS, half = tree->fan_bits < tree->node_bits;
    if (job->batch.near.how)
        return half ? &KR_W(btree_nearest_half) : nearests[node];
    if (index->design.group)
        return &KR_W(btree_find_group);
    if (half)
        return &KR_W(btree_find_half);
    return w->device->ops->is_host && kr_put_wants_first(&job->put) && tree->n ? firsts[node] : finds[node];
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    const btree_tree *tree = &((const btree_index *)self)->tree;
    const btree_params params = {.batch = job->batch, .put = job->put, .tree = *tree};
    if (job->partition) {
        KR_W(btree_parts_locate)(w, tree, job);
        return;
    }
    kr_work_run(w, find_of(w, self, job), &params, job->n);
}

/* By groups, whose batches are never partitioned. */
static int sums(const void *self, int is_range)
{
    (void)is_range;
    return ((const btree_index *)self)->design.group != 0;
}

static void sum(kr_work *w, const void *self, const kr_sum *job)
{
    btree_sum_params params = {
        .batch = job->batch, .tree = ((const btree_index *)self)->tree, .how = job->how->params};
    params.how.out = job->out;
    params.how.order = job->order;
    kr_work_run(w, &KR_W(btree_sum_group), &params, job->n);
}

static kr_rows rows(const void *self)
{
    const btree_tree *tree = &((const btree_index *)self)->tree;
    if (tree->filled)
        return kr_row_numbers(tree->first_row, tree->n);
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
        .view = kr_match_view_of(&view, sizeof view),
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

static void cuts(kr_work *w, const void *self, uint32_t bits, void *keys)
{
    const btree_cut_params params = {((const btree_index *)self)->tree, keys, bits, 0};
    kr_work_run(w, &KR_W(btree_cuts), &params, (uint64_t)1 << bits);
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

static void read_wrongs(kr_work *w, const uint64_t *counters)
{
    static const char *const wrong[BTREE_WRONGS] = {
        [BTREE_WRONG_ORDER] = "place %llu of the order of leaves names another's leaf, or none",
        [BTREE_WRONG_START] = "leaf %llu in key order has no entries, or more than slots",
        [BTREE_WRONG_SLOT] = "slot %llu in key order is empty and should not be, or the other way round",
        [BTREE_WRONG_SEPARATOR] = "slot %llu of the separators and their levels holds the wrong key",
    };
    uint64_t found[BTREE_WRONGS] = {0};
    kr_work_read(w, found, counters, sizeof found);
    for (int i = 0; i < BTREE_WRONGS; ++i)
        if (found[i])
            KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, wrong[i], (unsigned long long)found[i] - 1));
}

/* The directory first: the other checks follow it. */
static int validate(kr_work *w, const void *self)
{
    const btree_index *index = self;
    btree_check_params params = {.tree = index->tree};
    const btree_tree *tree = &params.tree;
    const uint64_t seen_nbytes = (uint64_t)tree->room * sizeof(uint32_t);
    uint64_t *counters = params.found = kr_work_counters(w, BTREE_WRONGS);
    params.seen = kr_work_take(w, seen_nbytes, "the leaves that were met");
    kr_work_fill(w, params.seen, 0, seen_nbytes);
    kr_work_run(w, &KR_W(btree_check_directory), &params, tree->room);
    read_wrongs(w, counters);
    kr_work_run(w, &KR_W(btree_check_leaves), &params, (uint64_t)tree->n_leaves << tree->node_bits);
    kr_work_run(w, &KR_W(btree_check_levels), &params, tree->n_slots);
    read_wrongs(w, counters);
    const kr_order_check order = {.program = &KR_W(btree_check_entries),
                                  .params = &params,
                                  .found = &params.found,
                                  .n = tree->n,
                                  .lowest = index->lowest,
                                  .highest = index->highest};
    return kr_sorted_order_check(w, &order);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

/* What does not follow from the options. */
static void image_numbers(kr_image *image, btree_index *index)
{
    btree_tree *tree = &index->tree;
    const uint32_t most = UINT32_MAX >> tree->node_bits;
    kr_image_u32(image, "n", &tree->n, 0, KR_NO_ROW - 1);
    kr_sorted_image_ends(image, KR_KEY_BITS, &index->lowest, &index->highest);
    kr_image_u32(image, "leaves", &tree->n_leaves, tree->n != 0, tree->n < most ? tree->n : most);
    kr_image_u32(image, "leaf room", &tree->room, tree->n_leaves, tree->n ? most : 0);
    kr_image_u32(image, "leaves are in order", &tree->in_order, 0, 1);
    kr_image_u64(image, "entries when leaves were made", &index->spread, tree->n != 0,
                 (uint64_t)tree->n * 5 / 4); /* else they would be made anew */
}

/* Row ids, or the first of them where they are consecutive. */
static void image_rows(kr_image *image, btree_index *index)
{
    btree_tree *tree = &index->tree;
    if (!kr_image_offers(image, "first row", tree->filled != 0)) {
        kr_image_buffer(image, "rows", &index->rows, leaves_nbytes(tree, sizeof(uint32_t)));
        return;
    }
    kr_image_u32(image, "first row", &tree->first_row, 0, KR_NO_ROW - tree->n);
    if (!kr_image_loads(image))
        return;
    if (!tree->n || !tree->in_order)
        kr_image_refuse(image, "leaves without row ids are not in order");
    tree->filled = index->design.filled;
}

static void image(kr_image *image, const kr_image_of *of, void **self)
{
    btree_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    btree_tree *tree = &index->tree;
    if (kr_image_loads(image)) {
        index->design = btree_design_of(of->spec);
        tree->node_bits = index->design.node_bits;
        tree->fan_bits = index->design.fan_bits;
    }
    image_numbers(image, index);
    if (kr_image_loads(image)) {
        btree_size_levels(tree);
        tree->per_row = btree_leaves_per_row(tree);
    }
    kr_image_buffer(image, "keys", &index->keys, leaves_nbytes(tree, sizeof(kr_key)));
    image_rows(image, index);
    kr_image_buffer(image, "directory", &index->directory, btree_directory_nbytes(tree, sizeof(kr_key)));
    kr_image_buffer(image, "order", &index->order, (uint64_t)tree->room * sizeof(uint32_t));
    if (kr_image_binds(image))
        open_arrays(index);
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
    .sums = sums,
    .sum = sum,
    .rows = rows,
    .ordered = &ordered,
    .components = components,
    .validate = validate,
    .touches = touches,
    .program = &KR_W(btree_find_32),
    .update = KR_W(btree_update),
    .counters = counters,
    .image = image,
};
