/* Conditions, one or many, of tables of cubes. */
#include "table/families/cubes/batch.h"

#include <stdlib.h>

/* NULL: there is nothing to answer, or a step has failed. */
static cubes_batch *begin(kr_work *work, const cubes_table *table, const uint32_t *alive,
                          const kr_scan_notes *notes)
{
    cubes_batch *b = table->n_rows ? kr_work_object(work, sizeof *b, "a condition") : NULL;
    if (!b)
        return NULL;
    b->work = work;
    b->table = table;
    b->notes = notes;
    b->alive = alive;
    return b;
}

static void log_batch(const cubes_batch *b)
{
    kr_scan_log *log = b->notes->log;
    if (b->n > 1)
        kr_scans_log_step(log, "%u conditions together, %u launch%s of the sieve", b->n, b->n_stages,
                          b->n_stages == 1 ? "" : "es");
    for (uint32_t i = 0; i < b->n; ++i)
        cubes_member_log(b->members + i, log);
}

/* Answers, and ends the batch. */
static void finish(cubes_batch *b)
{
    kr_work_lap(b->work, "encode");
    if (b->n && kr_work_goes_on(b->work))
        cubes_stages_answer(b);
    if (b->n && b->notes->log && kr_work_goes_on(b->work))
        log_batch(b);
    for (uint32_t i = 0; i < b->n; ++i) {
        if (b->members[i].asked)
            b->members[i].asked->is_done = 1;
        cubes_parts_release(b->members[i].parts, b->members[i].n_parts);
    }
    free(b);
}

void cubes_select(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes)
{
    cubes_batch *b = begin(work, self, job->alive, notes);
    if (!b)
        return;
    cubes_member *m = b->members + b->n++;
    m->bitmap = job->bitmap;
    KR_STEP(work, cubes_member_of_conjunction(b->table, job, m, work->err));
    finish(b);
}

/* Leaves out ORs of several scenes. */
void cubes_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                        const uint32_t *alive, const kr_scan_notes *notes)
{
    cubes_batch *b = begin(work, self, alive, notes);
    for (uint32_t i = 0; b && i < n; ++i) {
        cubes_member *m = b->members + b->n;
        int is_taken = 0;
        *m = (cubes_member){.asked = jobs + i, .bitmap = jobs[i].bitmap};
        KR_STEP(work, cubes_member_of_plan(b->table, jobs[i].plan, m, &is_taken, work->err));
        b->n += (uint32_t)is_taken;
    }
    if (b)
        finish(b);
}
