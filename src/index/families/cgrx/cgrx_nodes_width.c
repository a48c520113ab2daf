/* Lists of nodes at one key width: build from sorted entries, flatten, check. */
#include "index/families/cgrx/cgrx_nodes.h"

#include "index/families/cgrx/cgrx_nodes_room.h"
#include "index/families/cgrx/cgrx_nodes_width_body.h"
#include "index/sorted/rows.h"

/* ---- Room ---------------------------------------------------------------------------------- */

/* Bytes of the hints. */
static uint64_t hints_nbytes(uint64_t n_rows)
{
    return (n_rows / CGRX_LISTS_STRIDE + 2) * sizeof(uint32_t);
}

static uint64_t starts_nbytes(uint64_t n_lists)
{
    return (n_lists + 1) * sizeof(uint32_t);
}

void KR_W(cgrx_nodes_estimate)(const kr_shape *shape, const cgrx_design *design, kr_need *estimate)
{
    const uint64_t n = shape->count, lists = cgrx_buckets_of(design, n), room = cgrx_room_of(lists);
    uint64_t nbytes = 0;
    if (lists)
        nbytes = room * (design->node * kr_layout_nbytes(design->layout, sizeof(kr_key)) +
                         (design->splits ? 2 : 1) * sizeof(uint32_t)) +
                 starts_nbytes(lists) + hints_nbytes(n) + lists * (sizeof(kr_key) + sizeof(uint32_t));
    *estimate = (kr_need){.footprint_nbytes = nbytes, .peak_nbytes = nbytes};
}

/* A new buffer if the old one is too small. */
static kr_buffer renew(kr_work *w, const kr_buffer *old, uint64_t nbytes, const char *what)
{
    return old->nbytes >= nbytes ? (kr_buffer){0} : kr_work_buffer(w, nbytes, what, NULL);
}

cgrx_room KR_W(cgrx_room_make)(kr_work *w, const cgrx_want *want, const cgrx_nodes *nodes)
{
    const uint64_t n_nodes = want->n_nodes > nodes->room ? cgrx_room_of(want->n_nodes) : nodes->room;
    const uint64_t keys = want->n_lists * sizeof(kr_key), ids = want->n_lists * sizeof(uint32_t);
    cgrx_room room = {.storage.layout = want->layout};
    if (want->n_nodes > CGRX_NO_NODE)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_LIMIT, "%llu nodes: lists have at most 4294967295; use larger nodes",
                        (unsigned long long)want->n_nodes));
    if (n_nodes != nodes->room)
        room.storage = KR_W(cgrx_storage_take)(w, want->layout, n_nodes * want->node);
    room.nodes.next = renew(w, &nodes->next, n_nodes * sizeof(uint32_t), "links of nodes");
    if (want->splits)
        room.nodes.sizes = renew(w, &nodes->sizes, n_nodes * sizeof(uint32_t), "sizes of nodes");
    room.nodes.starts = renew(w, &nodes->starts, starts_nbytes(want->n_lists), "starts of lists");
    room.nodes.hints = renew(w, &nodes->hints, hints_nbytes(want->n_rows), "hints to lists");
    room.nodes.ends = renew(w, &nodes->ends, keys, "ends of lists");
    room.nodes.end_rows = renew(w, &nodes->end_rows, ids, "cuts of lists");
    return room;
}

/* ---- Build --------------------------------------------------------------------------------- */

static void fill_lists(kr_work *w, const cgrx_nodes_source *source, const cgrx_storage *storage,
                       const cgrx_nodes *nodes)
{
    const place_params entries = {
        .keys = source->sorted->keys.data,
        .rows = source->sorted->rows.data,
        .store = KR_W(cgrx_storage_entries)(storage, 0),
        .ends = nodes->ends.data,
        .end_rows = nodes->end_rows.data,
        .sizes = nodes->sizes.data,
        .n = nodes->n_rows,
        .map = source->design->map,
        .bucket = source->design->bucket,
        .node = nodes->node,
        .optimized = source->design->scene == CGRX_OPTIMIZED,
    };
    const cgrx_index_params index = {
        .starts = nodes->starts.data,
        .hints = nodes->hints.data,
        .n = nodes->n_rows,
        .n_lists = nodes->n_lists,
        .bucket = source->design->bucket,
    };
    kr_work_run_whole(w, &KR_W(cgrx_nodes_place), &entries, entries.n);
    kr_work_run_whole(w, &KR_W(cgrx_nodes_index), &index, index.n_lists + UINT64_C(1));
    kr_work_fill(w, nodes->next.data, 0xFF, nodes->next.nbytes);
}

static cgrx_want want_of(const cgrx_nodes_source *source)
{
    const uint64_t n = source->sorted->n, n_lists = cgrx_buckets_of(source->design, n);
    return (cgrx_want){
        .n_nodes = n_lists,
        .n_rows = n,
        .n_lists = (uint32_t)n_lists,
        .node = source->design->node,
        .layout = source->design->layout,
        .splits = (int)source->design->splits,
    };
}

/* Numbers and entries of lists whose buffers are there. */
static void write_lists(kr_work *w, const cgrx_nodes_source *source, const cgrx_storage *storage,
                        cgrx_nodes *nodes)
{
    const cgrx_want want = want_of(source);
    nodes->n_lists = want.n_lists;
    nodes->node = want.node;
    nodes->n_used = want.n_nodes;
    nodes->n_spare = 0;
    nodes->n_rows = want.n_rows;
    nodes->longest = want.n_rows < source->design->bucket ? (uint32_t)want.n_rows : source->design->bucket;
    nodes->most_nodes = 1;
    fill_lists(w, source, storage, nodes);
    kr_work_lap(w, "pack");
}

void KR_W(cgrx_nodes_rebuild)(kr_work *w, const cgrx_nodes_source *source, cgrx_storage *storage,
                              cgrx_nodes *nodes)
{
    const cgrx_want want = want_of(source);
    const cgrx_room room = KR_W(cgrx_room_make)(w, &want, nodes);
    if (!kr_work_goes_on(w))
        return;
    cgrx_room_adopt(w, &room, storage, nodes);
    write_lists(w, source, storage, nodes);
}

void KR_W(cgrx_nodes_build)(kr_work *w, const cgrx_nodes_source *source, cgrx_storage *storage,
                            cgrx_nodes *nodes)
{
    const cgrx_want want = want_of(source);
    const cgrx_nodes none = {.n_lists = 0};
    const cgrx_room room = KR_W(cgrx_room_make)(w, &want, &none);
    *storage = room.storage;
    *nodes = room.nodes;
    nodes->room = nodes->next.nbytes / sizeof(uint32_t);
    write_lists(w, source, storage, nodes);
}

/* ---- Flatten ------------------------------------------------------------------------------- */

kr_sorted KR_W(cgrx_nodes_flatten)(kr_work *w, const cgrx_storage *storage, const cgrx_nodes *nodes)
{
    const uint64_t n = nodes->n_rows;
    kr_sorted made = kr_sorted_take(w, n, KR_KEY_BITS);
    const flatten_params params = {KR_W(cgrx_storage_entries)(storage, 0), cgrx_nodes_lists(nodes),
                                   made.keys.data, made.rows.data};
    if (n)
        kr_work_run(w, &KR_W(cgrx_nodes_flatten_lists), &params, nodes->n_lists);
    kr_sorted_read_ends(w, KR_KEY_BITS, &made);
    return made;
}

/* ---- Check --------------------------------------------------------------------------------- */

static void run_checks(kr_work *w, const check_params *params, uint64_t found[CHECKS])
{
    const uint64_t lists = params->lists.n, hints = params->n / CGRX_LISTS_STRIDE + 2;
    kr_work_run(w, &KR_W(cgrx_nodes_check_list), params, lists);
    kr_work_run(w, &KR_W(cgrx_nodes_check_hint), params, hints);
    kr_work_run(w, &KR_W(cgrx_nodes_check_spare), params, params->n_spare);
    kr_work_run(w, &KR_W(cgrx_nodes_check_seen), params, params->n_used / 32 + 1);
    kr_work_read(w, found, params->found, CHECKS * sizeof *found);
    if (found[CHECK_START] || found[CHECK_CHAIN])
        return;
    kr_work_run(w, &KR_W(cgrx_nodes_check_entries), params, lists);
    kr_work_read(w, found, params->found, CHECKS * sizeof *found);
}

static kr_status judge(const cgrx_nodes *nodes, const uint64_t found[CHECKS], kr_error *err)
{
    static const char *const wrong[] = {
        [CHECK_START] = "list %llu does not start where the one before it ends",
        [CHECK_CHAIN] = "the nodes of list %llu are not those that its entries need",
        [CHECK_END] = "list %llu does not end above the one before it",
        [CHECK_HINT] = "hint %llu does not name the list of its position",
        [CHECK_ENTRY] = "list %llu has an entry of another list",
    };
    for (uint32_t i = 0; i <= CHECK_ENTRY; ++i)
        if (found[i])
            return kr_fail(err, KR_ERR_INVARIANT, wrong[i], (unsigned long long)found[i] - 1);
    if (found[CHECK_NODES] != nodes->n_used || found[CHECK_DISTINCT] != nodes->n_used)
        return kr_fail(err, KR_ERR_INVARIANT,
                       "%llu nodes are in use, but %llu are in lists or spare, %llu of them distinct",
                       (unsigned long long)nodes->n_used, (unsigned long long)found[CHECK_NODES],
                       (unsigned long long)found[CHECK_DISTINCT]);
    if (found[CHECK_LONGEST] != nodes->longest)
        return kr_fail(err, KR_ERR_INVARIANT, "the longest list has %llu entries, not %u",
                       (unsigned long long)found[CHECK_LONGEST], nodes->longest);
    if (found[CHECK_MOST] != nodes->most_nodes)
        return kr_fail(err, KR_ERR_INVARIANT, "the longest list has %llu nodes, not %u",
                       (unsigned long long)found[CHECK_MOST], nodes->most_nodes);
    return KR_OK;
}

void KR_W(cgrx_nodes_validate)(kr_work *w, const cgrx_storage *storage, const cgrx_nodes *nodes)
{
    const uint64_t seen_nbytes = (nodes->n_used / 32 + 1) * sizeof(uint32_t);
    uint64_t found[CHECKS] = {0};
    uint64_t *counters = kr_work_counters(w, CHECKS);
    uint32_t *seen = kr_work_take(w, seen_nbytes, "a bitmap of nodes");
    kr_work_fill(w, seen, 0, seen_nbytes);
    const check_params params = {
        .store = KR_W(cgrx_storage_entries)(storage, 0),
        .lists = cgrx_nodes_lists(nodes),
        .ends = nodes->ends.data,
        .end_rows = nodes->end_rows.data,
        .spare = nodes->spare.data,
        .seen = seen,
        .found = counters,
        .n = nodes->n_rows,
        .n_used = nodes->n_used,
        .n_spare = nodes->n_spare,
    };
    run_checks(w, &params, found);
    kr_work_give(w, seen);
    kr_work_give(w, counters);
    KR_STEP(w, judge(nodes, found, w->err));
}
