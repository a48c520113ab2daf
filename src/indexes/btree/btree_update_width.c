/* kr_index_update of kind `btree`, at one key width: in the leaves where that pays, else all leaves are made
 * anew. */
#include "indexes/btree/btree.h"
#include "indexes/btree/btree_update_body.h"
#include "sorted/merge.h"

/* With so many rows of a batch for each leaf, most leaves change, and streaming all entries is faster. */
enum { ROWS_A_LEAF = 2 };

KR_PROGRAM_DECLARE(btree_fill);
KR_PROGRAM_DECLARE(btree_flatten);

/* ---- All leaves anew ------------------------------------------------------------------------- */

/* The entries as sorted columns. */
static kr_status flatten(kr_device *device, kr_stream *stream, const btree_index *index, kr_sorted *flat,
                         kr_error *err)
{
    const uint64_t n = index->tree.n;
    kr_status status = kr_buffer_allocate(device, n * sizeof(kr_key), stream, "the keys of all leaves", NULL,
                                          &flat->keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, n * sizeof(uint32_t), stream, "the row ids of all leaves", NULL,
                                    &flat->rows, err);
    const btree_flatten_params params = {index->tree, flat->keys.data, flat->rows.data};
    if (status == KR_OK)
        status = kr_device_run(device, &KR_W(btree_flatten), &params,
                               (uint64_t)index->tree.n_leaves << index->tree.node_bits, stream, err);
    flat->n = n;
    return status;
}

static kr_status merge_all(kr_device *device, const kr_update *job, const kr_changes *changes,
                           btree_index *index, kr_error *err)
{
    kr_sorted flat = {0}, merged = {0};
    btree_index made = {0};
    kr_status status = flatten(device, job->stream, index, &flat, err);
    const kr_entries old =
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), flat.keys.data, flat.rows.data, flat.n);
    if (status == KR_OK)
        status = KR_W(kr_sorted_merge)(device, job->stream, job->watch, changes, &old, &merged, err);
    kr_sorted_release(device, &flat, job->stream);
    const btree_source source = {device, job->stream, job->watch, &index->design, &merged};
    if (status == KR_OK)
        status = KR_W(btree_make)(&source, &made, err);
    if (status == KR_OK)
        status = kr_device_sync(device, job->stream, err);
    if (status == KR_OK) {
        const btree_index old_index = *index;
        *index = made;
        index->lowest = merged.lowest;
        index->highest = merged.highest;
        made = old_index;
    }
    btree_release(device, &made, job->stream);
    kr_sorted_release(device, &merged, job->stream);
    return status;
}

/* ---- In the leaves --------------------------------------------------------------------------- */

/* Scratch arrays, released together. */
enum { DELETE_FROM, INSERT_FROM, COUNTS, SUMS, BEFORE, SOURCE, CHANGED, ENDS, SCRATCHES };

typedef struct update {
    kr_device *device;
    kr_stream *stream;
    btree_index *index;
    btree_update_params params;
    kr_buffer scratch[SCRATCHES];
    kr_buffer order, directory; /* new ones, where leaves are taken or freed */
    btree_sums sums;            /* of all tiles */
} update;

static const kr_program *const plans[] = {&KR_W(btree_plan_8), &KR_W(btree_plan_16), &KR_W(btree_plan_32),
                                          &KR_W(btree_plan_64)};
static const kr_program *const applies[] = {&KR_W(btree_apply_8), &KR_W(btree_apply_16),
                                            &KR_W(btree_apply_32), &KR_W(btree_apply_64)};

static kr_status allocate(update *u, int which, uint64_t nbytes, const char *what, kr_error *err)
{
    return kr_buffer_allocate(u->device, nbytes, u->stream, what, NULL, &u->scratch[which], err);
}

static void release(update *u)
{
    kr_buffer_release(u->device, &u->directory, u->stream);
    kr_buffer_release(u->device, &u->order, u->stream);
    for (int i = SCRATCHES; i-- > 0;)
        kr_buffer_release(u->device, &u->scratch[i], u->stream);
}

static uint64_t bounds_of(uint64_t leaves)
{
    return leaves / BTREE_ROUTE + 2;
}

static kr_status allocate_plan(update *u, kr_error *err)
{
    btree_update_params *p = &u->params;
    const uint64_t leaves = p->tree.n_leaves, tiles = p->n_tiles + UINT64_C(1);
    const uint64_t ends = (leaves + 1 + bounds_of(leaves)) * sizeof(uint32_t); /* of leaves, then bounds */
    kr_status status = allocate(u, DELETE_FROM, p->n_deletes ? ends : 0, "the deletes of leaves", err);
    if (status == KR_OK)
        status = allocate(u, INSERT_FROM, p->n_inserts ? ends : 0, "the inserts of leaves", err);
    if (status == KR_OK)
        status = allocate(u, COUNTS, leaves * sizeof(uint32_t), "the counts of leaves", err);
    if (status == KR_OK)
        status = allocate(u, SUMS, tiles * sizeof(btree_sums), "sums of leaves", err);
    if (status == KR_OK)
        status = kr_device_fill(u->device, u->scratch[SUMS].data, 0, u->scratch[SUMS].nbytes, u->stream, err);
    p->delete_from = u->scratch[DELETE_FROM].data;
    p->insert_from = u->scratch[INSERT_FROM].data;
    p->delete_bounds = p->delete_from ? p->delete_from + leaves + 1 : NULL;
    p->insert_bounds = p->insert_from ? p->insert_from + leaves + 1 : NULL;
    p->counts = u->scratch[COUNTS].data;
    p->sums = u->scratch[SUMS].data;
    return status;
}

/* How many entries and leaves there will be. Blocks. */
static kr_status plan(update *u, const kr_changes *changes, kr_error *err)
{
    const btree_tree *tree = &u->index->tree;
    btree_update_params *p = &u->params;
    *p = (btree_update_params){
        .tree = *tree,
        .deletes = changes->deletes.keys.data,
        .inserts = changes->inserts.keys.data,
        .insert_rows = changes->inserts.rows.data,
        .n_deletes = (uint32_t)changes->deletes.n,
        .n_inserts = (uint32_t)changes->inserts.n,
        .n_tiles = (tree->n_leaves - 1) / BTREE_TILE + 1,
    };
    kr_status status = allocate_plan(u, err);
    if (status == KR_OK)
        status = kr_device_run(u->device, &KR_W(btree_route), p, bounds_of(tree->n_leaves), u->stream, err);
    if (status == KR_OK)
        status = kr_device_run(u->device, plans[tree->node_bits - BTREE_NODE_BITS], p, tree->n_leaves,
                               u->stream, err);
    if (status == KR_OK)
        status = kr_device_run(u->device, &KR_W(btree_sum), p, 1, u->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(u->device, &u->sums, p->sums + p->n_tiles, sizeof u->sums, u->stream, err);
    return status == KR_OK ? kr_device_sync(u->device, u->stream, err) : status;
}

/* The directory afterwards. Without moves it is the old one. */
static kr_status make_room(update *u, kr_error *err)
{
    btree_update_params *p = &u->params;
    kr_status status = allocate(u, ENDS, 2 * sizeof(uint64_t), "the end keys", err);
    if (status == KR_OK)
        status = allocate(u, CHANGED, u->sums.changed * sizeof(uint32_t), "the leaves that change", err);
    p->changed = u->scratch[CHANGED].data;
    p->moves = u->sums.taken || u->sums.freed;
    p->made = p->tree;
    p->made.n = u->sums.entries;
    p->made.n_leaves = u->sums.leaves;
    p->made.per_row = (float)u->sums.leaves / (float)u->sums.entries;
    if (!p->moves || status != KR_OK)
        return status;
    p->made.in_order = 0;
    btree_size_levels(&p->made);
    status = allocate(u, BEFORE, p->tree.n_leaves * sizeof(uint32_t), "the entries before leaves", err);
    if (status == KR_OK)
        status = allocate(u, SOURCE, p->made.n_leaves * sizeof(uint32_t), "the sources of leaves", err);
    if (status == KR_OK)
        status = kr_buffer_allocate(u->device, btree_directory_nbytes(&p->made, sizeof(kr_key)), u->stream,
                                    "a directory of leaves", NULL, &u->directory, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(u->device, p->tree.room * sizeof(uint32_t), u->stream,
                                    "an order of leaves", NULL, &u->order, err);
    p->before = u->scratch[BEFORE].data;
    p->source = u->scratch[SOURCE].data;
    p->made.order = u->order.data;
    btree_open_directory(&p->made, &u->directory, sizeof(kr_key));
    return status;
}

/* From here on the tree changes, so the update can no longer be cancelled. Blocks. */
static kr_status apply(update *u, kr_error *err)
{
    btree_update_params *p = &u->params;
    const btree_levels_params levels = {p->made, u->scratch[ENDS].data};
    const uint32_t first = p->tree.n_leaves + u->sums.taken, spare = p->tree.room - first;
    const uint32_t lanes = u->device->ops->group_threads == 1 ? 1 : BTREE_LANES_GPU;
    uint64_t ends[2] = {0, 0};
    kr_status status = KR_OK;
    p->blocks.shared_nbytes = p->moves ? BTREE_DIRECT_SHARED : 0;
    if (p->moves) /* those that stay free; behind them those that become so */
        status = kr_device_copy(u->device, p->made.order + p->made.n_leaves, p->tree.order + first,
                                spare * sizeof(uint32_t), u->stream, err);
    if (status == KR_OK)
        status = kr_device_run_whole(u->device, p->moves ? &KR_W(btree_direct) : &KR_W(btree_restart), p,
                                     p->n_tiles, u->stream, err);
    if (status == KR_OK)
        status = kr_device_run_whole(u->device, applies[p->tree.node_bits - BTREE_NODE_BITS], p,
                                     (uint64_t)u->sums.changed * lanes, u->stream, err);
    if (status == KR_OK)
        status = kr_device_run_whole(u->device, &KR_W(btree_fill), &levels,
                                     p->made.n_slots - p->made.n_leaves + UINT64_C(1), u->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(u->device, u->stream, &u->scratch[ENDS], ends, 2, err);
    u->index->lowest = ends[0];
    u->index->highest = ends[1];
    return status;
}

static void adopt(update *u)
{
    btree_index *index = u->index;
    const kr_buffer order = index->order, directory = index->directory;
    index->tree = u->params.made;
    if (!u->params.moves)
        return;
    index->order = u->order;
    index->directory = u->directory;
    u->order = order;
    u->directory = directory;
}

/* Free leaves must suffice, and memory is given back after many deletes. */
static int fits(const update *u)
{
    const btree_tree *tree = &u->index->tree;
    return u->sums.taken <= tree->room - tree->n_leaves &&
           (uint64_t)u->sums.entries * 5 / 4 >= u->index->spread;
}

/* *done is 0 if leaves have to be made anew. */
static kr_status change_leaves(kr_device *device, const kr_update *job, const kr_changes *changes,
                               btree_index *index, int *done, kr_error *err)
{
    update u = {.device = device, .stream = job->stream, .index = index};
    kr_status status = plan(&u, changes, err);
    kr_stopwatch_lap(job->watch, "plan");
    *done = fits(&u);
    if (status == KR_OK && *done) {
        status = make_room(&u, err);
        if (status == KR_OK)
            status = apply(&u, err);
        if (status == KR_OK)
            adopt(&u);
        kr_stopwatch_lap(job->watch, "apply");
    }
    release(&u);
    return status;
}

/* ---- Which of them --------------------------------------------------------------------------- */

/* Counts of rows must not overflow: a merge then says so. */
static int pays(const btree_index *index, const kr_changes *changes)
{
    return changes->deletes.n + changes->inserts.n <= (uint64_t)index->tree.n_leaves * ROWS_A_LEAF &&
           index->tree.n + changes->inserts.n < KR_NO_ROW;
}

kr_status KR_W(btree_update)(kr_device *device, void *self, const kr_update *job, kr_error *err)
{
    btree_index *index = self;
    kr_changes changes = {.deletes = {.n = 0}};
    int done = 0;
    kr_status status = kr_changes_make(device, job, NULL, &changes, err);
    if (status == KR_OK && (changes.inserts.n || (changes.deletes.n && index->tree.n))) {
        if (pays(index, &changes))
            status = change_leaves(device, job, &changes, index, &done, err);
        if (status == KR_OK && !done)
            status = merge_all(device, job, &changes, index, err);
    }
    kr_changes_release(device, job->stream, &changes);
    return status;
}
