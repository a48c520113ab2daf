/* Batches of plans in one launch: a block takes a tile for one of them. AND and OR join the bits of leaves in
 * the block's memory, so a plan of a few leaves takes one pass, too. */
#include "scans/bindex/bindex.h"
#include "scans/grow.h"

#include <stdio.h>
#include <stdlib.h>

/* Plans for one launch over a part. */
typedef struct batch {
    kr_device *device;
    const bindex_table *table;
    const kr_scan_context *context;
    const uint32_t *alive;
    kr_batch_job *asked;
    uint32_t members[KR_SELECTS_MOST], n; /* which of the jobs */
    uint32_t most_leaves, most_runs;      /* of a member */
    bindex_pass *passes;                  /* of the members */
    bindex_work *works;                   /* NULL, or of all leaves of all members */
    kr_error *err;
} batch;

/* ---- Which plans ----------------------------------------------------------------------------- */

static kr_status add_leaves(const kr_device *device, const kr_plan *plan, const bindex_part *part,
                            bindex_pass *pass, bindex_work *works, int *has_room, kr_error *err)
{
    kr_status status = KR_OK;
    *has_room = 1;
    for (uint64_t l = 0; l < plan->n_leaves && status == KR_OK && *has_room; ++l) {
        *has_room = !device || bindex_pass_has_room(pass, device);
        if (*has_room)
            status = bindex_pass_add(pass, part, plan->leaves + l, works ? works + l : NULL, err);
    }
    return status;
}

/* Whether one pass has room for the plan. Few leaves never have too many runs; the runs of others depend on
 * the part. */
static int fits(const kr_device *device, const bindex_table *table, const kr_plan *plan)
{
    int has_room = plan->n_leaves <= bindex_leaves_most(device);
    for (uint32_t p = 0; p < table->n_parts && has_room && plan->n_leaves > BINDEX_RUNS / BINDEX_LEAF_RUNS;
         ++p) {
        bindex_pass pass = {.lists = {.n_runs = 0}};
        if (add_leaves(device, plan, table->parts + p, &pass, NULL, &has_room, NULL) != KR_OK)
            has_room = 0;
        bindex_lists_release(&pass.lists);
    }
    return has_room;
}

static void choose(batch *b, uint32_t n)
{
    int has_or = 0;
    for (uint32_t i = 0; i < n; ++i)
        if (fits(b->device, b->table, b->asked[i].plan)) {
            b->members[b->n++] = i;
            has_or |= kr_plan_has_or(b->asked[i].plan);
        }
    if (b->n == 1 && !has_or)
        b->n = 0; /* `select` does it */
}

/* ---- A launch -------------------------------------------------------------------------------- */

/* The plane of a node is that of its first operand, to which the others are joined. */
static void write_joins(const kr_plan *plan, bindex_job *job)
{
    uint32_t planes[2 * BINDEX_LEAVES] = {0};
    for (uint64_t at = 0; at < plan->n_nodes; ++at) {
        const kr_plan_node *node = plan->nodes + at;
        uint64_t child = at - 1;
        for (uint32_t i = 0; node->op != KR_PLAN_LEAF && i < node->n; child -= plan->nodes[child].size, ++i) {
            if (i)
                job->joins[job->n_joins++] = bindex_join(
                    node->op == KR_PLAN_OR ? BINDEX_JOIN_OR : BINDEX_JOIN_AND, planes[at], planes[child]);
            else
                planes[at] = planes[child];
        }
        if (node->op == KR_PLAN_LEAF)
            planes[at] = node->n;
    }
    job->root = planes[plan->n_nodes - 1];
}

/* The jobs, then the lists of those that need them, as they will be at `there` in device memory. */
static void write_jobs(const batch *b, const bindex_part *part, char *to, const char *there)
{
    uint64_t at = b->n * sizeof(bindex_job);
    for (uint32_t i = 0; i < b->n; ++i) {
        const kr_batch_job *asked = b->asked + b->members[i];
        bindex_job *job = (bindex_job *)to + i;
        bindex_pass *pass = b->passes + i;
        const uint64_t nbytes = bindex_lists_nbytes(&pass->lists);
        const bindex_target target = {b->alive, asked->bitmap, asked->count};
        bindex_pass_finish(pass, b->table, part, &target, nbytes ? there + at : NULL);
        if (nbytes)
            bindex_lists_write(&pass->lists, to + at);
        at += nbytes;
        *job = (bindex_job){.params = pass->params};
        if (kr_plan_has_or(asked->plan))
            write_joins(asked->plan, job);
    }
}

static kr_status launch(const batch *b, const bindex_part *part, const char *jobs, const char *there)
{
    bindex_batch_params params = {.jobs = (const bindex_job *)there, .n_jobs = b->n};
    if (!there)
        params.only = *(const bindex_job *)jobs;
    params.blocks = (kr_blocks){bindex_pass_shared(b->most_leaves, b->most_runs) +
                                    (b->device->ops->is_host ? 0 : BINDEX_JOB_NBYTES),
                                0};
    return kr_device_run(b->device, &bindex_batch, &params, part->columns[0].view.n_tiles * b->n,
                         b->context->stream, b->err);
}

/* A plan whose lists are short goes along with the launch; others are copied first. */
static kr_status run(const batch *b, const bindex_part *part)
{
    kr_stream *stream = b->context->stream;
    uint64_t nbytes = b->n * sizeof(bindex_job);
    kr_buffer memory = {0};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < b->n; ++i)
        nbytes += bindex_lists_nbytes(&b->passes[i].lists);
    char *jobs = kr_host_calloc(nbytes, 1, "a batch of conditions", b->err);
    if (!jobs)
        return KR_ERR_HOST_MEMORY;
    if (nbytes > sizeof(bindex_job))
        status = kr_constants_allocate(b->device, nbytes, stream, "a batch of conditions",
                                       "fewer conditions at once", &memory, b->err);
    if (status == KR_OK)
        write_jobs(b, part, jobs, memory.data);
    if (status == KR_OK && memory.data)
        status = kr_constants_copy(b->device, &memory, jobs, stream, b->err);
    if (status == KR_OK)
        status = launch(b, part, jobs, memory.data);
    kr_buffer_release(b->device, &memory, stream);
    free(jobs);
    return status;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static kr_status answer_part(batch *b, const bindex_part *part)
{
    kr_status status = KR_OK;
    uint64_t first = 0;
    b->most_leaves = b->most_runs = 0;
    for (uint32_t i = 0; i < b->n && status == KR_OK; ++i) {
        const kr_plan *plan = b->asked[b->members[i]].plan;
        bindex_pass *pass = b->passes + i;
        int has_room;
        bindex_pass_clear(pass);
        status = add_leaves(NULL, plan, part, pass, b->works ? b->works + first : NULL, &has_room, b->err);
        first += plan->n_leaves;
        b->most_leaves = pass->params.n_leaves > b->most_leaves ? pass->params.n_leaves : b->most_leaves;
        b->most_runs = pass->lists.n_runs > b->most_runs ? (uint32_t)pass->lists.n_runs : b->most_runs;
    }
    return status == KR_OK ? run(b, part) : status;
}

static void log_batch(const batch *b)
{
    const bindex_work *works = b->works;
    if (b->n > 1)
        kr_scan_log_step(b->context->log, "bindex: %u conditions in one pass", b->n);
    for (uint32_t i = 0; i < b->n; ++i) {
        const kr_plan *plan = b->asked[b->members[i]].plan;
        char text[KR_SCAN_STEP_NBYTES];
        if (kr_plan_has_or(plan) && bindex_explain_plan(b->table, plan, text))
            kr_scan_log_step(b->context->log, "%s", text);
        for (uint64_t l = 0; l < plan->n_leaves; ++l)
            bindex_log(b->table, (const kr_leaf *const[]){plan->leaves + l}, 1, works++, b->context->log);
    }
}

static kr_status answer(batch *b)
{
    uint64_t n_leaves = 0;
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < b->n; ++i)
        n_leaves += b->asked[b->members[i]].plan->n_leaves;
    b->passes = kr_host_calloc(b->n, sizeof *b->passes, "a batch of conditions", b->err);
    if (b->context->log)
        b->works = kr_host_calloc(n_leaves, sizeof *b->works, "a report", b->err);
    if (!b->passes || (b->context->log && !b->works))
        status = KR_ERR_HOST_MEMORY;
    for (uint32_t p = 0; p < b->table->n_parts && status == KR_OK; ++p)
        status = answer_part(b, b->table->parts + p);
    if (status == KR_OK && b->works)
        log_batch(b);
    kr_stopwatch_lap(b->context->watch, "refine");
    for (uint32_t i = 0; i < b->n && status == KR_OK; ++i)
        b->asked[b->members[i]].is_done = 1;
    for (uint32_t i = 0; i < b->n && b->passes; ++i)
        bindex_lists_release(&b->passes[i].lists);
    free(b->works);
    free(b->passes);
    return status;
}

kr_status bindex_select_batch(kr_device *device, const void *self, kr_batch_job *jobs, uint32_t n,
                              const uint32_t *alive, const kr_scan_context *context, kr_error *err)
{
    batch b = {
        .device = device, .table = self, .context = context, .alive = alive, .asked = jobs, .err = err};
    choose(&b, n);
    return b.n ? answer(&b) : KR_OK;
}

int bindex_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    const bindex_table *table = self;
    if (!fits(table->device, table, plan))
        return 0;
    snprintf(text, KR_SCAN_STEP_NBYTES, "bindex: %llu predicates under AND and OR in one pass",
             (unsigned long long)plan->n_leaves);
    return 1;
}
