/* kr_scan: check the arguments, fill the report; what kr_prepare_scan reads, too. */
#include "api/scan.h"
#include "api/report.h"
#include "base/util/structs.h"
#include "index/results/reduce.h"
#include "table/run/explain.h"
#include "table/storage/texts.h"

#include <stdlib.h>
#include <string.h>

static kr_status check_pointers(const kr_table *table, kr_answer_sink *answer, uint32_t i, kr_error *err)
{
    const kr_scan_sink *sink = &answer->asked;
    kr_device *device = table->device;
    const uint64_t nbytes =
        sink->result == KR_SCAN_BITMAP ? sizeof(uint32_t) : kr_scan_out_nbytes(table, sink);
    if (!sink->out)
        return kr_fail(err, KR_ERR_ARGUMENT, "sink %u: out is NULL", i);
    if ((uintptr_t)sink->out % kr_answer_alignment(nbytes) || (uintptr_t)sink->rows % sizeof(uint32_t))
        return kr_fail(err, KR_ERR_ARGUMENT, "sink %u: %s is not aligned to its elements", i,
                       (uintptr_t)sink->rows % sizeof(uint32_t) ? "rows" : "out");
    answer->reaches_out = answer->reaches_valid = answer->reaches_rows = 1;
    kr_status status = kr_pointer_check(device, sink->out, "out of a sink", &answer->reaches_out, err);
    if (status == KR_OK)
        status = kr_pointer_check(device, sink->valid, "valid of a sink", &answer->reaches_valid, err);
    return status == KR_OK
               ? kr_pointer_check(device, sink->rows, "rows of a sink", &answer->reaches_rows, err)
               : status;
}

/* Texts have no sum, and codes without an order no smallest text. */
static kr_status check_texts(const kr_table *table, const kr_scan_sink *sink, kr_error *err)
{
    const kr_table_dictionary *dictionary = kr_table_dictionary_of(table, sink->column);
    const int is_sum = sink->result == KR_SCAN_SUM || sink->result == KR_SCAN_SUM_WIDE;
    if (dictionary && is_sum)
        return kr_fail(
            err, KR_ERR_TYPE,
            "column '%s' has texts, which have no sum; ask for KR_SCAN_MIN, KR_SCAN_MAX or a count",
            table->names[sink->column]);
    if (dictionary && !is_sum && !dictionary->texts->is_ordered)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "column '%s' has a dictionary made with ranges=off, which knows no order, so there is no "
            "smallest text; make it with ranges=on",
            table->names[sink->column]);
    return KR_OK;
}

static kr_status read_sink(const kr_table *table, const kr_scan_sink *given, uint32_t i,
                           kr_answer_sink *answer, kr_error *err)
{
    kr_scan_sink *sink = &answer->asked;
    if (!given)
        return kr_fail(err, KR_ERR_ARGUMENT, "sink %u is NULL: give one for each condition", i);
    const kr_status status = kr_struct_read(&kr_struct_scan_sink, given, sink, err);
    if (status != KR_OK)
        return status;
    if ((unsigned)sink->result < KR_SCAN_BITMAP || (unsigned)sink->result > KR_SCAN_SUM_WIDE)
        return kr_fail(err, KR_ERR_ARGUMENT, "sink %u: %d is not a result; use one of kr_scan_result", i,
                       (int)sink->result);
    const int has_values = sink->result >= KR_SCAN_SUM;
    if (has_values && sink->column >= table->n_columns)
        return kr_fail(err, KR_ERR_ARGUMENT, "sink %u: column %u, but the table has %u columns", i,
                       sink->column, table->n_columns);
    if (has_values) {
        const kr_status takes = check_texts(table, sink, err);
        if (takes != KR_OK)
            return takes;
    }
    if (sink->result == KR_SCAN_SUM_WIDE) {
        const kr_status fits = kr_reduce_wide_sum_check(table->columns[sink->column].type, "the values", err);
        if (fits != KR_OK)
            return fits;
    }
    if (!has_values)
        sink->valid = NULL;
    if (sink->result != KR_SCAN_ROWS)
        sink->rows = NULL;
    return check_pointers(table, answer, i, err);
}

static kr_status read_options(const kr_table *table, const kr_scan_options *given, kr_scan_options *options,
                              int *reaches_alive, kr_error *err)
{
    *options = (kr_scan_options){.struct_size = sizeof *options};
    const kr_status status = given ? kr_struct_read(&kr_struct_scan_options, given, options, err) : KR_OK;
    if (status != KR_OK)
        return status;
    if (options->count_work > 1 || options->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_scan_options.%s must be 0%s; zero the struct first",
                       options->reserved ? "reserved" : "count_work", options->reserved ? "" : " or 1");
    if ((uintptr_t)options->alive % sizeof(uint32_t))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_scan_options.alive is not aligned to 4 bytes");
    *reaches_alive = 1;
    return kr_pointer_check(table->device, options->alive, "kr_scan_options.alive", reaches_alive, err);
}

/* ---- With a report --------------------------------------------------------------------------- */

static void fill_report(kr_work *work, const kr_answer *answer, const kr_stopwatch *watch, kr_scan_log *log,
                        kr_report *report)
{
    kr_report made = {.probes = answer->n, .phases = watch->phases};
    uint64_t counted[KR_SCAN_WORKS] = {0};
    kr_work_sync(work);
    if (answer->notes.counters)
        kr_work_read(work, counted, answer->notes.counters, sizeof counted);
    if (!kr_work_goes_on(work))
        return;
    made.scan = *log;
    *log = (kr_scan_log){0};
    for (uint32_t w = 0; w < KR_SCAN_WORKS; ++w)
        made.scan.work[w] += counted[w];
    made.has_scan_work = answer->notes.counters != NULL;
    kr_report_clear(report);
    *report = made;
}

static void answer_reported(kr_work *work, kr_answer *answer, const kr_scan_options *options)
{
    kr_stopwatch watch;
    kr_scan_log log = {0};
    answer->notes.log = &log;
    answer->notes.counters = options->count_work ? kr_work_counters(work, KR_SCAN_WORKS) : NULL;
    kr_stopwatch_start(&watch, work->device, work->stream);
    work->watch = &watch;
    kr_scan_answer_all(work, answer);
    kr_stopwatch_stop(kr_work_unwatch(work));
    fill_report(work, answer, &watch, &log, options->report);
    kr_scans_log_release(&log);
}

kr_status kr_call_scan_read(kr_table *table, const kr_condition *const *conditions,
                            const kr_scan_sink *const *sinks, uint32_t n, const kr_scan_options *given,
                            const char *call, kr_answer *answer, kr_answer_sink **read,
                            kr_scan_options *options, kr_error *err)
{
    int reaches_alive = 1;
    *read = NULL;
    if (!table || (n && !sinks))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %s is NULL", call, table ? "sinks" : "table");
    kr_status status = read_options(table, given, options, &reaches_alive, err);
    if (status == KR_OK)
        *read = kr_host_calloc(n, sizeof **read, "a scan", err);
    if (status != KR_OK || !*read)
        return status != KR_OK ? status : KR_ERR_HOST_MEMORY;
    for (uint32_t i = 0; i < n && status == KR_OK; ++i)
        status = read_sink(table, sinks[i], i, *read + i, err);
    *answer = (kr_answer){.table = table,
                          .conditions = conditions,
                          .sinks = *read,
                          .n = n,
                          .alive = options->alive,
                          .reaches_alive = reaches_alive};
    return status;
}

kr_status kr_scan(kr_table *table, const kr_condition *const *conditions, const kr_scan_sink *const *sinks,
                  uint32_t n, const kr_scan_options *options, kr_stream *stream, kr_error *err)
{
    kr_scan_options given;
    kr_answer answer;
    kr_answer_sink *read = NULL;
    kr_status status = table ? kr_stream_check(table->device, stream, "kr_scan", err) : KR_OK;
    if (status == KR_OK)
        status =
            kr_call_scan_read(table, conditions, sinks, n, options, "kr_scan", &answer, &read, &given, err);
    if (status == KR_OK) {
        kr_work work = kr_work_on(table->device, stream, err);
        if (given.report)
            answer_reported(&work, &answer, &given);
        else
            kr_scan_answer_all(&work, &answer);
        status = kr_work_end(&work);
    }
    free(read);
    return status;
}

kr_status kr_scan_explain(const kr_table *table, const kr_condition *condition, char *text,
                          size_t text_nbytes, kr_error *err)
{
    kr_plan plan = {0};
    if (!table || !text || !text_nbytes)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_scan_explain: %s",
                       !table ? "table is NULL" : "there is no text");
    const kr_plan_columns columns = kr_table_plan_columns(table);
    kr_status status = kr_plan_make(condition, &columns, &plan, err);
    if (status != KR_OK)
        return status;
    status = kr_scan_explain_plan(table, &plan, text, text_nbytes, err);
    kr_plan_release(&plan);
    return status;
}
