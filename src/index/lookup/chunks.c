/* ROWS in chunks: the matches of a piece of the batch are found once, then cut between probes so that each
 * chunk's row ids fit the cap. Also serves rows.c with host memory. */
#include "index/lookup/chunks.h"

#include <stdlib.h>

enum { PROBES = 1 << 20 }; /* located at a time; of divided indexes more */

typedef struct piece {
    kr_work *work;
    const kr_chunks *job;
    kr_query query;
    kr_matches matches;
    uint64_t *offsets; /* host, n + 1 */
    uint64_t *rebased; /* host, n + 1 */
} piece;

/* The first probe after `first` whose row ids no longer fit. */
static uint64_t cut(const piece *p, uint64_t first)
{
    const uint64_t most = p->job->cap_nbytes / sizeof(uint32_t);
    uint64_t end = first;
    while (end < p->query.n && p->offsets[end + 1] - p->offsets[first] <= most)
        ++end;
    return end;
}

/* Host memory that the caller frees. */
static uint32_t *bring_rows(piece *p, const kr_matches_copy_job *wanted)
{
    const uint64_t nbytes = wanted->capacity * sizeof(uint32_t);
    kr_matches_copy_job part = *wanted;
    part.out = kr_work_take_or(p->work, nbytes, "a chunk of row ids", "use a smaller cap");
    kr_matches_copy(p->work, &p->query, &p->matches, &part);
    uint32_t *rows = kr_work_array(p->work, wanted->capacity, sizeof *rows, "a chunk of row ids");
    kr_work_read(p->work, rows, part.out, nbytes);
    kr_work_give(p->work, part.out);
    return rows;
}

static void give_chunk(piece *p, uint64_t first, uint64_t end, uint64_t piece_first)
{
    kr_work *w = p->work;
    const kr_matches_copy_job part = {
        .first = first,
        .count = end - first,
        .base = p->offsets[first],
        .capacity = p->offsets[end] - p->offsets[first],
        .order = p->job->order,
    };
    uint32_t *rows = p->job->count_only ? NULL : bring_rows(p, &part);
    for (uint64_t i = 0; i <= part.count; ++i)
        p->rebased[i] = p->offsets[first + i] - part.base;
    if (kr_work_goes_on(w) && p->job->chunk(p->job->ctx, piece_first + first, part.count, p->rebased, rows))
        KR_STEP(w, kr_fail(w->err, KR_ERR_CANCELLED, "the chunk callback stopped the lookup at probe %llu",
                           (unsigned long long)(piece_first + first)));
    free(rows);
}

static void give_piece(piece *p, uint64_t piece_first)
{
    kr_work *w = p->work;
    const uint64_t n = p->query.n;
    p->matches = kr_matches_find(w, &p->query);
    kr_work_read(w, p->offsets, p->matches.offsets, (n + 1) * sizeof(uint64_t));
    for (uint64_t first = 0, end; kr_work_goes_on(w) && first < n; first = end) {
        end = cut(p, first);
        if (end == first)
            KR_STEP(
                w, kr_fail(w->err, KR_ERR_LIMIT,
                           "probe %llu has %llu matches: its chunk needs %llu bytes, but the cap is %llu; "
                           "raise it",
                           (unsigned long long)(piece_first + first),
                           (unsigned long long)(p->offsets[first + 1] - p->offsets[first]),
                           (unsigned long long)(p->offsets[first + 1] - p->offsets[first]) * sizeof(uint32_t),
                           (unsigned long long)p->job->cap_nbytes));
        else
            give_chunk(p, first, end, piece_first);
    }
}

static void run_piece(piece *p, uint64_t first, uint64_t n)
{
    const kr_chunks *job = p->job;
    const uint32_t mark = kr_work_mark(p->work);
    const kr_column lower_part = kr_column_slice(job->lower, first, n);
    const kr_column upper_part = kr_column_slice(job->upper ? job->upper : job->lower, first, n);
    const kr_column lower = kr_column_bring(p->work, &lower_part, "a chunk of probes");
    kr_column upper = {.count = 0};
    if (job->upper)
        upper = kr_column_bring(p->work, &upper_part, "a chunk of probes");
    p->query = kr_query_over(job->whole, &lower, job->upper ? &upper : NULL);
    give_piece(p, first);
    kr_work_give_since(p->work, mark);
}

void kr_chunks_run(kr_work *w, const kr_chunks *job)
{
    if (!kr_work_goes_on(w))
        return;
    const uint64_t n = job->lower->count, piece_n = kr_query_piece(job->whole->index, PROBES);
    const uint64_t most = n < piece_n ? n : piece_n;
    piece p = {.work = w, .job = job};
    KR_STEP(w, kr_index_await(job->whole->index, w->stream, w->err));
    p.offsets = kr_work_array(w, most + 1, sizeof *p.offsets, "offsets");
    p.rebased = kr_work_array(w, most + 1, sizeof *p.rebased, "offsets");
    for (uint64_t first = 0; kr_work_goes_on(w) && first < n; first += piece_n) {
        run_piece(&p, first, n - first < piece_n ? n - first : piece_n);
        KR_STEP(
            w, kr_progress_report(&w->device->options.progress, "lookup", (double)first / (double)n, w->err));
    }
    free(p.rebased);
    free(p.offsets);
}
