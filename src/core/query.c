#include "core/query.h"
#include "core/order.h"
#include "core/partition.h"
#include "core/reduce.h"

static kr_batch batch_of(const kr_column *lower, const kr_column *upper)
{
    kr_batch batch = {
        .lower = lower->data,
        .lower_validity = lower->validity,
        .lower_offset = lower->validity_offset,
        .lower_type = lower->type,
        .upper_type = lower->type,
    };
    if (upper) {
        batch.upper = upper->data;
        batch.upper_validity = upper->validity;
        batch.upper_offset = upper->validity_offset;
    }
    return batch;
}

kr_status kr_query_check(const kr_kind *kind, int is_range, kr_error *err)
{
    return kr_kind_check(kind, is_range ? KR_CAN_RANGE : KR_CAN_POINT, err);
}

kr_query kr_query_part(const kr_query *whole, const kr_column *lower, const kr_column *upper,
                       kr_stream *stream)
{
    kr_query query = *whole;
    query.batch = batch_of(lower, upper);
    query.n = lower->count;
    query.plan = kr_plan_batch(whole->index, lower->count);
    query.stream = stream;
    return query;
}

kr_status kr_query_make(const kr_index *index, const kr_column *lower, const kr_column *upper,
                        kr_stream *stream, kr_stopwatch *watch, kr_query *query, kr_error *err)
{
    const kr_query empty = {.index = index, .watch = watch};
    const kr_status status = kr_query_check(index->spec.kind, upper != NULL, err);
    if (status == KR_OK)
        *query = kr_query_part(&empty, lower, upper, stream);
    return status;
}

/* The batch from probe `first` on. */
static kr_batch skip_probes(kr_batch batch, uint64_t first)
{
    const uint64_t nbytes = first * kr_type_nbytes(batch.lower_type);
    batch.lower = (const char *)batch.lower + nbytes;
    batch.lower_offset += first;
    if (batch.upper)
        batch.upper = (const char *)batch.upper + nbytes;
    batch.upper_offset += first;
    return batch;
}

/* Probes first .. first + n - 1, in the order in which they are searched. */
typedef struct query_piece {
    uint64_t first, n;
    kr_batch batch;
    kr_order order;
    kr_partition partition; /* answers then come in its order, and go back with kr_partition_back */
} query_piece;

static uint64_t piece_most(const kr_query *query)
{
    const uint64_t most = KR_NO_ROW / 64 * 64; /* positions of a reordered piece are u32 */
    const int moved = query->plan.sorted || query->plan.part_bits;
    return moved && query->plan.piece > most ? most : query->plan.piece;
}

static kr_status partition(const kr_query *query, query_piece *piece, kr_error *err)
{
    const kr_index *index = query->index;
    kr_partition_job job = {
        .device = index->device,
        .ops = index->ops,
        .self = index->self,
        .stream = query->stream,
        .n = piece->n,
        .bits = query->plan.part_bits,
    };
    return kr_type_key_bits(piece->batch.lower_type) == 64
               ? kr_partition_make_u64(&job, &piece->batch, &piece->partition, err)
               : kr_partition_make_u32(&job, &piece->batch, &piece->partition, err);
}

static kr_status piece_open(const kr_query *query, uint64_t first, query_piece *piece, kr_error *err)
{
    const uint64_t most = piece_most(query), left = query->n - first;
    kr_status status = KR_OK;
    *piece = (query_piece){.first = first, .n = left < most ? left : most};
    piece->batch = skip_probes(query->batch, first);
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

static void piece_close(const kr_query *query, query_piece *piece)
{
    kr_partition_release(query->index->device, &piece->partition, query->stream);
    kr_order_release(query->index->device, &piece->order, query->stream);
}

static int is_partitioned(const query_piece *piece)
{
    return piece->partition.places.data != NULL;
}

static kr_status piece_locate(const kr_query *query, const query_piece *piece, kr_put put, kr_error *err)
{
    const kr_index *index = query->index;
    const kr_locate job = {
        .batch = piece->batch,
        .put = put,
        .n = piece->n,
        .partition = is_partitioned(piece) ? &piece->partition.view : NULL,
        .watch = query->watch,
    };
    const kr_status status = index->ops->locate(index->device, index->self, &job, query->stream, err);
    if (query->log)
        query->log->probes[query->plan.way] += piece->n;
    kr_stopwatch_lap(query->watch, "search");
    return status;
}

/* Answers of a partitioned piece to their probes' places. */
static kr_status piece_back(const kr_query *query, const query_piece *piece, const void *answers,
                            uint32_t nbytes, void *out, kr_error *err)
{
    const kr_status status =
        kr_partition_back(query->index->device, &piece->partition, answers, nbytes, out, query->stream, err);
    kr_stopwatch_lap(query->watch, "back");
    return status;
}

/* Room for answers in the order of the search. */
static kr_status piece_answers(const kr_query *query, const query_piece *piece, uint32_t nbytes,
                               kr_buffer *answers, kr_error *err)
{
    return kr_buffer_allocate(query->index->device, piece->n * nbytes, query->stream,
                              "answers in search order", "probes=as-is", answers, err);
}

static kr_status piece_answer(const kr_query *query, const query_piece *piece, uint32_t what, void *out,
                              kr_error *err)
{
    kr_put put = {.out = out, .order = piece->batch.order, .work = query->work, .what = what};
    kr_buffer answers = {0};
    if (!is_partitioned(piece))
        return piece_locate(query, piece, put, err);
    kr_status status = piece_answers(query, piece, kr_put_nbytes(what), &answers, err);
    put.out = answers.data;
    put.order = NULL;
    if (status == KR_OK)
        status = piece_locate(query, piece, put, err);
    if (status == KR_OK)
        status = piece_back(query, piece, answers.data, kr_put_nbytes(what), out, err);
    kr_buffer_release(query->index->device, &answers, query->stream);
    return status;
}

kr_status kr_query_locate(const kr_query *query, uint32_t what, void *out, kr_error *err)
{
    kr_status status = KR_OK;
    query_piece piece;
    for (uint64_t first = 0; status == KR_OK && first < query->n; first += piece.n) {
        status = piece_open(query, first, &piece, err);
        if (status == KR_OK)
            status = piece_answer(query, &piece, what, (char *)out + first * kr_put_nbytes(what), err);
        piece_close(query, &piece);
    }
    return status;
}

/* ---- Answers that need one byte a probe, then a bitmap -------------------------------------- */

static kr_status pack(const kr_query *query, const kr_buffer *flags, uint8_t *bitmap, kr_error *err)
{
    const pack_params params = {flags->data, bitmap, query->n};
    return kr_device_run(query->index->device, &reduce_pack_flags, &params, (query->n + 7) / 8, query->stream,
                         err);
}

static kr_status answer_exists(const kr_query *query, const kr_sink *sink, kr_error *err)
{
    kr_device *device = query->index->device;
    kr_buffer flags = {0};
    kr_status status = kr_buffer_allocate(device, query->n, query->stream, "flags", NULL, &flags, err);
    if (status == KR_OK)
        status = kr_query_locate(query, KR_PUT_FLAG, flags.data, err);
    if (status == KR_OK)
        status = pack(query, &flags, sink->out, err);
    kr_buffer_release(device, &flags, query->stream);
    return status;
}

/* ---- Answers made of all matches ------------------------------------------------------------ */

static uint32_t reduction(const kr_sink *sink, const kr_column *values)
{
    switch (sink->result) {
    case KR_RESULT_ROW: return KR_REDUCE_MIN_ROW;
    case KR_RESULT_SUM_ROWS: return KR_REDUCE_SUM_ROWS;
    case KR_RESULT_MIN: return KR_REDUCE_MIN;
    case KR_RESULT_MAX: return KR_REDUCE_MAX;
    default:
        return values->type == KR_F32 || values->type == KR_F64 ? KR_REDUCE_SUM_FLOATS
                                                                : KR_REDUCE_SUM_INTEGERS;
    }
}

/* A reduction of the rows of matches, and the program that does it. */
typedef struct reducing {
    reduce_params params;
    const kr_program *program;
} reducing;

static reducing reducing_of(const kr_query *query, const kr_sink *sink, const kr_column *values)
{
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const uint32_t op = reduction(sink, values);
    reduce_params params = {
        .view = rows.view, .op = op, .alone = rows.by_one ? REDUCE_ALL_ALONE : REDUCE_ALONE};
    if (values) {
        params.values = values->data;
        params.validity = values->validity;
        params.validity_offset = values->validity_offset;
        params.n_values = values->count;
        params.type = values->type;
    }
    return (reducing){params, (rows.any_order ? rows.any_order : rows.walk)->reduce[op]};
}

/* One total a slice, then one answer a probe. */
static kr_status reduce_slices(const kr_query *query, uint64_t n, const kr_program *program,
                               reduce_params *params, kr_error *err)
{
    kr_device *device = query->index->device;
    const uint64_t count = n << params->spread.slice_bits;
    kr_buffer totals = {0};
    kr_status status = kr_buffer_allocate(device, count * sizeof(reduce_total), query->stream,
                                          "totals of slices", NULL, &totals, err);
    params->totals = totals.data;
    if (status == KR_OK)
        status = kr_device_run(device, program, params, count * params->spread.threads, query->stream, err);
    if (status == KR_OK)
        status = kr_device_run(device, &reduce_merge_slices, params, n, query->stream, err);
    kr_buffer_release(device, &totals, query->stream);
    return status;
}

/* Matches stand in the order of the search, in which neighbours share cache lines of row ids; answers go to
 * their probes' places. */
static kr_status reduce_piece(const kr_query *query, const query_piece *piece, const kr_match *matches,
                              const reducing *of, kr_error *err)
{
    kr_device *device = query->index->device;
    reduce_params params = of->params;
    kr_status status;
    params.matches = matches;
    params.order = is_partitioned(piece) ? NULL : piece->batch.order;
    params.spread = (kr_spread){0, 1};
    if (params.alone != REDUCE_ALL_ALONE)
        params.spread = kr_spread_of(device->ops->is_host, piece->n);
    if (params.spread.slice_bits)
        status = reduce_slices(query, piece->n, of->program, &params, err);
    else
        status = kr_device_run(device, of->program, &params, piece->n, query->stream, err);
    kr_stopwatch_lap(query->watch, "reduce");
    return status;
}

/* reduce_piece of a partitioned piece, whose answers go back afterwards. */
static kr_status reduce_parts(const kr_query *query, const query_piece *piece, const kr_match *matches,
                              uint32_t nbytes, const reducing *of, kr_error *err)
{
    kr_device *device = query->index->device;
    reducing moved = *of;
    kr_buffer answers = {0}, any = {0};
    kr_status status = piece_answers(query, piece, nbytes, &answers, err);
    if (status == KR_OK && of->params.any)
        status = piece_answers(query, piece, 1, &any, err);
    moved.params.out = answers.data;
    moved.params.any = any.data;
    if (status == KR_OK)
        status = reduce_piece(query, piece, matches, &moved, err);
    if (status == KR_OK)
        status = piece_back(query, piece, answers.data, nbytes, of->params.out, err);
    if (status == KR_OK && of->params.any)
        status = piece_back(query, piece, any.data, 1, of->params.any, err);
    kr_buffer_release(device, &any, query->stream);
    kr_buffer_release(device, &answers, query->stream);
    return status;
}

static kr_status reduce_all(const kr_query *query, const kr_sink *sink, const kr_column *values,
                            const kr_buffer *matches, uint8_t *any, kr_error *err)
{
    const kr_put put = {.out = matches->data, .work = query->work, .what = KR_PUT_MATCH};
    const uint32_t nbytes = kr_result_bits(sink) / 8;
    reducing how = reducing_of(query, sink, values);
    kr_status status = KR_OK;
    query_piece piece;
    for (uint64_t first = 0; status == KR_OK && first < query->n; first += piece.n) {
        status = piece_open(query, first, &piece, err);
        how.params.out = (char *)sink->out + first * nbytes;
        how.params.any = any ? any + first : NULL;
        if (status == KR_OK)
            status = piece_locate(query, &piece, put, err);
        if (status == KR_OK && is_partitioned(&piece))
            status = reduce_parts(query, &piece, matches->data, nbytes, &how, err);
        else if (status == KR_OK)
            status = reduce_piece(query, &piece, matches->data, &how, err);
        piece_close(query, &piece);
    }
    return status;
}

static kr_status answer_reduced(const kr_query *query, const kr_sink *sink, const kr_column *values,
                                kr_error *err)
{
    kr_device *device = query->index->device;
    const uint64_t most = piece_most(query), piece = query->n < most ? query->n : most;
    kr_buffer matches = {0}, any = {0};
    kr_status status =
        kr_buffer_allocate(device, piece * sizeof(kr_match), query->stream, "matches", NULL, &matches, err);
    if (status == KR_OK && sink->valid)
        status = kr_buffer_allocate(device, query->n, query->stream, "flags", NULL, &any, err);
    if (status == KR_OK)
        status = reduce_all(query, sink, values, &matches, any.data, err);
    if (status == KR_OK && sink->valid)
        status = pack(query, &any, sink->valid, err);
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

uint32_t kr_result_bits(const kr_sink *sink)
{
    switch (sink->result) {
    case KR_RESULT_ROW: return 32;
    case KR_RESULT_EXISTS: return 1;
    case KR_RESULT_MIN:
    case KR_RESULT_MAX: return 8 * kr_type_nbytes(sink->values->type);
    default: return 64;
    }
}
