#include "joins/pair_chunks.h"
#include "results/bitmap.h"

#include <stdlib.h>
#include <string.h>

static kr_status open_slot(kr_pair_chunks *c, kr_pair_slot *slot, kr_error *err)
{
    kr_device *device = c->device;
    const uint64_t nbytes = c->most * sizeof(uint32_t);
    kr_status status = KR_OK;
    for (int i = 0; i < 2 && status == KR_OK; ++i) {
        status = kr_buffer_allocate(device, nbytes, NULL, "a chunk of pairs", "use a smaller cap",
                                    &slot->rows[i], err);
        if (status == KR_OK && device->ops->is_host)
            slot->host[i] = slot->rows[i].data;
        else if (status == KR_OK && !(slot->host[i] = device->ops->stage(device, nbytes, err)))
            status = KR_ERR_HOST_MEMORY;
    }
    return status;
}

kr_status kr_pair_chunks_open(kr_pair_chunks *c, kr_error *err)
{
    kr_status status = KR_OK;
    c->most = c->most < KR_PAIRS_MOST ? c->most : KR_PAIRS_MOST;
    for (int i = 0; i < KR_PAIR_SLOTS && status == KR_OK; ++i)
        status = open_slot(c, &c->slots[i], err);
    return status == KR_OK ? kr_device_sync(c->device, NULL, err) : status;
}

void kr_pair_chunks_close(kr_pair_chunks *c)
{
    for (int k = 0; k < KR_PAIR_SLOTS; ++k) {
        kr_pair_slot *slot = &c->slots[k];
        if (slot->n) /* a failure left it on its way */
            (void)kr_device_sync(c->device, slot->stream, NULL);
        for (int i = 0; i < 2; ++i) {
            if (slot->host[i] && !c->device->ops->is_host)
                c->device->ops->unstage(c->device, slot->host[i]);
            kr_buffer_release(c->device, &slot->rows[i], NULL);
        }
    }
}

static kr_status call(const kr_pair_chunks *c, uint64_t n, const uint32_t *left, const uint32_t *right,
                      kr_error *err)
{
    return c->chunk(c->ctx, n, left, right)
               ? kr_fail(err, KR_ERR_CANCELLED, "the chunk callback stopped the join")
               : KR_OK;
}

/* Waits for a chunk and hands it over. */
static kr_status collect(const kr_pair_chunks *c, kr_pair_slot *slot, kr_error *err)
{
    const uint64_t n = slot->n;
    if (!n)
        return KR_OK;
    const kr_status status = kr_device_sync(c->device, slot->stream, err);
    slot->n = 0;
    return status == KR_OK && c->chunk && !slot->is_silent
               ? call(c, n, slot->host[!slot->indexed_is_left], slot->host[slot->indexed_is_left], err)
               : status;
}

kr_status kr_pair_chunks_drain(kr_pair_chunks *c, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < KR_PAIR_SLOTS && status == KR_OK; ++i)
        status = collect(c, &c->slots[(c->next + i) % KR_PAIR_SLOTS], err);
    return status;
}

/* Sends the pairs that were copied to a slot's rows. */
static kr_status send(kr_pair_chunks *c, kr_pair_slot *slot, kr_error *err)
{
    kr_device *device = c->device;
    kr_status status =
        c->marks ? kr_bitmap_mark(device, slot->rows[0].data, slot->n, c->marks, slot->stream, err) : KR_OK;
    for (int i = 0; i < 2 && status == KR_OK && c->chunk && !slot->is_silent && !device->ops->is_host; ++i)
        status = kr_device_copy(device, slot->host[i], slot->rows[i].data, slot->n * sizeof(uint32_t),
                                slot->stream, err);
    return status;
}

/* Probes first .. end - 1 of a query, of which `n` pairs from `skip` on; of several probes, all. */
typedef struct part {
    const kr_query *query;
    const kr_matches *matches;
    int indexed_is_left;
    uint64_t first_row;
} part;

/* `base`: the offset of the first. */
static kr_status copy_and_send(kr_pair_chunks *c, const part *p, uint64_t first, uint64_t end, uint64_t base,
                               uint64_t skip, uint64_t n, kr_error *err)
{
    kr_pair_slot *slot = &c->slots[c->next];
    kr_status status = collect(c, slot, err);
    const kr_matches_copy_job job = {
        .first = first,
        .count = end - first,
        .base = base,
        .capacity = n,
        .skip = (uint32_t)skip,
        .out = slot->rows[0].data,
        .probes = slot->rows[1].data,
        .first_probe = (uint32_t)(p->first_row + first),
        .order = KR_ORDER_KEY,
    };
    if (status != KR_OK)
        return status;
    status = kr_matches_copy(p->query, p->matches, &job, err);
    slot->n = n;
    slot->stream = p->query->stream;
    slot->indexed_is_left = p->indexed_is_left;
    slot->is_silent = c->is_silent;
    c->next = (c->next + 1) % KR_PAIR_SLOTS;
    return status == KR_OK ? send(c, slot, err) : status;
}

static kr_status cut(kr_pair_chunks *c, const part *p, const uint64_t *offsets, kr_error *err)
{
    const uint64_t n = p->query->n;
    kr_status status = KR_OK;
    for (uint64_t first = 0, end; first < n && status == KR_OK; first = end) {
        for (end = first; end < n && offsets[end + 1] - offsets[first] <= c->most;)
            ++end;
        if (end > first) {
            const uint64_t all = offsets[end] - offsets[first];
            if (all)
                status = copy_and_send(c, p, first, end, offsets[first], 0, all, err);
            continue;
        }
        const uint64_t all = offsets[++end] - offsets[first];
        for (uint64_t skip = 0; skip < all && status == KR_OK; skip += c->most)
            status = copy_and_send(c, p, first, end, offsets[first], skip,
                                   all - skip < c->most ? all - skip : c->most, err);
    }
    return status;
}

kr_status kr_pair_chunks_give(kr_pair_chunks *c, const kr_query *query, const kr_matches *matches,
                              uint64_t found, int indexed_is_left, uint64_t first_row, kr_error *err)
{
    const part p = {query, matches, indexed_is_left, first_row};
    const uint64_t n = query->n;
    if (!found)
        return KR_OK;
    if (found <= c->most) /* no offset but the last is needed on the host */
        return copy_and_send(c, &p, 0, n, 0, 0, found, err);
    uint64_t *offsets = kr_host_calloc(n + 1, sizeof *offsets, "offsets", err);
    if (!offsets)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_device_copy(c->device, offsets, matches->offsets.data, (n + 1) * sizeof *offsets,
                                      query->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(c->device, query->stream, err);
    if (status == KR_OK)
        status = cut(c, &p, offsets, err);
    free(offsets);
    return status;
}

kr_status kr_pair_chunks_give_alone(kr_pair_chunks *c, const kr_buffer *rows, uint64_t n, int is_left,
                                    int single, uint64_t first_row, kr_error *err)
{
    uint32_t *const *host = c->slots[0].host;
    kr_status status = kr_pair_chunks_drain(c, err);
    for (uint64_t first = 0; first < n && status == KR_OK && c->chunk; first += c->most) {
        const uint64_t count = n - first < c->most ? n - first : c->most, nbytes = count * sizeof(uint32_t);
        status = kr_device_copy(c->device, host[0], (const uint32_t *)rows->data + first, nbytes, NULL, err);
        if (status == KR_OK)
            status = kr_device_sync(c->device, NULL, err);
        for (uint64_t i = 0; i < count && first_row; ++i)
            host[0][i] += (uint32_t)first_row;
        memset(host[1], 0xFF, nbytes); /* KR_NO_ROW */
        if (status == KR_OK)
            status = call(c, count, host[!is_left], single ? NULL : host[is_left], err);
    }
    return status;
}
