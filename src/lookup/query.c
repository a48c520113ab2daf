#include "lookup/query.h"
#include "lookup/limit.h"
#include "lookup/piece.h"
#include "results/bitmap.h"
#include "results/reduce.h"
#include "results/row_lists.h"

/* Field by field: for a single probe, a struct that is made and then copied takes longer than the search. */
static void aim(kr_query *query, const kr_column *lower, const kr_column *upper, kr_stream *stream)
{
    kr_batch *batch = &query->batch;
    batch->lower = lower->data;
    batch->lower_validity = lower->validity;
    batch->lower_offset = lower->validity_offset;
    batch->lower_type = lower->type;
    batch->upper_type = lower->type;
    batch->upper = upper ? upper->data : NULL;
    batch->upper_validity = upper ? upper->validity : NULL;
    batch->upper_offset = upper ? upper->validity_offset : 0;
    batch->order = NULL;
    query->n = lower->count;
    query->stream = stream;
    kr_plan_batch(query->index, lower->count, &query->plan);
}

kr_status kr_query_check(const kr_kind *kind, int is_range, kr_error *err)
{
    return kr_kind_check(kind, is_range ? KR_CAN_RANGE : KR_CAN_POINT, err);
}

kr_query kr_query_over(const kr_query *whole, const kr_column *lower, const kr_column *upper,
                       kr_stream *stream)
{
    kr_query query = *whole;
    aim(&query, lower, upper, stream);
    return query;
}

kr_status kr_query_make(const kr_index *index, const kr_column *lower, const kr_column *upper,
                        kr_stream *stream, kr_stopwatch *watch, kr_query *query, kr_error *err)
{
    const kr_status status = kr_query_check(index->spec.kind, upper != NULL, err);
    if (status != KR_OK)
        return status;
    *query = (kr_query){.index = index, .watch = watch};
    aim(query, lower, upper, stream);
    return KR_OK;
}

kr_status kr_query_make_nearest(const kr_index *index, const kr_column *probes, const kr_nearby *near,
                                kr_stream *stream, kr_stopwatch *watch, kr_query *query, kr_error *err)
{
    const kr_status status = kr_kind_check(index->spec.kind, KR_CAN_NEAREST, err);
    if (status != KR_OK)
        return status;
    *query = (kr_query){.index = index, .batch = {.near = *near}, .watch = watch};
    aim(query, probes, NULL, stream);
    return KR_OK;
}

static kr_status piece_answer(const kr_query *query, const kr_piece *piece, uint32_t what, void *out,
                              kr_error *err)
{
    kr_put put = {.out = out, .order = piece->batch.order, .work = query->work, .what = what};
    kr_buffer answers = {0};
    if (!kr_piece_is_partitioned(piece))
        return kr_piece_locate(query, piece, put, err);
    kr_status status = kr_piece_answers(query, piece, kr_put_nbytes(what), &answers, err);
    put.out = answers.data;
    put.order = NULL;
    if (status == KR_OK)
        status = kr_piece_locate(query, piece, put, err);
    if (status == KR_OK)
        status = kr_piece_back(query, piece, answers.data, kr_put_nbytes(what), out, err);
    kr_buffer_release(query->index->device, &answers, query->stream);
    return status;
}

kr_status kr_query_locate(const kr_query *query, uint32_t what, void *out, kr_error *err)
{
    kr_status status = KR_OK;
    kr_piece piece;
    for (uint64_t first = 0; status == KR_OK && first < query->n; first += piece.n) {
        status = kr_piece_open(query, first, &piece, err);
        if (status == KR_OK)
            status = piece_answer(query, &piece, what, (char *)out + first * kr_put_nbytes(what), err);
        kr_piece_close(query, &piece);
    }
    return status;
}

int kr_query_can_stay(const kr_query *query)
{
    return query->plan.part_bits && query->n <= kr_piece_most(query);
}

kr_status kr_query_locate_rows(const kr_query *query, uint32_t *rows, uint32_t *probes, kr_error *err)
{
    const kr_put put = {.out = rows, .work = query->work, .what = KR_PUT_ROW};
    kr_query staying = *query;
    kr_piece piece;
    staying.stay = probes;
    kr_status status = kr_piece_open(&staying, 0, &piece, err);
    if (status == KR_OK)
        status = kr_piece_locate(&staying, &piece, put, err);
    kr_piece_close(&staying, &piece);
    return status;
}

/* ---- Answers that need one byte per probe, then a bitmap ------------------------------------ */

static kr_status answer_exists(const kr_query *query, const kr_sink *sink, kr_error *err)
{
    kr_device *device = query->index->device;
    kr_buffer flags = {0};
    kr_status status = kr_buffer_allocate(device, query->n, query->stream, "flags", NULL, &flags, err);
    if (status == KR_OK)
        status = kr_query_locate(query, KR_PUT_FLAG, flags.data, err);
    if (status == KR_OK)
        status = kr_bitmap_pack(device, flags.data, query->n, sink->out, query->stream, err);
    kr_buffer_release(device, &flags, query->stream);
    return status;
}

/* ---- Answers made of all rows of the matches ------------------------------------------------- */

/* Matches are in the order of the search, in which neighbours share cache lines of row ids; answers go to
 * their probes' places. */
static kr_status reduce_piece(const kr_query *query, const kr_piece *piece, const kr_match *matches,
                              const kr_reduction *how, void *out, uint8_t *any, kr_error *err)
{
    const uint32_t *order = kr_piece_is_partitioned(piece) ? NULL : piece->batch.order;
    const kr_status status =
        kr_reduce(query->index->device, how, matches, order, piece->n, out, any, query->stream, err);
    kr_stopwatch_lap(query->watch, "reduce");
    return status;
}

/* The same for a partitioned piece, whose answers are put back in order afterwards. */
static kr_status reduce_parts(const kr_query *query, const kr_piece *piece, const kr_match *matches,
                              const kr_reduction *how, uint32_t nbytes, void *out, uint8_t *any,
                              kr_error *err)
{
    kr_device *device = query->index->device;
    kr_buffer answers = {0}, flags = {0};
    kr_status status = kr_piece_answers(query, piece, nbytes, &answers, err);
    if (status == KR_OK && any)
        status = kr_piece_answers(query, piece, 1, &flags, err);
    if (status == KR_OK)
        status = reduce_piece(query, piece, matches, how, answers.data, flags.data, err);
    if (status == KR_OK)
        status = kr_piece_back(query, piece, answers.data, nbytes, out, err);
    if (status == KR_OK && any)
        status = kr_piece_back(query, piece, flags.data, 1, any, err);
    kr_buffer_release(device, &flags, query->stream);
    kr_buffer_release(device, &answers, query->stream);
    return status;
}

static kr_status reduce_all(const kr_query *query, const kr_sink *sink, const kr_column *values,
                            const kr_buffer *matches, uint8_t *any, kr_error *err)
{
    const kr_put put = {.out = matches->data, .work = query->work, .what = KR_PUT_MATCH};
    const uint32_t nbytes = kr_result_bits(sink) / 8;
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const kr_reduction how = kr_reduction_of(&rows, sink->result, values);
    kr_status status = KR_OK;
    kr_piece piece;
    for (uint64_t first = 0; status == KR_OK && first < query->n; first += piece.n) {
        void *out = (char *)sink->out + first * nbytes;
        uint8_t *any_out = any ? any + first : NULL;
        status = kr_piece_open(query, first, &piece, err);
        if (status == KR_OK)
            status = kr_piece_locate(query, &piece, put, err);
        if (status == KR_OK && kr_piece_is_partitioned(&piece))
            status = reduce_parts(query, &piece, matches->data, &how, nbytes, out, any_out, err);
        else if (status == KR_OK)
            status = reduce_piece(query, &piece, matches->data, &how, out, any_out, err);
        kr_piece_close(query, &piece);
    }
    return status;
}

static kr_status answer_reduced(const kr_query *query, const kr_sink *sink, const kr_column *values,
                                kr_error *err)
{
    kr_device *device = query->index->device;
    const uint64_t most = kr_piece_most(query), piece = query->n < most ? query->n : most;
    kr_buffer matches = {0}, any = {0};
    kr_status status =
        kr_buffer_allocate(device, piece * sizeof(kr_match), query->stream, "matches", NULL, &matches, err);
    if (status == KR_OK && sink->valid)
        status = kr_buffer_allocate(device, query->n, query->stream, "flags", NULL, &any, err);
    if (status == KR_OK)
        status = reduce_all(query, sink, values, &matches, any.data, err);
    if (status == KR_OK && sink->valid)
        status = kr_bitmap_pack(device, any.data, query->n, sink->valid, query->stream, err);
    kr_buffer_release(device, &any, query->stream);
    kr_buffer_release(device, &matches, query->stream);
    return status;
}

kr_status kr_query_answer(const kr_query *query, const kr_sink *sink, const kr_column *values, kr_error *err)
{
    if (query->n == 0)
        return KR_OK;
    if (sink->result == KR_RESULT_EXISTS)
        return answer_exists(query, sink, err);
    if (sink->result == KR_RESULT_COUNT)
        return kr_query_locate(query, KR_PUT_COUNT, sink->out, err);
    if (sink->result == KR_RESULT_ROW && !query->batch.upper)
        return kr_query_locate(query, KR_PUT_ROW, sink->out, err);
    return answer_reduced(query, sink, values, err);
}

/* ---- ROWS ------------------------------------------------------------------------------------ */

void kr_matches_release(const kr_query *query, kr_matches *matches)
{
    kr_buffer_release(query->index->device, &matches->whole, query->stream);
    kr_buffer_release(query->index->device, &matches->offsets, query->stream);
    kr_buffer_release(query->index->device, &matches->matches, query->stream);
}

/* Of the rows within the limit, if there is one. */
static kr_status find_offsets(const kr_query *query, kr_matches *made, kr_error *err)
{
    kr_device *device = query->index->device;
    const kr_match *matches = made->matches.data;
    const uint64_t n = query->n, limit = query->limit ? query->limit : UINT64_MAX;
    kr_status status = KR_OK;
    if (kr_limit_gathers(query)) {
        status = kr_buffer_allocate(device, (n + 1) * sizeof(uint64_t), query->stream, "offsets",
                                    "use KR_ORDER_KEY", &made->whole, err);
        if (status == KR_OK)
            status =
                kr_row_lists_offsets(device, matches, n, UINT64_MAX, made->whole.data, query->stream, err);
    }
    return status == KR_OK
               ? kr_row_lists_offsets(device, matches, n, limit, made->offsets.data, query->stream, err)
               : status;
}

kr_status kr_matches_find(const kr_query *query, kr_matches *matches, kr_error *err)
{
    kr_device *device = query->index->device;
    const uint64_t n = query->n;
    const char *help = "use kr_index_lookup_chunks, which needs less";
    kr_matches made = {0};
    kr_status status =
        kr_buffer_allocate(device, n * sizeof(kr_match), query->stream, "matches", help, &made.matches, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, (n + 1) * sizeof(uint64_t), query->stream, "offsets", help,
                                    &made.offsets, err);
    if (status == KR_OK)
        status = kr_query_locate(query, KR_PUT_MATCH, made.matches.data, err);
    if (status == KR_OK)
        status = find_offsets(query, &made, err);
    kr_stopwatch_lap(query->watch, "offsets");
    if (status == KR_OK)
        *matches = made;
    else
        kr_matches_release(query, &made);
    return status;
}

kr_status kr_matches_copy(const kr_query *query, const kr_matches *matches, const kr_matches_copy_job *part,
                          kr_error *err)
{
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const kr_row_lists_job job = {
        .rows = &rows,
        .matches = (const kr_match *)matches->matches.data + part->first,
        .offsets = (const uint64_t *)matches->offsets.data + part->first,
        .n = part->count,
        .base = part->base,
        .capacity = part->capacity,
        .out = part->out,
        .probes = part->probes,
        .row_limit = query->index->row_limit,
        .skip = part->skip,
        .first_probe = part->first_probe,
    };
    if (part->count == 0 || part->capacity == 0)
        return KR_OK;
    if (part->capacity > UINT64_MAX / 16)
        return kr_fail(err, KR_ERR_LIMIT,
                       "room for %llu row ids is more than any memory has; give "
                       "kr_sink.rows_capacity as many as kr_sink.rows has",
                       (unsigned long long)part->capacity);
    if (part->count >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT,
                       "ROWS for %llu probes, but at most 4294967294 at once; use kr_index_lookup_chunks",
                       (unsigned long long)part->count);
    /* the rows of one key are numbered in ascending order (results/match.h) */
    const int sort = part->order == KR_ORDER_ROW && query->batch.upper;
    const kr_status status = matches->whole.data ? kr_limited_copy(query, matches, part, err)
                             : sort
                                 ? kr_row_lists_copy_ascending(query->index->device, &job, query->stream, err)
                                 : kr_row_lists_copy(query->index->device, &job, query->stream, err);
    kr_stopwatch_lap(query->watch, "rows");
    return status;
}

uint32_t kr_result_bits(const kr_sink *sink)
{
    switch (sink->result) {
    case KR_RESULT_ROW: return 32;
    case KR_RESULT_EXISTS: return 1;
    case KR_RESULT_SUM_WIDE: return 128;
    case KR_RESULT_MIN:
    case KR_RESULT_MAX: return 8 * kr_type_nbytes(sink->values->type);
    default: return 64;
    }
}
