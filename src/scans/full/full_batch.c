/* Many conditions in one pass: batches of plans over the same columns. */
#include "scans/full/full_batch.h"

#include <stdlib.h>

/* For each multiprocessor: as many as registers allow, and some more. */
enum { BLOCKS = 8 };

/* What a block keeps of the tables: from their beginning up to the first column that does not fit. */
static uint32_t shared_nbytes(const kr_device *device, const full_batch *batch,
                              const full_batch_params *params, uint64_t nbytes)
{
    const uint32_t joins = params->joins[FULL_BATCH_TEAMS] ? FULL_JOIN_NBYTES : 0;
    const uint32_t room = device->block_nbytes > joins ? device->block_nbytes - joins : 0;
    uint64_t end = nbytes;
    for (uint32_t c = batch->n_columns; end > room && c-- > 0;)
        end = params->columns[c].tables;
    return (uint32_t)end;
}

static kr_status run(kr_device *device, full_batch *batch, const uint32_t *alive,
                     const kr_scan_context *context, kr_error *err)
{
    full_batch_params params = {.alive = alive,
                                .n = batch->table->n_rows,
                                .n_columns = batch->n_columns,
                                .n_lanes = batch->n_lanes,
                                .skips = batch->table->logic != FULL_LOGIC_AND};
    const uint64_t elements = (params.n + FULL_BATCH_ROWS - 1) / FULL_BATCH_ROWS;
    kr_buffer buffer = {0};
    char *tables = NULL;
    uint64_t nbytes = 0;
    if (context->work) {
        params.compared = context->work + KR_SCAN_REFINED;
        params.spared = context->work + KR_SCAN_SPARED;
    }
    for (uint32_t h = 0; h < FULL_HALVES; ++h)
        params.inverts[h] = batch->inverts[h];
    kr_status status = full_tables_make(batch, &params, &tables, &nbytes, err);
    if (status == KR_OK)
        status = kr_constants_allocate(device, nbytes, context->stream, "a batch of conditions",
                                       "fewer conditions at once", &buffer, err);
    if (status == KR_OK)
        status = kr_constants_copy(device, &buffer, tables, context->stream, err);
    params.tables = buffer.data;
    params.shared_nbytes = shared_nbytes(device, batch, &params, nbytes);
    params.blocks =
        (kr_blocks){params.shared_nbytes + (params.joins[FULL_BATCH_TEAMS] ? FULL_JOIN_NBYTES : 0), BLOCKS};
    if (status == KR_OK)
        status = kr_device_run(device, batch->is_wide ? &full_batch_u64 : &full_batch_u32, &params, elements,
                               context->stream, err);
    if (status == KR_OK)
        kr_scan_log_step(context->log, "full: %u conditions, %u lanes, %u columns, %llu edges in one pass",
                         batch->n_jobs, batch->n_lanes, batch->n_columns, (unsigned long long)batch->n_edges);
    kr_stopwatch_lap(context->watch, "scan");
    kr_buffer_release(device, &buffer, context->stream);
    free(tables);
    return status;
}

/* Fills a batch with what fits of the jobs that are left. */
static kr_status fill(full_batch *batch, const kr_batch_job *jobs, uint32_t n, uint64_t left, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        int is_added = 0;
        if (left >> i & 1)
            status = full_batch_add(batch, jobs + i, i, &is_added, err);
    }
    return status;
}

/* A job that shares nothing. A conjunction is left to `select`, which puts its leaves in order; so is what
 * does not fit in one pass. */
static kr_status answer_alone(kr_device *device, full_batch *batch, kr_batch_job *job, const uint32_t *alive,
                              const kr_scan_context *context, kr_error *err)
{
    const kr_plan *plan = job->plan;
    if (!kr_plan_has_or(plan))
        return KR_OK;
    kr_status status = full_select_plan(device, batch->table, plan, alive, job->bitmap, context, err);
    job->is_done = status == KR_OK;
    if (status == KR_ERR_LIMIT && batch->n_jobs) {
        status = run(device, batch, alive, context, err);
        job->is_done = 1;
    }
    return status == KR_ERR_LIMIT ? KR_OK : status;
}

/* One batch after the other: each takes what still fits of the jobs that are left. */
kr_status full_select_batch(kr_device *device, const void *self, kr_batch_job *jobs, uint32_t n,
                            const uint32_t *alive, const kr_scan_context *context, kr_error *err)
{
    uint64_t left = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    full_batch *batch = kr_host_calloc(1, sizeof *batch, "a batch of conditions", err);
    kr_status status = batch ? KR_OK : KR_ERR_HOST_MEMORY;
    while (left && status == KR_OK) {
        uint32_t first = 0;
        full_batch_begin(batch, self);
        status = fill(batch, jobs, n, left, err);
        while (!((batch->n_jobs ? batch->members : left) >> first & 1))
            ++first;
        left &= ~(batch->members | (uint64_t)1 << first);
        if (status == KR_OK && batch->n_jobs < 2)
            status = answer_alone(device, batch, jobs + first, alive, context, err);
        else if (status == KR_OK)
            status = run(device, batch, alive, context, err);
        for (uint32_t i = first; i < n && batch->n_jobs > 1; ++i)
            jobs[i].is_done |= batch->members >> i & 1;
    }
    if (batch)
        full_batch_release(batch);
    free(batch);
    return status;
}
