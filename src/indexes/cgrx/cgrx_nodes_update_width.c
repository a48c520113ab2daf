/* Applies batches of deletes and inserts to lists of nodes, at one key width. */
#include "indexes/cgrx/cgrx_nodes_room.h"
#include "indexes/cgrx/cgrx_nodes_update_body.h"
#include "sorted/rows.h"

KR_PROGRAM_DECLARE(cgrx_nodes_index);

/* Scratch arrays, released together. */
enum { DELETE_TO, INSERT_TO, COUNTS, MOVES, LONGEST, BEFORE, SCRATCHES };

typedef struct update {
    kr_device *device;
    kr_stream *stream;
    cgrx_storage *storage;
    cgrx_nodes *nodes;
    kr_buffer scratch[SCRATCHES];
    update_params params;
    uint64_t n_rows, longest; /* afterwards */
    uint64_t taken, given_back;
    cgrx_room room;
} update;

static kr_status allocate(update *u, int which, uint64_t nbytes, const char *what, kr_error *err)
{
    return kr_buffer_allocate(u->device, nbytes, u->stream, what, NULL, &u->scratch[which], err);
}

static void release(update *u)
{
    cgrx_room_release(u->device, u->stream, &u->room);
    for (int i = SCRATCHES; i-- > 0;)
        kr_buffer_release(u->device, &u->scratch[i], u->stream);
}

static kr_status run(update *u, const kr_program *program, uint64_t n, kr_error *err)
{
    return kr_device_run(u->device, program, &u->params, n, u->stream, err);
}

static void begin(update *u, const cgrx_batch *batch)
{
    const cgrx_nodes *nodes = u->nodes;
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

static kr_status allocate_plan(update *u, kr_error *err)
{
    const uint64_t lists = u->nodes->n_lists, sums = (lists + 1) * sizeof(uint64_t);
    kr_status status = allocate(u, DELETE_TO, lists * sizeof(uint32_t), "deletes of lists", err);
    if (status == KR_OK)
        status = allocate(u, INSERT_TO, lists * sizeof(uint32_t), "inserts of lists", err);
    if (status == KR_OK)
        status = allocate(u, COUNTS, sums, "counts of lists", err);
    if (status == KR_OK)
        status = allocate(u, MOVES, sums, "nodes of lists", err);
    if (status == KR_OK)
        status = kr_counters_make(u->device, u->stream, 1, &u->scratch[LONGEST], err);
    u->params.delete_to = u->scratch[DELETE_TO].data;
    u->params.insert_to = u->scratch[INSERT_TO].data;
    u->params.counts = u->scratch[COUNTS].data;
    u->params.moves = u->scratch[MOVES].data;
    u->params.longest = u->scratch[LONGEST].data;
    return status;
}

/* Sums up counts and moves, and reads the totals. */
static kr_status sum_up(update *u, kr_error *err)
{
    const uint64_t lists = u->nodes->n_lists;
    uint64_t moves = 0;
    kr_status status = kr_device_exclusive_sum(u->device, u->params.counts, lists + 1, u->stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(u->device, u->params.moves, lists + 1, u->stream, err);
    if (status == KR_OK)
        status =
            kr_device_copy(u->device, &u->n_rows, u->params.counts + lists, sizeof u->n_rows, u->stream, err);
    if (status == KR_OK)
        status = kr_device_copy(u->device, &moves, u->params.moves + lists, sizeof moves, u->stream, err);
    if (status == KR_OK)
        status = kr_counters_read(u->device, u->stream, &u->scratch[LONGEST], &u->longest, 1, err);
    u->taken = moves & UINT32_MAX;
    u->given_back = moves >> 32;
    if (status == KR_OK && u->n_rows >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT,
                       "%llu rows after the update: an index holds at most 4294967294; insert "
                       "less, or make a second index",
                       (unsigned long long)u->n_rows);
    return status;
}

static kr_status make_plan(update *u, kr_error *err)
{
    const uint64_t lists = u->nodes->n_lists;
    kr_status status = allocate_plan(u, err);
    if (status == KR_OK)
        status = run(u, &KR_W(cgrx_nodes_route), lists, err);
    if (status == KR_OK)
        status = run(u, &KR_W(cgrx_nodes_plan), lists + 1, err);
    return status == KR_OK ? sum_up(u, err) : status;
}

/* ---- Room ---------------------------------------------------------------------------------- */

static kr_status copy(update *u, const kr_buffer *to, const kr_buffer *from, kr_error *err)
{
    return to->data ? kr_device_copy(u->device, to->data, from->data, from->nbytes, u->stream, err) : KR_OK;
}

/* Copies the old nodes to the new ones. */
static kr_status move(update *u, kr_error *err)
{
    const cgrx_room *room = &u->room;
    kr_status status = copy(u, &room->storage.keys, &u->storage->keys, err);
    if (status == KR_OK)
        status = copy(u, &room->storage.rows, &u->storage->rows, err);
    if (status == KR_OK)
        status = copy(u, &room->nodes.next, &u->nodes->next, err);
    if (room->nodes.next.data) {
        u->params.store = KR_W(cgrx_storage_entries)(&room->storage, 0);
        u->params.lists.next = room->nodes.next.data;
    }
    return status;
}

static uint64_t spare_taken(const update *u)
{
    return u->taken < u->nodes->n_spare ? u->taken : u->nodes->n_spare;
}

/* Makes the list of spare nodes: those that are left, then room for those that are given back. */
static kr_status make_spare(update *u, kr_error *err)
{
    const uint64_t left = u->nodes->n_spare - spare_taken(u);
    kr_buffer *spare = &u->room.nodes.spare;
    if (u->given_back == 0)
        return KR_OK;
    kr_status status = kr_buffer_allocate(u->device, (left + u->given_back) * sizeof(uint32_t), u->stream,
                                          "spare nodes", NULL, spare, err);
    if (status == KR_OK)
        status = kr_device_copy(u->device, spare->data, u->nodes->spare.data, left * sizeof(uint32_t),
                                u->stream, err);
    if (status == KR_OK)
        u->params.given_back = (uint32_t *)spare->data + left;
    return status;
}

static kr_status make_room(update *u, kr_error *err)
{
    const cgrx_want want = {
        .n_nodes = u->nodes->n_used + u->taken - spare_taken(u),
        .n_rows = u->n_rows,
        .n_lists = u->nodes->n_lists,
        .node = u->nodes->node,
        .layout = u->storage->layout,
    };
    kr_status status = KR_W(cgrx_room_make)(u->device, u->stream, &want, u->nodes, &u->room, err);
    if (status == KR_OK)
        status = move(u, err);
    if (status == KR_OK)
        status = make_spare(u, err);
    const kr_buffer *next = u->room.nodes.next.data ? &u->room.nodes.next : &u->nodes->next;
    if (status == KR_OK)
        status = allocate(u, BEFORE, next->nbytes, "links back", err);
    u->params.next = next->data;
    u->params.before = u->scratch[BEFORE].data;
    return status;
}

/* ---- Apply --------------------------------------------------------------------------------- */

static kr_status write_index(update *u, kr_error *err)
{
    const kr_buffer *hints = u->room.nodes.hints.data ? &u->room.nodes.hints : &u->nodes->hints;
    const cgrx_index_params params = {
        .firsts = u->params.counts,
        .starts = u->nodes->starts.data,
        .hints = hints->data,
        .n = u->n_rows,
        .n_lists = u->nodes->n_lists,
    };
    return kr_device_run_whole(u->device, &KR_W(cgrx_nodes_index), &params, params.n_lists + UINT64_C(1),
                               u->stream, err);
}

static void adopt(update *u)
{
    cgrx_nodes *nodes = u->nodes;
    const uint64_t spare = spare_taken(u);
    cgrx_room_adopt(u->device, u->stream, &u->room, u->storage, nodes);
    nodes->n_used += u->taken - spare;
    nodes->n_spare += u->given_back - spare;
    nodes->n_rows = u->n_rows;
    nodes->longest = (uint32_t)u->longest;
}

static int is_within(const update *u, const cgrx_bounds *bounds)
{
    return !bounds || !u->n_rows ||
           ((double)u->n_rows >= bounds->fewest && (double)u->n_rows <= bounds->most &&
            (double)u->longest <= bounds->longest);
}

kr_status KR_W(cgrx_nodes_update)(kr_device *device, kr_stream *stream, kr_stopwatch *watch,
                                  const cgrx_batch *batch, cgrx_storage *storage, cgrx_nodes *nodes,
                                  int *is_beyond, kr_error *err)
{
    update u = {.device = device, .stream = stream, .storage = storage, .nodes = nodes};
    if (batch->deletes->n == 0 && batch->inserts->n == 0)
        return KR_OK;
    begin(&u, batch);
    kr_status status = make_plan(&u, err);
    if (status == KR_OK && !is_within(&u, batch->within)) {
        *is_beyond = 1;
        release(&u);
        kr_stopwatch_lap(watch, "plan");
        return KR_OK;
    }
    if (status == KR_OK)
        status = make_room(&u, err);
    kr_stopwatch_lap(watch, "plan");
    /* From here on lists change in place, so the update can no longer be cancelled. */
    if (status == KR_OK)
        status = kr_device_run_whole(device, &KR_W(cgrx_nodes_apply), &u.params, nodes->n_lists, stream, err);
    kr_stopwatch_lap(watch, "apply");
    if (status == KR_OK)
        status = write_index(&u, err);
    if (status == KR_OK)
        status = kr_device_sync(device, stream, err);
    if (status == KR_OK)
        adopt(&u);
    release(&u);
    kr_stopwatch_lap(watch, "index");
    return status;
}
