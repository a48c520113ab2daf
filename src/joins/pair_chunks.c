#include "joins/pair_chunks.h"
#include "results/bitmap.h"

#include <stdlib.h>
#include <string.h>

kr_status kr_pair_chunks_open(kr_pair_chunks *c, kr_error *err)
{
    const uint64_t nbytes = c->most * sizeof(uint32_t);
    kr_status status = KR_OK;
    for (int i = 0; i < 2 && status == KR_OK; ++i) {
        status = kr_buffer_allocate(c->device, nbytes, NULL, "a chunk of pairs", "use a smaller cap",
                                    &c->rows[i], err);
        if (status == KR_OK && c->device->ops->is_host)
            c->host[i] = c->rows[i].data;
        else if (status == KR_OK &&
                 !(c->host[i] = kr_host_calloc(c->most, sizeof(uint32_t), "a chunk of pairs", err)))
            status = KR_ERR_HOST_MEMORY;
    }
    return status;
}

void kr_pair_chunks_close(kr_pair_chunks *c)
{
    for (int i = 0; i < 2; ++i) {
        if (!c->device->ops->is_host)
            free(c->host[i]);
        kr_buffer_release(c->device, &c->rows[i], NULL);
    }
}

static kr_status call(const kr_pair_chunks *c, uint64_t n, const uint32_t *left, const uint32_t *right,
                      kr_error *err)
{
    return c->chunk(c->ctx, n, left, right)
               ? kr_fail(err, KR_ERR_CANCELLED, "the chunk callback stopped the join")
               : KR_OK;
}

/* n pairs that lie in c->rows. */
static kr_status give(kr_pair_chunks *c, uint64_t n, int indexed_is_left, kr_error *err)
{
    kr_device *device = c->device;
    kr_status status = c->marks ? kr_bitmap_mark(device, c->rows[0].data, n, c->marks, NULL, err) : KR_OK;
    for (int i = 0; i < 2 && status == KR_OK && c->chunk && !device->ops->is_host; ++i)
        status = kr_device_copy(device, c->host[i], c->rows[i].data, n * sizeof(uint32_t), NULL, err);
    if (status == KR_OK)
        status = kr_device_sync(device, NULL, err);
    return status == KR_OK && c->chunk ? call(c, n, c->host[!indexed_is_left], c->host[indexed_is_left], err)
                                       : status;
}

/* Probes first .. end - 1 of a query, of which `n` pairs from `skip` on; of several probes, all. */
typedef struct part {
    const kr_query *query;
    const kr_matches *matches;
    const uint64_t *offsets; /* in host memory */
    int indexed_is_left;
    uint64_t first_row;
} part;

static kr_status copy_and_give(kr_pair_chunks *c, const part *p, uint64_t first, uint64_t end, uint64_t skip,
                               uint64_t n, kr_error *err)
{
    const kr_matches_copy_job job = {
        .first = first,
        .count = end - first,
        .base = p->offsets[first],
        .capacity = n,
        .skip = (uint32_t)skip,
        .out = c->rows[0].data,
        .probes = c->rows[1].data,
        .first_probe = (uint32_t)(p->first_row + first),
        .order = KR_ORDER_KEY,
    };
    const kr_status status = kr_matches_copy(p->query, p->matches, &job, err);
    return status == KR_OK ? give(c, n, p->indexed_is_left, err) : status;
}

static kr_status cut(kr_pair_chunks *c, const part *p, kr_error *err)
{
    const uint64_t n = p->query->n, *offsets = p->offsets;
    kr_status status = KR_OK;
    for (uint64_t first = 0, end; first < n && status == KR_OK; first = end) {
        for (end = first; end < n && offsets[end + 1] - offsets[first] <= c->most;)
            ++end;
        if (end > first) {
            if (offsets[end] > offsets[first])
                status = copy_and_give(c, p, first, end, 0, offsets[end] - offsets[first], err);
            continue;
        }
        const uint64_t all = offsets[++end] - offsets[first];
        for (uint64_t skip = 0; skip < all && status == KR_OK; skip += c->most)
            status = copy_and_give(c, p, first, end, skip, all - skip < c->most ? all - skip : c->most, err);
    }
    return status;
}

kr_status kr_pair_chunks_give(kr_pair_chunks *c, const kr_query *query, const kr_matches *matches,
                              int indexed_is_left, uint64_t first_row, kr_error *err)
{
    const uint64_t n = query->n;
    uint64_t *offsets = kr_host_calloc(n + 1, sizeof *offsets, "offsets", err);
    if (!offsets)
        return KR_ERR_HOST_MEMORY;
    const part p = {query, matches, offsets, indexed_is_left, first_row};
    kr_status status =
        kr_device_copy(c->device, offsets, matches->offsets.data, (n + 1) * sizeof *offsets, NULL, err);
    if (status == KR_OK)
        status = kr_device_sync(c->device, NULL, err);
    if (status == KR_OK)
        status = cut(c, &p, err);
    free(offsets);
    return status;
}

kr_status kr_pair_chunks_give_alone(kr_pair_chunks *c, const kr_buffer *rows, uint64_t n, int is_left,
                                    int single, uint64_t first_row, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint64_t first = 0; first < n && status == KR_OK && c->chunk; first += c->most) {
        const uint64_t count = n - first < c->most ? n - first : c->most, nbytes = count * sizeof(uint32_t);
        status =
            kr_device_copy(c->device, c->host[0], (const uint32_t *)rows->data + first, nbytes, NULL, err);
        if (status == KR_OK)
            status = kr_device_sync(c->device, NULL, err);
        for (uint64_t i = 0; i < count && first_row; ++i)
            c->host[0][i] += (uint32_t)first_row;
        memset(c->host[1], 0xFF, nbytes); /* KR_NO_ROW */
        if (status == KR_OK)
            status = call(c, count, c->host[!is_left], single ? NULL : c->host[is_left], err);
    }
    return status;
}
