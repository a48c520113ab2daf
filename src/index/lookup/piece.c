#include "index/lookup/piece.h"

/* The batch from probe `first` on. */
static void skip_probes(kr_batch *batch, uint64_t first)
{
    const uint64_t nbytes = first * kr_type_nbytes(batch->lower_type);
    batch->lower = (const char *)batch->lower + nbytes;
    batch->lower_offset += first;
    if (batch->upper)
        batch->upper = (const char *)batch->upper + nbytes;
    batch->upper_offset += first;
}

uint64_t kr_piece_most(const kr_query *query)
{
    const uint64_t most = KR_NO_ROW / 64 * 64; /* positions of a reordered piece are u32 */
    const int moved = query->plan.sorted || query->plan.part_bits;
    return moved && query->plan.piece > most ? most : query->plan.piece;
}

static void partition(kr_work *w, const kr_query *query, kr_piece *piece)
{
    const kr_family_ops *ops = query->index->ops;
    const void *self = query->index->self;
    uint64_t highest = 0;
    kr_partition_job job = {
        .self = self,
        .n = piece->n,
        .bits = query->plan.part_bits,
        .segment = query->plan.segment,
        .stay = query->stay,
    };
    if (!ops->ordered)
        job.seed = ops->hash_seed(self);
    else if (ops->ordered->cuts)
        job.cut = ops->ordered;
    else {
        ops->ordered->key_range(self, &job.lowest, &highest);
        job.even = kr_batch_even(highest - job.lowest, job.bits);
        job.step = 1;
    }
    piece->partition = kr_type_key_bits(piece->batch.lower_type) == 64
                           ? kr_partition_make_u64(w, &job, &piece->batch)
                           : kr_partition_make_u32(w, &job, &piece->batch);
}

void kr_piece_open(kr_work *w, const kr_query *query, uint64_t first, kr_piece *piece)
{
    const uint64_t most = kr_piece_most(query), left = query->n - first;
    piece->n = left < most ? left : most;
    piece->batch = query->batch;
    piece->mark = kr_work_mark(w);
    piece->partition = (kr_partition){0};
    if (first)
        skip_probes(&piece->batch, first);
    if (query->plan.sorted) {
        kr_order_make(w, &query->plan, piece->n, &piece->batch);
        kr_work_lap(w, "sort");
    }
    if (query->plan.part_bits) {
        partition(w, query, piece);
        kr_work_lap(w, "partition");
    }
}

void kr_piece_close(kr_work *w, const kr_piece *piece)
{
    kr_work_give_since(w, piece->mark);
}

/* What the family took since the mark is given back. */
static void searched(kr_work *w, const kr_query *query, const kr_piece *piece, uint32_t mark)
{
    kr_work_give_since(w, mark);
    if (query->log)
        query->log->probes[query->plan.way] += piece->n;
    kr_work_lap(w, "search");
}

void kr_piece_locate(kr_work *w, const kr_query *query, const kr_piece *piece, kr_put put)
{
    const kr_index *index = query->index;
    const uint32_t mark = kr_work_mark(w);
    kr_put asked = put;
    if (piece->batch.near.how) {
        asked.nearest = put.what;
        asked.what = KR_PUT_MATCH;
    }
    const kr_locate job = {
        .batch = piece->batch,
        .put = asked,
        .n = piece->n,
        .partition = kr_piece_is_partitioned(piece) ? &piece->partition.view : NULL,
    };
    if (!kr_work_goes_on(w))
        return;
    index->ops->locate(w, index->self, &job);
    searched(w, query, piece, mark);
}

void kr_piece_sum(kr_work *w, const kr_query *query, const kr_piece *piece, const kr_reduction *how,
                  uint64_t *out)
{
    const kr_index *index = query->index;
    const uint32_t mark = kr_work_mark(w);
    const kr_sum job = {
        .batch = piece->batch,
        .n = piece->n,
        .out = out,
        .order = piece->batch.order,
        .work = query->counters,
        .how = how,
    };
    if (!kr_work_goes_on(w))
        return;
    index->ops->sum(w, index->self, &job);
    searched(w, query, piece, mark);
}

void kr_piece_back(kr_work *w, const kr_piece *piece, const void *answers, uint32_t nbytes, void *out)
{
    kr_partition_back(w, &piece->partition, answers, nbytes, out);
    kr_work_lap(w, "back");
}

void *kr_piece_take_answers(kr_work *w, const kr_piece *piece, uint32_t nbytes)
{
    return kr_work_take_or(w, piece->n * nbytes, "answers in search order", "use probes=as-is");
}
