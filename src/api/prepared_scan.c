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
    (void)stream;
    return p->version == p->answer.table->version
               ? KR_OK
               : kr_fail(err, KR_ERR_ARGUMENT,
                         "the table has changed since the scan was prepared; prepare it again");
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
    free(p->plans);
    free(p->sinks);
    free(p);
}

static const kr_prepared_ops scan_ops = {check_run, enqueue, is_recordable, close_scan};

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
    if (status != KR_OK) {
        close_scan(made);
        return status;
    }
    made->version = table->version;
    made->answer.leaves_out = 1;
    return kr_prepared_make(table->device, &scan_ops, made, prepared, err);
}
