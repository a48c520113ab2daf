/* Prepared scans: the calls of scan.c, bound once. */
#include "api/prepared.h"
#include "api/scan.h"

#include <stdlib.h>
#include <string.h>

typedef struct prepared_scan {
    kr_answer answer;
    kr_answer_sink *sinks;
    kr_plan *plans;
    uint64_t version; /* of the table */
    kr_holders *life; /* likewise; the table may be gone */
    kr_device *device;
    kr_column *columns; /* as they were when the conditions were planned */
    kr_unit *units;     /* of times, by column, likewise */
    uint64_t n_rows;
    uint32_t n_columns;
    const kr_kind *kind;
} prepared_scan;

static kr_status check_memory(const kr_answer *answer, kr_error *err)
{
    if (!answer->reaches_alive)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "a prepared scan works on device memory: kr_scan_options.alive is in host memory; copy it "
            "there, or use kr_scan");
    for (uint32_t i = 0; i < answer->n; ++i) {
        const kr_answer_sink *sink = answer->sinks + i;
        if (!sink->reaches_out || !sink->reaches_valid || !sink->reaches_rows)
            return kr_fail(
                err, KR_ERR_ARGUMENT,
                "a prepared scan works on device memory: an array of sink %u is in host memory; copy "
                "there, or use kr_scan",
                i);
    }
    return KR_OK;
}

/* Rays are cast by launches that wait, and take memory by what the columns hold. */
static kr_status check_kind(const kr_table *table, const kr_scan_options *options, kr_error *err)
{
    if (options->report)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "a prepared scan makes no report, which waits; set kr_scan_options.report to NULL");
    if (table->ops->tracer)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "kind '%s' casts rays, which a prepared scan cannot; use a table of kind full or bindex",
            table->spec.kind->name);
    return KR_OK;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static kr_status check_run(const void *call, kr_stream *stream, kr_error *err)
{
    const prepared_scan *p = call;
    if (kr_holders_are_over(p->life))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "the table of the prepared scan was destroyed; bind it to another version "
                       "(kr_prepared_rebind_table), or destroy it");
    if (p->version != p->answer.table->version)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "the table has changed since the scan was prepared; prepare it again, or bind it anew "
                       "(kr_prepared_rebind_table)");
    kr_users_note(p->device, &((kr_table *)p->answer.table)->users, stream);
    return KR_OK;
}

static void enqueue(kr_work *work, void *call)
{
    const prepared_scan *p = call;
    kr_scan_answer_all(work, &p->answer);
}

static int is_recordable(const void *call)
{
    (void)call;
    return 1;
}

static void close_scan(void *call)
{
    prepared_scan *p = call;
    for (uint32_t i = 0; p->plans && i < p->answer.n; ++i)
        kr_plan_release(p->plans + i);
    (void)kr_holders_leave(&p->life);
    free(p->units);
    free(p->columns);
    free(p->plans);
    free(p->sinks);
    free(p);
}

/* ---- Another table ---------------------------------------------------------------------------- */

static kr_status take_table(prepared_scan *p, kr_table *table, kr_error *err)
{
    const kr_status status = kr_holders_join(&table->life, err);
    if (status != KR_OK)
        return status;
    p->life = table->life;
    p->answer.table = table;
    p->version = table->version;
    return KR_OK;
}

static kr_unit unit_of(const kr_table *table, uint32_t column)
{
    return table->units ? table->units[column] : KR_UNIT_US;
}

/* Plans hold codes of values, and what they need not ask where a column has no NULLs. */
static kr_status check_columns_like(const prepared_scan *p, const kr_table *next, kr_error *err)
{
    for (uint32_t c = 0; c < p->n_columns; ++c) {
        const kr_column *was = p->columns + c, *is = next->columns + c;
        if (was->type != is->type)
            return kr_fail(
                err, KR_ERR_TYPE,
                "kr_prepared_rebind_table: column '%s' of next is %s, the scan was prepared for %s",
                next->names[c], kr_type_name(is->type), kr_type_name(was->type));
        if (was->type == KR_TIMESTAMP64 && p->units[c] != unit_of(next, c))
            return kr_fail(
                err, KR_ERR_TYPE,
                "kr_prepared_rebind_table: times of column '%s' of next have another unit than those the "
                "conditions were planned for; prepare the scan again",
                next->names[c]);
        if (was->dictionary != is->dictionary)
            return kr_fail(err, KR_ERR_TYPE,
                           "kr_prepared_rebind_table: column '%s' of next has another dictionary, in which "
                           "texts have other codes; prepare the scan again",
                           next->names[c]);
        if (!was->validity != !is->validity)
            return kr_fail(
                err, KR_ERR_ARGUMENT,
                "kr_prepared_rebind_table: column '%s' of next %s validity, which the conditions were "
                "not planned for; prepare the scan again",
                next->names[c], is->validity ? "has" : "has no");
    }
    return KR_OK;
}

/* Bitmaps of the caller's have a bit for each row of the table that was prepared. */
static kr_status check_rows_like(const prepared_scan *p, const kr_table *next, kr_error *err)
{
    int needs = p->answer.alive != NULL;
    for (uint32_t i = 0; i < p->answer.n; ++i)
        needs |= p->sinks[i].asked.result == KR_SCAN_BITMAP;
    return !needs || next->n_rows == p->n_rows
               ? KR_OK
               : kr_fail(
                     err, KR_ERR_ARGUMENT,
                     "kr_prepared_rebind_table: next has %llu rows and the scan was prepared for %llu, with "
                     "bitmaps of so many; prepare it again",
                     (unsigned long long)next->n_rows, (unsigned long long)p->n_rows);
}

static kr_status rebind(void *call, void *target, kr_error *err)
{
    prepared_scan *p = call;
    kr_table *next = target;
    kr_status status = KR_OK;
    if (next->device != p->device)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_prepared_rebind_table: next is on another device than the scan, '%s'",
                       p->device->name);
    if (next->spec.kind != p->kind)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_prepared_rebind_table: next is of kind '%s', the scan was prepared for '%s'",
                       next->spec.kind->name, p->kind->name);
    if (next->n_columns != p->n_columns)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_prepared_rebind_table: next has %u columns, the scan was prepared for %u",
                       next->n_columns, p->n_columns);
    status = check_columns_like(p, next, err);
    if (status == KR_OK)
        status = check_rows_like(p, next, err);
    return status == KR_OK ? take_table(p, next, err) : status;
}

static void let_go(const void *call)
{
    kr_holders *life = ((const prepared_scan *)call)->life;
    (void)kr_holders_leave(&life);
}

static const kr_prepared_ops scan_ops = {.check = check_run,
                                         .enqueue = enqueue,
                                         .is_recordable = is_recordable,
                                         .close = close_scan,
                                         .rebind = rebind,
                                         .let_go = let_go,
                                         .nbytes = sizeof(prepared_scan),
                                         .what = "a scan",
                                         .call = "kr_prepared_rebind_table"};

kr_status kr_prepared_rebind_table(kr_prepared *prepared, kr_table *next, kr_error *err)
{
    return kr_prepared_bind(prepared, &scan_ops, next, err);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

/* Texts of conditions are looked for now: runs wait for nothing. */
static kr_status make_plans(prepared_scan *p, kr_error *err)
{
    p->plans = kr_host_calloc(p->answer.n, sizeof *p->plans, "a prepared scan", err);
    const kr_status status = p->plans ? kr_scan_make_plans(&p->answer, p->plans, err) : KR_ERR_HOST_MEMORY;
    p->answer.plans = p->plans;
    p->answer.conditions = NULL;
    return status;
}

static kr_status describe_table(prepared_scan *p, kr_table *table, kr_error *err)
{
    const uint32_t n = table->n_columns;
    p->device = table->device;
    p->kind = table->spec.kind;
    p->n_rows = table->n_rows;
    p->n_columns = n;
    p->columns = kr_host_calloc(n, sizeof *p->columns, "a prepared scan", err);
    p->units = p->columns ? kr_host_calloc(n, sizeof *p->units, "a prepared scan", err) : NULL;
    if (!p->units)
        return KR_ERR_HOST_MEMORY;
    memcpy(p->columns, table->columns, n * sizeof *p->columns);
    for (uint32_t c = 0; c < n; ++c)
        p->units[c] = unit_of(table, c);
    return take_table(p, table, err);
}

kr_status kr_prepare_scan(kr_table *table, const kr_condition *const *conditions,
                          const kr_scan_sink *const *sinks, uint32_t n, const kr_scan_options *options,
                          kr_prepared **prepared, kr_error *err)
{
    kr_scan_options used;
    prepared_scan *made = kr_host_calloc(1, sizeof *made, "a prepared scan", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_call_scan_read(table, conditions, sinks, n, options, "kr_prepare_scan",
                                         &made->answer, &made->sinks, &used, err);
    if (status == KR_OK && !prepared)
        status = kr_fail(err, KR_ERR_ARGUMENT, "prepared is NULL");
    if (status == KR_OK)
        status = check_kind(table, &used, err);
    if (status == KR_OK)
        status = check_memory(&made->answer, err);
    if (status == KR_OK)
        status = make_plans(made, err);
    if (status == KR_OK)
        status = describe_table(made, table, err);
    if (status != KR_OK) {
        close_scan(made);
        return status;
    }
    made->answer.leaves_out = 1;
    return kr_prepared_make(table->device, &scan_ops, made, prepared, err);
}
