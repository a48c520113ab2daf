/* kr_advise: indexes of a column, and what is asked of them. */
#include "advise/lookups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kr_advise_lookups *lookups_of(kr_advise_subject *s)
{
    return (kr_advise_lookups *)s; /* its first member */
}

/* ---- Steps of a trial ---------------------------------------------------------------------- */

static kr_status prepare(kr_advise_subject *s, uint64_t *rows, kr_error *err)
{
    kr_advise_lookups *w = lookups_of(s);
    kr_status status = KR_OK;
    kr_advise_lookups_free(w);
    kr_advise_drop(&w->sample);
    w->now = &w->whole;
    if (*rows < w->whole.valid) {
        status = kr_advise_sample(&w->whole, *rows, &w->sample, err);
        w->now = &w->sample;
    }
    if (status == KR_OK)
        status = kr_advise_lookups_make(w, err);
    *rows = w->now->valid;
    return status;
}

static kr_status build(kr_advise_subject *s, int is_whole, kr_advise_trial *t, kr_error *err)
{
    const kr_advise_lookups *w = lookups_of(s);
    const kr_column *column = is_whole || w->now == &w->whole ? w->keys : &w->now->view;
    kr_index_info info = {.struct_size = sizeof info};
    kr_index *index = NULL;
    if (w->texts && column == w->keys)
        column = &w->whole.view;
    const double begin = kr_advise_now();
    kr_status status = kr_index_create(s->device, t->spec, column, NULL, NULL, &index, err);
    t->build = kr_advise_now() - begin;
    if (status == KR_OK)
        status = kr_index_query(index, &info, err);
    if (status != KR_OK) {
        kr_index_destroy(index);
        return status;
    }
    t->object = index;
    t->footprint_nbytes = info.footprint_nbytes;
    t->peak_nbytes = info.peak_nbytes;
    return KR_OK;
}

static void destroy(kr_advise_trial *t)
{
    kr_index_destroy(t->object);
    t->object = NULL;
}

static kr_status settle(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    kr_advise_lookups *w = lookups_of(s);
    const kr_status status = kr_advise_lookups_settle(w, t->object, err);
    if (status != KR_OK)
        return status;
    const kr_advise_ask *points = &w->asks[KR_ADVISE_POINTS], *ranges = &w->asks[KR_ADVISE_RANGES];
    if (ranges->is_cut) /* with more rows a range has more, and no more ranges are left */
        s->lookups[1] = ranges->n;
    w->facts.batch = points->n ? points->batch : ranges->batch;
    w->facts.hit_percent = points->n ? 100.0 * (double)points->hits / (double)points->n : 0;
    w->facts.range_hits = ranges->n ? (double)ranges->found / (double)ranges->n : 0;
    return KR_OK;
}

/* What is timed: the row of a point, the sum of the row ids of a range. */
static kr_result timed(int which)
{
    return which == KR_ADVISE_POINTS ? KR_RESULT_ROW : KR_RESULT_SUM_ROWS;
}

/* The first n lookups in their batches, each of which waits for its answers. `slices`: receives the seconds
 * of each slice of them, or NULL. */
static kr_status run(kr_advise_lookups *w, kr_index *index, int which, uint64_t n, double *seconds,
                     double *slices, kr_error *err)
{
    const uint64_t batch = w->asks[which].batch, calls = (n + batch - 1) / batch;
    kr_status status = KR_OK;
    const double begin = kr_advise_now();
    double before = begin;
    for (uint64_t call = 0; call < calls && status == KR_OK; ++call) {
        const uint64_t first = call * batch, many = n - first < batch ? n - first : batch;
        status = kr_advise_lookups_ask(w, index, which, timed(which), first, many, 0, err);
        if (status == KR_OK && !w->s.is_host)
            status = kr_device_sync(w->s.device, NULL, err);
        const uint64_t slice = call * KR_ADVISE_SLICES / calls;
        if (slices && (call + 1) * KR_ADVISE_SLICES / calls != slice) {
            const double now = kr_advise_now();
            slices[slice] = now - before;
            before = now;
        }
    }
    *seconds = kr_advise_now() - begin;
    return status;
}

/* Other work may hold up a short run, so the least time of a few counts. */
static kr_status pilot(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    enum { FIRST = 256, MORE = 8, TIMES = 3 };
    const double enough = 0.002;
    kr_advise_lookups *w = lookups_of(s);
    kr_status status = KR_OK;
    for (int which = 0; which < KR_ADVISE_ASKS && status == KR_OK; ++which) {
        const uint64_t all = w->asks[which].n;
        double took = 0, least = 0;
        for (uint64_t n = FIRST; status == KR_OK && all && least < enough; n *= MORE) {
            const uint64_t many = n < all ? n : all;
            for (int i = 0; i < TIMES && status == KR_OK && (i == 0 || least > enough / MORE); ++i) {
                status = run(w, t->object, which, many, &took, NULL, err);
                least = i == 0 || took < least ? took : least;
            }
            t->lookup[which] = least / (double)many;
            if (many == all)
                break;
        }
    }
    return status;
}

static kr_status compare_answers(kr_advise_lookups *w, kr_index *index, int which, kr_result result,
                                 uint64_t n, kr_advise_answers *answers, kr_error *err)
{
    const uint64_t nbytes = n * (result == KR_RESULT_ROW ? 4 : 8);
    kr_status status = kr_advise_lookups_ask(w, index, which, result, 0, n, 0, err);
    if (status == KR_OK)
        status = kr_memory_copy(w->s.device, w->out_host, w->out, nbytes, NULL, err);
    for (uint64_t i = 0; i < n && status == KR_OK; ++i) {
        const uint64_t answer =
            result == KR_RESULT_ROW ? ((uint32_t *)w->out_host)[i] : ((uint64_t *)w->out_host)[i];
        answers->hash += kr_advise_hash(i, answer);
        answers->found += result == KR_RESULT_COUNT ? answer : 0;
    }
    return status;
}

static kr_status verify(kr_advise_subject *s, kr_advise_trial *t, kr_advise_answers *answers, kr_error *err)
{
    kr_advise_lookups *w = lookups_of(s);
    kr_status status = KR_OK;
    *answers = (kr_advise_answers){0, 0};
    for (int which = 0; which < KR_ADVISE_ASKS && status == KR_OK; ++which) {
        const kr_advise_ask *ask = &w->asks[which];
        if (!ask->n)
            continue;
        status = compare_answers(w, t->object, which, KR_RESULT_COUNT, ask->n, answers, err);
        if (status == KR_OK && which == KR_ADVISE_POINTS)
            status = compare_answers(w, t->object, which, KR_RESULT_ROW, ask->n, answers, err);
        if (status == KR_OK)
            status = compare_answers(w, t->object, which, KR_RESULT_SUM_ROWS, ask->n_sums, answers, err);
    }
    return status;
}

static kr_status pass(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    kr_advise_lookups *w = lookups_of(s);
    kr_status status = KR_OK;
    double seconds;
    for (int which = 0; which < KR_ADVISE_ASKS && status == KR_OK; ++which) {
        const uint64_t n = w->asks[which].n;
        double slices[KR_ADVISE_SLICES] = {0};
        if (!n)
            continue;
        status = run(w, t->object, which, n, &seconds, slices, err);
        if (status == KR_OK)
            t->lookup[which] = kr_advise_least(t, which, slices) / (double)n;
    }
    t->passes += status == KR_OK;
    return status;
}

static kr_status update(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    const kr_advise_lookups *w = lookups_of(s);
    const uint64_t n[2] = {s->updated_rows / 2, w->n_deletes};
    const uint32_t width = kr_type_nbytes(w->whole.view.type);
    kr_status status = KR_OK;
    for (int i = 0; i < KR_ADVISE_UPDATES && status == KR_OK; ++i) {
        kr_column keys[2];
        for (int side = 0; side < 2; ++side)
            keys[side] =
                (kr_column){.type = w->whole.view.type,
                            .count = n[side],
                            .data = (char *)(side ? w->deletes : w->inserts) + (uint64_t)i * n[side] * width,
                            .dictionary = w->whole.view.dictionary};
        const double begin = kr_advise_now();
        status = kr_index_update(t->object, &keys[0], NULL, &keys[1], NULL, err);
        const double seconds = kr_advise_now() - begin;
        t->update = i == 0 || seconds < t->update ? seconds : t->update;
    }
    return status;
}

/* If "best" takes this kind for the whole column, it takes all rows: a look is a pass over the keys. */
static int takes_all(kr_advise_subject *s, const kr_advise_trial *t)
{
    const kr_advise_lookups *w = lookups_of(s);
    kr_explanation found = {.struct_size = sizeof found};
    const size_t n = strcspn(t->spec, ":");
    return kr_index_explain(s->device, KR_OP_POINT, "best", w->texts ? &w->whole.view : w->keys, 0, &found,
                            NULL) == KR_OK &&
           strncmp(found.spec, t->spec, n) == 0 && found.spec[n] == ':';
}

static const kr_advise_ops ops = {.prepare = prepare,
                                  .build = build,
                                  .destroy = destroy,
                                  .settle = settle,
                                  .pilot = pilot,
                                  .verify = verify,
                                  .pass = pass,
                                  .update = update,
                                  .takes_all = takes_all};

/* ---- Without an index ---------------------------------------------------------------------- */

/* Seconds of reading the whole column for one value; 0 where this build cannot scan. */
static double time_scan(kr_advise_lookups *w)
{
    const kr_column *column = w->texts ? &w->whole.view : w->keys;
    char value[8];
    uint64_t n = 0;
    double least = 0;
    kr_table *table = NULL;
    kr_condition *condition = NULL;
    kr_advise_value(w->whole.view.type, w->whole.sorted[w->whole.n_sorted / 2], value, 0);
    const kr_column one = {
        .type = w->whole.view.type, .count = 1, .data = value, .dictionary = w->whole.view.dictionary};
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &n};
    const kr_scan_sink *sinks[] = {&sink};
    kr_status status =
        kr_table_create(w->s.device, "full:zones=off,narrow=off", column, NULL, 1, NULL, NULL, &table, NULL);
    if (status == KR_OK)
        status = kr_condition_compare("c0", KR_EQUAL, &one, &condition, NULL);
    const kr_condition *conditions[] = {condition};
    for (int i = 0; i < 3 && status == KR_OK; ++i) {
        const double begin = kr_advise_now();
        status = kr_scan(table, conditions, sinks, 1, NULL, NULL, NULL);
        const double seconds = kr_advise_now() - begin;
        least = i == 0 || seconds < least ? seconds : least;
    }
    kr_condition_destroy(condition);
    kr_table_destroy(table);
    return status == KR_OK ? least : 0;
}

/* ---- The call ------------------------------------------------------------------------------ */

/* Texts need not be among the keys: bounds become codes that the same texts lie between. */
static kr_status take_text_bounds(kr_advise_lookups *w, const kr_column *from, int is_upper,
                                  kr_advise_column *to, kr_error *err)
{
    uint32_t *codes = to->data;
    const kr_status status = is_upper
                                 ? kr_texts_bounds(w->texts, from, KR_TEXTS_TO, NULL, codes, NULL, err)
                                 : kr_texts_bounds(w->texts, from, KR_TEXTS_FROM, codes, NULL, NULL, err);
    uint32_t *lower = w->given[1].data;
    for (uint64_t i = 0; is_upper && status == KR_OK && i < from->count; ++i) {
        lower[i] += !codes[i] && !lower[i]; /* no text is so low: nothing lies between 1 and 0 */
        codes[i] -= codes[i] > 0;
    }
    return status;
}

static kr_status take_given(kr_advise_lookups *w, const kr_column *from, const char *what, int at,
                            kr_error *err)
{
    const uint64_t most = w->s.is_host ? UINT64_C(1) << 22 : UINT64_C(1) << 24;
    const uint64_t room = most < w->options->batch ? w->options->batch : most;
    if (!from)
        return KR_OK;
    if (w->texts ? !kr_advise_is_text(from->type) : from->type != w->keys->type)
        return kr_fail(err, KR_ERR_TYPE, "%s.type is %s, and the keys are %s: convert one of them", what,
                       kr_type_name(from->type) ? kr_type_name(from->type) : "no type",
                       kr_type_name(w->keys->type));
    if (from->dictionary != w->keys->dictionary)
        return kr_fail(err, KR_ERR_TYPE,
                       "%s are codes of another dictionary than the keys: encode both with one", what);
    if (!from->count)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s has no rows: leave it out to have it made of the keys",
                       what);
    kr_column first = *from;
    first.count = from->count < room ? from->count : room;
    const kr_status status =
        kr_advise_take(w->s.device, w->s.is_host, &first, what, &w->texts, &w->given[at], err);
    return status == KR_OK && at && w->texts ? take_text_bounds(w, &first, at == 2, &w->given[at], err)
                                             : status;
}

/* Texts get codes of a dictionary first. That of many texts may take longer than the call may: then the first
 * rows stand for all, as many as a share of the time suffices for. */
static kr_status limit_texts(kr_advise_lookups *w, kr_error *err)
{
    enum { TRIED = 1 << 16 };
    const double share = 0.4, growth = 1.5;
    kr_texts *texts = NULL;
    w->taken = *w->keys;
    if (!kr_advise_is_text(w->keys->type) || w->keys->count <= 2 * TRIED)
        return KR_OK;
    w->taken.count = TRIED;
    const double begin = kr_advise_now();
    const kr_status status = kr_texts_create(w->s.device, &w->taken, NULL, NULL, &texts, err);
    const double row = growth * (kr_advise_now() - begin) / TRIED;
    kr_texts_destroy(texts);
    const double most = share * w->options->seconds / (row > 0 ? row : 1e-9);
    w->taken.count = most >= (double)w->keys->count ? w->keys->count : (uint64_t)most;
    w->taken.count = w->taken.count < TRIED ? TRIED : w->taken.count;
    w->s.is_partial = w->taken.count < w->keys->count;
    return status;
}

static kr_status take(kr_advise_lookups *w, kr_error *err)
{
    const kr_advise_options *o = w->options;
    if (o->lower && o->upper && o->lower->count != o->upper->count)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.lower has %llu rows and upper %llu: give one of each for a range",
                       (unsigned long long)o->lower->count, (unsigned long long)o->upper->count);
    if (w->keys->count >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT, "keys have %llu rows, and an index holds at most %u",
                       (unsigned long long)w->keys->count, KR_NO_ROW - 1);
    kr_status status = limit_texts(w, err);
    if (status == KR_OK)
        status = kr_advise_take(w->s.device, w->s.is_host, &w->taken, "keys", &w->texts, &w->whole, err);
    if (status == KR_OK)
        status = kr_advise_sort(&w->whole, err);
    if (status == KR_OK && !w->whole.n_sorted)
        status =
            kr_fail(err, KR_ERR_ARGUMENT,
                    "keys have %llu rows and no key, as %s: there is nothing to measure; give a column "
                    "with keys",
                    (unsigned long long)w->keys->count, w->keys->count ? "all are NULL" : "there is none");
    if (status == KR_OK)
        status = take_given(w, o->probes, "kr_advise_options.probes", 0, err);
    if (status == KR_OK)
        status = take_given(w, o->lower, "kr_advise_options.lower", 1, err);
    return status == KR_OK ? take_given(w, o->upper, "kr_advise_options.upper", 2, err) : status;
}

static void drop(kr_advise_lookups *w)
{
    kr_advise_lookups_free(w);
    for (int i = 0; i < 3; ++i)
        kr_advise_drop(&w->given[i]);
    kr_advise_drop(&w->sample);
    kr_advise_drop(&w->whole);
    kr_texts_destroy(w->texts);
}

static kr_status measure(kr_advise_lookups *w, double begin, kr_advice *advice, kr_error *err)
{
    const kr_advise_options *o = w->options;
    kr_status status = take(w, err);
    if (status != KR_OK)
        return status;
    w->now = &w->whole;
    const double part = (double)w->keys->count / (double)w->taken.count;
    w->s.rows = (uint64_t)((double)w->whole.valid * part);
    w->s.operations = o->operations;
    w->s.lookups[0] = o->operations & KR_CAN_POINT ? kr_advise_lookups_of(w) : 0;
    w->s.lookups[1] = o->operations & KR_CAN_RANGE ? kr_advise_lookups_of(w) : 0;
    kr_advise_plan plan = {.subject = &w->s,
                           .trials = advice->trials,
                           .begin = begin,
                           .end = begin + o->seconds,
                           .cap_nbytes = o->memory_cap_nbytes,
                           .progress = &o->progress};
    plan.n = kr_advise_specs(o->operations | (o->update_percent > 0 ? KR_CAN_UPDATE : 0), advice->trials);
    w->facts.scan_seconds = part * time_scan(w);
    status = kr_advise_run(&plan, err);
    snprintf(w->facts.sampled, sizeof w->facts.sampled, "those with keys within an interval%s",
             w->s.is_partial ? " of the first rows, since a dictionary of all texts takes too long" : "");
    if (status == KR_OK)
        kr_advise_conclude(&plan, &w->facts, advice);
    return status;
}

/* Calls that are as large as was asked may not be there, or take too long. */
static void note_batch(uint64_t asked, kr_advice_info *info)
{
    const size_t at = strlen(info->reason);
    if (asked > info->batch)
        snprintf(info->reason + at, sizeof info->reason - at, "; calls had %llu lookups, not %llu",
                 (unsigned long long)info->batch, (unsigned long long)asked);
}

kr_status kr_advise(kr_device *device, const kr_column *keys, const kr_advise_options *options,
                    kr_advice **advice, kr_error *err)
{
    const double begin = kr_advise_now();
    kr_advise_options read;
    if (!device || !keys || !advice)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise: %s is NULL",
                       !device ? "device"
                       : !keys ? "keys"
                               : "advice");
    const int is_host = kr_advise_is_host(device, err);
    if (is_host < 0)
        return KR_ERR_INTERNAL;
    kr_status status = kr_advise_read(options, is_host, &read, err);
    if (status != KR_OK)
        return status;
    kr_advice *made = kr_host_calloc(1, sizeof *made, "an advice", err);
    kr_advise_lookups *w = made ? kr_host_calloc(1, sizeof *w, "an advice", err) : NULL;
    status = w ? KR_OK : KR_ERR_HOST_MEMORY;
    if (status == KR_OK) {
        w->s = (kr_advise_subject){.ops = &ops, .device = device, .is_host = is_host};
        w->keys = keys;
        w->options = &read;
        status = measure(w, begin, made, err);
        if (status == KR_OK && options)
            note_batch(options->batch, &made->info);
        drop(w);
    }
    free(w);
    if (status == KR_OK)
        *advice = made;
    else
        free(made);
    return status;
}
