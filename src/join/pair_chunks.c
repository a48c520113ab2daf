#include "join/pair_chunks.h"
#include "index/results/bitmap.h"

#include <stdlib.h>
#include <string.h>

static void open_slot(kr_work *w, const kr_pair_chunks *c, kr_pair_slot *slot)
{
    const kr_device_ops *ops = w->device->ops;
    const uint64_t nbytes = c->most * sizeof(uint32_t);
    for (int i = 0; i < 2; ++i) {
        slot->rows[i] = kr_work_take_or(w, nbytes, "a chunk of pairs", "use a smaller cap");
        if (ops->is_host)
            slot->host[i] = slot->rows[i];
        else
            KR_STEP(w, (slot->host[i] = ops->stage(w->device, nbytes, w->err)) ? KR_OK : KR_ERR_HOST_MEMORY);
    }
}

void kr_pair_chunks_open(kr_work *w, kr_pair_chunks *c)
{
    c->most = c->most < KR_PAIRS_MOST ? c->most : KR_PAIRS_MOST;
    for (int i = 0; i < KR_PAIR_SLOTS; ++i)
        open_slot(w, c, &c->slots[i]);
    kr_work_sync(w);
}

void kr_pair_chunks_close(kr_pair_chunks *c)
{
    for (int k = 0; k < KR_PAIR_SLOTS; ++k) {
        kr_pair_slot *slot = &c->slots[k];
        if (slot->n) /* a failure left it on its way */
            (void)kr_device_sync(c->device, slot->stream, NULL);
        for (int i = 0; i < 2; ++i)
            if (slot->host[i] && !c->device->ops->is_host)
                c->device->ops->unstage(c->device, slot->host[i]);
    }
}

static void hand_over(kr_work *w, const kr_pair_chunks *c, uint64_t n, const uint32_t *left,
                      const uint32_t *right)
{
    KR_STEP(w, c->chunk(c->ctx, n, left, right)
                   ? kr_fail(w->err, KR_ERR_CANCELLED, "the chunk callback stopped the join")
                   : KR_OK);
}

/* Waits for a chunk and hands it over. */
static void collect(kr_work *w, const kr_pair_chunks *c, kr_pair_slot *slot)
{
    const uint64_t n = slot->n;
    if (!n || !kr_work_goes_on(w))
        return;
    KR_STEP(w, kr_device_sync(w->device, slot->stream, w->err));
    slot->n = 0;
    if (c->chunk && !slot->is_silent)
        hand_over(w, c, n, slot->host[!slot->indexed_is_left], slot->host[slot->indexed_is_left]);
}

void kr_pair_chunks_drain(kr_work *w, kr_pair_chunks *c)
{
    for (uint32_t i = 0; i < KR_PAIR_SLOTS; ++i)
        collect(w, c, &c->slots[(c->next + i) % KR_PAIR_SLOTS]);
}

/* Sends the pairs that were copied to a slot's rows. */
static void send(kr_work *w, const kr_pair_chunks *c, const kr_pair_slot *slot)
{
    if (c->marks)
        kr_bitmap_mark(w, slot->rows[0], slot->n, c->marks);
    for (int i = 0; i < 2 && c->chunk && !slot->is_silent && !w->device->ops->is_host; ++i)
        kr_work_copy(w, slot->host[i], slot->rows[i], slot->n * sizeof(uint32_t));
}

/* A query whose pairs are cut. */
typedef struct source {
    const kr_query *query;
    kr_matches *matches;
    int indexed_is_left;
    uint64_t first_row;
} source;

/* Probes first .. end - 1, of which `n` pairs from `skip` on; of several probes, all. `base`: the offset of
 * the first. */
static void copy_and_send(kr_work *w, kr_pair_chunks *c, const source *from, uint64_t first, uint64_t end,
                          uint64_t base, uint64_t skip, uint64_t n)
{
    kr_pair_slot *slot = &c->slots[c->next];
    collect(w, c, slot);
    if (!kr_work_goes_on(w))
        return;
    const kr_matches_copy_job job = {
        .first = first,
        .count = end - first,
        .base = base,
        .capacity = n,
        .skip = (uint32_t)skip,
        .out = slot->rows[0],
        .probes = slot->rows[1],
        .first_probe = (uint32_t)(from->first_row + first),
        .order = KR_ORDER_KEY,
    };
    kr_matches_copy(w, from->query, from->matches, &job);
    slot->n = n;
    slot->stream = w->stream;
    slot->indexed_is_left = from->indexed_is_left;
    slot->is_silent = c->is_silent;
    c->next = (c->next + 1) % KR_PAIR_SLOTS;
    send(w, c, slot);
}

static void cut(kr_work *w, kr_pair_chunks *c, const source *from, const uint64_t *offsets)
{
    const uint64_t n = from->query->n;
    for (uint64_t first = 0, end; first < n && kr_work_goes_on(w); first = end) {
        for (end = first; end < n && offsets[end + 1] - offsets[first] <= c->most;)
            ++end;
        if (end > first) {
            const uint64_t all = offsets[end] - offsets[first];
            if (all)
                copy_and_send(w, c, from, first, end, offsets[first], 0, all);
            continue;
        }
        const uint64_t all = offsets[++end] - offsets[first];
        for (uint64_t skip = 0; skip < all && kr_work_goes_on(w); skip += c->most)
            copy_and_send(w, c, from, first, end, offsets[first], skip,
                          all - skip < c->most ? all - skip : c->most);
    }
}

void kr_pair_chunks_give(kr_work *w, kr_pair_chunks *c, const kr_query *query, kr_matches *matches,
                         uint64_t found, int indexed_is_left, uint64_t first_row)
{
    const source from = {query, matches, indexed_is_left, first_row};
    const uint64_t n = query->n;
    if (!found)
        return;
    if (found <= c->most) { /* no offset but the last is needed on the host */
        copy_and_send(w, c, &from, 0, n, 0, 0, found);
        return;
    }
    uint64_t *offsets = kr_work_array(w, n + 1, sizeof *offsets, "offsets");
    kr_work_read(w, offsets, matches->offsets, (n + 1) * sizeof *offsets);
    if (kr_work_goes_on(w))
        cut(w, c, &from, offsets);
    free(offsets);
}

void kr_pair_chunks_give_alone(kr_work *w, kr_pair_chunks *c, const uint32_t *rows, uint64_t n, int is_left,
                               int single, uint64_t first_row)
{
    uint32_t *const *host = c->slots[0].host;
    kr_pair_chunks_drain(w, c);
    for (uint64_t first = 0; first < n && c->chunk && kr_work_goes_on(w); first += c->most) {
        const uint64_t count = n - first < c->most ? n - first : c->most, nbytes = count * sizeof *rows;
        kr_work_read(w, host[0], rows + first, nbytes);
        for (uint64_t i = 0; i < count && first_row; ++i)
            host[0][i] += (uint32_t)first_row;
        memset(host[1], 0xFF, nbytes); /* KR_NO_ROW */
        hand_over(w, c, count, host[!is_left], single ? NULL : host[is_left]);
    }
}
