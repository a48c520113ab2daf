/* Lists of nodes: functions that do not depend on the key width. */
#include "index/families/cgrx/cgrx_nodes.h"

#include "index/families/cgrx/cgrx_nodes_room.h"

void cgrx_storage_release(kr_device *device, kr_stream *stream, cgrx_storage *storage)
{
    kr_buffer_release(device, &storage->rows, stream);
    kr_buffer_release(device, &storage->keys, stream);
}

/* ---- All buffers of lists ------------------------------------------------------------------ */

enum { BUFFERS = 7 };

static void buffers_of(cgrx_nodes *nodes, kr_buffer *buffers[BUFFERS])
{
    kr_buffer *all[BUFFERS] = {&nodes->next,     &nodes->starts, &nodes->hints, &nodes->ends,
                               &nodes->end_rows, &nodes->spare,  &nodes->sizes};
    for (int i = 0; i < BUFFERS; ++i)
        buffers[i] = all[i];
}

void cgrx_nodes_release(kr_device *device, kr_stream *stream, cgrx_nodes *nodes)
{
    kr_buffer *buffers[BUFFERS];
    buffers_of(nodes, buffers);
    for (int i = BUFFERS; i-- > 0;)
        kr_buffer_release(device, buffers[i], stream);
    *nodes = (cgrx_nodes){0};
}

uint64_t cgrx_nodes_nbytes(const cgrx_nodes *nodes)
{
    return nodes->next.nbytes + nodes->starts.nbytes + nodes->hints.nbytes + nodes->ends.nbytes +
           nodes->end_rows.nbytes + nodes->spare.nbytes + nodes->sizes.nbytes;
}

cgrx_lists cgrx_nodes_lists(const cgrx_nodes *nodes)
{
    if (nodes->n_lists == 0)
        return (cgrx_lists){0};
    return (cgrx_lists){.starts = nodes->starts.data,
                        .hints = nodes->hints.data,
                        .next = nodes->next.data,
                        .sizes = nodes->sizes.data,
                        .n = nodes->n_lists,
                        .node = nodes->node};
}

/* ---- Room ---------------------------------------------------------------------------------- */

uint64_t cgrx_room_of(uint64_t n_nodes)
{
    const uint64_t room = n_nodes + n_nodes / 8;
    return room < CGRX_NO_NODE ? room : CGRX_NO_NODE;
}

void cgrx_nodes_keep(kr_work *w, cgrx_storage *storage, cgrx_nodes *nodes)
{
    kr_buffer *buffers[BUFFERS];
    buffers_of(nodes, buffers);
    for (int i = 0; i < BUFFERS; ++i)
        *buffers[i] = kr_work_keep(w, buffers[i]->data);
    storage->keys = kr_work_keep(w, storage->keys.data);
    storage->rows = kr_work_keep(w, storage->rows.data);
}

static void take_over(kr_work *w, const kr_buffer *from, kr_buffer *to)
{
    if (!from->data)
        return;
    kr_buffer_release(w->device, to, w->stream);
    *to = kr_work_keep(w, from->data);
}

void cgrx_room_adopt(kr_work *w, const cgrx_room *room, cgrx_storage *storage, cgrx_nodes *nodes)
{
    kr_buffer *from[BUFFERS], *to[BUFFERS];
    cgrx_room made = *room;
    if (!kr_work_goes_on(w))
        return;
    buffers_of(&made.nodes, from);
    buffers_of(nodes, to);
    for (int i = 0; i < BUFFERS; ++i)
        take_over(w, from[i], to[i]);
    take_over(w, &made.storage.keys, &storage->keys);
    take_over(w, &made.storage.rows, &storage->rows);
    storage->layout = room->storage.layout;
    nodes->room = nodes->next.nbytes / sizeof(uint32_t);
}
