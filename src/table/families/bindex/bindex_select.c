/* Conditions, one or many in a launch: a block takes a tile for one of them. AND and OR fold the bits of
 * leaves in the block's memory, so a condition of a few leaves takes one pass. A conjunction with more leaves
 * takes several: a pass goes on with the rows that the one before left. */
#include "table/families/bindex/bindex.h"

#include <stdio.h>
#include <stdlib.h>

/* A condition under way. */
typedef struct member {
    kr_batch_job *asked; /* NULL: of bindex_select_rows */
    const kr_leaf *const *leaves;
    const kr_plan *either; /* a plan with an OR, of these leaves; NULL: all of them hold */
    uint64_t n_leaves;
    uint64_t first, end; /* leaves of the pass under way */
    uint32_t *bitmap;
    uint64_t *count;
    uint32_t *between; /* without a bitmap: what passes hand on, taken when it is needed */
    bindex_pass pass;
    bindex_cost *costs; /* of the leaves; NULL: no report is asked for */
    uint32_t is_long;   /* 1: takes several passes */
} member;

typedef struct batch {
    kr_work *work;
    const bindex_table *table;
    const kr_scan_notes *notes;
    const uint32_t *alive;
    member *members;
    uint32_t n;
    uint32_t n_betweens;
    uint32_t *betweens[BINDEX_PARTS]; /* bitmaps that members took at the same time */
} batch;

/* Members of a launch. */
typedef struct launch {
    member *members[KR_SELECTS_MOST];
    uint32_t n;
    uint32_t most_leaves, most_runs; /* of a member */
} launch;

/* ---- Leaves of a pass ------------------------------------------------------------------------ */

/* Adds leaves from m->end on, as long as the pass has room. */
static kr_status add_leaves(const kr_device *device, const bindex_part *part, member *m, kr_error *err)
{
    kr_status status = KR_OK;
    m->first = m->end;
    bindex_pass_clear(&m->pass);
    while (m->end < m->n_leaves && status == KR_OK && bindex_pass_has_room(&m->pass, device)) {
        bindex_cost *cost = m->costs ? m->costs + m->end : NULL;
        status = bindex_pass_add(&m->pass, part, m->leaves[m->end], cost, err);
        ++m->end;
    }
    return status;
}

static void list_leaves(const kr_plan *plan, const kr_leaf **leaves)
{
    for (uint64_t l = 0; l < plan->n_leaves; ++l)
        leaves[l] = plan->leaves + l;
}

/* Whether one pass has room for the plan. Few leaves never have too many runs; the runs of others depend on
 * the part. */
static int fits(const kr_device *device, const bindex_table *table, const kr_plan *plan)
{
    const kr_leaf *leaves[BINDEX_LEAVES];
    int has_room = plan->n_leaves <= bindex_leaves_most(device);
    if (!has_room || plan->n_leaves <= BINDEX_RUNS / BINDEX_LEAF_RUNS)
        return has_room;
    list_leaves(plan, leaves);
    for (uint32_t p = 0; p < table->n_parts && has_room; ++p) {
        member m = {.leaves = leaves, .n_leaves = plan->n_leaves};
        has_room = add_leaves(device, table->parts + p, &m, NULL) == KR_OK && m.end == m.n_leaves;
        bindex_lists_release(&m.pass.lists);
    }
    return has_room;
}

/* ---- A launch -------------------------------------------------------------------------------- */

/* Leaves have planes of their own. */
static void write_folds(const kr_plan *plan, bindex_job *job)
{
    uint32_t planes[2 * BINDEX_LEAVES];
    for (uint64_t at = 0; at < plan->n_nodes; ++at)
        planes[at] = plan->nodes[at].op == KR_PLAN_LEAF ? plan->nodes[at].n : KR_NO_PLACE;
    job->root = kr_plan_fold(plan, planes, job->folds, &job->n_folds);
}

/* The rows that a pass leaves are alive for the next. */
static bindex_target target_of(const batch *b, const member *m)
{
    uint32_t *bitmap = m->bitmap ? m->bitmap : m->between;
    const int is_last = m->end == m->n_leaves;
    return (bindex_target){m->first ? bitmap : b->alive, is_last ? m->bitmap : bitmap,
                           is_last ? m->count : NULL};
}

/* The jobs; and the lists of those that need them, which will be at `there` in device memory. */
static void write_jobs(const batch *b, const bindex_part *part, const launch *now, bindex_job *jobs,
                       char *lists, const char *there)
{
    for (uint32_t i = 0; i < now->n; ++i) {
        member *m = now->members[i];
        const uint64_t nbytes = bindex_lists_nbytes(&m->pass.lists);
        const bindex_target target = target_of(b, m);
        bindex_pass_finish(&m->pass, b->table, part, &target, nbytes ? there : NULL);
        jobs[i] = (bindex_job){.params = m->pass.params};
        if (m->either)
            write_folds(m->either, jobs + i);
        if (nbytes)
            bindex_lists_write(&m->pass.lists, lists);
        lists += nbytes;
        there = there ? there + nbytes : NULL;
    }
}

/* `there`: where the jobs are in device memory, if they are several. A conjunction alone needs no folds. */
static void start(const batch *b, const launch *now, bindex_job *jobs, const char *there)
{
    kr_work *work = b->work;
    const uint64_t n_tiles = jobs->params.n_tiles;
    const uint32_t shared = bindex_pass_shared(now->most_leaves, now->most_runs);
    if (now->n == 1 && !now->members[0]->either) {
        jobs->params.blocks = (kr_blocks){shared, 0};
        kr_work_run(work, &bindex_select, &jobs->params, n_tiles);
        return;
    }
    bindex_batch_params params = {.n_jobs = now->n};
    if (now->n == 1)
        params.only = *jobs;
    else
        params.jobs = (const bindex_job *)there;
    const int is_kept = !work->device->ops->is_host || KR_IN_BLOCKS; /* by its block, in shared memory */
    params.blocks = (kr_blocks){shared + (is_kept ? BINDEX_JOB_NBYTES : 0), 0};
    kr_work_run(work, &bindex_batch, &params, n_tiles * now->n);
}

/* A job alone goes along with the launch, and so do its lists if they are short; all else is copied first. */
static void run(const batch *b, const bindex_part *part, const launch *now)
{
    kr_work *work = b->work;
    const char *what = now->n == 1 ? "values of a condition" : "a batch of conditions";
    const uint64_t jobs_nbytes = now->n * sizeof(bindex_job), copied = now->n == 1 ? 0 : jobs_nbytes;
    uint64_t lists_nbytes = 0;
    for (uint32_t i = 0; i < now->n; ++i)
        lists_nbytes += bindex_lists_nbytes(&now->members[i]->pass.lists);
    char *host = kr_work_array(work, jobs_nbytes + lists_nbytes, 1, what);
    char *there = kr_work_take_constants(work, copied + lists_nbytes, what,
                                         now->n == 1 ? NULL : "fewer conditions at once");
    if (kr_work_goes_on(work)) {
        write_jobs(b, part, now, (bindex_job *)host, host + jobs_nbytes, there ? there + copied : NULL);
        kr_work_write_constants(work, there, host + jobs_nbytes - copied, copied + lists_nbytes);
        start(b, now, (bindex_job *)host, there);
    }
    kr_work_give(work, there);
    free(host);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static int needs_between(const member *m)
{
    return m->end < m->n_leaves && !m->bitmap && !m->between;
}

/* For members whose first pass is not their last. So there is something to take once for each part at most.
 */
static void take_betweens(batch *b, const launch *now)
{
    const uint64_t words = (kr_scans_bitmap_words(b->table->n_rows) + 63) / 64 * 64;
    uint64_t n = 0;
    for (uint32_t i = 0; i < now->n; ++i)
        n += (uint64_t)needs_between(now->members[i]);
    uint32_t *taken = kr_work_take(b->work, n * words * sizeof *taken, "a bitmap of a part of a condition");
    if (!taken)
        return;
    b->betweens[b->n_betweens++] = taken;
    for (uint32_t i = 0; i < now->n; ++i)
        if (needs_between(now->members[i]))
            now->members[i]->between = taken + --n * words;
}

/* The next pass of a member. */
static void join_launch(const batch *b, const bindex_part *part, member *m, launch *now)
{
    KR_STEP(b->work, add_leaves(b->work->device, part, m, b->work->err));
    m->is_long |= m->end < m->n_leaves;
    now->members[now->n++] = m;
    now->most_leaves =
        m->pass.params.n_leaves > now->most_leaves ? m->pass.params.n_leaves : now->most_leaves;
    now->most_runs = m->pass.lists.n_runs > now->most_runs ? (uint32_t)m->pass.lists.n_runs : now->most_runs;
}

static void answer_part(batch *b, const bindex_part *part)
{
    launch now;
    for (uint32_t i = 0; i < b->n; ++i)
        b->members[i].end = 0;
    do {
        now = (launch){.n = 0};
        for (uint32_t i = 0; i < b->n; ++i)
            if (b->members[i].end < b->members[i].n_leaves)
                join_launch(b, part, b->members + i, &now);
        take_betweens(b, &now);
        if (now.n)
            run(b, part, &now);
    } while (kr_work_goes_on(b->work) && now.n);
}

/* ---- All ------------------------------------------------------------------------------------- */

static void describe_plan(const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    snprintf(text, KR_SCAN_STEP_NBYTES, "bindex: %llu predicates under AND and OR in one pass",
             (unsigned long long)plan->n_leaves);
}

static void log_batch(const batch *b)
{
    kr_scan_log *log = b->notes->log;
    uint32_t n_short = 0;
    for (uint32_t i = 0; i < b->n; ++i)
        n_short += !b->members[i].is_long;
    if (n_short > 1)
        kr_scans_log_step(log, "bindex: %u conditions in one pass", n_short);
    for (uint32_t i = 0; i < b->n; ++i) {
        const member *m = b->members + i;
        char text[KR_SCAN_STEP_NBYTES];
        if (m->either) {
            describe_plan(m->either, text);
            kr_scans_log_step(log, "%s", text);
        }
        bindex_log(b->table, m->leaves, m->n_leaves, m->costs, log);
    }
}

static void answer(batch *b)
{
    kr_work *work = b->work;
    uint64_t n_leaves = 0;
    for (uint32_t i = 0; i < b->n; ++i)
        n_leaves += b->members[i].n_leaves;
    bindex_cost *costs = b->notes->log ? kr_work_array(work, n_leaves, sizeof *costs, "a report") : NULL;
    for (uint32_t i = 0, first = 0; i < b->n && costs; first += (uint32_t)b->members[i++].n_leaves)
        b->members[i].costs = costs + first;
    /* Of rows that two parts have, the later one writes the word. */
    for (uint32_t p = 0; p < b->table->n_parts && kr_work_goes_on(work); ++p)
        answer_part(b, b->table->parts + p);
    if (costs && kr_work_goes_on(work))
        log_batch(b);
    kr_work_lap(work, "refine");
    while (b->n_betweens > 0)
        kr_work_give(work, b->betweens[--b->n_betweens]);
    for (uint32_t i = 0; i < b->n; ++i) {
        bindex_lists_release(&b->members[i].pass.lists);
        if (b->members[i].asked)
            b->members[i].asked->is_done = 1;
    }
    free(costs);
}

void bindex_select_rows(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes)
{
    member only = {
        .leaves = job->leaves, .n_leaves = job->n_leaves, .bitmap = job->bitmap, .count = job->count};
    batch b = {.work = work, .table = self, .notes = notes, .alive = job->alive, .members = &only, .n = 1};
    answer(&b);
}

/* Leaves out an OR for which one pass has no room. */
void bindex_select_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                         const uint32_t *alive, const kr_scan_notes *notes)
{
    batch b = {.work = work, .table = self, .notes = notes, .alive = alive};
    uint64_t n_leaves = 0;
    for (uint32_t i = 0; i < n; ++i)
        n_leaves += jobs[i].plan->n_leaves;
    b.members = kr_work_array(work, n, sizeof *b.members, "a batch of conditions");
    const kr_leaf **leaves = kr_work_array(work, n_leaves, sizeof *leaves, "a batch of conditions");
    n_leaves = 0;
    for (uint32_t i = 0; i < n && kr_work_goes_on(work); ++i) {
        const kr_plan *plan = jobs[i].plan;
        const int has_or = kr_plan_has_or(plan);
        if (has_or && !fits(work->device, self, plan))
            continue;
        b.members[b.n++] = (member){.asked = jobs + i,
                                    .leaves = leaves + n_leaves,
                                    .either = has_or ? plan : NULL,
                                    .n_leaves = plan->n_leaves,
                                    .bitmap = jobs[i].bitmap,
                                    .count = jobs[i].count};
        list_leaves(plan, leaves + n_leaves);
        n_leaves += plan->n_leaves;
    }
    if (b.n)
        answer(&b);
    free(leaves);
    free(b.members);
}

int bindex_explain_plan(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES])
{
    const bindex_table *table = self;
    if (!fits(table->device, table, plan))
        return 0;
    describe_plan(plan, text);
    return 1;
}
