/* Pairs of overlapping intervals in chunks: the matches of all rows are found once, then cut. */
#include "join/overlap.h"
#include "join/pair_chunks.h"

uint64_t kr_overlap_chunks(kr_work *w, const kr_overlap_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk,
                           void *ctx)
{
    overlap o = overlap_open(w, job, 0);
    overlap_find(&o);
    const uint64_t all = o.found[0] + o.found[1], most = cap_nbytes / (2 * sizeof(uint32_t));
    kr_pair_chunks c = {.device = w->device, .most = most < all ? most : all, .chunk = chunk, .ctx = ctx};
    if (chunk && all) {
        kr_pair_chunks_open(w, &c);
        for (int i = 0; i < 2; ++i) /* query 0 asks the index of the left side */
            kr_pair_chunks_give(w, &c, &o.queries[i], &o.matches[i], o.found[i], i == 0, 0);
        kr_pair_chunks_drain(w, &c);
    }
    kr_pair_chunks_close(&c);
    overlap_close(&o);
    return all;
}
