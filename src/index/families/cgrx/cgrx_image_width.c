/* What is saved of kind `cgrx`, at one key width. The scene is not: it is made again, as it was, from the
 * keys around the ends of buckets. With updates=on these are kept as what each list owns. */
#include "index/families/cgrx/cgrx_index.h"
#include "index/families/cgrx/cgrx_scene_params.h"

KR_PROGRAM_DECLARE(cgrx_ends_of_buckets);

/* ---- The scene ------------------------------------------------------------------------------- */

/* The first key and the representative of each bucket, which are all that a scene is made from: as if buckets
 * had no others. Scratch memory. */
static kr_sorted take_ends(kr_work *w, const cgrx_index *index, uint64_t last_rep)
{
    const uint64_t n_buckets = cgrx_buckets_of(&index->design, index->built), n = 2 * n_buckets;
    kr_sorted made = {.n = n, .highest = last_rep};
    made.keys = kr_work_buffer(w, n * sizeof(kr_key), "the ends of buckets", "a larger bucket");
    const cgrx_pairs_params params = {
        .entries = KR_W(cgrx_params_of)(index).entries,
        .ends = index->nodes.ends.data,
        .end_rows = index->nodes.end_rows.data,
        .keys = made.keys.data,
        .n_buckets = n_buckets,
        .last_rep = last_rep,
        .map = index->design.map,
        .optimized = index->design.scene == CGRX_OPTIMIZED,
    };
    kr_work_run(w, &KR_W(cgrx_ends_of_buckets), &params, n_buckets);
    return made;
}

static void make_scene(kr_work *w, cgrx_index *index, uint64_t last_rep)
{
    cgrx_design design = index->design;
    kr_sorted sorted = {
        .keys = index->storage.keys, .n = index->n, .lowest = index->lowest, .highest = index->highest};
    const int has_columns = !design.node && design.layout == KR_LAYOUT_SOA;
    if (!index->built)
        return;
    kr_work_lap(w, "read");
    if (!has_columns) {
        sorted = take_ends(w, index, last_rep);
        design.bucket = 2;
    }
    const cgrx_source source = {&design, &sorted};
    index->scene = KR_W(cgrx_scene_build)(w, &source);
    cgrx_scene_keep(w, &index->scene);
    if (!has_columns)
        kr_work_give(w, sorted.keys.data);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static void image_storage(kr_image *image, cgrx_index *index, uint64_t slots)
{
    const uint32_t layout = index->design.layout;
    if (kr_image_loads(image))
        index->storage.layout = layout;
    kr_image_buffer(image, "keys", &index->storage.keys, slots * kr_layout_stride(layout, sizeof(kr_key)));
    if (layout == KR_LAYOUT_SOA)
        kr_image_buffer(image, "rows", &index->storage.rows, slots * sizeof(uint32_t));
}

/* A build that found buffers of an earlier one large enough uses only a part of them. */
static void image_lists(kr_image *image, cgrx_index *index)
{
    cgrx_nodes *nodes = &index->nodes;
    const uint64_t lists = nodes->n_lists, nbytes = sizeof(uint32_t);
    const uint64_t hints = index->n / CGRX_LISTS_STRIDE + 2;
    kr_image_buffer_used(image, "starts", &nodes->starts, lists ? (lists + 1) * nbytes : 0);
    kr_image_buffer_used(image, "hints", &nodes->hints, lists ? hints * nbytes : 0);
    kr_image_buffer(image, "next", &nodes->next, nodes->room * nbytes);
    if (index->design.splits)
        kr_image_buffer(image, "sizes", &nodes->sizes, nodes->room * nbytes);
    kr_image_buffer_used(image, "spare", &nodes->spare, nodes->n_spare * nbytes);
}

static void image_nodes(kr_image *image, cgrx_index *index)
{
    cgrx_nodes *nodes = &index->nodes;
    uint64_t last_rep = index->scene.last_rep, most = index->built ? CGRX_NO_NODE : 0;
    if (kr_image_loads(image)) {
        nodes->n_lists = (uint32_t)cgrx_buckets_of(&index->design, index->built);
        nodes->node = nodes->n_lists ? index->design.node : 0;
        nodes->n_rows = index->n;
    }
    kr_image_u64(image, "last representative", &last_rep, 0, UINT64_MAX >> (64 - KR_KEY_BITS));
    kr_image_u64(image, "nodes", &nodes->n_used, nodes->n_lists, most);
    kr_image_u64(image, "node room", &nodes->room, nodes->n_used, most);
    kr_image_u64(image, "spare nodes", &nodes->n_spare, 0, nodes->n_used - nodes->n_lists);
    kr_image_u32(image, "longest list", &nodes->longest, 0, UINT32_MAX);
    kr_image_u32(image, "nodes of a list", &nodes->most_nodes, 0, UINT32_MAX);
    kr_image_buffer_used(image, "ends", &nodes->ends, nodes->n_lists * sizeof(kr_key));
    kr_image_buffer_used(image, "end rows", &nodes->end_rows, nodes->n_lists * sizeof(uint32_t));
    if (kr_image_loads(image)) /* before the rest is read: then it takes no more memory than a build */
        make_scene(image->work, index, last_rep);
    image_lists(image, index);
    image_storage(image, index, nodes->room * nodes->node);
}

void KR_W(cgrx_image)(kr_image *image, const kr_image_of *of, void **self)
{
    cgrx_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    if (kr_image_loads(image))
        index->design = cgrx_design_of(of->spec);
    const cgrx_design *design = &index->design;
    kr_image_u64(image, "entries when built", &index->built, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "n", &index->n, design->node ? 0 : index->built,
                 index->built && design->node ? KR_NO_ROW - 1 : index->built);
    kr_sorted_image_ends(image, KR_KEY_BITS, &index->lowest, &index->highest);
    kr_image_buffer(image, "filter", &index->filter,
                    index->built ? cgrx_filter_words(design, index->built) * sizeof(uint64_t) : 0);
    if (design->node) {
        image_nodes(image, index);
        return;
    }
    image_storage(image, index, index->n);
    if (kr_image_loads(image))
        make_scene(image->work, index, index->highest);
}
