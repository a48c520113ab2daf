#include "lookup/piece.h"

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

static kr_status partition(const kr_query *query, kr_piece *piece, kr_error *err)
{
    const kr_index *index = query->index;
    kr_partition_job job = {
        .device = index->device,
        .ops = index->ops,
        .self = index->self,
        .stream = query->stream,
        .n = piece->n,
        .bits = query->plan.part_bits,
        .segment = query->plan.segment,
        .stay = query->stay,
    };
    return kr_type_key_bits(piece->batch.lower_type) == 64
               ? kr_partition_make_u64(&job, &piece->batch, &piece->partition, err)
               : kr_partition_make_u32(&job, &piece->batch, &piece->partition, err);
}

kr_status kr_piece_open(const kr_query *query, uint64_t first, kr_piece *piece, kr_error *err)
{
    const uint64_t most = kr_piece_most(query), left = query->n - first;
    kr_status status = KR_OK;
    piece->first = first;
    piece->n = left < most ? left : most;
    piece->batch = query->batch;
    piece->order = (kr_order){0};
    piece->partition = (kr_partition){0};
    if (first)
        skip_probes(&piece->batch, first);
    if (query->plan.sorted) {
        status = kr_order_make(query->index->device, &query->plan, piece->n, query->stream, &piece->batch,
                               &piece->order, err);
        kr_stopwatch_lap(query->watch, "sort");
    }
    if (query->plan.part_bits) {
        status = partition(query, piece, err);
        kr_stopwatch_lap(query->watch, "partition");
    }
    return status;
}

void kr_piece_close(const kr_query *query, kr_piece *piece)
{
    kr_partition_release(query->index->device, &piece->partition, query->stream);
    kr_order_release(query->index->device, &piece->order, query->stream);
}

kr_status kr_piece_locate(const kr_query *query, const kr_piece *piece, kr_put put, kr_error *err)
{
    const kr_index *index = query->index;
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
    kr_work w = kr_work_on(index->device, query->stream, err);
    w.watch = query->watch;
    index->ops->locate(&w, index->self, &job);
    const kr_status status = kr_work_end(&w);
    if (query->log)
        query->log->probes[query->plan.way] += piece->n;
    kr_stopwatch_lap(query->watch, "search");
    return status;
}

kr_status kr_piece_back(const kr_query *query, const kr_piece *piece, const void *answers, uint32_t nbytes,
                        void *out, kr_error *err)
{
    const kr_status status =
        kr_partition_back(query->index->device, &piece->partition, answers, nbytes, out, query->stream, err);
    kr_stopwatch_lap(query->watch, "back");
    return status;
}

kr_status kr_piece_answers(const kr_query *query, const kr_piece *piece, uint32_t nbytes, kr_buffer *answers,
                           kr_error *err)
{
    return kr_buffer_allocate(query->index->device, piece->n * nbytes, query->stream,
                              "answers in search order", "use probes=as-is", answers, err);
}
