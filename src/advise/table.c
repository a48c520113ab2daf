/* kr_advise_table: tables, and the conditions that are asked of them. */
#include "advise/plan.h"
#include "base/util/structs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONDITIONS_MOST = KR_ADVISE_SLICES, PLACES = 16, COLUMNS_MOST = 4096 };

typedef struct tables {
    kr_advise_subject s;
    uint32_t n_columns, n_conditions;
    const char *const *names;
    kr_table_options options;
    const kr_condition *const *conditions;
    const kr_column *given; /* by the caller */
    /* n_columns each, in host memory; of texts their codes. */
    kr_advise_column *whole, *sample;
    kr_column *views; /* of the round, or of all rows */
    kr_texts **own;   /* dictionaries that were made here */
    const kr_texts **texts;
    uint32_t *bitmap;
    uint64_t rows; /* of the round */
    kr_advise_facts facts;
} tables;

static tables *tables_of(kr_advise_subject *s)
{
    return (tables *)s; /* its first member */
}

/* ---- Samples ------------------------------------------------------------------------------- */

static void drop_sample(tables *w)
{
    for (uint32_t c = 0; c < w->n_columns; ++c)
        kr_advise_drop(&w->sample[c]);
    free(w->bitmap);
    w->bitmap = NULL;
}

static void copy_bits(const kr_column *from, uint64_t first, uint64_t n, uint8_t *to, uint64_t at)
{
    for (uint64_t i = 0; i < n; ++i)
        if (kr_advise_is_valid(from, first + i))
            to[(at + i) / 8] |= (uint8_t)(1u << (at + i) % 8);
}

/* Runs of rows at places that are evenly apart: rows that lie near each other stay so. */
static kr_status sample_column(const tables *w, const kr_advise_column *from, uint64_t rows,
                               kr_advise_column *to, kr_error *err)
{
    const uint32_t nbytes = kr_type_nbytes(from->view.type);
    const uint64_t run = rows / PLACES;
    to->view = from->view;
    to->view.count = run * PLACES;
    to->view.validity_offset = 0;
    to->data = kr_host_calloc(rows, nbytes, "a sample of a table", err);
    to->validity =
        to->data && from->view.validity ? kr_host_calloc(rows / 8 + 1, 1, "a sample of a table", err) : NULL;
    if (!to->data || (from->view.validity && !to->validity))
        return KR_ERR_HOST_MEMORY;
    to->view.data = to->data;
    to->view.validity = to->validity;
    for (uint64_t i = 0; i < PLACES; ++i) {
        const uint64_t first = (w->s.rows - run) / (PLACES - 1) * i;
        memcpy((char *)to->data + i * run * nbytes, (const char *)from->view.data + first * nbytes,
               run * nbytes);
        if (to->validity)
            copy_bits(&from->view, first, run, to->validity, i * run);
    }
    return KR_OK;
}

/* What a table of all rows is made of: what the caller has, or codes of its texts. */
static kr_column whole_view(const tables *w, uint32_t c)
{
    return kr_advise_is_text(w->given[c].type) ? w->whole[c].view : w->given[c];
}

static kr_status prepare(kr_advise_subject *s, uint64_t *rows, kr_error *err)
{
    tables *w = tables_of(s);
    const int is_whole = *rows >= s->rows;
    kr_status status = KR_OK;
    drop_sample(w);
    *rows = is_whole ? s->rows : *rows / PLACES * PLACES;
    w->rows = *rows;
    for (uint32_t c = 0; c < w->n_columns && status == KR_OK; ++c) {
        if (!is_whole)
            status = sample_column(w, &w->whole[c], *rows, &w->sample[c], err);
        w->views[c] = is_whole ? whole_view(w, c) : w->sample[c].view;
    }
    if (status == KR_OK && !(w->bitmap = kr_host_calloc(*rows / 32 + 1, 4, "answers to be compared", err)))
        status = KR_ERR_HOST_MEMORY;
    return status;
}

/* ---- Steps of a trial ---------------------------------------------------------------------- */

static kr_status build(kr_advise_subject *s, int is_whole, kr_advise_trial *t, kr_error *err)
{
    tables *w = tables_of(s);
    kr_table_info info = {.struct_size = sizeof info};
    kr_table *table = NULL;
    for (uint32_t c = 0; c < w->n_columns && is_whole; ++c)
        w->views[c] = whole_view(w, c);
    const double begin = kr_advise_now();
    kr_status status =
        kr_table_create(s->device, t->spec, w->views, w->names, w->n_columns, &w->options, NULL, &table, err);
    t->build = kr_advise_now() - begin;
    if (status == KR_OK)
        status = kr_table_query(table, &info, err);
    if (status != KR_OK) {
        kr_table_destroy(table);
        return status;
    }
    t->object = table;
    t->footprint_nbytes = info.footprint_nbytes;
    t->peak_nbytes = info.peak_nbytes;
    return KR_OK;
}

static void destroy(kr_advise_trial *t)
{
    kr_table_destroy(t->object);
    t->object = NULL;
}

static kr_status scan(const tables *w, kr_table *table, uint32_t condition, kr_scan_result result, void *out,
                      kr_error *err)
{
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = result, .out = out};
    const kr_scan_sink *sinks[] = {&sink};
    return kr_scan(table, &w->conditions[condition], sinks, 1, NULL, NULL, err);
}

/* Conditions that no kind can answer are the caller's mistake, so this is no candidate's failure. */
static kr_status settle(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    tables *w = tables_of(s);
    kr_status status = KR_OK;
    uint64_t n = 0, all = 0;
    for (uint32_t i = 0; i < w->n_conditions && status == KR_OK; ++i, all += n)
        status = scan(w, t->object, i, KR_SCAN_COUNT, &n, err);
    w->facts.batch = 1;
    w->facts.range_hits = (double)all / w->n_conditions;
    return status;
}

/* A slice is a condition. */
static kr_status pass(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    const tables *w = tables_of(s);
    double slices[KR_ADVISE_SLICES] = {0};
    kr_status status = KR_OK;
    uint64_t n;
    for (uint32_t i = 0; i < w->n_conditions && status == KR_OK; ++i) {
        const double begin = kr_advise_now();
        status = scan(w, t->object, i, KR_SCAN_COUNT, &n, err);
        slices[i] = kr_advise_now() - begin;
    }
    if (status == KR_OK)
        t->lookup[0] = kr_advise_least(t, 0, slices) / w->n_conditions;
    t->passes += status == KR_OK;
    return status;
}

static kr_status pilot(kr_advise_subject *s, kr_advise_trial *t, kr_error *err)
{
    const kr_status status = pass(s, t, err);
    t->passes = 0;
    return status;
}

static kr_status verify(kr_advise_subject *s, kr_advise_trial *t, kr_advise_answers *answers, kr_error *err)
{
    const tables *w = tables_of(s);
    kr_status status = KR_OK;
    *answers = (kr_advise_answers){0, 0};
    for (uint32_t i = 0; i < w->n_conditions && status == KR_OK; ++i) {
        status = scan(w, t->object, i, KR_SCAN_BITMAP, w->bitmap, err);
        for (uint64_t word = 0; word < (w->rows + 31) / 32 && status == KR_OK; ++word) {
            answers->hash += kr_advise_hash(word * CONDITIONS_MOST + i, w->bitmap[word]);
            answers->found += (uint64_t)__builtin_popcount(w->bitmap[word]);
        }
    }
    return status;
}

static const kr_advise_ops ops = {.prepare = prepare,
                                  .build = build,
                                  .destroy = destroy,
                                  .settle = settle,
                                  .pilot = pilot,
                                  .verify = verify,
                                  .pass = pass};

/* ---- The call ------------------------------------------------------------------------------ */

static kr_status check(const kr_column *columns, uint32_t n_columns, const kr_condition *const *conditions,
                       uint32_t n_conditions, const kr_advise_options *o, kr_error *err)
{
    const char *field = o->probes                ? "probes"
                        : o->lower || o->upper   ? "lower and upper"
                        : o->operations          ? "operations"
                        : o->batch               ? "batch"
                        : o->range_hits          ? "range_hits"
                        : o->miss_percent != 0   ? "miss_percent"
                        : o->update_percent != 0 ? "update_percent"
                                                 : NULL;
    if (field)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_advise_options.%s is for indexes: leave it 0 for kr_advise_table", field);
    if (!n_columns || n_columns > COLUMNS_MOST)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_table: %u columns: give 1 to %d", n_columns,
                       COLUMNS_MOST);
    if (!n_conditions || n_conditions > CONDITIONS_MOST)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_table: %u conditions: give 1 to %d", n_conditions,
                       CONDITIONS_MOST);
    for (uint32_t i = 0; i < n_conditions; ++i)
        if (!conditions[i])
            return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_table: condition %u is NULL", i);
    for (uint32_t c = 1; c < n_columns; ++c)
        if (columns[c].count != columns[0].count)
            return kr_fail(
                err, KR_ERR_ARGUMENT,
                "kr_advise_table: column %u has %llu rows and column 0 %llu: columns of a table have "
                "equally many",
                c, (unsigned long long)columns[c].count, (unsigned long long)columns[0].count);
    if (!columns[0].count)
        return kr_fail(err, KR_ERR_ARGUMENT, "the table has no rows: there is nothing to measure");
    return KR_OK;
}

/* Of texts codes, with a dictionary of the caller or one that is made here. On a GPU this copies, as samples
 * are made in host memory. */
static kr_status take_column(tables *w, const kr_column *from, uint32_t c, kr_error *err)
{
    char what[32];
    const kr_texts *given = w->options.texts ? w->options.texts[c] : NULL;
    kr_texts *texts = (kr_texts *)(uintptr_t)given; /* which is only read */
    snprintf(what, sizeof what, "column %u", c);
    const kr_status status = kr_advise_take(w->s.device, w->s.is_host, from, what, &texts, &w->whole[c], err);
    w->own[c] = given ? NULL : texts;
    w->texts[c] = texts;
    return status;
}

static kr_status take(tables *w, const kr_column *columns, kr_error *err)
{
    const uint32_t n = w->n_columns;
    kr_status status = KR_OK;
    w->given = columns;
    w->whole = kr_host_calloc(n, sizeof *w->whole, "an advice", err);
    w->sample = w->whole ? kr_host_calloc(n, sizeof *w->sample, "an advice", err) : NULL;
    w->views = w->sample ? kr_host_calloc(n, sizeof *w->views, "an advice", err) : NULL;
    w->own = w->views ? kr_host_calloc(n, sizeof *w->own, "an advice", err) : NULL;
    w->texts = w->own ? kr_host_calloc(n, sizeof *w->texts, "an advice", err) : NULL;
    if (!w->texts)
        return KR_ERR_HOST_MEMORY;
    for (uint32_t c = 0; c < n && status == KR_OK; ++c)
        status = take_column(w, &columns[c], c, err);
    w->options.texts = w->texts;
    return status;
}

static void drop(tables *w)
{
    if (w->sample)
        drop_sample(w);
    for (uint32_t c = 0; c < w->n_columns && w->texts; ++c)
        kr_advise_drop(&w->whole[c]);
    for (uint32_t c = 0; c < w->n_columns && w->texts; ++c)
        kr_texts_destroy(w->own[c]);
    free(w->texts);
    free(w->own);
    free(w->views);
    free(w->sample);
    free(w->whole);
}

static kr_status measure(tables *w, const kr_column *columns, const kr_advise_options *o, double begin,
                         kr_advice *advice, kr_error *err)
{
    kr_status status = take(w, columns, err);
    if (status != KR_OK)
        return status;
    w->s.rows = columns[0].count;
    w->s.operations = KR_CAN_SCAN;
    w->s.lookups[0] = w->n_conditions;
    kr_advise_plan plan = {.subject = &w->s,
                           .trials = advice->trials,
                           .begin = begin,
                           .end = begin + o->seconds,
                           .cap_nbytes = o->memory_cap_nbytes,
                           .progress = &o->progress};
    plan.n = kr_advise_specs(KR_CAN_SCAN, advice->trials);
    status = kr_advise_run(&plan, err);
    snprintf(w->facts.sampled, sizeof w->facts.sampled, "those of %d places of the table", PLACES);
    if (status == KR_OK)
        kr_advise_conclude(&plan, &w->facts, advice);
    return status;
}

kr_status kr_advise_table(kr_device *device, const kr_column *columns, const char *const *names,
                          uint32_t n_columns, const kr_table_options *table_options,
                          const kr_condition *const *conditions, uint32_t n_conditions,
                          const kr_advise_options *options, kr_advice **advice, kr_error *err)
{
    const double begin = kr_advise_now();
    kr_advise_options read;
    tables w = {
        .n_columns = n_columns, .names = names, .conditions = conditions, .n_conditions = n_conditions};
    if (!device || !columns || !conditions || !advice)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_advise_table: %s is NULL",
                       !device       ? "device"
                       : !columns    ? "columns"
                       : !conditions ? "conditions"
                                     : "advice");
    const int is_host = kr_advise_is_host(device, err);
    kr_status status = is_host < 0 ? KR_ERR_INTERNAL : kr_advise_read_plain(options, &read, err);
    if (status == KR_OK)
        status = check(columns, n_columns, conditions, n_conditions, &read, err);
    if (status == KR_OK && table_options)
        status = kr_struct_read(&kr_struct_table_options, table_options, &w.options, err);
    if (status != KR_OK)
        return status;
    kr_advice *made = kr_host_calloc(1, sizeof *made, "an advice", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    w.s = (kr_advise_subject){.ops = &ops, .device = device, .is_host = is_host};
    w.options.struct_size = sizeof w.options;
    status = measure(&w, columns, &read, begin, made, err);
    drop(&w);
    if (status == KR_OK)
        *advice = made;
    else
        free(made);
    return status;
}
