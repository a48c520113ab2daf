/* Pairs of overlapping intervals in chunks: the matches of all rows are found once, then cut. */
#include "joins/overlap.h"
#include "joins/pair_chunks.h"

kr_status kr_overlap_chunks(const kr_overlap_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx,
                            uint64_t *pairs, kr_error *err)
{
    overlap o;
    kr_pair_chunks c = {.device = job->device, .chunk = chunk, .ctx = ctx};
    kr_status status = overlap_open(&o, job, 0, err);
    if (status == KR_OK)
        status = overlap_find(&o, err);
    const uint64_t all = o.found[0] + o.found[1], most = cap_nbytes / (2 * sizeof(uint32_t));
    c.most = most < all ? most : all;
    if (status == KR_OK && chunk && all)
        status = kr_pair_chunks_open(&c, err);
    for (int i = 0; i < 2 && status == KR_OK && chunk && all;
         ++i) /* query 0 asks the index of the left side */
        status = kr_pair_chunks_give(&c, &o.queries[i], &o.matches[i], o.found[i], i == 0, 0, err);
    if (status == KR_OK && chunk)
        status = kr_pair_chunks_drain(&c, err);
    kr_pair_chunks_close(&c);
    overlap_close(&o);
    if (status == KR_OK)
        *pairs = all;
    return status;
}
