/* kr_advice: what the plan found, as the caller reads it; and the options. */
#include "advise/plan.h"
#include "base/util/structs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options ------------------------------------------------------------------------------- */

static kr_status check_numbers(const kr_advise_options *o, kr_error *err)
{
    if (!(o->miss_percent >= 0 && o->miss_percent <= 100))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_options.miss_percent is %g: give 0 to 100",
                       o->miss_percent);
    if (!(o->update_percent >= 0 && o->update_percent <= 99))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_options.update_percent is %g: give 0 to 99",
                       o->update_percent);
    if (!(o->seconds >= 0 && o->seconds <= 1e6))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_options.seconds is %g: give 0 (10 s) to 1e6",
                       o->seconds);
    if (o->batch > UINT32_MAX)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_options.batch is %llu: give at most %u",
                       (unsigned long long)o->batch, UINT32_MAX);
    if (o->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_options.reserved is %u: set it to 0", o->reserved);
    return KR_OK;
}

static kr_status check_asked(const kr_advise_options *o, kr_error *err)
{
    if (!o->lower != !o->upper)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.%s is missing, and the other bound is there: give both, or none",
                       o->lower ? "upper" : "lower");
    if (o->operations & ~(uint32_t)(KR_CAN_POINT | KR_CAN_RANGE))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.operations is %u: give KR_CAN_POINT, KR_CAN_RANGE, or both",
                       o->operations);
    if (!(o->operations & KR_CAN_POINT) && (o->probes || o->miss_percent > 0))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.%s is for points, and only ranges are asked "
                       "for: add KR_CAN_POINT to operations",
                       o->probes ? "probes" : "miss_percent");
    if (!(o->operations & KR_CAN_RANGE) && (o->lower || o->range_hits))
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.%s is for ranges, and only points are asked "
                       "for: add KR_CAN_RANGE to operations",
                       o->lower ? "lower" : "range_hits");
    if (o->probes && o->miss_percent > 0)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.miss_percent is for probes that are made: leave it 0 with probes");
    if (o->lower && o->range_hits)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.range_hits is for ranges that are made: leave it 0 with lower");
    return KR_OK;
}

uint64_t kr_advise_standard(int is_host, double seconds)
{
    const double enough = 5;
    const uint64_t all = is_host ? UINT64_C(1) << 20 : UINT64_C(1) << 24;
    uint64_t n = all;
    while (n > all >> 8 && (double)n * enough > (double)all * seconds)
        n /= 2;
    return n;
}

kr_status kr_advise_read_plain(const kr_advise_options *options, kr_advise_options *read, kr_error *err)
{
    kr_status status = KR_OK;
    *read = (kr_advise_options){.struct_size = sizeof *read};
    if (options)
        status = kr_struct_read(&kr_struct_advise_options, options, read, err);
    if (status == KR_OK)
        status = kr_progress_check(&read->progress, "kr_advise_options.progress", err);
    if (status == KR_OK)
        status = check_numbers(read, err);
    read->seconds = read->seconds > 0 ? read->seconds : 10;
    return status;
}

kr_status kr_advise_read(const kr_advise_options *options, int is_host, kr_advise_options *read,
                         kr_error *err)
{
    kr_status status = kr_advise_read_plain(options, read, err);
    if (status != KR_OK)
        return status;
    if (!read->operations) {
        const int ranges = read->lower || read->upper || read->range_hits;
        read->operations = ranges ? KR_CAN_RANGE : KR_CAN_POINT;
        read->operations |= read->probes ? KR_CAN_POINT : 0;
    }
    if ((status = check_asked(read, err)) != KR_OK)
        return status;
    if (read->operations & KR_CAN_RANGE && !read->lower)
        read->range_hits = read->range_hits ? read->range_hits : 16;
    const uint64_t all = kr_advise_standard(is_host, read->seconds), few = UINT64_C(1) << 16;
    if (!read->batch)
        read->batch = is_host && few < all ? few : all;
    return KR_OK;
}

/* ---- What follows from the figures --------------------------------------------------------- */

static double times_of(const kr_advise_plan *p, const kr_advise_trial *t)
{
    return (double)p->subject->rows / (double)(t->rows ? t->rows : 1);
}

double kr_advise_doublings(double times)
{
    double n = 0;
    for (; times >= 2; times /= 2)
        ++n;
    return n + (times > 1 ? times - 1 : 0);
}

/* With twice the rows a search takes a step more: what a doubling added from the round before to this one,
 * each further one adds. A scan reads all rows: each further one adds the same. */
static double whole_cost(const kr_advise_plan *p, const kr_advise_trial *t)
{
    if (!t->before_rows || t->rows <= t->before_rows || t->cost <= t->before_cost)
        return t->cost;
    if (p->subject->operations == KR_CAN_SCAN)
        return t->cost + (t->cost - t->before_cost) / (double)(t->rows - t->before_rows) *
                             (double)(p->subject->rows - t->rows);
    const double step =
        (t->cost - t->before_cost) / kr_advise_doublings((double)t->rows / (double)t->before_rows);
    return t->cost + step * kr_advise_doublings(times_of(p, t));
}

static double whole_build(const kr_advise_plan *p, const kr_advise_trial *t)
{
    return t->whole_build > 0 ? t->whole_build : t->build * times_of(p, t);
}

static uint64_t whole_nbytes(const kr_advise_plan *p, const kr_advise_trial *t)
{
    return t->whole_footprint_nbytes ? t->whole_footprint_nbytes
                                     : (uint64_t)((double)t->footprint_nbytes * times_of(p, t));
}

/* The candidate that was measured with the cheapest build; not one that the best was preferred to, though it
 * was faster with few rows. */
static const kr_advise_trial *cheapest(const kr_advise_plan *p)
{
    const kr_advise_trial *found = &p->trials[0];
    for (uint32_t i = 1; i < p->n && !p->trials[i].state; ++i)
        if (p->trials[i].cost >= p->trials[0].cost && whole_build(p, &p->trials[i]) < whole_build(p, found))
            found = &p->trials[i];
    return found;
}

/* How many lookups, which save `saved` seconds each, take as long as `build` seconds. */
static uint64_t pays_after(double build, double saved)
{
    if (build <= 0)
        return 0;
    return saved > 0 && build / saved < 1e18 ? (uint64_t)(build / saved) + 1 : UINT64_MAX;
}

static uint64_t paid(const kr_advise_plan *p, const kr_advise_facts *facts, const kr_advise_trial *t)
{
    const kr_advise_trial *other = cheapest(p);
    if (t->state)
        return 0;
    if (t == other && facts->scan_seconds <= 0)
        return 0;
    if (t == other)
        return pays_after(whole_build(p, t), facts->scan_seconds - whole_cost(p, t));
    return pays_after(whole_build(p, t) - whole_build(p, other), whole_cost(p, other) - whole_cost(p, t));
}

/* ---- The advice ---------------------------------------------------------------------------- */

static int any_is_late(const kr_advise_plan *p)
{
    for (uint32_t i = 0; i < p->n; ++i)
        if (p->trials[i].state == KR_ADVICE_LATE)
            return 1;
    return 0;
}

static void write_reason(const kr_advise_plan *p, kr_advice_info *info)
{
    const kr_advise_trial *best = &p->trials[0],
                          *next = p->n > 1 && !p->trials[1].state ? &p->trials[1] : NULL;
    const kr_advise_trial *smaller = NULL;
    for (uint32_t i = 1; i < p->n && !p->trials[i].state && p->trials[i].cost < 1.05 * best->cost; ++i)
        if (p->trials[i].footprint_nbytes < 0.9 * (double)(smaller ? smaller : best)->footprint_nbytes)
            smaller = &p->trials[i];
    if (!next)
        snprintf(info->reason, sizeof info->reason, "the only kind that could be measured with %llu rows%s",
                 (unsigned long long)best->rows,
                 any_is_late(p) ? ": the time did not suffice to compare others, so give more" : "");
    else if (next->cost < best->cost)
        snprintf(
            info->reason, sizeof info->reason,
            "%.64s is %.0f%% faster with these rows, but takes %.2g times the memory, which costs more with "
            "all rows",
            next->spec, 100 * (best->cost / next->cost - 1),
            (double)next->footprint_nbytes / (double)best->footprint_nbytes);
    else if (smaller)
        snprintf(info->reason, sizeof info->reason,
                 "the fastest here; %.64s is within %.0f%% and takes %.2g times the memory", smaller->spec,
                 100 * (smaller->cost / best->cost - 1),
                 (double)smaller->footprint_nbytes / (double)best->footprint_nbytes);
    else
        snprintf(info->reason, sizeof info->reason, "the fastest here, %.3g times as fast as the next, %.64s",
                 next->cost / best->cost, next->spec);
}

static void write_sample(const kr_advise_plan *p, const kr_advise_facts *facts, kr_advice_info *info)
{
    const kr_advise_trial *best = &p->trials[0];
    char more[200] = "";
    if (best->rows == p->subject->rows)
        return;
    if (best->before_rows)
        snprintf(more, sizeof more,
                 "; from %llu to %llu rows the time of a %s became %.2g times as long, so with all rows it "
                 "may take %.2g times as long as measured",
                 (unsigned long long)best->before_rows, (unsigned long long)best->rows,
                 p->subject->operations == KR_CAN_SCAN ? "scan" : "lookup", best->cost / best->before_cost,
                 whole_cost(p, best) / best->cost);
    snprintf(info->sample, sizeof info->sample,
             "measured with %llu of %llu rows, %s%s; bytes and builds grow with the rows; %s",
             (unsigned long long)best->rows, (unsigned long long)p->subject->rows, facts->sampled, more,
             p->is_confirmed ? "the best was also built of all rows"
                             : "the best was not built of all rows, as the time did not suffice");
}

void kr_advise_conclude(const kr_advise_plan *p, const kr_advise_facts *facts, kr_advice *advice)
{
    const kr_advise_trial *best = &p->trials[0], *other = cheapest(p);
    kr_device_info device = {.struct_size = sizeof device};
    kr_advice_info *info = &advice->info;
    *info = (kr_advice_info){.struct_size = sizeof *info,
                             .candidates = p->n,
                             .operations = p->subject->operations,
                             .rows = p->subject->rows,
                             .measured_rows = best->rows,
                             .batch = facts->batch,
                             .updated_rows = p->subject->updated_rows,
                             .paid_lookups = paid(p, facts, best),
                             .hit_percent = facts->hit_percent,
                             .range_hits = facts->range_hits,
                             .scan_seconds = facts->scan_seconds,
                             .seconds = kr_advise_now() - p->begin};
    advice->n = p->n;
    snprintf(info->spec, sizeof info->spec, "%s", best->spec);
    snprintf(info->paid_against, sizeof info->paid_against, "%s",
             best != other             ? other->spec
             : facts->scan_seconds > 0 ? "no index"
                                       : "");
    if (kr_device_query(p->subject->device, &device, NULL) == KR_OK)
        snprintf(info->device, sizeof info->device, "%s", device.name);
    write_reason(p, info);
    write_sample(p, facts, info);
    for (uint32_t i = 0; i < p->n; ++i) {
        const kr_advise_trial *t = &p->trials[i];
        const int is_table = p->subject->operations == KR_CAN_SCAN;
        kr_advice_candidate *c = &advice->candidates[i];
        *c = (kr_advice_candidate){.struct_size = sizeof *c,
                                   .state = t->state ? t->state : KR_ADVICE_MEASURED,
                                   .status = t->status,
                                   .rows = t->rows,
                                   .lookup_seconds = t->cost,
                                   .build_seconds = t->build,
                                   .update_seconds = t->update,
                                   .footprint_nbytes = t->footprint_nbytes,
                                   .peak_nbytes = t->peak_nbytes,
                                   .paid_lookups = paid(p, facts, t),
                                   .whole_lookup_seconds = whole_cost(p, t),
                                   .whole_footprint_nbytes = whole_nbytes(p, t)};
        const double points = t->lookup[0] > 0 ? 1 / t->lookup[0] : 0;
        c->points_per_second = is_table ? 0 : points;
        c->scans_per_second = is_table ? points : 0;
        c->ranges_per_second = t->lookup[1] > 0 ? 1 / t->lookup[1] : 0;
        snprintf(c->spec, sizeof c->spec, "%s", t->spec);
        snprintf(c->note, sizeof c->note, "%s", t->note);
    }
}

/* ---- Reading it ---------------------------------------------------------------------------- */

kr_status kr_advice_query(const kr_advice *advice, kr_advice_info *info, kr_error *err)
{
    if (!advice || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advice_query: %s is NULL", advice ? "info" : "advice");
    const kr_status status = kr_struct_check(&kr_struct_advice_info, info, err);
    if (status == KR_OK)
        kr_struct_write(&kr_struct_advice_info, &advice->info, info);
    return status;
}

kr_status kr_advice_candidate_query(const kr_advice *advice, uint32_t ordinal, kr_advice_candidate *candidate,
                                    kr_error *err)
{
    if (!advice || !candidate)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advice_candidate_query: %s is NULL",
                       advice ? "candidate" : "advice");
    if (ordinal >= advice->n)
        return kr_fail(err, KR_ERR_ARGUMENT, "candidate %u of an advice of %u: ordinals begin at 0", ordinal,
                       advice->n);
    const kr_status status = kr_struct_check(&kr_struct_advice_candidate, candidate, err);
    if (status == KR_OK)
        kr_struct_write(&kr_struct_advice_candidate, &advice->candidates[ordinal], candidate);
    return status;
}

void kr_advice_destroy(kr_advice *advice)
{
    free(advice);
}
