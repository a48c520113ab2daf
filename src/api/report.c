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

/* What a report counts: names and as many numbers. */
typedef struct counters {
    uint32_t n;
    const char *const *names;
    const uint64_t *values;
} counters;

static counters counters_of(const kr_report *report)
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
        [KR_SCAN_RAYS_MET] = "rays that met rows",
    };
    static const char *const kept_names[] = {
        [KR_KEPT_TRAVELS] = "parts that travelled",
        [KR_KEPT_NBYTES] = "bytes that travelled",
        [KR_KEPT_ON_HOST] = "probes answered by the CPU",
    };
    if (!report)
        return (counters){0, NULL, NULL};
    if (report->has_scan_work)
        return (counters){KR_SCAN_WORKS, scan_names, report->scan.work};
    if (report->has_kept)
        return (counters){KR_KEPT_FACTS, kept_names, report->log.kept};
    return (counters){report->n_counters, names, report->counters};
}

uint32_t kr_report_counter_count(const kr_report *report)
{
    return counters_of(report).n;
}

const char *kr_report_counter_name(const kr_report *report, uint32_t ordinal)
{
    const counters all = counters_of(report);
    return ordinal < all.n ? all.names[ordinal] : NULL;
}

uint64_t kr_report_counter_value(const kr_report *report, uint32_t ordinal)
{
    const counters all = counters_of(report);
    return ordinal < all.n ? all.values[ordinal] : 0;
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
