#include "index/lookup/many.h"
#include "index/lookup/kept.h"
#include "index/results/bitmap.h"
#include "index/results/counts.h"
#include "index/results/reduce.h"

#include <string.h>

enum { PIECE = 1 << 22 }; /* probes of a piece whose arrays are copied; a multiple of 8, for bitmaps */

/* ---- Answers of matches ----------------------------------------------------------------------- */

static void exists(kr_work *w, uint64_t n, const kr_match *matches, const kr_sink *sink)
{
    uint8_t *flags = kr_work_take(w, n, "flags");
    kr_counts_flag(w, matches, n, flags);
    kr_bitmap_pack(w, flags, n, sink->out);
    kr_work_give(w, flags);
}

static void reduced(kr_work *w, const kr_query *query, const kr_match *matches, const kr_sink *sink,
                    const kr_column *values)
{
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const kr_reduction how = kr_reduce_of(&rows, sink->result, values);
    uint8_t *any = sink->valid ? kr_work_take(w, query->n, "flags") : NULL;
    kr_reduce(w, &how, matches, NULL, query->n, sink->out, any);
    if (sink->valid)
        kr_bitmap_pack(w, any, query->n, sink->valid);
    kr_work_give(w, any);
}

/* All sinks, whose arrays the device reaches. */
static void answer_all(kr_work *w, const kr_many *job, const kr_query *query, const kr_sink *sinks)
{
    kr_match *matches =
        kr_work_take_or(w, query->n * sizeof *matches, "matches", "ask for one result at a time");
    kr_query_locate(w, query, KR_PUT_MATCH, matches);
    for (uint32_t i = 0; i < job->n_sinks && kr_work_goes_on(w); ++i) {
        const kr_sink *sink = &sinks[i];
        if (sink->result == KR_RESULT_EXISTS)
            exists(w, query->n, matches, sink);
        else if (sink->result == KR_RESULT_COUNT)
            kr_counts_of(w, matches, query->n, sink->out);
        else
            reduced(w, query, matches, sink, sink->values ? &job->values[i] : NULL);
    }
    kr_work_lap(w, "reduce");
    kr_work_give(w, matches);
}

/* ---- Host memory that the device does not reach ------------------------------------------------ */

/* A piece of an array of answers: the array itself, or memory of the device for it. */
typedef struct answers_piece {
    char *there; /* in the caller's array */
    kr_buffer copy;
    uint64_t nbytes;
} answers_piece;

/* The arrays of a sink. A work has no room for those of all sinks. */
typedef struct sink_piece {
    answers_piece out, valid;
} sink_piece;

static void *open_array(kr_work *w, void *array, uint32_t bits, uint64_t first, uint64_t n,
                        answers_piece *piece)
{
    if (!array)
        return NULL;
    piece->there = (char *)array + bits * first / 8;
    piece->nbytes = (bits * n + 7) / 8;
    if (!kr_device_reaches(w->device, array)) {
        void *copy =
            kr_work_take_or(w, piece->nbytes, "a piece of the answers", "ask for one result at a time");
        piece->copy = kr_work_keep(w, copy);
    }
    return piece->copy.data ? piece->copy.data : piece->there;
}

static void bring_back(kr_work *w, const answers_piece *piece)
{
    if (piece->copy.data)
        kr_work_copy(w, piece->there, piece->copy.data, piece->nbytes);
}

/* Answers into the pieces of all arrays that begin at probe `first`. Blocks. */
static void answer_piece(kr_work *w, const kr_many *job, const kr_query *query, uint64_t first)
{
    kr_sink sinks[KR_SINKS_MOST];
    sink_piece pieces[KR_SINKS_MOST];
    memset(pieces, 0, sizeof pieces);
    for (uint32_t i = 0; i < job->n_sinks && kr_work_goes_on(w); ++i) {
        const kr_sink *sink = &job->sinks[i];
        sinks[i] = *sink;
        sinks[i].out = open_array(w, sink->out, kr_query_result_bits(sink), first, query->n, &pieces[i].out);
        sinks[i].valid = open_array(w, sink->valid, 1, first, query->n, &pieces[i].valid);
    }
    if (kr_work_goes_on(w))
        answer_all(w, job, query, sinks);
    for (uint32_t i = 0; i < job->n_sinks; ++i) {
        bring_back(w, &pieces[i].out);
        bring_back(w, &pieces[i].valid);
    }
    kr_work_finish(w);
    for (uint32_t i = 0; i < job->n_sinks; ++i) {
        kr_buffer_release(w->device, &pieces[i].valid.copy, w->stream);
        kr_buffer_release(w->device, &pieces[i].out.copy, w->stream);
    }
}

static void run_piece(kr_work *w, const kr_many *job, uint64_t first, uint64_t n)
{
    const uint32_t mark = kr_work_mark(w);
    const kr_column low_part = kr_column_slice(job->lower, first, n),
                    high_part = kr_column_slice(job->upper ? job->upper : job->lower, first, n);
    const kr_column low = kr_column_bring(w, &low_part, "a piece of the batch");
    kr_column high = {.count = 0};
    if (job->upper)
        high = kr_column_bring(w, &high_part, "a piece of the batch");
    kr_work_lap(w, "copy");
    const kr_query query = kr_query_over(job->whole, &low, job->upper ? &high : NULL);
    answer_piece(w, job, &query, first);
    kr_work_lap(w, "copy");
    kr_work_give_since(w, mark);
}

void kr_many_answer(kr_work *w, const kr_many *job)
{
    const uint64_t n = job->lower->count;
    if (!n || !kr_work_goes_on(w))
        return;
    if (kr_query_is_kept(job->whole)) {
        const kr_kept_answers all = {job->whole, job->lower, job->upper, job->sinks, job->n_sinks};
        job->whole->index->ops->kept->answer(w, &all);
        return;
    }
    if (job->reaches) {
        answer_all(w, job, job->whole, job->sinks);
        return;
    }
    for (uint64_t first = 0, end; first < n && kr_work_goes_on(w); first = end) {
        end = n - first < PIECE ? n : first + PIECE;
        run_piece(w, job, first, end - first);
        KR_STEP(w,
                kr_progress_report(&w->device->options.progress, "lookup", (double)end / (double)n, w->err));
    }
}
