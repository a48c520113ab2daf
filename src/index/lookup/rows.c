#include "index/lookup/rows.h"
#include "index/lookup/chunks.h"

#include <stdlib.h>

void kr_rows_enqueue(kr_work *w, const kr_query *query, const kr_sink *sink)
{
    kr_matches matches = kr_matches_find(w, query);
    const kr_matches_copy_job part = {
        .count = query->n,
        .capacity = sink->rows ? sink->rows_capacity : 0,
        .out = sink->rows,
        .order = sink->order,
    };
    kr_work_copy(w, sink->out, matches.offsets, (query->n + 1) * sizeof *matches.offsets);
    kr_matches_copy(w, query, &matches, &part);
    kr_matches_give(w, &matches);
}

static void check_room(kr_work *w, const kr_sink *sink, uint64_t total)
{
    if (sink->rows && total > sink->rows_capacity)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT, "%llu row ids match, but rows_capacity is %llu; raise it",
                           (unsigned long long)total, (unsigned long long)sink->rows_capacity));
}

/* Where device memory is host memory, the size is known before anything is written. */
static void answer_on_host(kr_work *w, const kr_query *query, const kr_sink *sink)
{
    kr_matches matches = kr_matches_find(w, query);
    if (!kr_work_goes_on(w))
        return;
    const uint64_t total = matches.offsets[query->n];
    const kr_matches_copy_job part = {
        .count = query->n, .capacity = total, .out = sink->rows, .order = sink->order};
    check_room(w, sink, total);
    if (sink->rows)
        kr_matches_copy(w, query, &matches, &part);
    kr_work_copy(w, sink->out, matches.offsets, (query->n + 1) * sizeof *matches.offsets);
    kr_matches_give(w, &matches);
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

static void gather_all(kr_work *w, const kr_rows_job *job, gather *g)
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
    kr_chunks_run(w, &chunks);
    check_room(w, job->sink, g->total);
    chunks.count_only = 0;
    again.counters = NULL;
    again.log = NULL;
    chunks.whole = &again;
    chunks.chunk = gather_rows;
    if (job->sink->rows)
        kr_chunks_run(w, &chunks);
    if (g->error.status != KR_OK) { /* it says more than that the callback stopped */
        w->status = g->error.status;
        if (w->err)
            *w->err = g->error;
    }
    const uint64_t nbytes = (job->lower->count + 1) * sizeof(uint64_t);
    KR_STEP(w, kr_memory_copy(g->device, job->sink->out, g->offsets, nbytes, NULL, w->err));
}

static void answer_in_chunks(kr_work *w, const kr_rows_job *job)
{
    gather g = {.device = w->device, .sink = job->sink};
    g.offsets = kr_work_array(w, job->lower->count + 1, sizeof *g.offsets, "offsets");
    if (g.offsets)
        gather_all(w, job, &g);
    free(g.offsets);
}

void kr_rows_answer(kr_work *w, const kr_rows_job *job)
{
    if (!kr_work_goes_on(w))
        return;
    if (w->device->ops->is_host)
        answer_on_host(w, job->query, job->sink);
    else if (job->reaches)
        kr_rows_enqueue(w, job->query, job->sink);
    else
        answer_in_chunks(w, job);
}
