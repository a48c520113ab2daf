/* Many conditions in one pass: batches of plans over the same columns. */
#include "table/families/full/full_batch.h"

#include <stdlib.h>

/* For each multiprocessor: as many as registers allow, and some more. */
enum { BLOCKS = 8 };

/* What a block keeps of the tables: from their beginning up to the first column that does not fit. */
static uint32_t shared_nbytes(const kr_device *device, const full_batch *batch,
                              const full_batch_params *params, uint64_t nbytes)
{
    const uint32_t folds = params->folds[FULL_BATCH_TEAMS] ? FULL_FOLD_NBYTES : 0;
    const uint32_t room = device->block_nbytes > folds ? device->block_nbytes - folds : 0;
    uint64_t end = nbytes;
    if (device->ops->is_host) /* it has the tables at hand, and keeps the lanes of a piece instead */
        return room;
    for (uint32_t c = batch->n_columns; end > room && c-- > 0;)
        end = params->columns[c].tables;
    return (uint32_t)end;
}

static void run(kr_work *work, full_batch *batch, const uint32_t *alive, const kr_scan_notes *notes)
{
    full_batch_params params = {.alive = alive,
                                .n = batch->table->n_rows,
                                .n_columns = batch->n_columns,
                                .n_lanes = batch->n_lanes,
                                .skips = batch->table->logic != FULL_LOGIC_AND};
    const uint64_t elements = (params.n + FULL_BATCH_ROWS - 1) / FULL_BATCH_ROWS;
    char *tables = NULL, note[FULL_NOTE_NBYTES];
    uint32_t n_narrow = 0;
    uint64_t nbytes = 0;
    if (notes->counters) {
        params.compared = notes->counters + KR_SCAN_REFINED;
        params.spared = notes->counters + KR_SCAN_SPARED;
    }
    for (uint32_t h = 0; h < FULL_HALVES; ++h)
        params.inverts[h] = batch->inverts[h];
    KR_STEP(work, full_tables_make(batch, &params, &tables, &nbytes, work->err));
    char *there = kr_work_take_constants(work, nbytes, "a batch of conditions", "fewer conditions at once");
    kr_work_write_constants(work, there, tables, nbytes);
    params.tables = there;
    params.shared_nbytes = shared_nbytes(work->device, batch, &params, nbytes);
    params.blocks =
        (kr_blocks){params.shared_nbytes + (params.folds[FULL_BATCH_TEAMS] ? FULL_FOLD_NBYTES : 0), BLOCKS};
    kr_work_run(work, batch->is_wide ? &full_batch_u64 : &full_batch_u32, &params, elements);
    for (uint32_t c = 0; c < batch->n_columns; ++c)
        n_narrow +=
            batch->sources[c].other == KR_NO_COLUMN && full_is_narrow(batch->table, batch->sources[c].column);
    kr_scans_log_step(notes->log, "full: %u conditions, %u lanes, %u columns, %llu edges in one pass%s",
                      batch->n_jobs, batch->n_lanes, batch->n_columns, (unsigned long long)batch->n_edges,
                      full_narrow_note(n_narrow, note));
    kr_work_lap(work, "scan");
    kr_work_give(work, there);
    free(tables);
}

/* Fills a batch with what fits of the jobs that are left. */
static void fill(kr_work *work, full_batch *batch, const kr_batch_job *jobs, uint32_t n, uint64_t left)
{
    for (uint32_t i = 0; i < n; ++i)
        if (left >> i & 1)
            KR_STEP(work, full_batch_add(batch, jobs + i, i, work->err));
}

/* A job that shares nothing. A conjunction is left to `select`, which puts its leaves in order; so is what
 * does not fit in one pass. */
static void answer_alone(kr_work *work, full_batch *batch, kr_batch_job *job, const uint32_t *alive,
                         const kr_scan_notes *notes)
{
    if (!kr_plan_has_or(job->plan))
        return;
    job->is_done = (uint32_t)full_select_plan(work, batch->table, job->plan, alive, job->bitmap, notes);
    if (!job->is_done && batch->n_jobs) {
        run(work, batch, alive, notes);
        job->is_done = 1;
    }
}

/* One batch after the other: each takes what still fits of the jobs that are left. */
void full_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n, const uint32_t *alive,
                       const kr_scan_notes *notes)
{
    uint64_t left = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    full_batch *batch = kr_work_object(work, sizeof *batch, "a batch of conditions");
    while (left && kr_work_goes_on(work)) {
        uint32_t first = 0;
        full_batch_begin(batch, self);
        fill(work, batch, jobs, n, left);
        while (!((batch->n_jobs ? batch->members : left) >> first & 1))
            ++first;
        left &= ~(batch->members | (uint64_t)1 << first);
        if (batch->n_jobs < 2)
            answer_alone(work, batch, jobs + first, alive, notes);
        else
            run(work, batch, alive, notes);
        for (uint32_t i = first; i < n && batch->n_jobs > 1; ++i)
            jobs[i].is_done |= batch->members >> i & 1;
    }
    if (batch)
        full_batch_release(batch);
    free(batch);
}
