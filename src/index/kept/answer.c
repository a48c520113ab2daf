/* Every result but ROWS: a batch is spread over the parts, each part answers its stops, and the answers come
 * back to the probes. */
#include "index/kept/combine_params.h"
#include "index/kept/reach.h"
#include "index/kept/spread.h"
#include "index/kept/travel.h"
#include "index/kinds/column.h"
#include "index/kinds/nearest.h"
#include "index/results/bitmap.h"
#include "index/results/dense.h"
#include "index/results/reduce.h"

#include <stdlib.h>

extern const kr_program combine_totals, combine_flags, combine_ranks;

enum { PIECE_MOST = 1 << 28, PROBES_LEAST = 128 /* of which all stops always fit */ };

typedef struct answering {
    reach side;
    const kr_kept_answers *job;
    kr_resident *values; /* of each sink that takes some, where the side reaches them */
    spread s;
    char *answers; /* of all stops in the order of the parts: those of one sink after those of another */
} answering;

/* ---- The arrays of a sink ------------------------------------------------------------------------ */

/* Bytes of an answer; EXISTS has a flag only. */
static uint32_t answer_nbytes(const kr_sink *sink)
{
    return kr_query_result_bits(sink) / 8;
}

/* 1: each answer has a byte that says whether there is one. */
static int has_flags(const kr_sink *sink)
{
    return sink->result == KR_RESULT_EXISTS || sink->valid != NULL;
}

static uint64_t aligned(uint64_t nbytes)
{
    return (nbytes + KEPT_ALIGNMENT - 1) / KEPT_ALIGNMENT * KEPT_ALIGNMENT;
}

/* Where the answers of a sink begin among those of all; of n_sinks: the bytes of all. */
static uint64_t offset_of(const answering *a, uint32_t sink)
{
    uint64_t nbytes = 0;
    for (uint32_t i = 0; i < sink; ++i) {
        const kr_sink *s = &a->job->sinks[i];
        nbytes += aligned(a->s.n * answer_nbytes(s)) + (has_flags(s) ? aligned(a->s.n) : 0);
    }
    return nbytes;
}

static void *answers_of(const answering *a, uint32_t sink)
{
    return a->answers + offset_of(a, sink);
}

static uint8_t *flags_of(const answering *a, uint32_t sink)
{
    const kr_sink *s = &a->job->sinks[sink];
    return has_flags(s) ? (uint8_t *)answers_of(a, sink) + aligned(a->s.n * answer_nbytes(s)) : NULL;
}

/* ---- A part -------------------------------------------------------------------------------------- */

static void search(void *ctx, kr_work *w, const kr_index *index, uint32_t part)
{
    const answering *a = ctx;
    const kr_query stops = spread_query(&a->s, a->job->whole, index, part);
    const uint64_t first = a->s.starts[part];
    for (uint32_t i = 0; i < a->job->n_sinks && kr_work_goes_on(w); ++i) {
        const kr_column *values = a->job->sinks[i].values ? &a->values[i].column : NULL;
        uint8_t *flags = flags_of(a, i);
        kr_sink sink = a->job->sinks[i];
        sink.out = (char *)answers_of(a, i) + first * answer_nbytes(&sink);
        sink.values = values;
        kr_query_answer_flags(w, &stops, &sink, values, flags ? flags + first : NULL);
        const shift_params shift = {sink.out, a->side.of->parts[part].first};
        if (stops.batch.near.how & KR_NEAR_RANK && shift.first)
            kr_work_run(w, &combine_ranks, &shift, stops.n);
    }
}

/* ---- Back to the probes ---------------------------------------------------------------------------- */

/* An array of the caller's, or scratch memory for a piece of it. */
static void *open_piece(answering *a, void *array, uint64_t skip, uint64_t nbytes)
{
    char *there = array ? (char *)array + skip : NULL;
    if (!there || reach_has(&a->side, there))
        return there;
    return kr_work_take_or(a->side.work, nbytes, "a piece of the answers", "ask for fewer results at a time");
}

static void close_piece(answering *a, void *piece, void *array, uint64_t skip, uint64_t nbytes)
{
    if (array && !reach_has(&a->side, (char *)array + skip)) {
        kr_work_sync(a->side.work);
        reach_copy(&a->side, (char *)array + skip, piece, nbytes);
        kr_work_give(a->side.work, piece);
    }
}

static reduce_params reduction_of(answering *a, uint32_t i, void *out, uint8_t *flags)
{
    const kr_rows none = {.walk = &kr_dense_walk};
    const kr_sink *sink = &a->job->sinks[i];
    const kr_result result = sink->result == KR_RESULT_COUNT ? KR_RESULT_SUM_ROWS : sink->result;
    reduce_params into = {0};
    if (result != KR_RESULT_EXISTS)
        into = kr_reduce_of(&none, result, sink->values).params;
    into.out = out;
    into.any = flags;
    return into;
}

/* Stops of a probe are next to each other. */
static void combine(answering *a, uint32_t i, uint64_t n, void *out, uint8_t *flags)
{
    kr_work *w = a->side.work;
    const kr_sink *sink = &a->job->sinks[i];
    const uint32_t nbytes = answer_nbytes(sink), mark = kr_work_mark(w);
    void *answers = nbytes ? kr_work_take(w, a->s.n * nbytes, "answers of parts") : NULL;
    uint8_t *any = has_flags(sink) ? kr_work_take(w, a->s.n, "flags of parts") : NULL;
    if (answers)
        spread_back(w, &a->s, answers_of(a, i), nbytes, answers);
    if (any)
        spread_back(w, &a->s, flags_of(a, i), 1, any);
    const combine_params params = {reduction_of(a, i, out, flags), a->s.offsets, answers, any};
    kr_work_run(w, sink->result == KR_RESULT_EXISTS ? &combine_flags : &combine_totals, &params, n);
    kr_work_give_since(w, mark);
}

static void bring_back(answering *a, uint32_t i, uint64_t n, void *out, uint8_t *flags)
{
    kr_work *w = a->side.work;
    const uint32_t nbytes = answer_nbytes(&a->job->sinks[i]);
    if (a->s.offsets) {
        combine(a, i, n, out, flags);
        return;
    }
    if (nbytes)
        spread_back(w, &a->s, answers_of(a, i), nbytes, out);
    if (flags)
        spread_back(w, &a->s, flags_of(a, i), 1, flags);
}

/* The answers of probes first .. first + n - 1; `first` is a multiple of 8. */
static void finish_sink(answering *a, uint32_t i, uint64_t first, uint64_t n)
{
    kr_work *w = a->side.work;
    const kr_sink *sink = &a->job->sinks[i];
    const int exists = sink->result == KR_RESULT_EXISTS;
    const uint64_t nbytes = answer_nbytes(sink), bytes = (n + 7) / 8;
    void *whole = exists ? NULL : sink->out, *bits = exists ? sink->out : sink->valid;
    void *out = open_piece(a, whole, first * nbytes, n * nbytes);
    uint8_t *bitmap = open_piece(a, bits, first / 8, bytes);
    uint8_t *flags = bits ? kr_work_take(w, n, "flags") : NULL;
    if (kr_work_goes_on(w))
        bring_back(a, i, n, out, flags);
    if (bits)
        kr_bitmap_pack(w, flags, n, bitmap);
    kr_work_give(w, flags);
    close_piece(a, bitmap, bits, first / 8, bytes);
    close_piece(a, out, whole, first * nbytes, n * nbytes);
}

/* ---- A piece of the batch ------------------------------------------------------------------------ */

/* Bytes that a probe takes, with one stop. */
static uint64_t probe_nbytes(const answering *a)
{
    const kr_kept_answers *job = a->job;
    const uint64_t bound = kr_type_nbytes(job->lower->type) + 1;
    uint64_t nbytes = spread_nbytes(a->side.of, job->whole), widest = 0;
    for (uint32_t i = 0; i < job->n_sinks; ++i) {
        const uint64_t answer = answer_nbytes(&job->sinks[i]) + (uint64_t)has_flags(&job->sinks[i]);
        const int copied = !reach_has(&a->side, job->sinks[i].out);
        nbytes += answer;
        const uint64_t extra = answer * (uint64_t)(copied + !spread_is_direct(job->whole));
        widest = extra > widest ? extra : widest;
    }
    if (!reach_has(&a->side, job->lower->data))
        nbytes += bound;
    if (job->upper && !reach_has(&a->side, job->upper->data))
        nbytes += bound;
    return nbytes + widest;
}

/* Probes from `first` on; returns how many were answered. */
static uint64_t answer_piece(answering *a, uint64_t first, uint64_t n, uint64_t most)
{
    kr_work *w = a->side.work;
    const kr_kept_answers *job = a->job;
    const uint32_t mark = kr_work_mark(w);
    const kr_column low = kr_column_slice(job->lower, first, n),
                    high = kr_column_slice(job->upper ? job->upper : job->lower, first, n);
    const kr_column lower = reach_column(&a->side, &low, "a piece of the batch");
    kr_column upper = {.count = 0};
    if (job->upper)
        upper = reach_column(&a->side, &high, "a piece of the batch");
    const kr_query query = kr_query_over(job->whole, &lower, job->upper ? &upper : NULL);
    n = kr_work_goes_on(w) ? spread_make(w, a->side.of, &query, n, most, SPREAD_TO_ANSWER, &a->s) : 0;
    a->answers = kr_work_take_or(w, offset_of(a, job->n_sinks), "answers of parts", "ask for fewer results");
    kr_work_sync(w);
    const travel_job travel = {a->side.of, a->s.starts, search, a, job->whole->log};
    if (a->s.n)
        travel_parts(w, &travel);
    kr_work_lap(a->side.callers, w == a->side.callers ? "travel" : "host");
    for (uint32_t i = 0; i < job->n_sinks && kr_work_goes_on(w); ++i)
        finish_sink(a, i, first, n);
    kr_work_finish(w);
    spread_end(&a->s);
    kr_work_give_since(w, mark);
    kr_work_lap(a->side.callers, "back");
    return n;
}

/* As many probes at a time as fit, since all parts that they touch travel for each piece. */
static void answer_all(answering *a)
{
    const uint64_t n = a->job->lower->count, each = probe_nbytes(a), room = reach_room(&a->side);
    const uint64_t parts = a->side.of->n_parts, least = PROBES_LEAST * parts;
    uint64_t most = room / each, done;
    most = most < least ? least : most > PIECE_MOST ? PIECE_MOST : most;
    const uint64_t piece = most / 64 * 64;
    for (uint64_t first = 0; first < n && kr_work_goes_on(a->side.work); first += done) {
        a->s = (spread){.n = 0};
        done = answer_piece(a, first, n - first < piece ? n - first : piece, most);
        KR_STEP(a->side.work, kr_progress_report(&a->side.of->device->options.progress, "lookup",
                                                 (double)(first + done) / (double)n, a->side.work->err));
    }
}

/* ---- Values -------------------------------------------------------------------------------------- */

/* The CPU reads no memory of a GPU, and a column that is as long as the index need not fit there. */
static int is_for_host(const kr_divided *d, const kr_kept_answers *job)
{
    int is_there = 0, is_here = 0;
    for (uint32_t i = 0; i < job->n_sinks; ++i) {
        const kr_column *values = job->sinks[i].values;
        if (values && values->data && kr_device_reaches(d->device, values->data))
            is_there |= !d->device->ops->is_host;
        else if (values)
            is_here = 1;
    }
    return !is_there && (is_here || reach_prefers_host(d, job->lower->count));
}

static void bring_values(answering *a)
{
    kr_work *w = a->side.work;
    a->values = kr_work_array(w, a->job->n_sinks, sizeof *a->values, "values of results");
    for (uint32_t i = 0; a->values && i < a->job->n_sinks; ++i) {
        const kr_column *values = a->job->sinks[i].values;
        if (values && w == a->side.callers)
            KR_STEP(w, kr_work_goes_on(w) ? kr_column_resident_make(w->device, values, "a copy of the values",
                                                                    w->stream, &a->values[i], w->err)
                                          : KR_OK);
        else if (values)
            a->values[i].column = *values;
    }
}

static void release_values(answering *a)
{
    kr_work *w = a->side.work;
    for (uint32_t i = 0; a->values && i < a->job->n_sinks; ++i)
        kr_column_resident_release(w->device, &a->values[i], w->stream);
    free(a->values);
}

void divided_answer(kr_work *w, const kr_kept_answers *job)
{
    const kr_divided *d = job->whole->index->self;
    const int on_host = is_for_host(d, job);
    answering a = {.job = job};
    if (!kr_work_goes_on(w))
        return;
    reach_begin(&a.side, d, w, on_host);
    bring_values(&a);
    kr_work_lap(w, "copy");
    if (kr_work_goes_on(a.side.work))
        answer_all(&a);
    release_values(&a);
    reach_end(&a.side);
    if (job->whole->log && kr_work_goes_on(w)) {
        job->whole->log->probes[KR_SEARCHED_DIVIDED] += job->lower->count;
        job->whole->log->kept[KR_KEPT_ON_HOST] += on_host ? job->lower->count : 0;
    }
}
