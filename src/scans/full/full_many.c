/* Many conjunctions over the same columns, whose values are read once. */
#include "key/key.h"
#include "scans/full/full.h"
#include "scans/full/full_many_params.h"

#include <stdlib.h>

/* Conjunctions that a launch takes: their columns, at most FULL_MANY_COLUMNS, and who they are. */
typedef struct full_batch {
    const full_table *table;
    full_many_params params;
    uint32_t columns[FULL_MANY_COLUMNS]; /* of the table */
    uint32_t members[FULL_MANY];         /* which of the jobs */
    uint32_t n_columns, n, is_wide;
} full_batch;

/* The column's place in the batch; n_columns if it is not in it. */
static uint32_t place_of(const full_batch *batch, uint32_t column)
{
    uint32_t c = 0;
    while (c < batch->n_columns && batch->columns[c] != column)
        ++c;
    return c;
}

static int fits(uint32_t n, uint32_t n_columns, uint32_t is_wide)
{
    return n <= FULL_MANY && n * n_columns * 2 * (is_wide ? 8 : 4) <= FULL_MANY_NBYTES;
}

/* Every leaf one interval, without NULLs. */
static int is_plain(const full_table *table, const kr_select *job)
{
    uint64_t base, span;
    uint32_t negate;
    for (uint32_t i = 0; i < job->n_leaves; ++i)
        if (job->leaves[i]->nulls ||
            !full_as_interval(job->leaves[i], table->columns[job->leaves[i]->column].type, &base, &span,
                              &negate) ||
            negate)
            return 0;
    return 1;
}

/* Adds job `i` if its columns find room. */
static int add(full_batch *batch, const kr_select *job, uint32_t i)
{
    full_batch with = *batch;
    if (job->n_leaves > FULL_MANY_COLUMNS || !is_plain(batch->table, job))
        return 0;
    for (uint32_t l = 0; l < job->n_leaves; ++l) {
        const uint32_t column = job->leaves[l]->column;
        if (place_of(&with, column) < with.n_columns)
            continue;
        if (with.n_columns == FULL_MANY_COLUMNS)
            return 0;
        with.columns[with.n_columns++] = column;
        with.is_wide |= kr_type_key_bits(batch->table->columns[column].type) == 64;
    }
    if (!fits(with.n + 1, with.n_columns, with.is_wide))
        return 0;
    with.members[with.n++] = i;
    *batch = with;
    return 1;
}

static void write_interval(full_batch *batch, uint32_t q, uint32_t c, uint64_t base, uint64_t span)
{
    const uint32_t at = 2 * (q * batch->n_columns + c);
    if (batch->is_wide) {
        batch->params.intervals[at] = base;
        batch->params.intervals[at + 1] = span;
    } else {
        ((uint32_t *)batch->params.intervals)[at] = (uint32_t)base;
        ((uint32_t *)batch->params.intervals)[at + 1] = (uint32_t)span;
    }
    batch->params.from_zero &= base == 0;
}

static void write_condition(full_batch *batch, uint32_t q, const kr_select *job)
{
    batch->params.bitmaps[q] = job->bitmap;
    for (uint32_t c = 0; c < batch->n_columns; ++c)
        write_interval(batch, q, c, 0, UINT64_MAX);
    for (uint32_t l = 0; l < job->n_leaves; ++l) {
        const uint32_t c = place_of(batch, job->leaves[l]->column);
        uint64_t base, span;
        uint32_t negate;
        full_as_interval(job->leaves[l], batch->table->columns[batch->columns[c]].type, &base, &span,
                         &negate);
        write_interval(batch, q, c, base, span);
        batch->params.uses[q] |= (uint8_t)(1u << c);
    }
}

static kr_status run(kr_device *device, full_batch *batch, const kr_select *jobs,
                     const kr_scan_context *context, kr_error *err)
{
    const uint64_t n = batch->table->n_rows, rows = FULL_MANY_WORDS * 32;
    batch->params.alive = jobs->alive;
    batch->params.n = n;
    batch->params.n_columns = batch->n_columns;
    batch->params.n_conditions = batch->n;
    batch->params.from_zero = 1;
    for (uint32_t c = 0; c < batch->n_columns; ++c) {
        const kr_column *column = batch->table->columns + batch->columns[c];
        batch->params.columns[c] = (full_many_column){column->data, column->validity,
                                                      (uint32_t)column->validity_offset, column->type};
        batch->params.has_nulls |= column->validity != NULL;
    }
    for (uint32_t q = 0; q < batch->n; ++q)
        write_condition(batch, q, jobs + batch->members[q]);
    kr_scan_log_step(context->log, "full: %u conditions over %u columns in one pass", batch->n,
                     batch->n_columns);
    const kr_status status =
        kr_device_run(device, batch->is_wide ? &full_many_u64 : &full_many_u32, &batch->params,
                      (n + rows - 1) / rows * device->ops->group_threads, context->stream, err);
    kr_stopwatch_lap(context->watch, "scan");
    return status;
}

/* One batch after the other: each takes what still fits of the jobs that are left. */
kr_status full_select_many(kr_device *device, const void *self, const kr_select *jobs, uint32_t n,
                           const kr_scan_context *context, kr_error *err)
{
    uint64_t left = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    full_batch *batch = kr_host_calloc(1, sizeof *batch, "a batch of conditions", err);
    kr_status status = batch ? KR_OK : KR_ERR_HOST_MEMORY;
    while (left && status == KR_OK) {
        uint64_t taken = 0;
        *batch = (full_batch){.table = self};
        for (uint32_t i = 0; i < n; ++i)
            if (left >> i & 1 && add(batch, jobs + i, i))
                taken |= (uint64_t)1 << i;
        if (batch->n > 1) {
            status = run(device, batch, jobs, context, err);
        } else { /* nothing to share */
            uint32_t i = 0;
            while (batch->n ? i != batch->members[0] : !(left >> i & 1))
                ++i;
            taken = (uint64_t)1 << i;
            status = full_select_rows(device, self, jobs + i, context, err);
        }
        left &= ~taken;
    }
    free(batch);
    return status;
}
