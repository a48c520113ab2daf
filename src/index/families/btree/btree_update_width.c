/* kr_index_update of kind `btree`, at one key width: in the leaves where that pays, else all leaves are made
 * anew. */
#include "base/devices/work.h"
#include "index/families/btree/btree.h"
#include "index/families/btree/btree_update_width_body.h"
#include "index/sorted/merge.h"

/* With so many rows of a batch for each leaf, most leaves change, and streaming all entries is faster. */
enum { ROWS_A_LEAF = 2 };

KR_PROGRAM_DECLARE(btree_fill);
KR_PROGRAM_DECLARE(btree_flatten);
KR_PROGRAM_DECLARE(btree_number);

/* ---- All leaves anew ------------------------------------------------------------------------- */

/* The entries as sorted columns, which are scratch memory. */
static kr_entries flatten(kr_work *w, const btree_index *index)
{
    const btree_tree *tree = &index->tree;
    kr_key *keys = kr_work_take(w, tree->n * sizeof *keys, "the keys of all leaves");
    uint32_t *rows = kr_work_take(w, tree->n * sizeof *rows, "the row ids of all leaves");
    const btree_flatten_params params = {*tree, keys, rows};
    kr_work_run(w, &KR_W(btree_flatten), &params, (uint64_t)tree->n_leaves << tree->node_bits);
    return kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), keys, rows, tree->n);
}

/* Row ids that are still consecutive are not kept. */
static void leave_rows(kr_work *w, kr_sorted *sorted)
{
    const uint32_t first = kr_sorted_first_row(w, sorted->rows.data, sorted->n);
    if (first == KR_NO_ROW)
        return;
    kr_work_give(w, sorted->rows.data);
    sorted->rows = (kr_buffer){0};
    sorted->first_row = first;
}

static void merge_all(kr_work *w, const kr_changes *changes, btree_index *index)
{
    const kr_entries old = flatten(w, index);
    kr_sorted merged = KR_W(kr_sorted_merge)(w, changes, &old);
    if (index->tree.filled)
        leave_rows(w, &merged);
    kr_work_give(w, old.rows);
    kr_work_give(w, old.keys);
    btree_index made = KR_W(btree_make)(w, &index->design, &merged);
    kr_work_sync(w);
    btree_keep(w, &made);
    if (!kr_work_goes_on(w))
        return;
    btree_release(w->device, index, w->stream);
    *index = made;
    index->lowest = merged.lowest;
    index->highest = merged.highest;
}

/* ---- In the leaves --------------------------------------------------------------------------- */

typedef struct update {
    kr_work *work;
    btree_index *index;
    btree_update_params params;
    void *directory;             /* a new one, where leaves are taken or freed */
    uint64_t *ends, end_keys[2]; /* the first and the last key; read */
    btree_sums sums;             /* of all tiles */
} update;

static const kr_program *const plans[] = {&KR_W(btree_plan_8), &KR_W(btree_plan_16), &KR_W(btree_plan_32),
                                          &KR_W(btree_plan_64)};
static const kr_program *const applies[] = {&KR_W(btree_apply_8), &KR_W(btree_apply_16),
                                            &KR_W(btree_apply_32), &KR_W(btree_apply_64)};

static uint64_t bounds_of(uint64_t leaves)
{
    return leaves / BTREE_ROUTE + 2;
}

static void allocate_plan(kr_work *w, btree_update_params *p)
{
    const uint64_t leaves = p->tree.n_leaves, sums = (p->n_tiles + UINT64_C(1)) * sizeof(btree_sums);
    const uint64_t ends = (leaves + 1 + bounds_of(leaves)) * sizeof(uint32_t); /* of leaves, then bounds */
    p->delete_from = kr_work_take(w, p->n_deletes ? ends : 0, "the deletes of leaves");
    p->insert_from = kr_work_take(w, p->n_inserts ? ends : 0, "the inserts of leaves");
    p->delete_bounds = p->delete_from ? p->delete_from + leaves + 1 : NULL;
    p->insert_bounds = p->insert_from ? p->insert_from + leaves + 1 : NULL;
    p->counts = kr_work_take(w, leaves * sizeof *p->counts, "the counts of leaves");
    p->sums = kr_work_take(w, sums, "sums of leaves");
    kr_work_fill(w, p->sums, 0, sums);
}

/* How many entries and leaves there will be. Blocks. */
static void plan(update *u, const kr_changes *changes)
{
    kr_work *w = u->work;
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
    allocate_plan(w, p);
    kr_work_run(w, &KR_W(btree_route), p, bounds_of(tree->n_leaves));
    kr_work_run(w, plans[tree->node_bits - BTREE_NODE_BITS], p, tree->n_leaves);
    kr_work_run(w, &KR_W(btree_sum), p, 1);
    kr_work_read(w, &u->sums, KR_PLACE_IN(p->sums, p->n_tiles), sizeof u->sums);
    kr_work_lap(w, "plan");
}

/* The directory afterwards. Without moves it is the old one. */
static void make_room(update *u)
{
    kr_work *w = u->work;
    btree_update_params *p = &u->params;
    u->ends = kr_work_take(w, 2 * sizeof *u->ends, "the end keys");
    p->changed = kr_work_take(w, u->sums.changed * sizeof *p->changed, "the leaves that change");
    p->moves = u->sums.taken || u->sums.freed;
    p->made = p->tree;
    p->made.n = u->sums.entries;
    p->made.n_leaves = u->sums.leaves;
    p->made.per_row = btree_leaves_per_row(&p->made);
    if (!p->moves)
        return;
    p->made.in_order = 0;
    btree_size_levels(&p->made);
    const uint64_t directory_nbytes = btree_directory_nbytes(&p->made, sizeof(kr_key));
    p->before = kr_work_take(w, p->tree.n_leaves * sizeof *p->before, "the entries before leaves");
    p->source = kr_work_take(w, p->made.n_leaves * sizeof *p->source, "the sources of leaves");
    u->directory = kr_work_take(w, directory_nbytes, "a directory of leaves");
    p->made.order = kr_work_take(w, p->tree.room * sizeof *p->made.order, "an order of leaves");
    const kr_buffer directory = {u->directory, directory_nbytes};
    btree_open_directory(&p->made, &directory, sizeof(kr_key));
}

/* From here on the tree changes, so the update can no longer be cancelled. Blocks. */
static void apply(update *u)
{
    kr_work *w = u->work;
    btree_update_params *p = &u->params;
    const btree_levels_params levels = {p->made, u->ends};
    const uint32_t first = p->tree.n_leaves + u->sums.taken, spare = p->tree.room - first;
    const uint32_t lanes = w->device->ops->group_threads == 1 ? 1 : BTREE_LANES_GPU;
    p->blocks.shared_nbytes = p->moves ? BTREE_DIRECT_SHARED : 0;
    if (p->moves) /* those that stay free; behind them those that become so */
        kr_work_copy(w, KR_PLACE_IN(p->made.order, p->made.n_leaves), p->tree.order + first,
                     spare * sizeof(uint32_t));
    kr_work_run_whole(w, p->moves ? &KR_W(btree_direct) : &KR_W(btree_restart), p, p->n_tiles);
    kr_work_run_whole(w, applies[p->tree.node_bits - BTREE_NODE_BITS], p, (uint64_t)u->sums.changed * lanes);
    kr_work_run_whole(w, &KR_W(btree_fill), &levels, p->made.n_slots - p->made.n_leaves + UINT64_C(1));
    kr_work_read(w, u->end_keys, u->ends, sizeof u->end_keys);
}

static void adopt(update *u)
{
    kr_work *w = u->work;
    btree_index *index = u->index;
    if (!kr_work_goes_on(w))
        return;
    index->tree = u->params.made;
    index->lowest = u->end_keys[0];
    index->highest = u->end_keys[1];
    if (!u->params.moves)
        return;
    kr_buffer_release(w->device, &index->order, w->stream);
    kr_buffer_release(w->device, &index->directory, w->stream);
    index->order = kr_work_keep(w, u->params.made.order);
    index->directory = kr_work_keep(w, u->directory);
}

/* Free leaves must suffice, and memory is given back after many deletes. */
static int fits(const update *u)
{
    const btree_tree *tree = &u->index->tree;
    return u->sums.taken <= tree->room - tree->n_leaves &&
           (uint64_t)u->sums.entries * 5 / 4 >= u->index->spread;
}

/* Where row ids are consecutive and none are kept: numbers them in scratch memory, as leaves that change in
 * place have their own. */
static uint32_t *number_rows(kr_work *w, const btree_tree *tree)
{
    const uint64_t slots = (uint64_t)tree->room << tree->node_bits;
    if (!tree->filled)
        return NULL;
    uint32_t *rows = kr_work_take_or(w, slots * sizeof *rows, "the row ids of leaves", "kind array");
    const btree_flatten_params params = {*tree, NULL, rows};
    kr_work_run(w, &KR_W(btree_number), &params, slots);
    return rows;
}

/* 0 if leaves have to be made anew. A tree without row ids gets some when nothing else can fail. */
static int change_leaves(kr_work *w, const kr_changes *changes, btree_index *index)
{
    update u = {.work = w, .index = index};
    uint32_t *rows = number_rows(w, &index->tree);
    const btree_tree before = index->tree;
    if (rows) {
        index->tree.rows = rows;
        index->tree.filled = 0;
    }
    plan(&u, changes);
    const int changes_leaves = kr_work_goes_on(w) && fits(&u);
    if (changes_leaves) {
        make_room(&u);
        apply(&u);
        adopt(&u);
        kr_work_lap(w, "apply");
    }
    if (rows && changes_leaves && kr_work_goes_on(w)) {
        index->rows = kr_work_keep(w, rows);
    } else if (rows) {
        index->tree = before;
        kr_work_give(w, rows);
    }
    return changes_leaves;
}

/* ---- Which of them --------------------------------------------------------------------------- */

/* Counts of rows must not overflow: a merge then says so. */
static int pays(const btree_index *index, const kr_changes *changes)
{
    return changes->deletes.n + changes->inserts.n <= (uint64_t)index->tree.n_leaves * ROWS_A_LEAF &&
           index->tree.n + changes->inserts.n < KR_NO_ROW;
}

void KR_W(btree_update)(kr_work *w, void *self, const kr_update *job)
{
    btree_index *index = self;
    const kr_changes changes = kr_changes_make(w, job, NULL);
    if (changes.inserts.n || (changes.deletes.n && index->tree.n))
        if (!pays(index, &changes) || !change_leaves(w, &changes, index))
            merge_all(w, &changes, index);
}
