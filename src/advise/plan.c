/* The rounds: all candidates with a few rows, then those that are not much slower with more, and at last as
 * many rows as the time suffices for. In a round, candidates that stand beside each other take turns, so that
 * what else the machine does slows all of them; the least time of each counts. */
#include "advise/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SMALL_ROWS = 1 << 14, MIDDLE_ROWS = 1 << 20, ONE_ROUND_ROWS = 1 << 17 };
enum { PASSES = 9, PASSES_LEAST = 3, KEPT_LEAST = 3, BUILDS = 3 };
/* How many times as slow as the best a candidate is that goes on: after few rows, after more, in the pilot.
 */
static const double slow_small = 4, slow_middle = 2, slow_pilot = 8, slow_pass = 1.5;
/* A build of more rows takes somewhat more for each. */
static const double growth = 1.25;

double kr_advise_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int kr_advise_is_host(kr_device *device, kr_error *err)
{
    kr_device_info info = {.struct_size = sizeof info};
    return kr_device_query(device, &info, err) == KR_OK ? strcmp(info.name, "cpu") == 0 : -1;
}

double kr_advise_least(kr_advise_trial *t, int which, const double slices[KR_ADVISE_SLICES])
{
    double sum = 0;
    for (int i = 0; i < KR_ADVISE_SLICES; ++i) {
        if (!t->passes || slices[i] < t->least[which][i])
            t->least[which][i] = slices[i];
        sum += t->least[which][i];
    }
    return sum;
}

/* ---- Candidates ---------------------------------------------------------------------------- */

static int is_fatal(kr_status status)
{
    return status == KR_ERR_CANCELLED || status == KR_ERR_DEVICE_LOST;
}

static void destroy(const kr_advise_plan *p, kr_advise_trial *t)
{
    if (t->object)
        p->subject->ops->destroy(t);
    t->object = NULL;
}

/* The candidate failed, and the others go on; unless it was cancelled. */
static kr_status note_failure(kr_advise_plan *p, kr_advise_trial *t, kr_status status, const kr_error *failed,
                              kr_error *err)
{
    destroy(p, t);
    if (is_fatal(status)) {
        if (err)
            *err = *failed;
        return status;
    }
    if (p->first.status == KR_OK)
        p->first = *failed;
    t->state = KR_ADVICE_FAILED;
    t->status = status;
    t->rows = 0;
    t->cost = t->build = t->update = t->lookup[0] = t->lookup[1] = 0;
    t->footprint_nbytes = t->peak_nbytes = 0;
    snprintf(t->note, sizeof t->note, "%s", failed->text);
    return KR_OK;
}

static double cost_of(const kr_advise_subject *s, const kr_advise_trial *t)
{
    const double sum = t->lookup[0] + t->lookup[1];
    return (t->lookup[0] > 0 && t->lookup[1] > 0 ? sum / 2 : sum) + t->update * s->updates_of_lookup;
}

/* What `nbytes` of so many rows are of all. */
static uint64_t scaled(const kr_advise_plan *p, uint64_t nbytes, uint64_t rows)
{
    return (uint64_t)((double)nbytes * (double)p->subject->rows / (double)(rows ? rows : 1));
}

/* What it keeps of all rows, as far as it is known. */
static uint64_t kept_of_all(const kr_advise_plan *p, const kr_advise_trial *t)
{
    return t->whole_footprint_nbytes ? t->whole_footprint_nbytes : scaled(p, t->footprint_nbytes, t->rows);
}

/* Of a pass over all rows. */
static double pass_seconds(const kr_advise_subject *s, const kr_advise_trial *t)
{
    return t->lookup[0] * (double)s->lookups[0] + t->lookup[1] * (double)s->lookups[1];
}

/* About how long the candidate takes in a round of so many rows; 0: nobody knows. */
static double predict(const kr_advise_plan *p, const kr_advise_trial *t, uint64_t rows)
{
    const double times = t->rows ? (double)rows / (double)t->rows : 0;
    const double asked = 2 * (PASSES_LEAST + 2) * pass_seconds(p->subject, t);
    return times > 0 ? growth * times * (t->build + PASSES_LEAST * t->update) + asked : 0;
}

/* Measured ones first, then by how far they came. */
static int rank(const kr_advise_trial *t)
{
    return t->state == KR_ADVICE_FAILED ? 3 : t->state == KR_ADVICE_OVER_CAP ? 2 : t->state ? 1 : 0;
}

static int compare(const void *a, const void *b)
{
    const kr_advise_trial *x = a, *y = b;
    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

static void sort(kr_advise_plan *p)
{
    qsort(p->trials, p->n, sizeof *p->trials, compare);
}

/* ---- One candidate in a round -------------------------------------------------------------- */

kr_status kr_advise_compare(const kr_advise_trial *a, const kr_advise_trial *b, const kr_advise_answers *of_a,
                            const kr_advise_answers *of_b, kr_error *err)
{
    if (of_a->found == of_b->found && of_a->hash == of_b->hash)
        return KR_OK;
    return kr_fail(
        err, KR_ERR_INTERNAL,
        "'%s' and '%s' answer the same questions differently: %llu and %llu rows found, sums of the "
        "answers %016llx and %016llx; report this as a fault of keyray, with the column",
        a->spec, b->spec, (unsigned long long)of_a->found, (unsigned long long)of_b->found,
        (unsigned long long)of_a->hash, (unsigned long long)of_b->hash);
}

/* 1: it keeps more than is allowed, with what few rows may differ by. */
static int is_over_cap(const kr_advise_plan *p, double slack, kr_advise_trial *t)
{
    const uint64_t nbytes = kept_of_all(p, t);
    if (!p->cap_nbytes || (double)nbytes <= slack * (double)p->cap_nbytes)
        return 0;
    t->state = KR_ADVICE_OVER_CAP;
    snprintf(t->note, sizeof t->note, "it keeps %s%llu bytes, and %llu are allowed",
             t->rows < p->subject->rows && !t->whole_footprint_nbytes ? "about " : "",
             (unsigned long long)nbytes, (unsigned long long)p->cap_nbytes);
    return 1;
}

/* The least time of a few small builds counts. The first one may also load kernels to a GPU, and a prediction
 * for many rows would multiply that. */
static kr_status build(kr_advise_plan *p, kr_advise_trial *t, kr_error *err)
{
    double least = 0;
    kr_status status = KR_OK;
    const int at_least = p->rows <= ONE_ROUND_ROWS ? 2 : 1;
    for (int i = 0; i < BUILDS && status == KR_OK && (i < at_least || least < 0.02); ++i) {
        destroy(p, t);
        status = p->subject->ops->build(p->subject, 0, t, err);
        least = i == 0 || t->build < least ? t->build : least;
    }
    t->build = least;
    return status;
}

/* 1: few lookups show that it is much slower than another one. */
static int is_slow(kr_advise_plan *p, kr_advise_trial *t)
{
    const double pilot = t->lookup[0] + t->lookup[1], all = pass_seconds(p->subject, t);
    const double times = p->best_pilot > 0 ? pilot / p->best_pilot : 0;
    if (p->best_pilot <= 0 || pilot < p->best_pilot)
        p->best_pilot = pilot;
    if (times < (p->subject->updated_rows ? 4 : 1) * slow_pilot || all < 0.25)
        return 0;
    t->state = KR_ADVICE_SLOWER;
    t->rows = p->rows;
    t->cost = cost_of(p->subject, t);
    snprintf(t->note, sizeof t->note, "%.0f times slower than another kind with %llu rows", times,
             (unsigned long long)p->rows);
    return 1;
}

static kr_status check_answers(kr_advise_plan *p, kr_advise_trial *t, kr_error *err)
{
    if (!p->reference) {
        p->reference = t;
        return KR_OK;
    }
    return kr_advise_compare(p->reference, t, &p->reference->answers, &t->answers, err);
}

/* Builds it and lets it answer. */
static kr_status begin(kr_advise_plan *p, kr_advise_trial *t, kr_error *err)
{
    kr_advise_subject *s = p->subject;
    kr_error failed = {0};
    const uint64_t before_rows = t->rows;
    const double before_cost = t->cost;
    t->passes = 0;
    t->update = 0;
    kr_status status = build(p, t, &failed);
    if (status != KR_OK)
        return note_failure(p, t, status, &failed, err);
    t->rows = p->rows;
    if (is_over_cap(p, p->is_last ? 1 : 1.5, t)) {
        destroy(p, t);
        return KR_OK;
    }
    if (!p->is_settled && (status = s->ops->settle(s, t, &failed)) != KR_OK) {
        if (status != KR_ERR_ARGUMENT && status != KR_ERR_TYPE)
            return note_failure(p, t, status, &failed, err);
        if (err)
            *err = failed;
        return status;
    }
    p->is_settled = 1;
    status = s->ops->pilot(s, t, &failed);
    t->pilot = pass_seconds(s, t);
    if (status == KR_OK && is_slow(p, t)) {
        destroy(p, t);
        return KR_OK;
    }
    if (status == KR_OK)
        status = s->ops->verify(s, t, &t->answers, &failed);
    if (status != KR_OK)
        return note_failure(p, t, status, &failed, err);
    t->rows = p->rows;
    t->cost = cost_of(s, t);
    t->before_rows = before_rows;
    t->before_cost = before_cost;
    return check_answers(p, t, err);
}

/* ---- A round ------------------------------------------------------------------------------- */

static kr_status report(const kr_advise_plan *p, kr_error *err)
{
    const double share = (kr_advise_now() - p->begin) / (p->end - p->begin);
    return kr_progress_report(p->progress, "measure", share < 1 ? share : 1, err);
}

static double least_cost(const kr_advise_plan *p)
{
    double least = 0;
    for (uint32_t i = 0; i < p->n; ++i)
        if (p->trials[i].object && (least <= 0 || p->trials[i].cost < least))
            least = p->trials[i].cost;
    return least;
}

/* Short passes are repeated in any case: other work may hold up a single one for many times as long. */
static int is_short(const kr_advise_plan *p, const kr_advise_trial *t, uint32_t pass)
{
    const double most = 0.005; /* of the time */
    return pass < PASSES_LEAST && t->pilot < most * (p->end - p->begin);
}

/* For about `share` of the time that is left. */
static kr_status run_passes(kr_advise_plan *p, double share, kr_error *err)
{
    const double now = kr_advise_now(), left = p->end - p->reserve - now;
    const double until = now + share * (left > 0 ? left : 0);
    kr_status status = KR_OK;
    for (uint32_t pass = 0; pass < (p->is_last ? PASSES : PASSES_LEAST); ++pass)
        for (uint32_t i = 0; i < p->n; ++i) {
            kr_advise_trial *t = &p->trials[i];
            kr_error failed = {0};
            if (!t->object || (pass && kr_advise_now() > until && !is_short(p, t, pass)) ||
                (pass >= PASSES_LEAST && t->cost > slow_pass * least_cost(p)))
                continue;
            if ((status = report(p, err)) != KR_OK)
                return status;
            status = p->subject->ops->pass(p->subject, t, &failed);
            if (status != KR_OK && (status = note_failure(p, t, status, &failed, err)) != KR_OK)
                return status;
            if (t->object)
                t->cost = cost_of(p->subject, t);
        }
    return KR_OK;
}

static kr_status run_updates(kr_advise_plan *p, kr_error *err)
{
    kr_advise_subject *s = p->subject;
    const kr_advise_trial *first = NULL;
    for (uint32_t i = 0; i < p->n && s->updated_rows; ++i) {
        kr_advise_trial *t = &p->trials[i];
        kr_error failed = {0};
        if (!t->object)
            continue;
        kr_status status = report(p, err);
        if (status != KR_OK)
            return status;
        status = s->ops->update(s, t, &failed);
        if (status == KR_OK)
            status = s->ops->verify(s, t, &t->changed, &failed);
        if (status != KR_OK && (status = note_failure(p, t, status, &failed, err)) != KR_OK)
            return status;
        if (!t->object)
            continue;
        t->cost = cost_of(s, t);
        first = first ? first : t;
        if ((status = kr_advise_compare(first, t, &first->changed, &t->changed, err)) != KR_OK)
            return status;
    }
    return KR_OK;
}

static void destroy_all(kr_advise_plan *p)
{
    for (uint32_t i = 0; i < p->n; ++i)
        destroy(p, &p->trials[i]);
}

/* Times those that are built, and ends them. */
static kr_status finish(kr_advise_plan *p, double share, kr_error *err)
{
    kr_status status = run_passes(p, share, err);
    if (status == KR_OK)
        status = run_updates(p, err);
    destroy_all(p);
    return status;
}

/* 1: the next build might not fit beside those that stand. */
static int is_full(const kr_advise_plan *p, const kr_advise_trial *t)
{
    kr_device_info info = {.struct_size = sizeof info};
    if (kr_device_query(p->subject->device, &info, NULL) != KR_OK)
        return 1;
    const uint64_t all = info.memory_cap_nbytes ? info.memory_cap_nbytes : info.memory_nbytes;
    const double next =
        t->rows ? (double)t->peak_nbytes * (double)p->rows / (double)t->rows : 64.0 * (double)p->rows;
    return (double)info.in_use_nbytes + next > 0.5 * (double)all;
}

/* 1: it would end too late. Of the first one nobody knows a better. */
static int is_late(const kr_advise_plan *p, kr_advise_trial *t)
{
    const double needed = predict(p, t, p->rows);
    if (!p->reference || kr_advise_now() + needed < p->end - p->reserve)
        return 0;
    t->state = KR_ADVICE_LATE;
    if (t->rows)
        snprintf(t->note, sizeof t->note, "the time did not suffice: about %.2g s more for %llu rows", needed,
                 (unsigned long long)p->rows);
    else
        snprintf(t->note, sizeof t->note, "the time did not suffice");
    return 1;
}

static kr_status run_round(kr_advise_plan *p, uint64_t rows, int is_last, kr_error *err)
{
    const double few = 0.15, many = 0.8; /* of the time */
    kr_advise_subject *s = p->subject;
    kr_status status = report(p, err);
    p->rows = rows;
    p->is_last = is_last;
    p->is_settled = 0;
    p->reference = NULL;
    p->best_pilot = 0;
    if (status == KR_OK)
        status = s->ops->prepare(s, &p->rows, err);
    for (uint32_t i = 0; i < p->n && status == KR_OK; ++i) {
        kr_advise_trial *t = &p->trials[i];
        if (t->state || is_late(p, t))
            continue;
        if (p->reference && is_full(p, t))
            status = finish(p, few, err);
        if (status == KR_OK)
            status = report(p, err);
        if (status == KR_OK)
            status = begin(p, t, err);
    }
    if (status == KR_OK)
        status = finish(p, is_last ? many : few, err);
    destroy_all(p);
    sort(p);
    return status;
}

/* ---- The rounds ---------------------------------------------------------------------------- */

/* Leaves out what is `times` slower than the best; a few stay in any case. Of one pass, which other work may
 * have held up, only what is much slower. */
static void leave_out(kr_advise_plan *p, double times)
{
    for (uint32_t i = KEPT_LEAST; i < p->n; ++i) {
        kr_advise_trial *t = &p->trials[i];
        if (t->state || t->cost <= times * (t->passes < 2 ? 4 : 1) * p->trials[0].cost)
            continue;
        t->state = KR_ADVICE_SLOWER;
        snprintf(t->note, sizeof t->note, "%.1f times slower than %.64s with %llu rows",
                 t->cost / p->trials[0].cost, p->trials[0].spec, (unsigned long long)t->rows);
    }
    sort(p);
}

/* With how many rows the last round fits in half of the time, for two candidates at least: builds of many
 * more rows take up to twice as long for each. With fewer than all, the best is built of all rows at the end,
 * if there is time. 0: there is no such round. */
static uint64_t last_rows(kr_advise_plan *p)
{
    const double left = p->end - kr_advise_now();
    const uint64_t all = p->subject->rows;
    for (uint64_t rows = all; rows == all ? p->rows < all : rows > 2 * p->rows; rows /= 2) {
        const kr_advise_trial *best = &p->trials[0];
        const double whole = growth * best->build * (double)all / (double)p->rows;
        double needed = rows < all ? whole : 0;
        p->reserve = needed < left / 2 ? needed : 0;
        needed = p->reserve;
        for (uint32_t i = 0; i < p->n && i < 2 && !p->trials[i].state; ++i)
            needed += predict(p, &p->trials[i], rows);
        if (needed < 0.5 * left)
            return rows;
    }
    return 0;
}

/* Keys of a sample may lie too far apart for a kind, and those of the whole column not. */
static void try_again(kr_advise_plan *p)
{
    for (uint32_t i = 0; i < p->n; ++i)
        if (p->trials[i].status == KR_ERR_LIMIT) {
            p->trials[i].state = (kr_advice_state)0;
            p->trials[i].status = KR_OK;
            p->trials[i].note[0] = '\0';
        }
}

/* No candidate is left. */
static kr_status refuse(const kr_advise_plan *p, kr_error *err)
{
    const kr_advise_trial *least = NULL;
    for (uint32_t i = 0; i < p->n; ++i) {
        const kr_advise_trial *t = &p->trials[i];
        if (t->state == KR_ADVICE_OVER_CAP && (!least || kept_of_all(p, t) < kept_of_all(p, least)))
            least = t;
    }
    if (least)
        return kr_fail(err, KR_ERR_DEVICE_MEMORY,
                       "no kind keeps at most %llu bytes: '%s' keeps the least, %s%llu bytes; raise "
                       "kr_advise_options.memory_cap_nbytes",
                       (unsigned long long)p->cap_nbytes, least->spec,
                       least->rows < p->subject->rows && !least->whole_footprint_nbytes ? "about " : "",
                       (unsigned long long)kept_of_all(p, least));
    if (p->first.status != KR_OK) {
        if (err)
            *err = p->first;
        return p->first.status;
    }
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "this build has no kind that can do what is asked: see "
                   "kr_kind_query, or keyray kinds");
}

/* The best may be none in the end. If no other was measured with as many rows, the best of those that came
 * less far takes its place. */
static void take_next(kr_advise_plan *p)
{
    sort(p);
    for (uint32_t i = 0; i < p->n && p->trials[0].state; ++i) {
        kr_advise_trial *t = &p->trials[i];
        if (rank(t) != 1 || !t->rows || t->is_unsure || is_over_cap(p, 1, t))
            continue;
        t->state = (kr_advice_state)0;
        t->note[0] = '\0';
        sort(p);
    }
    kr_advise_prefer_smaller(p);
}

/* Builds the best of all rows, as some kinds hold only some columns; the next one if it fails, or if there is
 * no time to find out. */
static kr_status confirm(kr_advise_plan *p, kr_error *err)
{
    kr_advise_subject *s = p->subject;
    while (!p->trials[0].state && !s->is_partial) {
        kr_advise_trial *t = &p->trials[0], sampled = *t;
        kr_error failed = {0};
        const double needed = growth * t->build * (double)s->rows / (double)t->rows;
        if (kr_advise_now() + needed > p->end) {
            if (!t->may_refuse || s->ops->takes_all(s, t))
                return KR_OK;
            t->state = KR_ADVICE_LATE;
            t->is_unsure = 1;
            snprintf(t->note, sizeof t->note,
                     "the time did not suffice to see whether it takes all rows: about %.2g s more, or "
                     "create an index with it",
                     needed);
            take_next(p);
            continue;
        }
        kr_status status = s->ops->build(s, 1, t, &failed);
        if (status == KR_OK) {
            sampled.whole_build = t->build;
            sampled.whole_footprint_nbytes = t->footprint_nbytes;
            destroy(p, t);
            *t = sampled;
            if (!is_over_cap(p, 1, t)) {
                p->is_confirmed = 1;
                return KR_OK;
            }
        } else if ((status = note_failure(p, t, status, &failed, err)) != KR_OK) {
            return status;
        }
        take_next(p);
    }
    return KR_OK;
}

/* If nothing could be measured in the last round, what came to the round before it is the best. */
static void fall_back(kr_advise_plan *p)
{
    const int none = p->trials[0].state != 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->n; ++i)
        if (rank(&p->trials[i]) < 2 && p->trials[i].rows > most)
            most = p->trials[i].rows;
    for (uint32_t i = 0; i < p->n && none; ++i)
        if (p->trials[i].state == KR_ADVICE_LATE && p->trials[i].rows == most)
            p->trials[i].state = 0;
    p->rows = most;
    take_next(p);
}

/* Leaves out what keeps too much of all rows, as far as that is known by now; slower kinds that keep less
 * take its place. */
static void keep_cap(kr_advise_plan *p)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->n && p->cap_nbytes; ++i)
        left += !p->trials[i].state && !is_over_cap(p, 1, &p->trials[i]);
    for (uint32_t i = 0; i < p->n && p->cap_nbytes && !left; ++i)
        if (p->trials[i].state == KR_ADVICE_SLOWER && !is_over_cap(p, 1, &p->trials[i]))
            p->trials[i].state = 0;
    sort(p);
}

kr_status kr_advise_run(kr_advise_plan *p, kr_error *err)
{
    const uint64_t all = p->subject->rows;
    kr_status status = KR_OK;
    if (all <= ONE_ROUND_ROWS)
        return (status = run_round(p, all, 1, err)) == KR_OK && p->trials[0].state ? refuse(p, err) : status;
    status = run_round(p, SMALL_ROWS, 0, err);
    leave_out(p, slow_small);
    if (status == KR_OK && !p->trials[0].state && all > 2 * MIDDLE_ROWS) {
        status = run_round(p, MIDDLE_ROWS, 0, err);
        leave_out(p, slow_middle);
    }
    const uint64_t rows = status == KR_OK && !p->trials[0].state ? last_rows(p) : 0;
    if (rows == all)
        try_again(p);
    if (rows)
        status = run_round(p, rows, 1, err);
    if (status != KR_OK)
        return status;
    fall_back(p);
    keep_cap(p);
    kr_advise_prefer_smaller(p);
    if (!p->trials[0].state && p->rows < all)
        status = confirm(p, err);
    return status == KR_OK && p->trials[0].state ? refuse(p, err) : status;
}
