/* Takes plans apart into conjunctions that the kind answers, and merges their bitmaps.
 *
 * The rows that can still be in the result go down the tree as `alive`, so that an operand of an AND sees
 * only the rows that its neighbours left. Bitmaps are released with their last use, and the largest operand
 * comes last: so nesting a condition 1,000 times needs no more of them than nesting it twice. */
#include "table/run/run.h"
#include "index/kinds/kind.h"
#include "table/condition/describe.h"
#include "table/condition/grow.h"
#include "table/results/merge.h"
#include "table/results/totals.h"

/* A bitmap, written when the first rows come. */
typedef struct bits {
    uint32_t *data;  /* NULL: not taken yet */
    uint32_t is_own; /* 0: it is the caller's */
    uint32_t is_written;
    uint32_t users; /* tasks that still read or write it */
} bits;

/* Adds the rows of `alive` for which the node holds to `sum`. */
typedef struct task {
    uint64_t node;
    bits *alive, *sum;
} task;

typedef struct running {
    kr_work *work;
    const kr_table *table;
    const kr_scan_notes *notes;
    const kr_plan *plan;
    const kr_leaf **leaves; /* room for all of the plan */
    uint64_t n_selected;    /* leaves that were answered */
    task *tasks;
    uint64_t n_tasks, room_tasks;
} running;

static uint64_t words_of(const running *r)
{
    return kr_scans_bitmap_words(r->table->n_rows);
}

/* ---- Bitmaps --------------------------------------------------------------------------------- */

/* The caller is its first user. */
static bits *make_bits(running *r)
{
    bits *made = kr_work_object(r->work, sizeof *made, "a condition");
    if (made)
        made->users = 1;
    return made;
}

static void leave_bits(running *r, bits *b)
{
    if (!b || --b->users)
        return;
    if (b->is_own)
        kr_work_give(r->work, b->data);
    free(b);
}

static uint32_t *take_bitmap(const running *r)
{
    return kr_work_take(r->work, words_of(r) * sizeof(uint32_t), "a bitmap of a part of a condition");
}

/* Where a conjunction may write: the sum itself as long as it is empty. */
static uint32_t *open_sum(const running *r, bits *sum)
{
    if (!sum->data) {
        sum->data = take_bitmap(r);
        sum->is_own = 1;
    }
    return sum->is_written ? take_bitmap(r) : sum->data;
}

/* `from`: what open_sum returned. */
static void close_sum(const running *r, bits *sum, const uint32_t *from)
{
    if (sum->is_written) {
        kr_selected_or(r->work, sum->data, from, words_of(r));
        kr_work_give(r->work, from);
    }
    sum->is_written = 1;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void push(running *r, uint64_t node, bits *alive, bits *sum)
{
    if (!kr_work_goes_on(r->work))
        return;
    if (!kr_condition_grow((void **)&r->tasks, &r->room_tasks, r->n_tasks, 1, sizeof *r->tasks, "a condition",
                           r->work->err)) {
        KR_STEP(r->work, KR_ERR_HOST_MEMORY);
        return;
    }
    r->tasks[r->n_tasks++] = (task){node, alive, sum};
    if (alive)
        ++alive->users;
    ++sum->users;
}

static void select_job(const running *r, const kr_select *job)
{
    if (kr_work_goes_on(r->work))
        r->table->ops->select(r->work, r->table->self, job, r->notes);
}

/* The rows of `alive` for which n of r->leaves hold; with n = 0 all of them. */
static void select_leaves(running *r, uint32_t n, const bits *alive, bits *sum)
{
    const uint64_t n_rows = r->table->n_rows;
    const double share = n ? (double)r->n_selected / (double)r->plan->n_leaves : 0;
    kr_select job = {.leaves = r->leaves, .n_leaves = n};
    if (!kr_work_goes_on(r->work))
        return;
    KR_STEP(r->work, kr_device_report(r->work->device, "select", n_rows, share, r->work->err));
    r->n_selected += n;
    job.alive = alive ? alive->data : NULL;
    job.bitmap = open_sum(r, sum);
    if (n)
        select_job(r, &job);
    else
        kr_selected_begin(r->work, job.bitmap, job.alive, n_rows);
    close_sum(r, sum, job.bitmap);
}

/* What stands below a node. */
typedef struct operands {
    uint64_t *nodes; /* those that are not leaves, the largest first; the caller frees them */
    uint32_t n, n_leaves;
} operands;

/* The leaves go to r->leaves. */
static operands split(running *r, uint64_t at)
{
    const kr_plan_node *nodes = r->plan->nodes;
    uint64_t child = at - 1, largest = 0;
    operands of = {kr_work_array(r->work, nodes[at].n, sizeof *of.nodes, "a condition"), 0, 0};
    for (uint32_t i = 0; of.nodes && i < nodes[at].n; child -= nodes[child].size, ++i) {
        if (nodes[child].op == KR_PLAN_LEAF) {
            r->leaves[of.n_leaves++] = r->plan->leaves + nodes[child].n;
            continue;
        }
        if (of.n && nodes[child].size > nodes[of.nodes[largest]].size)
            largest = of.n;
        of.nodes[of.n++] = child;
    }
    if (of.n) {
        const uint64_t first = of.nodes[0];
        of.nodes[0] = of.nodes[largest];
        of.nodes[largest] = first;
    }
    return of;
}

/* Operands of an OR add to the same sum. */
static void begin_or(running *r, const task *t)
{
    const operands of = split(r, t->node);
    for (uint32_t i = 0; i < of.n; ++i)
        push(r, of.nodes[i], t->alive, t->sum);
    for (uint32_t i = 0; i < of.n_leaves; ++i) {
        const kr_leaf *first = r->leaves[0];
        r->leaves[0] = r->leaves[i];
        select_leaves(r, 1, t->alive, t->sum);
        r->leaves[i] = first;
    }
    free(of.nodes);
}

/* The leaves of an AND in one pass; each of its ORs then works on the rows that are left. */
static void begin_and(running *r, const task *t)
{
    const operands of = split(r, t->node);
    bits *left = of.n && of.n_leaves ? make_bits(r) : t->alive, *sum = t->sum;
    if (of.n_leaves || !of.n)
        select_leaves(r, of.n_leaves, t->alive, of.n ? left : t->sum);
    /* The last to run is pushed first: each works on the sum of the one before. */
    for (uint32_t i = 0; i < of.n; ++i) {
        bits *from = i + 1 == of.n ? left : make_bits(r);
        push(r, of.nodes[i], from, sum);
        if (i)
            leave_bits(r, sum);
        sum = from;
    }
    if (left != t->alive)
        leave_bits(r, left);
    free(of.nodes);
}

static void do_task(running *r, const task *t)
{
    const kr_plan_node *node = r->plan->nodes + t->node;
    if (!kr_work_goes_on(r->work))
        return;
    if (node->op == KR_PLAN_OR) {
        begin_or(r, t);
    } else if (node->op == KR_PLAN_AND) {
        begin_and(r, t);
    } else {
        r->leaves[0] = r->plan->leaves + node->n;
        select_leaves(r, 1, t->alive, t->sum);
    }
}

static void run_tree(running *r, const uint32_t *alive, uint32_t *bitmap)
{
    bits given = {.data = (uint32_t *)alive, .is_written = 1, .users = 1}, sum = {.data = bitmap, .users = 1};
    push(r, r->plan->n_nodes - 1, alive ? &given : NULL, &sum);
    while (r->n_tasks) {
        const task t = r->tasks[--r->n_tasks];
        do_task(r, &t);
        leave_bits(r, t.alive);
        leave_bits(r, t.sum);
    }
    free(r->tasks);
    if (!sum.is_written)
        kr_work_fill(r->work, bitmap, 0, words_of(r) * sizeof(uint32_t));
}

/* A conjunction of which the kind counts the rows. */
static int is_counted(const kr_table *table, const kr_scan_job *job)
{
    return job->count && table->ops->counts && job->plan.n_leaves && !kr_plan_has_or(&job->plan);
}

/* The leaves from the last on, as the walk of a tree comes to them. */
static void count_conjunction(running *r, const kr_scan_job *job, const uint32_t *alive)
{
    const uint32_t n = (uint32_t)r->plan->n_leaves;
    const kr_select select = {.leaves = r->leaves, .n_leaves = n, .alive = alive, .count = job->count};
    for (uint32_t i = 0; r->leaves && i < n; ++i)
        r->leaves[i] = r->plan->leaves + n - 1 - i;
    select_job(r, &select);
}

/* By a bitmap for the time being. */
static void count_tree(running *r, const kr_scan_job *job, const uint32_t *alive)
{
    uint32_t *bitmap = take_bitmap(r);
    const kr_selected rows = {bitmap, r->table->n_rows, NULL};
    run_tree(r, alive, bitmap);
    kr_selected_count(r->work, &rows, job->count);
    kr_work_give(r->work, bitmap);
}

/* A plan that the kind leaves to the library. */
static void run_one(kr_work *work, const kr_table *table, const kr_scan_job *job, const uint32_t *alive,
                    const kr_scan_notes *notes)
{
    running r = {.work = work, .table = table, .notes = notes, .plan = &job->plan};
    r.leaves = kr_work_array(work, job->plan.n_leaves, sizeof *r.leaves, "a condition");
    if (kr_plan_has_or(&job->plan))
        kr_scans_log_step(notes->log, KR_SCAN_BY_BITMAPS);
    if (is_counted(table, job))
        count_conjunction(&r, job, alive);
    else if (job->count)
        count_tree(&r, job, alive);
    else
        run_tree(&r, alive, job->bitmap);
    free(r.leaves);
}

kr_status kr_scan_check_plan(const kr_table *table, const kr_plan *plan, kr_error *err)
{
    char others[128] = "";
    uint64_t i = 0;
    while (i < plan->n_leaves && plan->leaves[i].other == KR_NO_COLUMN)
        ++i;
    if (i == plan->n_leaves || table->ops->compares_columns)
        return KR_OK;
    for (uint32_t k = 0; kr_kind_at(k); ++k)
        if (kr_kind_at(k)->scan && kr_kind_at(k)->scan->ops->compares_columns)
            kr_leaf_text_add(others, sizeof others, "%s%s", others[0] ? ", " : "", kr_kind_at(k)->name);
    if (!others[0])
        kr_leaf_text_add(others, sizeof others, "none of this build, whose KEYRAY_KINDS leaves them out");
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "kind '%s' does not compare column '%s' with column '%s'; kinds that do: %s",
                   table->spec.kind->name, table->names[plan->leaves[i].column],
                   table->names[plan->leaves[i].other], others);
}

/* Plans with leaves go to the kind, if it takes batches. A conjunction alone is what `select` is for. */
static void offer(kr_work *work, const kr_table *table, const kr_scan_job *jobs, uint32_t n,
                  const uint32_t *alive, kr_batch_job *offered, const kr_scan_notes *notes)
{
    uint32_t n_offered = 0;
    for (uint32_t i = 0; i < n; ++i)
        if (jobs[i].plan.n_leaves)
            offered[n_offered++] = (kr_batch_job){&jobs[i].plan, jobs[i].bitmap, jobs[i].count, 0};
    if (!table->ops->select_batch || !n_offered || (n_offered == 1 && !kr_plan_has_or(offered->plan)))
        return;
    if (kr_work_goes_on(work))
        table->ops->select_batch(work, table->self, offered, n_offered, alive, notes);
}

void kr_scan_run(kr_work *work, const kr_table *table, const kr_scan_job *jobs, uint32_t n,
                 const uint32_t *alive, const kr_scan_notes *notes)
{
    kr_batch_job offered[KR_SELECTS_MOST];
    const kr_batch_job *next = offered;
    for (uint32_t i = 0; i < n; ++i)
        KR_STEP(work, kr_scan_check_plan(table, &jobs[i].plan, work->err));
    offer(work, table, jobs, n, alive, offered, notes);
    for (uint32_t i = 0; i < n; ++i) {
        const int is_done = jobs[i].plan.n_leaves && next++->is_done;
        if (!is_done)
            run_one(work, table, jobs + i, alive, notes);
    }
}
