/* Takes plans apart into conjunctions that the kind answers, and merges their bitmaps.
 *
 * The rows that can still be in the result go down the tree as `alive`, so that an operand of an AND sees
 * only the rows that its neighbours left. Bitmaps are released with their last use, and the largest operand
 * comes last: so nesting a condition 1,000 times needs no more of them than nesting it twice. */
#include "scans/run.h"
#include "kinds/kind.h"
#include "scans/describe.h"
#include "scans/grow.h"
#include "scans/merge.h"
#include "scans/totals.h"

/* A bitmap, written when the first rows come. */
typedef struct bits {
    uint32_t *data; /* NULL: not allocated yet */
    kr_buffer own;  /* unless it is the caller's */
    uint32_t is_written;
    uint32_t users; /* tasks that still read or write it */
} bits;

/* Adds the rows of `alive` for which the node holds to `sum`. */
typedef struct task {
    uint64_t node;
    bits *alive, *sum;
} task;

typedef struct running {
    const kr_table *table;
    const kr_scan_context *context;
    const kr_plan *plan;
    const kr_leaf **leaves; /* room for all of the plan */
    uint64_t n_selected;    /* leaves that were answered */
    task *tasks;
    uint64_t n_tasks, room_tasks;
    kr_error *err;
} running;

static kr_device *device_of(const running *r)
{
    return r->table->device;
}

static uint64_t words_of(const running *r)
{
    return kr_bitmap_words(r->table->n_rows);
}

/* ---- Bitmaps --------------------------------------------------------------------------------- */

/* The caller is its first user. */
static bits *make_bits(running *r)
{
    bits *made = kr_host_calloc(1, sizeof *made, "a condition", r->err);
    if (made)
        made->users = 1;
    return made;
}

static void leave_bits(running *r, bits *b)
{
    if (!b || --b->users)
        return;
    kr_buffer_release(device_of(r), &b->own, r->context->stream);
    free(b);
}

static kr_status allocate_bits(running *r, kr_buffer *buffer)
{
    return kr_buffer_allocate(device_of(r), words_of(r) * sizeof(uint32_t), r->context->stream,
                              "a bitmap of a part of a condition", NULL, buffer, r->err);
}

/* Where a conjunction may write: the sum itself as long as it is empty, else `extra`. */
static kr_status open_sum(running *r, bits *sum, kr_buffer *extra, uint32_t **to)
{
    kr_status status = KR_OK;
    if (!sum->data) {
        status = allocate_bits(r, &sum->own);
        sum->data = sum->own.data;
    }
    if (status == KR_OK && sum->is_written)
        status = allocate_bits(r, extra);
    *to = sum->is_written ? extra->data : sum->data;
    return status;
}

static kr_status close_sum(running *r, bits *sum, kr_buffer *extra)
{
    kr_status status = KR_OK;
    if (sum->is_written) {
        status = kr_bitmap_or(device_of(r), sum->data, extra->data, words_of(r), r->context->stream, r->err);
        kr_buffer_release(device_of(r), extra, r->context->stream);
    }
    sum->is_written = 1;
    return status;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static int push(running *r, uint64_t node, bits *alive, bits *sum)
{
    if (!kr_grow((void **)&r->tasks, &r->room_tasks, r->n_tasks, 1, sizeof *r->tasks, "a condition", r->err))
        return 0;
    r->tasks[r->n_tasks++] = (task){node, alive, sum};
    if (alive)
        ++alive->users;
    ++sum->users;
    return 1;
}

/* The rows of `alive` for which n of r->leaves hold; with n = 0 all of them. */
static kr_status select_leaves(running *r, uint32_t n, const bits *alive, bits *sum)
{
    const kr_table *table = r->table;
    kr_select job = {r->leaves, n, alive ? alive->data : NULL, NULL, NULL};
    kr_buffer extra = {0};
    const double share = n ? (double)r->n_selected / (double)r->plan->n_leaves : 0;
    kr_status status = kr_device_report(table->device, "select", table->n_rows, share, r->err);
    r->n_selected += n;
    if (status == KR_OK)
        status = open_sum(r, sum, &extra, &job.bitmap);
    if (status == KR_OK)
        status = n ? table->ops->select(table->device, table->self, &job, r->context, r->err)
                   : kr_bitmap_begin(table->device, job.bitmap, job.alive, table->n_rows, r->context->stream,
                                     r->err);
    if (status == KR_OK)
        status = close_sum(r, sum, &extra);
    kr_buffer_release(table->device, &extra, r->context->stream);
    return status;
}

/* The operands of node `at` that are not leaves, the largest first; the leaves go to r->leaves. */
static kr_status split(running *r, uint64_t at, uint64_t **operands, uint32_t *n_operands, uint32_t *n_leaves)
{
    const kr_plan_node *nodes = r->plan->nodes;
    uint64_t child = at - 1, largest = 0;
    *n_leaves = *n_operands = 0;
    *operands = kr_host_calloc(nodes[at].n, sizeof **operands, "a condition", r->err);
    if (!*operands)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i < nodes[at].n; child -= nodes[child].size, ++i) {
        if (nodes[child].op == KR_PLAN_LEAF) {
            r->leaves[(*n_leaves)++] = r->plan->leaves + nodes[child].n;
            continue;
        }
        if (*n_operands && nodes[child].size > nodes[(*operands)[largest]].size)
            largest = *n_operands;
        (*operands)[(*n_operands)++] = child;
    }
    if (*n_operands) {
        const uint64_t first = (*operands)[0];
        (*operands)[0] = (*operands)[largest];
        (*operands)[largest] = first;
    }
    return KR_OK;
}

/* Operands of an OR add to the same sum. */
static kr_status begin_or(running *r, const task *t)
{
    uint64_t *operands = NULL;
    uint32_t n = 0, n_leaves = 0;
    kr_status status = split(r, t->node, &operands, &n, &n_leaves);
    for (uint32_t i = 0; i < n && status == KR_OK; ++i)
        status = push(r, operands[i], t->alive, t->sum) ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i < n_leaves && status == KR_OK; ++i) {
        const kr_leaf *first = r->leaves[0];
        r->leaves[0] = r->leaves[i];
        status = select_leaves(r, 1, t->alive, t->sum);
        r->leaves[i] = first;
    }
    free(operands);
    return status;
}

/* The leaves of an AND in one pass; each of its ORs then works on the rows that are left. */
static kr_status begin_and(running *r, const task *t)
{
    uint64_t *operands = NULL;
    uint32_t n = 0, n_leaves = 0;
    bits *left = t->alive, *sum = t->sum;
    kr_status status = split(r, t->node, &operands, &n, &n_leaves);
    if (status == KR_OK && n && n_leaves) {
        left = make_bits(r);
        status = left ? KR_OK : KR_ERR_HOST_MEMORY;
    }
    if (status == KR_OK && (n_leaves || !n))
        status = select_leaves(r, n_leaves, t->alive, n ? left : t->sum);
    /* The last to run is pushed first: each works on the sum of the one before. */
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        const int is_first = i + 1 == n;
        bits *from = is_first ? left : make_bits(r);
        status = (from || is_first) && push(r, operands[i], from, sum) ? KR_OK : KR_ERR_HOST_MEMORY;
        if (i)
            leave_bits(r, sum);
        if (status != KR_OK && !is_first)
            leave_bits(r, from);
        sum = from;
    }
    if (left != t->alive)
        leave_bits(r, left);
    free(operands);
    return status;
}

static kr_status do_task(running *r, const task *t)
{
    const kr_plan_node *node = r->plan->nodes + t->node;
    if (node->op == KR_PLAN_OR)
        return begin_or(r, t);
    if (node->op == KR_PLAN_AND)
        return begin_and(r, t);
    r->leaves[0] = r->plan->leaves + node->n;
    return select_leaves(r, 1, t->alive, t->sum);
}

static kr_status run_tree(running *r, const uint32_t *alive, uint32_t *bitmap)
{
    bits given = {.data = (uint32_t *)alive, .is_written = 1, .users = 1}, sum = {.data = bitmap, .users = 1};
    kr_status status = KR_OK;
    r->leaves = kr_host_calloc(r->plan->n_leaves, sizeof *r->leaves, "a condition", r->err);
    if (!r->leaves || !push(r, r->plan->n_nodes - 1, alive ? &given : NULL, &sum))
        status = KR_ERR_HOST_MEMORY;
    while (r->n_tasks) {
        const task t = r->tasks[--r->n_tasks];
        if (status == KR_OK)
            status = do_task(r, &t);
        leave_bits(r, t.alive);
        leave_bits(r, t.sum);
    }
    free(r->tasks);
    free(r->leaves);
    if (status == KR_OK && !sum.is_written)
        status = kr_device_fill(device_of(r), bitmap, 0, words_of(r) * sizeof(uint32_t), r->context->stream,
                                r->err);
    return status;
}

/* A conjunction of which the kind counts the rows. */
static int is_counted(const kr_table *table, const kr_scan_job *job)
{
    return job->count && table->ops->counts && job->plan.n_leaves && !kr_plan_has_or(&job->plan);
}

static kr_status count_conjunction(running *r, const kr_scan_job *job, const uint32_t *alive)
{
    const uint32_t n = (uint32_t)r->plan->n_leaves;
    r->leaves = kr_host_calloc(n, sizeof *r->leaves, "a condition", r->err);
    if (!r->leaves)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i < n; ++i)
        r->leaves[i] = r->plan->leaves + n - 1 - i;
    const kr_select select = {.leaves = r->leaves, .n_leaves = n, .alive = alive, .count = job->count};
    const kr_status status = r->table->ops->select(device_of(r), r->table->self, &select, r->context, r->err);
    free(r->leaves);
    return status;
}

/* By a bitmap for the time being. */
static kr_status count_tree(running *r, const kr_scan_job *job, const uint32_t *alive)
{
    kr_buffer bitmap = {0};
    kr_status status = allocate_bits(r, &bitmap);
    const kr_selected rows = {bitmap.data, r->table->n_rows, NULL};
    if (status == KR_OK)
        status = run_tree(r, alive, bitmap.data);
    if (status == KR_OK)
        status = kr_selected_count(device_of(r), &rows, job->count, r->context->stream, r->err);
    kr_buffer_release(device_of(r), &bitmap, r->context->stream);
    return status;
}

/* A plan that the kind leaves to the library. */
static kr_status run_one(const kr_table *table, const kr_scan_job *job, const uint32_t *alive,
                         const kr_scan_context *context, kr_error *err)
{
    running r = {.table = table, .context = context, .plan = &job->plan, .err = err};
    if (kr_plan_has_or(&job->plan))
        kr_scan_log_step(context->log, KR_SCAN_BY_BITMAPS);
    if (is_counted(table, job))
        return count_conjunction(&r, job, alive);
    return job->count ? count_tree(&r, job, alive) : run_tree(&r, alive, job->bitmap);
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
            kr_text_add(others, sizeof others, "%s%s", others[0] ? ", " : "", kr_kind_at(k)->name);
    if (!others[0])
        kr_text_add(others, sizeof others, "none of this build, whose KEYRAY_KINDS leaves them out");
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "kind '%s' does not compare column '%s' with column '%s'; kinds that do: %s",
                   table->spec.kind->name, table->names[plan->leaves[i].column],
                   table->names[plan->leaves[i].other], others);
}

/* Plans with leaves go to the kind, if it takes batches. A conjunction alone is what `select` is for. */
static kr_status offer(const kr_table *table, const kr_scan_job *jobs, uint32_t n, const uint32_t *alive,
                       kr_batch_job *offered, const kr_scan_context *context, kr_error *err)
{
    uint32_t n_offered = 0;
    for (uint32_t i = 0; i < n; ++i)
        if (jobs[i].plan.n_leaves)
            offered[n_offered++] = (kr_batch_job){&jobs[i].plan, jobs[i].bitmap, jobs[i].count, 0};
    if (!table->ops->select_batch || !n_offered || (n_offered == 1 && !kr_plan_has_or(offered->plan)))
        return KR_OK;
    return table->ops->select_batch(table->device, table->self, offered, n_offered, alive, context, err);
}

kr_status kr_scan_run(const kr_table *table, const kr_scan_job *jobs, uint32_t n, const uint32_t *alive,
                      const kr_scan_context *context, kr_error *err)
{
    kr_batch_job offered[KR_SELECTS_MOST];
    const kr_batch_job *next = offered;
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < n && status == KR_OK; ++i)
        status = kr_scan_check_plan(table, &jobs[i].plan, err);
    if (status == KR_OK)
        status = offer(table, jobs, n, alive, offered, context, err);
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        const int is_done = jobs[i].plan.n_leaves && next++->is_done;
        if (!is_done)
            status = run_one(table, jobs + i, alive, context, err);
    }
    return status;
}
