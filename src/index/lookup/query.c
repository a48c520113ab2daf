#include "index/lookup/query.h"
#include "index/lookup/kept.h"
#include "index/lookup/limit.h"
#include "index/lookup/piece.h"
#include "index/results/bitmap.h"
#include "index/results/reduce.h"
#include "index/results/row_lists.h"

/* Field by field: for a single probe, a struct that is made and then copied takes longer than the search. */
static void aim(kr_query *query, const kr_column *lower, const kr_column *upper)
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
    kr_order_plan_batch(query->index, lower->count, &query->plan);
}

kr_status kr_query_check(const kr_kind *kind, int is_range, kr_error *err)
{
    return kr_kind_check(kind, is_range ? KR_CAN_RANGE : KR_CAN_POINT, err);
}

kr_query kr_query_over(const kr_query *whole, const kr_column *lower, const kr_column *upper)
{
    kr_query query = *whole;
    aim(&query, lower, upper);
    return query;
}

void kr_query_make(kr_work *w, const kr_index *index, const kr_column *lower, const kr_column *upper,
                   kr_query *query)
{
    KR_STEP(w, kr_query_check(index->spec.kind, upper != NULL, w->err));
    if (!kr_work_goes_on(w))
        return;
    *query = (kr_query){.index = index};
    aim(query, lower, upper);
}

void kr_query_make_nearest(kr_work *w, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                           kr_query *query)
{
    KR_STEP(w, kr_kind_check(index->spec.kind, KR_CAN_NEAREST, w->err));
    if (!kr_work_goes_on(w))
        return;
    *query = (kr_query){.index = index, .batch = {.near = *near}};
    aim(query, probes, NULL);
}

static void piece_answer(kr_work *w, const kr_query *query, const kr_piece *piece, uint32_t what, void *out)
{
    kr_put put = {.out = out, .order = piece->batch.order, .work = query->counters, .what = what};
    const int parted = kr_piece_is_partitioned(piece);
    if (parted) {
        put.out = kr_piece_take_answers(w, piece, kr_put_nbytes(what));
        put.order = NULL;
    }
    kr_piece_locate(w, query, piece, put);
    if (parted)
        kr_piece_back(w, piece, put.out, kr_put_nbytes(what), out);
}

void kr_query_locate(kr_work *w, const kr_query *query, uint32_t what, void *out)
{
    kr_piece piece;
    if (kr_work_goes_on(w) && kr_query_is_kept(query)) {
        kr_query_kept_locate(w, query, what, out);
        return;
    }
    for (uint64_t first = 0; kr_work_goes_on(w) && first < query->n; first += piece.n) {
        kr_piece_open(w, query, first, &piece);
        piece_answer(w, query, &piece, what, (char *)out + first * kr_put_nbytes(what));
        kr_piece_close(w, &piece);
    }
}

int kr_query_can_stay(const kr_query *query)
{
    return query->plan.part_bits && query->n <= kr_piece_most(query);
}

void kr_query_locate_rows(kr_work *w, const kr_query *query, uint32_t *rows, uint32_t *probes)
{
    kr_query staying = *query;
    kr_piece piece;
    const kr_put put = {.out = rows, .work = query->counters, .what = KR_PUT_ROW};
    staying.stay = probes;
    kr_piece_open(w, &staying, 0, &piece);
    kr_piece_locate(w, &staying, &piece, put);
    kr_piece_close(w, &piece);
}

/* ---- Answers made of all rows of the matches ------------------------------------------------- */

/* Matches are in the order of the search, in which neighbours share cache lines of row ids; answers go to
 * their probes' places. */
static void reduce_piece(kr_work *w, const kr_piece *piece, const kr_match *matches, const kr_reduction *how,
                         void *out, uint8_t *any)
{
    const uint32_t *order = kr_piece_is_partitioned(piece) ? NULL : piece->batch.order;
    kr_reduce(w, how, matches, order, piece->n, out, any);
    kr_work_lap(w, "reduce");
}

/* The same for a partitioned piece, whose answers are put back in order afterwards. */
static void reduce_parts(kr_work *w, const kr_piece *piece, const kr_match *matches, const kr_reduction *how,
                         uint32_t nbytes, void *out, uint8_t *any)
{
    void *answers = kr_piece_take_answers(w, piece, nbytes);
    uint8_t *flags = any ? kr_piece_take_answers(w, piece, 1) : NULL;
    reduce_piece(w, piece, matches, how, answers, flags);
    kr_piece_back(w, piece, answers, nbytes, out);
    if (any)
        kr_piece_back(w, piece, flags, 1, any);
}

static void reduce_all(kr_work *w, const kr_query *query, const kr_sink *sink, const kr_column *values,
                       kr_match *matches, uint8_t *any)
{
    const kr_put put = {.out = matches, .work = query->counters, .what = KR_PUT_MATCH};
    const uint32_t nbytes = kr_query_result_bits(sink) / 8;
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const kr_reduction how = kr_reduce_of(&rows, sink->result, values);
    kr_piece piece;
    for (uint64_t first = 0; kr_work_goes_on(w) && first < query->n; first += piece.n) {
        void *out = (char *)sink->out + first * nbytes;
        uint8_t *any_out = any ? any + first : NULL;
        kr_piece_open(w, query, first, &piece);
        kr_piece_locate(w, query, &piece, put);
        if (kr_piece_is_partitioned(&piece))
            reduce_parts(w, &piece, matches, &how, nbytes, out, any_out);
        else
            reduce_piece(w, &piece, matches, &how, out, any_out);
        kr_piece_close(w, &piece);
    }
}

static void answer_reduced(kr_work *w, const kr_query *query, const kr_sink *sink, const kr_column *values,
                           uint8_t *any)
{
    const uint64_t most = kr_piece_most(query), piece = query->n < most ? query->n : most;
    kr_match *matches = kr_work_take(w, piece * sizeof *matches, "matches");
    reduce_all(w, query, sink, values, matches, any);
    kr_work_give(w, matches);
}

/* Whether the family adds up the rows itself, without matches. */
static int sums_itself(const kr_query *query, const kr_sink *sink, const kr_column *values)
{
    const kr_index *index = query->index;
    const int is_sum = sink->result == KR_RESULT_SUM && values->type != KR_F32 && values->type != KR_F64;
    return index->ops->sums && (is_sum || sink->result == KR_RESULT_SUM_ROWS) && !query->batch.near.how &&
           index->ops->sums(index->self, query->batch.upper != NULL);
}

static void answer_sums(kr_work *w, const kr_query *query, const kr_sink *sink, const kr_column *values)
{
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const kr_reduction how = kr_reduce_of(&rows, sink->result, values);
    kr_piece piece;
    for (uint64_t first = 0; kr_work_goes_on(w) && first < query->n; first += piece.n) {
        kr_piece_open(w, query, first, &piece);
        kr_piece_sum(w, query, &piece, &how, (uint64_t *)sink->out + first);
        kr_piece_close(w, &piece);
    }
}

void kr_query_answer_flags(kr_work *w, const kr_query *query, const kr_sink *sink, const kr_column *values,
                           uint8_t *flags)
{
    if (sink->result == KR_RESULT_EXISTS)
        kr_query_locate(w, query, KR_PUT_FLAG, flags);
    else if (sink->result == KR_RESULT_COUNT)
        kr_query_locate(w, query, KR_PUT_COUNT, sink->out);
    else if (sink->result == KR_RESULT_ROW && !query->batch.upper)
        kr_query_locate(w, query, KR_PUT_ROW, sink->out);
    else if (sums_itself(query, sink, values))
        answer_sums(w, query, sink, values);
    else
        answer_reduced(w, query, sink, values, flags);
}

void kr_query_answer(kr_work *w, const kr_query *query, const kr_sink *sink, const kr_column *values)
{
    void *bitmap = sink->result == KR_RESULT_EXISTS ? sink->out : sink->valid;
    if (!kr_work_goes_on(w) || query->n == 0)
        return;
    if (kr_query_is_kept(query)) {
        kr_query_kept_answer(w, query, sink, values);
        return;
    }
    uint8_t *flags = bitmap ? kr_work_take(w, query->n, "flags") : NULL;
    kr_query_answer_flags(w, query, sink, values, flags);
    if (bitmap)
        kr_bitmap_pack(w, flags, query->n, bitmap);
    kr_work_give(w, flags);
}

/* ---- ROWS ------------------------------------------------------------------------------------ */

void kr_matches_give(kr_work *w, const kr_matches *matches)
{
    kr_work_give(w, matches->gathered.rows);
    kr_work_give(w, matches->whole);
    kr_work_give(w, matches->offsets);
    kr_work_give(w, matches->matches);
}

kr_matches kr_matches_find(kr_work *w, const kr_query *query)
{
    static const char help[] = "use kr_index_lookup_chunks, which needs less";
    kr_matches made = {.matches = NULL};
    if (!kr_work_goes_on(w))
        return made;
    if (kr_query_is_kept(query))
        return kr_matches_kept_find(w, query);
    const uint64_t n = query->n, nbytes = (n + 1) * sizeof(uint64_t);
    made.rows = query->index->ops->rows(query->index->self);
    made.matches = kr_work_take_or(w, n * sizeof(kr_match), "matches", help);
    made.offsets = kr_work_take_or(w, nbytes, "offsets", help);
    kr_query_locate(w, query, KR_PUT_MATCH, made.matches);
    if (kr_limit_gathers(query)) {
        made.whole = kr_work_take_or(w, nbytes, "offsets", "use KR_ORDER_KEY");
        kr_row_lists_offsets(w, made.matches, n, UINT64_MAX, made.whole);
    }
    /* of the rows within the limit, if there is one */
    kr_row_lists_offsets(w, made.matches, n, query->limit ? query->limit : UINT64_MAX, made.offsets);
    kr_work_lap(w, "offsets");
    return made;
}

/* The rows are in device memory. */
static void copy_rows(kr_work *w, const kr_query *query, const kr_matches *matches,
                      const kr_matches_copy_job *part)
{
    const kr_row_lists_job job = {
        .rows = &matches->rows,
        .matches = matches->matches + part->first,
        .offsets = matches->offsets + part->first,
        .n = part->count,
        .base = part->base,
        .capacity = part->capacity,
        .out = part->out,
        .probes = part->probes,
        .row_limit = query->index->row_limit,
        .skip = part->skip,
        .first_probe = part->first_probe,
    };
    if (matches->whole)
        kr_limit_copy(w, query, matches, part);
    else if (part->order == KR_ORDER_ROW && query->batch.upper)
        kr_row_lists_copy_ascending(w, &job);
    else /* the rows of one key are numbered in ascending order (index/results/match.h) */
        kr_row_lists_copy(w, &job);
}

kr_matches kr_matches_read(kr_work *w, const kr_query *query)
{
    kr_matches made = {.matches = NULL};
    if (!kr_work_goes_on(w))
        return made;
    if (kr_query_is_kept(query))
        return kr_matches_kept_read(w, query);
    made.rows = query->index->ops->rows(query->index->self);
    made.matches = kr_work_take(w, query->n * sizeof(kr_match), "matches");
    kr_query_locate(w, query, KR_PUT_MATCH, made.matches);
    return made;
}

void kr_matches_copy(kr_work *w, const kr_query *query, kr_matches *matches, const kr_matches_copy_job *part)
{
    kr_matches_copy_job here = *part;
    if (!kr_work_goes_on(w) || part->count == 0 || part->capacity == 0)
        return;
    if (part->capacity > UINT64_MAX / 16)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "room for %llu row ids is more than any memory has; give "
                           "kr_sink.rows_capacity as many as kr_sink.rows has",
                           (unsigned long long)part->capacity));
    if (part->count >= KR_NO_ROW)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "ROWS for %llu probes, but at most 4294967294 at once; use kr_index_lookup_chunks",
                           (unsigned long long)part->count));
    if (kr_query_is_kept(query)) {
        const kr_matches gathered = kr_matches_kept_gather(w, query, matches, &here);
        if (kr_work_goes_on(w) && here.capacity)
            copy_rows(w, query, &gathered, &here);
        kr_work_give(w, gathered.matches);
    } else
        copy_rows(w, query, matches, part);
    kr_work_lap(w, "rows");
}

uint32_t kr_query_result_bits(const kr_sink *sink)
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
