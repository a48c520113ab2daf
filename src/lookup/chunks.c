/* ROWS in chunks: the matches of a piece of the batch are found once, then cut between probes so that each
 * chunk's row ids fit the cap. Also serves rows.c with host memory. */
#include "lookup/chunks.h"

#include <stdlib.h>

enum { PROBES = 1 << 20 }; /* located at a time */

typedef struct piece {
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

static kr_status bring_rows(const piece *p, const kr_matches_copy_job *wanted, uint32_t **rows, kr_error *err)
{
    kr_device *device = p->query.index->device;
    kr_matches_copy_job part = *wanted;
    kr_buffer out = {0};
    kr_status status = kr_buffer_allocate(device, part.capacity * sizeof(uint32_t), p->query.stream,
                                          "a chunk of row ids", "use a smaller cap", &out, err);
    part.out = out.data;
    if (status == KR_OK)
        status = kr_matches_copy(&p->query, &p->matches, &part, err);
    if (status == KR_OK &&
        !(*rows = kr_host_calloc(part.capacity, sizeof(uint32_t), "a chunk of row ids", err)))
        status = KR_ERR_HOST_MEMORY;
    if (status == KR_OK)
        status =
            kr_device_copy(device, *rows, out.data, part.capacity * sizeof(uint32_t), p->query.stream, err);
    if (status == KR_OK)
        status = kr_device_sync(device, p->query.stream, err);
    kr_buffer_release(device, &out, p->query.stream);
    return status;
}

static kr_status give_chunk(piece *p, uint64_t first, uint64_t end, uint64_t piece_first, kr_error *err)
{
    const kr_matches_copy_job part = {
        .first = first,
        .count = end - first,
        .base = p->offsets[first],
        .capacity = p->offsets[end] - p->offsets[first],
        .order = p->job->order,
    };
    uint32_t *rows = NULL;
    kr_status status = p->job->count_only ? KR_OK : bring_rows(p, &part, &rows, err);
    for (uint64_t i = 0; i <= part.count; ++i)
        p->rebased[i] = p->offsets[first + i] - part.base;
    if (status == KR_OK && p->job->chunk(p->job->ctx, piece_first + first, part.count, p->rebased, rows))
        status = kr_fail(err, KR_ERR_CANCELLED, "the chunk callback stopped the lookup at probe %llu",
                         (unsigned long long)(piece_first + first));
    free(rows);
    return status;
}

static kr_status give_piece(piece *p, uint64_t piece_first, kr_error *err)
{
    kr_device *device = p->query.index->device;
    const uint64_t n = p->query.n;
    kr_status status = kr_matches_find(&p->query, &p->matches, err);
    if (status == KR_OK)
        status = kr_device_copy(device, p->offsets, p->matches.offsets.data, (n + 1) * sizeof(uint64_t),
                                p->query.stream, err);
    if (status == KR_OK)
        status = kr_device_sync(device, p->query.stream, err);
    for (uint64_t first = 0; status == KR_OK && first < n;) {
        const uint64_t end = cut(p, first);
        if (end == first)
            status =
                kr_fail(err, KR_ERR_LIMIT,
                        "probe %llu has %llu matches: its chunk needs %llu bytes, but the cap is %llu; "
                        "raise it",
                        (unsigned long long)(piece_first + first),
                        (unsigned long long)(p->offsets[first + 1] - p->offsets[first]),
                        (unsigned long long)(p->offsets[first + 1] - p->offsets[first]) * sizeof(uint32_t),
                        (unsigned long long)p->job->cap_nbytes);
        else
            status = give_chunk(p, first, end, piece_first, err);
        first = end;
    }
    kr_matches_release(&p->query, &p->matches);
    return status;
}

static kr_status run_piece(piece *p, uint64_t first, uint64_t n, kr_error *err)
{
    const kr_chunks *job = p->job;
    kr_device *device = job->whole->index->device;
    const kr_column lower_part = kr_column_slice(job->lower, first, n);
    const kr_column upper_part = kr_column_slice(job->upper ? job->upper : job->lower, first, n);
    kr_resident lower = {0}, upper = {0};
    kr_status status =
        kr_resident_make(device, &lower_part, "a chunk of probes", job->whole->stream, &lower, err);
    if (status == KR_OK && job->upper)
        status = kr_resident_make(device, &upper_part, "a chunk of probes", job->whole->stream, &upper, err);
    if (status == KR_OK) {
        p->query =
            kr_query_over(job->whole, &lower.column, job->upper ? &upper.column : NULL, job->whole->stream);
        status = give_piece(p, first, err);
    }
    kr_resident_release(device, &upper, job->whole->stream);
    kr_resident_release(device, &lower, job->whole->stream);
    return status;
}

kr_status kr_chunks_run(const kr_chunks *job, kr_error *err)
{
    const uint64_t n = job->lower->count, most = n < PROBES ? n : PROBES;
    piece p = {.job = job};
    kr_status status = kr_index_await(job->whole->index, job->whole->stream, err);
    if (status == KR_OK && !(p.offsets = kr_host_calloc(most + 1, sizeof(uint64_t), "offsets", err)))
        status = KR_ERR_HOST_MEMORY;
    if (status == KR_OK && !(p.rebased = kr_host_calloc(most + 1, sizeof(uint64_t), "offsets", err)))
        status = KR_ERR_HOST_MEMORY;
    for (uint64_t first = 0; status == KR_OK && first < n; first += PROBES) {
        status = run_piece(&p, first, n - first < PROBES ? n - first : PROBES, err);
        if (status == KR_OK)
            status = kr_progress_report(&job->whole->index->device->options.progress, "lookup",
                                        (double)first / (double)n, err);
    }
    free(p.rebased);
    free(p.offsets);
    return status;
}
