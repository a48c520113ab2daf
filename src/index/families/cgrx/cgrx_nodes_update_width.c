/* Applies batches of deletes and inserts to lists of nodes, at one key width. */
#include "index/families/cgrx/cgrx_nodes_room.h"
#include "index/families/cgrx/cgrx_nodes_update_width_body.h"
#include "index/sorted/rows.h"

KR_PROGRAM_DECLARE(cgrx_nodes_index);
KR_PROGRAM_DECLARE(cgrx_nodes_split_bound);
KR_PROGRAM_DECLARE(cgrx_nodes_split_apply);
KR_PROGRAM_DECLARE(cgrx_nodes_split_give);

typedef struct update {
    kr_work *work;
    cgrx_storage *storage;
    cgrx_nodes *nodes;
    update_params params;
    int splits;                           /* apply=split */
    split_params split;                   /* with it: what goes with params */
    void *scan;                           /* with it: scratch memory of a sum */
    uint64_t n_rows, longest, most_nodes; /* afterwards */
    uint64_t taken, given_back;
    cgrx_room room;
} update;

static void begin(update *u, const cgrx_batch *batch)
{
    const cgrx_nodes *nodes = u->nodes;
    u->splits = nodes->sizes.data != NULL;
    u->params = (update_params){
        .store = KR_W(cgrx_storage_entries)(u->storage, 0),
        .lists = cgrx_nodes_lists(nodes),
        .ends = nodes->ends.data,
        .end_rows = nodes->end_rows.data,
        .deletes = batch->deletes->keys.data,
        .inserts = batch->inserts->keys.data,
        .insert_rows = batch->inserts->rows.data,
        .spare = nodes->spare.data,
        .n_spare = nodes->n_spare,
        .n_used = nodes->n_used,
        .n_deletes = (uint32_t)batch->deletes->n,
        .n_inserts = (uint32_t)batch->inserts->n,
        .first_row = batch->first_row,
    };
}

/* ---- Plan ---------------------------------------------------------------------------------- */

static void allocate_plan(update *u)
{
    kr_work *w = u->work;
    const uint64_t lists = u->nodes->n_lists, sums = (lists + 1) * sizeof(uint64_t);
    u->params.delete_to = kr_work_take(w, lists * sizeof(uint32_t), "deletes of lists");
    u->params.insert_to = kr_work_take(w, lists * sizeof(uint32_t), "inserts of lists");
    u->params.counts = kr_work_take(w, sums, "counts of lists");
    u->params.moves = kr_work_take(w, sums, "nodes of lists");
    u->params.longest = kr_work_counters(w, 1);
}

/* Sums up counts and moves, and reads the totals. */
static void sum_up(update *u)
{
    kr_work *w = u->work;
    const uint64_t lists = u->nodes->n_lists;
    uint64_t moves = 0;
    if (!kr_work_goes_on(w))
        return;
    kr_work_sum(w, u->params.counts, lists + 1);
    kr_work_sum(w, u->params.moves, lists + 1);
    kr_work_copy(w, &u->n_rows, u->params.counts + lists, sizeof u->n_rows);
    kr_work_copy(w, &moves, u->params.moves + lists, sizeof moves);
    kr_work_read(w, &u->longest, u->params.longest, sizeof u->longest);
    u->taken = u->splits ? moves : moves & UINT32_MAX;
    u->given_back = u->splits ? 0 : moves >> 32; /* with apply=split it is not known yet */
    u->most_nodes = cgrx_list_nodes((uint32_t)u->longest, u->nodes->node);
    if (u->n_rows >= KR_NO_ROW)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "%llu rows after the update: an index holds at most 4294967294; insert "
                           "less, or make a second index",
                           (unsigned long long)u->n_rows));
}

static void make_plan(update *u)
{
    const uint64_t lists = u->nodes->n_lists;
    allocate_plan(u);
    kr_work_run(u->work, &KR_W(cgrx_nodes_route), &u->params, lists);
    kr_work_run(u->work, &KR_W(cgrx_nodes_plan), &u->params, lists + 1);
    u->split.update = u->params;
    if (u->splits)
        kr_work_run(u->work, &KR_W(cgrx_nodes_split_bound), &u->split, lists + 1);
    sum_up(u);
}

/* ---- Room ---------------------------------------------------------------------------------- */

static void copy(update *u, const kr_buffer *to, const kr_buffer *from)
{
    if (to->data)
        kr_work_copy(u->work, to->data, from->data, from->nbytes);
}

/* Copies the old nodes to the new ones. */
static void move(update *u)
{
    const cgrx_room *room = &u->room;
    copy(u, &room->storage.keys, &u->storage->keys);
    copy(u, &room->storage.rows, &u->storage->rows);
    copy(u, &room->nodes.next, &u->nodes->next);
    copy(u, &room->nodes.sizes, &u->nodes->sizes);
    if (room->nodes.next.data) {
        u->params.store = KR_W(cgrx_storage_entries)(&room->storage, 0);
        u->params.lists.next = room->nodes.next.data;
    }
}

static uint64_t spare_taken(const update *u)
{
    return u->taken < u->nodes->n_spare ? u->taken : u->nodes->n_spare;
}

/* Nodes that are given back. With apply=split at most: those set aside, and all but the first ones of lists.
 */
static uint64_t most_given_back(const update *u)
{
    const cgrx_nodes *nodes = u->nodes;
    return u->splits ? u->taken + nodes->n_used - nodes->n_spare - nodes->n_lists : u->given_back;
}

/* Makes the list of spare nodes: those that are left, then room for those that are given back. */
static void make_spare(update *u)
{
    kr_work *w = u->work;
    const uint64_t left = u->nodes->n_spare - spare_taken(u), more = most_given_back(u);
    if (more == 0)
        return;
    u->room.nodes.spare = kr_work_buffer(w, (left + more) * sizeof(uint32_t), "spare nodes", NULL);
    uint32_t *spare = u->room.nodes.spare.data;
    kr_work_copy(w, spare, u->nodes->spare.data, left * sizeof *spare);
    u->params.given_back = spare ? spare + left : NULL;
}

static void make_split(update *u)
{
    kr_work *w = u->work;
    const uint64_t lists = u->nodes->n_lists;
    const kr_buffer *sizes = u->room.nodes.sizes.data ? &u->room.nodes.sizes : &u->nodes->sizes;
    u->split = (split_params){
        .update = u->params,
        .sizes = sizes->data,
        .back = kr_work_take(w, lists * sizeof(uint32_t), "nodes given back"),
        .back_count = kr_work_take(w, (lists + 1) * sizeof(uint64_t), "counts of nodes given back"),
        .lengths = kr_work_take(w, lists * sizeof(uint32_t), "lengths of lists"),
    };
    u->scan = kr_work_take(w, kr_device_scan_temp(w->device, lists + 1), "scratch memory of a prefix sum");
}

static void make_room(update *u)
{
    const cgrx_want want = {
        .n_nodes = u->nodes->n_used + u->taken - spare_taken(u),
        .n_rows = u->n_rows,
        .n_lists = u->nodes->n_lists,
        .node = u->nodes->node,
        .layout = u->storage->layout,
        .splits = u->splits,
    };
    u->room = KR_W(cgrx_room_make)(u->work, &want, u->nodes);
    move(u);
    make_spare(u);
    const kr_buffer *next = u->room.nodes.next.data ? &u->room.nodes.next : &u->nodes->next;
    u->params.next = next->data;
    if (u->splits)
        make_split(u);
    else
        u->params.before = kr_work_take(u->work, next->nbytes, "links back");
}

/* ---- Apply --------------------------------------------------------------------------------- */

static void apply(update *u)
{
    const kr_program *program = u->splits ? &KR_W(cgrx_nodes_split_apply) : &KR_W(cgrx_nodes_apply);
    const void *params = u->splits ? (const void *)&u->split : &u->params;
    kr_work_run_whole(u->work, program, params, u->nodes->n_lists + (uint64_t)u->splits);
    kr_work_lap(u->work, "apply");
}

/* apply=split: what lists gave back becomes spare. */
static void take_back(update *u)
{
    kr_work *w = u->work;
    const uint64_t lists = u->nodes->n_lists;
    kr_work_sum_in(w, u->split.back_count, lists + 1, u->scan);
    kr_work_fill(w, u->params.longest, 0, sizeof u->most_nodes);
    kr_work_run_whole(w, &KR_W(cgrx_nodes_split_give), &u->split, lists);
    kr_work_copy(w, &u->given_back, u->split.back_count + lists, sizeof u->given_back);
    kr_work_copy(w, &u->most_nodes, u->params.longest, sizeof u->most_nodes);
}

static void write_index(update *u)
{
    const kr_buffer *hints = u->room.nodes.hints.data ? &u->room.nodes.hints : &u->nodes->hints;
    const cgrx_index_params params = {
        .firsts = u->params.counts,
        .starts = u->nodes->starts.data,
        .hints = hints->data,
        .n = u->n_rows,
        .n_lists = u->nodes->n_lists,
    };
    kr_work_run_whole(u->work, &KR_W(cgrx_nodes_index), &params, params.n_lists + UINT64_C(1));
}

static void adopt(update *u)
{
    cgrx_nodes *nodes = u->nodes;
    const uint64_t spare = spare_taken(u);
    if (!kr_work_goes_on(u->work))
        return;
    cgrx_room_adopt(u->work, &u->room, u->storage, nodes);
    nodes->n_used += u->taken - spare;
    nodes->n_spare += u->given_back - spare;
    nodes->n_rows = u->n_rows;
    nodes->longest = (uint32_t)u->longest;
    nodes->most_nodes = (uint32_t)u->most_nodes;
}

static int is_within(const update *u, const cgrx_bounds *bounds)
{
    return !bounds || !u->n_rows ||
           ((double)u->n_rows >= bounds->fewest && (double)u->n_rows <= bounds->most &&
            (double)u->longest <= bounds->longest);
}

/* All but what was kept. */
static void give(update *u)
{
    const update_params *p = &u->params;
    const split_params *s = &u->split;
    const void *const all[] = {u->scan,    s->lengths, s->back_count, s->back,      p->before,
                               p->longest, p->moves,   p->counts,     p->insert_to, p->delete_to};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        kr_work_give(u->work, all[i]);
}

void KR_W(cgrx_nodes_update)(kr_work *w, const cgrx_batch *batch, cgrx_storage *storage, cgrx_nodes *nodes,
                             int *is_beyond)
{
    update u = {.work = w, .storage = storage, .nodes = nodes};
    if (batch->deletes->n == 0 && batch->inserts->n == 0)
        return;
    begin(&u, batch);
    make_plan(&u);
    if (kr_work_goes_on(w) && !is_within(&u, batch->within)) {
        *is_beyond = 1;
        give(&u);
        kr_work_lap(w, "plan");
        return;
    }
    make_room(&u);
    kr_work_lap(w, "plan");
    /* From here on lists change in place, so the update can no longer be cancelled. */
    apply(&u);
    if (u.splits)
        take_back(&u);
    write_index(&u);
    kr_work_sync(w);
    adopt(&u);
    give(&u);
    kr_work_lap(w, "index");
}
