#include "lookup/many.h"
#include "results/bitmap.h"
#include "results/counts.h"
#include "results/reduce.h"

#include <string.h>

enum { PIECE = 1 << 22 }; /* probes of a piece whose arrays are copied; a multiple of 8, for bitmaps */

/* ---- Answers of matches ----------------------------------------------------------------------- */

static kr_status exists(const kr_query *query, const kr_match *matches, const kr_sink *sink, kr_error *err)
{
    kr_device *device = query->index->device;
    kr_buffer flags = {0};
    kr_status status = kr_buffer_allocate(device, query->n, query->stream, "flags", NULL, &flags, err);
    if (status == KR_OK)
        status = kr_counts_flag(device, matches, query->n, flags.data, query->stream, err);
    if (status == KR_OK)
        status = kr_bitmap_pack(device, flags.data, query->n, sink->out, query->stream, err);
    kr_buffer_release(device, &flags, query->stream);
    return status;
}

static kr_status reduced(const kr_query *query, const kr_match *matches, const kr_sink *sink,
                         const kr_column *values, kr_error *err)
{
    kr_device *device = query->index->device;
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const kr_reduction how = kr_reduction_of(&rows, sink->result, values);
    kr_buffer any = {0};
    kr_status status = KR_OK;
    if (sink->valid)
        status = kr_buffer_allocate(device, query->n, query->stream, "flags", NULL, &any, err);
    if (status == KR_OK)
        status = kr_reduce(device, &how, matches, NULL, query->n, sink->out, any.data, query->stream, err);
    if (status == KR_OK && sink->valid)
        status = kr_bitmap_pack(device, any.data, query->n, sink->valid, query->stream, err);
    kr_buffer_release(device, &any, query->stream);
    return status;
}

static kr_status answer(const kr_query *query, const kr_match *matches, const kr_sink *sink,
                        const kr_column *values, kr_error *err)
{
    if (sink->result == KR_RESULT_EXISTS)
        return exists(query, matches, sink, err);
    if (sink->result == KR_RESULT_COUNT)
        return kr_counts_of(query->index->device, matches, query->n, sink->out, query->stream, err);
    return reduced(query, matches, sink, values, err);
}

/* All sinks, whose arrays the device reaches. */
static kr_status answer_all(const kr_many *job, const kr_query *query, const kr_sink *sinks, kr_error *err)
{
    kr_device *device = query->index->device;
    kr_buffer matches = {0};
    kr_status status = kr_buffer_allocate(device, query->n * sizeof(kr_match), query->stream, "matches",
                                          "ask for one result at a time", &matches, err);
    if (status == KR_OK)
        status = kr_query_locate(query, KR_PUT_MATCH, matches.data, err);
    for (uint32_t i = 0; i < job->n_sinks && status == KR_OK; ++i)
        status = answer(query, matches.data, &sinks[i], sinks[i].values ? &job->values[i] : NULL, err);
    kr_stopwatch_lap(query->watch, "reduce");
    kr_buffer_release(device, &matches, query->stream);
    return status;
}

/* ---- Host memory that the device does not reach ------------------------------------------------ */

/* A piece of an array of answers: the array itself, or memory of the device for it. */
typedef struct answers_piece {
    char *there; /* in the caller's array */
    kr_buffer copy;
    uint64_t nbytes;
} answers_piece;

typedef struct sink_piece {
    answers_piece out, valid;
} sink_piece;

static kr_status open_array(const kr_query *query, void *array, uint32_t bits, uint64_t first,
                            answers_piece *piece, void **use, kr_error *err)
{
    kr_status status = KR_OK;
    *use = NULL;
    if (!array)
        return KR_OK;
    piece->there = (char *)array + bits * first / 8;
    piece->nbytes = (bits * query->n + 7) / 8;
    if (!kr_device_reaches(query->index->device, array))
        status =
            kr_buffer_allocate(query->index->device, piece->nbytes, query->stream, "a piece of the answers",
                               "ask for one result at a time", &piece->copy, err);
    *use = piece->copy.data ? piece->copy.data : piece->there;
    return status;
}

static kr_status bring_back(const kr_query *query, const answers_piece *piece, kr_error *err)
{
    return piece->copy.data ? kr_device_copy(query->index->device, piece->there, piece->copy.data,
                                             piece->nbytes, query->stream, err)
                            : KR_OK;
}

/* Answers into the pieces of all arrays that begin at probe `first`. Blocks. */
static kr_status answer_piece(const kr_many *job, const kr_query *query, uint64_t first, kr_error *err)
{
    kr_device *device = query->index->device;
    kr_sink sinks[KR_SINKS_MOST];
    sink_piece pieces[KR_SINKS_MOST];
    kr_status status = KR_OK;
    memset(pieces, 0, sizeof pieces);
    for (uint32_t i = 0; i < job->n_sinks && status == KR_OK; ++i) {
        sinks[i] = job->sinks[i];
        status = open_array(query, job->sinks[i].out, kr_result_bits(&sinks[i]), first, &pieces[i].out,
                            &sinks[i].out, err);
        void *valid = NULL;
        if (status == KR_OK)
            status = open_array(query, job->sinks[i].valid, 1, first, &pieces[i].valid, &valid, err);
        sinks[i].valid = valid;
    }
    if (status == KR_OK)
        status = answer_all(job, query, sinks, err);
    for (uint32_t i = 0; i < job->n_sinks && status == KR_OK; ++i) {
        status = bring_back(query, &pieces[i].out, err);
        if (status == KR_OK)
            status = bring_back(query, &pieces[i].valid, err);
    }
    const kr_status end = kr_device_sync(device, query->stream, status == KR_OK ? err : NULL);
    for (uint32_t i = 0; i < job->n_sinks; ++i) {
        kr_buffer_release(device, &pieces[i].valid.copy, query->stream);
        kr_buffer_release(device, &pieces[i].out.copy, query->stream);
    }
    return status == KR_OK ? end : status;
}

static kr_status run_piece(const kr_many *job, uint64_t first, uint64_t n, kr_error *err)
{
    const kr_query *whole = job->whole;
    kr_device *device = whole->index->device;
    const kr_column *upper = job->upper ? job->upper : job->lower;
    const kr_column low_part = kr_column_slice(job->lower, first, n),
                    high_part = kr_column_slice(upper, first, n);
    kr_resident low = {0}, high = {0};
    kr_status status = kr_resident_make(device, &low_part, "a piece of the batch", whole->stream, &low, err);
    if (status == KR_OK && job->upper)
        status = kr_resident_make(device, &high_part, "a piece of the batch", whole->stream, &high, err);
    kr_stopwatch_lap(whole->watch, "copy");
    if (status == KR_OK) {
        const kr_query query =
            kr_query_over(whole, &low.column, job->upper ? &high.column : NULL, whole->stream);
        status = answer_piece(job, &query, first, err);
        kr_stopwatch_lap(whole->watch, "copy");
    }
    kr_resident_release(device, &high, whole->stream);
    kr_resident_release(device, &low, whole->stream);
    return status;
}

kr_status kr_many_answer(const kr_many *job, kr_error *err)
{
    const uint64_t n = job->lower->count;
    kr_status status = KR_OK;
    if (n && job->reaches)
        return answer_all(job, job->whole, job->sinks, err);
    for (uint64_t first = 0, end; first < n && status == KR_OK; first = end) {
        end = n - first < PIECE ? n : first + PIECE;
        status = run_piece(job, first, end - first, err);
        if (status == KR_OK)
            status = kr_progress_report(&job->whole->index->device->options.progress, "lookup",
                                        (double)end / (double)n, err);
    }
    return status;
}
