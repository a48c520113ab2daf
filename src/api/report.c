/* kr_report_*: reports by ordinal, but for phases (facts.c). call.c and scan.c fill them. */
#include "api/report.h"

#include <stdlib.h>
#include <string.h>

kr_status kr_report_create(kr_report **report, kr_error *err)
{
    if (!report)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_report_create: report is NULL");
    kr_report *made = kr_host_calloc(1, sizeof *made, "a report", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    *report = made;
    return KR_OK;
}

void kr_report_clear(kr_report *report)
{
    kr_scans_log_release(&report->scan);
    memset(report, 0, sizeof *report);
}

void kr_report_destroy(kr_report *report)
{
    if (report)
        kr_report_clear(report);
    free(report);
}

uint64_t kr_report_probe_count(const kr_report *report)
{
    return report ? report->probes : 0;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* The way of entry `ordinal`: of those that had probes, the last first. KR_SEARCHED_WAYS past the end. */
static uint32_t way_at(const kr_report *report, uint32_t ordinal)
{
    for (uint32_t way = report ? KR_SEARCHED_WAYS : 0; way-- > 0;)
        if (report->log.probes[way] && ordinal-- == 0)
            return way;
    return KR_SEARCHED_WAYS;
}

uint32_t kr_report_order_count(const kr_report *report)
{
    uint32_t n = 0;
    while (way_at(report, n) < KR_SEARCHED_WAYS)
        ++n;
    return n;
}

const char *kr_report_order_name(const kr_report *report, uint32_t ordinal)
{
    const uint32_t way = way_at(report, ordinal);
    return way < KR_SEARCHED_WAYS ? kr_order_searched_name(way) : NULL;
}

uint64_t kr_report_order_probes(const kr_report *report, uint32_t ordinal)
{
    const uint32_t way = way_at(report, ordinal);
    return way < KR_SEARCHED_WAYS ? report->log.probes[way] : 0;
}

/* ---- Counters -------------------------------------------------------------------------------- */

uint32_t kr_report_counter_count(const kr_report *report)
{
    return !report ? 0 : report->has_scan_work ? KR_SCAN_WORKS : report->n_counters;
}

const char *kr_report_counter_name(const kr_report *report, uint32_t ordinal)
{
    static const char *const names[] = {
        [KR_WORK_RAYS] = "rays",         [KR_WORK_HITS] = "hits",         [KR_WORK_FILTERED] = "filtered",
        [KR_WORK_REPAIRED] = "repaired", [KR_WORK_UNTRACED] = "untraced",
    };
    static const char *const scan_names[] = {
        [KR_SCAN_RAYS] = "rays",
        [KR_SCAN_PRIMITIVES] = "primitives",
        [KR_SCAN_INTERSECTIONS] = "intersections",
        [KR_SCAN_REFINED] = "rows compared",
        [KR_SCAN_SPARED] = "rows skipped",
    };
    if (ordinal >= kr_report_counter_count(report))
        return NULL;
    return report->has_scan_work ? scan_names[ordinal] : names[ordinal];
}

uint64_t kr_report_counter_value(const kr_report *report, uint32_t ordinal)
{
    if (ordinal >= kr_report_counter_count(report))
        return 0;
    return report->has_scan_work ? report->scan.work[ordinal] : report->counters[ordinal];
}

/* ---- Steps ----------------------------------------------------------------------------------- */

uint32_t kr_report_step_count(const kr_report *report)
{
    return report ? (uint32_t)report->scan.n_steps : 0;
}

const char *kr_report_step_text(const kr_report *report, uint32_t ordinal)
{
    return ordinal < kr_report_step_count(report) ? report->scan.steps[ordinal] : NULL;
}
