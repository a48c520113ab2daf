#include "search/parts.h"
#include "search/parts_body.h"

/* Keys of a part that are brought to shared memory, at most, and entries between two of them, at least: fewer
 * leave more to the caches, more take longer to bring (docs/performance-lightweight.md). */
enum { PIVOTS_MOST = 4096, PIECE_BITS_LEAST = 4 };

kr_status KR_W(kr_parts_cuts)(kr_device *device, const void *self, uint32_t bits, void *keys,
                              kr_stream *stream, kr_error *err)
{
    const parts_cut_params params = {kr_store_entries(self), kr_store_rows(self).lists, keys, bits, 0};
    return kr_device_run(device, &KR_W(parts_cuts), &params, (uint64_t)1 << bits, stream, err);
}

kr_status KR_W(kr_parts_locate)(kr_device *device, const kr_store *store, const kr_locate *job,
                                kr_stream *stream, kr_error *err)
{
    const uint64_t largest = (store->n >> job->partition->bits) + 64; /* part */
    parts_params params = {
        .batch = job->batch,
        .put = job->put,
        .entries = kr_store_entries(store),
        .partition = *job->partition,
        .piece_bits = PIECE_BITS_LEAST,
    };
    while (largest >> params.piece_bits >= PIVOTS_MOST)
        ++params.piece_bits;
    params.blocks.shared_nbytes = (uint32_t)(((largest >> params.piece_bits) + 1) * sizeof(kr_key));
    return kr_device_run(device, &KR_W(parts_search), &params, job->partition->most_chunks, stream, err);
}
