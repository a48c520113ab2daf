#include "lookup/rows.h"
#include "lookup/chunks.h"

#include <stdlib.h>
#include <string.h>

kr_status kr_rows_enqueue(const kr_query *query, const kr_sink *sink, kr_error *err)
{
    kr_matches matches = {0};
    kr_status status = kr_matches_find(query, &matches, err);
    if (status != KR_OK)
        return status;
    status = kr_device_copy(query->index->device, sink->out, matches.offsets.data, matches.offsets.nbytes,
                            query->stream, err);
    const kr_matches_copy_job part = {
        .count = query->n,
        .capacity = sink->rows ? sink->rows_capacity : 0,
        .out = sink->rows,
        .order = sink->order,
    };
    if (status == KR_OK)
        status = kr_matches_copy(query, &matches, &part, err);
    kr_matches_release(query, &matches);
    return status;
}

static kr_status check_room(const kr_sink *sink, uint64_t total, kr_error *err)
{
    return !sink->rows || total <= sink->rows_capacity
               ? KR_OK
               : kr_fail(err, KR_ERR_LIMIT, "%llu row ids match, but rows_capacity is %llu; raise it",
                         (unsigned long long)total, (unsigned long long)sink->rows_capacity);
}

/* Where device memory is host memory, the size is known before anything is written. */
static kr_status answer_on_host(const kr_query *query, const kr_sink *sink, kr_error *err)
{
    kr_matches matches = {0};
    kr_status status = kr_matches_find(query, &matches, err);
    if (status != KR_OK)
        return status;
    const uint64_t total = ((const uint64_t *)matches.offsets.data)[query->n];
    const kr_matches_copy_job part = {
        .count = query->n, .capacity = total, .out = sink->rows, .order = sink->order};
    status = check_room(sink, total, err);
    if (status == KR_OK && sink->rows)
        status = kr_matches_copy(query, &matches, &part, err);
    if (status == KR_OK)
        memcpy(sink->out, matches.offsets.data, matches.offsets.nbytes);
    kr_matches_release(query, &matches);
    return status;
}

/* ---- Host memory that the device does not reach ------------------------------------------------ */

/* One pass counts; a second one copies the row ids, if all of them fit. */
typedef struct gather {
    kr_device *device;
    const kr_sink *sink;
    uint64_t *offsets; /* host, n + 1 */
    uint64_t total;    /* row ids so far */
    kr_error error;    /* of a failed copy within the callback */
} gather;

static int gather_offsets(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                          const uint32_t *rows)
{
    gather *g = ctx;
    (void)rows;
    for (uint64_t i = 0; i <= n_probes; ++i)
        g->offsets[first_probe + i] = g->total + offsets[i];
    g->total += offsets[n_probes];
    return 0;
}

static int gather_rows(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                       const uint32_t *rows)
{
    gather *g = ctx;
    return kr_memory_copy(g->device, g->sink->rows + g->offsets[first_probe], rows,
                          offsets[n_probes] * sizeof *rows, NULL, &g->error) != KR_OK;
}

static kr_status gather_all(const kr_rows_job *job, gather *g, kr_error *err)
{
    kr_query again = *job->query; /* the same probes: counted and logged once */
    kr_chunks chunks = {
        .whole = job->query,
        .lower = job->lower,
        .upper = job->upper,
        .order = job->sink->order,
        .count_only = 1,
        .cap_nbytes = UINT64_MAX / 2,
        .chunk = gather_offsets,
        .ctx = g,
    };
    kr_status status = kr_chunks_run(&chunks, err);
    if (status == KR_OK)
        status = check_room(job->sink, g->total, err);
    if (status != KR_OK)
        return status;
    chunks.count_only = 0;
    again.work = NULL;
    again.log = NULL;
    chunks.whole = &again;
    chunks.chunk = gather_rows;
    if (job->sink->rows)
        status = kr_chunks_run(&chunks, err);
    if (g->error.status != KR_OK) { /* it says more than that the callback stopped */
        if (err)
            *err = g->error;
        return g->error.status;
    }
    const uint64_t nbytes = (job->lower->count + 1) * sizeof(uint64_t);
    return status == KR_OK ? kr_memory_copy(g->device, job->sink->out, g->offsets, nbytes, NULL, err)
                           : status;
}

static kr_status answer_in_chunks(const kr_rows_job *job, kr_error *err)
{
    gather g = {.device = job->query->index->device, .sink = job->sink};
    g.offsets = kr_host_calloc(job->lower->count + 1, sizeof(uint64_t), "offsets", err);
    if (!g.offsets)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = gather_all(job, &g, err);
    free(g.offsets);
    return status;
}

kr_status kr_rows_answer(const kr_rows_job *job, kr_error *err)
{
    if (job->query->index->device->ops->is_host)
        return answer_on_host(job->query, job->sink, err);
    return job->reaches ? kr_rows_enqueue(job->query, job->sink, err) : answer_in_chunks(job, err);
}
