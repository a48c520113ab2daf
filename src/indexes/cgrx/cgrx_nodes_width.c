/* Lists of nodes at one key width: build from sorted entries, flatten, check. */
#include "indexes/cgrx/cgrx_nodes.h"

#include "indexes/cgrx/cgrx_nodes_body.h"
#include "indexes/cgrx/cgrx_nodes_room.h"
#include "sorted/rows.h"

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
        nbytes = room * (design->node * kr_layout_nbytes(design->layout, sizeof(kr_key)) + sizeof(uint32_t)) +
                 starts_nbytes(lists) + hints_nbytes(n) + lists * (sizeof(kr_key) + sizeof(uint32_t));
    *estimate = (kr_need){.footprint_nbytes = nbytes, .peak_nbytes = nbytes};
}

/* A new buffer if the old one is too small. */
static kr_status renew(kr_device *device, kr_stream *stream, const kr_buffer *old, uint64_t nbytes,
                       const char *what, kr_buffer *made, kr_error *err)
{
    return old->nbytes >= nbytes ? KR_OK : kr_buffer_allocate(device, nbytes, stream, what, NULL, made, err);
}

kr_status KR_W(cgrx_room_make)(kr_device *device, kr_stream *stream, const cgrx_want *want,
                               const cgrx_nodes *nodes, cgrx_room *room, kr_error *err)
{
    const uint64_t n_nodes = want->n_nodes > nodes->room ? cgrx_room_of(want->n_nodes) : nodes->room;
    const uint64_t starts = starts_nbytes(want->n_lists), keys = want->n_lists * sizeof(kr_key);
    const uint64_t ids = want->n_lists * sizeof(uint32_t);
    cgrx_room made = {.storage.layout = want->layout};
    kr_status status = KR_OK;
    if (want->n_nodes > CGRX_NO_NODE)
        return kr_fail(err, KR_ERR_LIMIT, "%llu nodes: lists have at most 4294967295; use larger nodes",
                       (unsigned long long)want->n_nodes);
    if (n_nodes != nodes->room)
        status = KR_W(cgrx_storage_allocate)(device, stream, want->layout, n_nodes * want->node,
                                             &made.storage, err);
    if (status == KR_OK)
        status = renew(device, stream, &nodes->next, n_nodes * sizeof(uint32_t), "links of nodes",
                       &made.nodes.next, err);
    if (status == KR_OK)
        status = renew(device, stream, &nodes->starts, starts, "starts of lists", &made.nodes.starts, err);
    if (status == KR_OK)
        status = renew(device, stream, &nodes->hints, hints_nbytes(want->n_rows), "hints to lists",
                       &made.nodes.hints, err);
    if (status == KR_OK)
        status = renew(device, stream, &nodes->ends, keys, "ends of lists", &made.nodes.ends, err);
    if (status == KR_OK)
        status = renew(device, stream, &nodes->end_rows, ids, "cuts of lists", &made.nodes.end_rows, err);
    if (status == KR_OK)
        *room = made;
    else
        cgrx_room_release(device, stream, &made);
    return status;
}

/* ---- Build --------------------------------------------------------------------------------- */

static kr_status fill_lists(const cgrx_nodes_source *source, const cgrx_storage *storage,
                            const cgrx_nodes *nodes, kr_error *err)
{
    const place_params entries = {
        .keys = source->sorted->keys.data,
        .rows = source->sorted->rows.data,
        .store = KR_W(cgrx_storage_entries)(storage, 0),
        .ends = nodes->ends.data,
        .end_rows = nodes->end_rows.data,
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
    kr_status status = kr_device_run_whole(source->device, &KR_W(cgrx_nodes_place), &entries, entries.n,
                                           source->stream, err);
    if (status == KR_OK)
        status = kr_device_run_whole(source->device, &KR_W(cgrx_nodes_index), &index,
                                     index.n_lists + UINT64_C(1), source->stream, err);
    if (status == KR_OK)
        status =
            kr_device_fill(source->device, nodes->next.data, 0xFF, nodes->next.nbytes, source->stream, err);
    return status;
}

kr_status KR_W(cgrx_nodes_rebuild)(const cgrx_nodes_source *source, cgrx_storage *storage, cgrx_nodes *nodes,
                                   kr_error *err)
{
    const uint64_t n = source->sorted->n, n_lists = cgrx_buckets_of(source->design, n);
    const cgrx_want want = {
        .n_nodes = n_lists,
        .n_rows = n,
        .n_lists = (uint32_t)n_lists,
        .node = source->design->node,
        .layout = source->design->layout,
    };
    cgrx_room room;
    kr_status status = KR_W(cgrx_room_make)(source->device, source->stream, &want, nodes, &room, err);
    if (status != KR_OK)
        return status;
    cgrx_room_adopt(source->device, source->stream, &room, storage, nodes);
    nodes->n_lists = want.n_lists;
    nodes->node = want.node;
    nodes->n_used = n_lists;
    nodes->n_spare = 0;
    nodes->n_rows = n;
    nodes->longest = n < source->design->bucket ? (uint32_t)n : source->design->bucket;
    status = fill_lists(source, storage, nodes, err);
    kr_stopwatch_lap(source->watch, "pack");
    return status;
}

kr_status KR_W(cgrx_nodes_build)(const cgrx_nodes_source *source, cgrx_storage *storage, cgrx_nodes *nodes,
                                 kr_error *err)
{
    cgrx_storage made = {0};
    cgrx_nodes lists = {0};
    const kr_status status = KR_W(cgrx_nodes_rebuild)(source, &made, &lists, err);
    if (status == KR_OK) {
        *storage = made;
        *nodes = lists;
        return KR_OK;
    }
    cgrx_nodes_release(source->device, source->stream, &lists);
    cgrx_storage_release(source->device, source->stream, &made);
    return status;
}

/* ---- Flatten ------------------------------------------------------------------------------- */

kr_status KR_W(cgrx_nodes_flatten)(kr_device *device, kr_stream *stream, const cgrx_storage *storage,
                                   const cgrx_nodes *nodes, kr_sorted *sorted, kr_error *err)
{
    kr_sorted made = {.n = nodes->n_rows};
    kr_status status =
        kr_buffer_allocate(device, made.n * sizeof(kr_key), stream, "sorted keys", NULL, &made.keys, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, made.n * sizeof(uint32_t), stream, "sorted row ids", NULL,
                                    &made.rows, err);
    const flatten_params params = {KR_W(cgrx_storage_entries)(storage, 0), cgrx_nodes_lists(nodes),
                                   made.keys.data, made.rows.data};
    if (status == KR_OK && made.n)
        status = kr_device_run(device, &KR_W(cgrx_nodes_flatten_lists), &params, nodes->n_lists, stream, err);
    if (status == KR_OK)
        status = kr_sorted_read_ends(device, stream, KR_KEY_BITS, &made, err);
    if (status == KR_OK)
        *sorted = made;
    else
        kr_sorted_release(device, &made, stream);
    return status;
}

/* ---- Check --------------------------------------------------------------------------------- */

static kr_status run_checks(kr_device *device, const check_params *params, const kr_buffer *counters,
                            uint64_t found[CHECKS], kr_error *err)
{
    const uint64_t lists = params->lists.n, hints = params->n / CGRX_LISTS_STRIDE + 2;
    const uint64_t words = params->n_used / 32 + 1;
    kr_status status = kr_device_run(device, &KR_W(cgrx_nodes_check_list), params, lists, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(device, &KR_W(cgrx_nodes_check_hint), params, hints, NULL, err);
    if (status == KR_OK && params->n_spare)
        status = kr_device_run(device, &KR_W(cgrx_nodes_check_spare), params, params->n_spare, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(device, &KR_W(cgrx_nodes_check_seen), params, words, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, counters, found, CHECKS, err);
    if (status != KR_OK || found[CHECK_START] || found[CHECK_CHAIN])
        return status;
    status = kr_device_run(device, &KR_W(cgrx_nodes_check_entries), params, lists, NULL, err);
    return status == KR_OK ? kr_counters_read(device, NULL, counters, found, CHECKS, err) : status;
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
    return KR_OK;
}

kr_status KR_W(cgrx_nodes_validate)(kr_device *device, const cgrx_storage *storage, const cgrx_nodes *nodes,
                                    kr_error *err)
{
    kr_buffer seen = {0}, counters = {0};
    uint64_t found[CHECKS] = {0};
    if (nodes->n_lists == 0)
        return KR_OK;
    kr_status status = kr_counters_make(device, NULL, CHECKS, &counters, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, (nodes->n_used / 32 + 1) * sizeof(uint32_t), NULL,
                                    "a bitmap of nodes", NULL, &seen, err);
    if (status == KR_OK)
        status = kr_device_fill(device, seen.data, 0, seen.nbytes, NULL, err);
    const check_params params = {
        .store = KR_W(cgrx_storage_entries)(storage, 0),
        .lists = cgrx_nodes_lists(nodes),
        .ends = nodes->ends.data,
        .end_rows = nodes->end_rows.data,
        .spare = nodes->spare.data,
        .seen = seen.data,
        .found = counters.data,
        .n = nodes->n_rows,
        .n_used = nodes->n_used,
        .n_spare = nodes->n_spare,
    };
    if (status == KR_OK)
        status = run_checks(device, &params, &counters, found, err);
    kr_buffer_release(device, &seen, NULL);
    kr_buffer_release(device, &counters, NULL);
    return status == KR_OK ? judge(nodes, found, err) : status;
}
