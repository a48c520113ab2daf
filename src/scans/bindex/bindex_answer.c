/* Conjunctions, a few leaves at a time, and what reports say of them. */
#include "scans/bindex/bindex.h"
#include "scans/describe.h"

#include <stdlib.h>

/* A conjunction over a part, a few leaves at a time. */
typedef struct pass {
    kr_device *device;
    const kr_scan_context *context;
    const bindex_table *table;
    const bindex_part *part;
    const kr_select *job;
    kr_buffer *between; /* of a job without a bitmap: what passes hand on, allocated when it is needed */
    bindex_pass now;
    uint32_t is_later; /* 1: there was a pass before, whose result the next one goes on with */
    kr_error *err;
} pass;

/* Lists of more elements than the parameters hold go to device memory. */
static kr_status copy_lists(pass *p, kr_buffer *memory)
{
    const uint64_t nbytes = bindex_lists_nbytes(&p->now.lists);
    char *lists = kr_host_calloc(nbytes, 1, "values of a condition", p->err);
    if (!lists)
        return KR_ERR_HOST_MEMORY;
    bindex_lists_write(&p->now.lists, lists);
    kr_status status = kr_constants_allocate(p->device, nbytes, p->context->stream, "values of a condition",
                                             NULL, memory, p->err);
    if (status == KR_OK)
        status = kr_constants_copy(p->device, memory, lists, p->context->stream, p->err);
    free(lists);
    return status;
}

static kr_status allocate_between(pass *p)
{
    return kr_buffer_allocate(p->device, kr_bitmap_words(p->table->n_rows) * sizeof(uint32_t),
                              p->context->stream, "a bitmap of a part of a condition", NULL, p->between,
                              p->err);
}

static kr_status run(pass *p, int is_last)
{
    bindex_params *params = &p->now.params;
    kr_buffer memory = {0};
    kr_status status = KR_OK;
    if (bindex_lists_nbytes(&p->now.lists))
        status = copy_lists(p, &memory);
    if (status == KR_OK && !is_last && !p->job->bitmap && !p->between->data)
        status = allocate_between(p);
    uint32_t *bitmap = p->job->bitmap ? p->job->bitmap : p->between->data;
    const bindex_target to = {p->is_later ? bitmap : p->job->alive, is_last ? p->job->bitmap : bitmap,
                              is_last ? p->job->count : NULL};
    bindex_pass_finish(&p->now, p->table, p->part, &to, memory.data);
    params->blocks = (kr_blocks){bindex_pass_shared(params->n_leaves, params->n_runs), 0};
    if (status == KR_OK)
        status =
            kr_device_run(p->device, &bindex_select, params, params->n_tiles, p->context->stream, p->err);
    kr_buffer_release(p->device, &memory, p->context->stream);
    bindex_pass_clear(&p->now);
    p->is_later = 1;
    return status;
}

static kr_status add_leaf(pass *p, const kr_leaf *leaf, bindex_work *work)
{
    kr_status status = KR_OK;
    if (!bindex_pass_has_room(&p->now, p->device))
        status = run(p, 0);
    return status == KR_OK ? bindex_pass_add(&p->now, p->part, leaf, work, p->err) : status;
}

static kr_status select_part(const bindex_table *table, const bindex_part *part, const kr_select *job,
                             const kr_scan_context *context, kr_buffer *between, bindex_work *works,
                             kr_error *err)
{
    pass p = {.device = table->device,
              .context = context,
              .table = table,
              .part = part,
              .job = job,
              .between = between,
              .err = err};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < job->n_leaves && status == KR_OK; ++i)
        status = add_leaf(&p, job->leaves[i], works ? works + i : NULL);
    if (status == KR_OK)
        status = run(&p, 1);
    bindex_lists_release(&p.now.lists);
    return status;
}

enum { LINE_NBYTES = 120 };

static void describe_leaf(const bindex_table *table, const kr_leaf *leaf, char line[LINE_NBYTES])
{
    const kr_plan_columns columns = {.n = table->n_columns, .columns = table->columns, .names = table->names};
    kr_leaf_describe(leaf, &columns, line, LINE_NBYTES);
}

void bindex_log(const bindex_table *table, const kr_leaf *const *leaves, uint32_t n, const bindex_work *works,
                kr_scan_log *log)
{
    for (uint32_t i = 0; i < n; ++i) {
        const bindex_work *work = works + i;
        char line[LINE_NBYTES];
        describe_leaf(table, leaves[i], line);
        log->work[KR_SCAN_REFINED] += work->refined;
        log->work[KR_SCAN_SPARED] +=
            table->n_rows - (work->refined < table->n_rows ? work->refined : table->n_rows);
        kr_scan_log_step(log, "%s: vectors %llu, rows checked %llu, rows compared %llu", line,
                         (unsigned long long)work->vectors, (unsigned long long)work->refined,
                         (unsigned long long)work->compared);
    }
}

kr_status bindex_select_rows(kr_device *device, const void *self, const kr_select *job,
                             const kr_scan_context *context, kr_error *err)
{
    const bindex_table *table = self;
    bindex_work *works = NULL;
    kr_buffer between = {0};
    kr_status status = KR_OK;
    if (context->log) {
        works = kr_host_calloc(job->n_leaves, sizeof *works, "a report", err);
        status = works ? KR_OK : KR_ERR_HOST_MEMORY;
    }
    /* Of rows that two parts have, the later one writes the word. */
    for (uint32_t p = 0; p < table->n_parts && status == KR_OK; ++p)
        status = select_part(table, table->parts + p, job, context, &between, works, err);
    kr_buffer_release(device, &between, context->stream);
    if (status == KR_OK && works)
        bindex_log(table, job->leaves, job->n_leaves, works, context->log);
    kr_stopwatch_lap(context->watch, "refine");
    free(works);
    return status;
}

void bindex_explain(const void *self, const kr_select *job, char *text, size_t nbytes)
{
    const bindex_table *table = self;
    for (uint32_t i = 0; i < job->n_leaves; ++i) {
        const kr_leaf *leaf = job->leaves[i];
        bindex_lists lists = {.n_runs = 0};
        bindex_work work = {0};
        bindex_leaf made;
        char line[LINE_NBYTES];
        describe_leaf(table, leaf, line);
        for (uint32_t p = 0; p < table->n_parts; ++p)
            if (bindex_leaf_add(table->parts + p, leaf, 0, &lists, &made, &work, NULL) != KR_OK)
                break;
        bindex_lists_release(&lists);
        kr_text_add(text, nbytes, "%s: vectors %llu, rows checked %llu, rows compared %llu\n", line,
                    (unsigned long long)work.vectors, (unsigned long long)work.refined,
                    (unsigned long long)work.compared);
    }
}
