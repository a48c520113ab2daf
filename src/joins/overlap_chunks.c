/* Pairs of overlapping intervals in chunks: the matches of all rows are found once, then cut between rows, or
 * within one whose pairs alone are more than a chunk. */
#include "joins/overlap.h"

#include <stdlib.h>

typedef struct chunks {
    overlap *o;
    uint64_t most; /* pairs of a chunk */
    kr_pairs_chunk chunk;
    void *ctx;
    kr_buffer rows[2]; /* of the indexed side, of the probing one */
    uint32_t *host[2]; /* the same where the callback reads them */
} chunks;

static kr_status allocate(chunks *c, uint64_t n, kr_error *err)
{
    kr_status status = KR_OK;
    for (int i = 0; i < 2 && status == KR_OK; ++i) {
        status = kr_buffer_allocate(c->o->device, n * sizeof(uint32_t), NULL, "a chunk of pairs",
                                    "use a smaller cap", &c->rows[i], err);
        if (status == KR_OK && c->o->device->ops->is_host)
            c->host[i] = c->rows[i].data;
        else if (status == KR_OK &&
                 !(c->host[i] = kr_host_calloc(n, sizeof(uint32_t), "a chunk of pairs", err)))
            status = KR_ERR_HOST_MEMORY;
    }
    return status;
}

static void release(chunks *c)
{
    for (int i = 0; i < 2; ++i) {
        if (!c->o->device->ops->is_host)
            free(c->host[i]);
        kr_buffer_release(c->o->device, &c->rows[i], NULL);
    }
}

/* n pairs that lie in c->rows. */
static kr_status give(chunks *c, int number, uint64_t n, kr_error *err)
{
    kr_device *device = c->o->device;
    kr_status status = KR_OK;
    for (int i = 0; i < 2 && status == KR_OK && !device->ops->is_host; ++i)
        status = kr_device_copy(device, c->host[i], c->rows[i].data, n * sizeof(uint32_t), NULL, err);
    if (status == KR_OK)
        status = kr_device_sync(device, NULL, err);
    if (status == KR_OK && c->chunk(c->ctx, n, c->host[number], c->host[!number]))
        status = kr_fail(err, KR_ERR_CANCELLED, "the chunk callback stopped the join");
    return status;
}

/* Pairs `skip` to skip + n - 1 of the probes first .. end - 1; of several probes, all of them. */
static kr_status copy_and_give(chunks *c, int number, const uint64_t *offsets, uint64_t first, uint64_t end,
                               uint64_t skip, uint64_t n, kr_error *err)
{
    const kr_matches_copy_job part = {
        .first = first,
        .count = end - first,
        .base = offsets[first],
        .capacity = n,
        .skip = (uint32_t)skip,
        .out = c->rows[0].data,
        .probes = c->rows[1].data,
        .first_probe = (uint32_t)first,
        .order = KR_ORDER_KEY,
    };
    const kr_status status = kr_matches_copy(&c->o->queries[number], &c->o->matches[number], &part, err);
    return status == KR_OK ? give(c, number, n, err) : status;
}

/* All pairs of a query, whose offsets are in host memory. */
static kr_status cut(chunks *c, int number, const uint64_t *offsets, kr_error *err)
{
    const uint64_t n = c->o->queries[number].n;
    kr_status status = KR_OK;
    for (uint64_t first = 0, end; first < n && status == KR_OK; first = end) {
        for (end = first; end < n && offsets[end + 1] - offsets[first] <= c->most;)
            ++end;
        if (end > first) {
            if (offsets[end] > offsets[first])
                status = copy_and_give(c, number, offsets, first, end, 0, offsets[end] - offsets[first], err);
            continue;
        }
        const uint64_t all = offsets[++end] - offsets[first];
        for (uint64_t skip = 0; skip < all && status == KR_OK; skip += c->most)
            status = copy_and_give(c, number, offsets, first, end, skip,
                                   all - skip < c->most ? all - skip : c->most, err);
    }
    return status;
}

static kr_status give_query(chunks *c, int number, kr_error *err)
{
    const uint64_t n = c->o->queries[number].n;
    uint64_t *offsets = kr_host_calloc(n + 1, sizeof *offsets, "offsets", err);
    if (!offsets)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_device_copy(c->o->device, offsets, c->o->matches[number].offsets.data,
                                      (n + 1) * sizeof *offsets, NULL, err);
    if (status == KR_OK)
        status = kr_device_sync(c->o->device, NULL, err);
    if (status == KR_OK)
        status = cut(c, number, offsets, err);
    free(offsets);
    return status;
}

kr_status kr_overlap_chunks(const kr_overlap_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx,
                            uint64_t *pairs, kr_error *err)
{
    overlap o;
    chunks c = {.o = &o, .most = cap_nbytes / (2 * sizeof(uint32_t)), .chunk = chunk, .ctx = ctx};
    kr_status status = overlap_open(&o, job, 0, err);
    if (status == KR_OK)
        status = overlap_find(&o, err);
    const uint64_t all = o.found[0] + o.found[1];
    c.most = c.most < all ? c.most : all;
    if (status == KR_OK && chunk && all)
        status = allocate(&c, c.most, err);
    for (int i = 0; i < 2 && status == KR_OK && chunk && all; ++i)
        status = give_query(&c, i, err);
    release(&c);
    overlap_close(&o);
    if (status == KR_OK)
        *pairs = all;
    return status;
}
