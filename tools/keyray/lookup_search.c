/* The answers of lookup, range and update: the calls, and where their results go. */
#include "lookup.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>

const struct result *lookup_find_result(const lookup_job *j, kr_result kind)
{
    for (uint32_t i = 0; i < j->n_results; ++i)
        if (j->results[i].kind == kind)
            return &j->results[i];
    return NULL;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static int call(lookup_job *j, const kr_sink *sink)
{
    kr_error err = {0};
    const double begin = tool_now();
    const kr_status status =
        j->is_range               ? kr_index_range(j->index, &j->lower.view, &j->upper.view, sink, NULL, &err)
        : j->options.nearest.side ? kr_index_nearest(j->index, &j->lower.view, &j->nearest, sink, NULL, &err)
                                  : kr_index_lookup(j->index, &j->lower.view, sink, NULL, &err);
    nearest_rename(&err);
    j->search += tool_now() - begin;
    return tool_check(status, &err);
}

/* One result after the other: those of several columns of values stand together. */
static int open_results(lookup_job *j)
{
    const lookup_options *o = &j->options;
    int code = DONE;
    for (uint32_t i = 0; i < o->results.n; ++i) {
        const kr_result kind = (kr_result)(o->results.at[i] + 1);
        const int with_values = result_needs_values(kind);
        for (uint32_t v = 0; !code && v < (with_values ? o->values.n : 1); ++v)
            code = result_open(&j->results[j->n_results++], kind, with_values ? &j->values[v] : NULL,
                               with_values && o->values.n > 1, j->lower.view.count);
    }
    return code;
}

/* Which probes matched, for results that hide it: of another result, or by a call whose time is not counted.
 */
static int find_matches(lookup_job *j)
{
    const double search = j->search;
    const uint64_t n = j->lower.view.count;
    const struct result *showing = NULL;
    int hidden = 0;
    for (uint32_t i = 0; i < j->n_results; ++i) {
        if (result_hides_matches(j->results[i].kind))
            hidden = 1;
        else
            showing = &j->results[i];
    }
    if (!hidden)
        return DONE;
    j->exists = tool_alloc((n + 7) / 8, 1, "which probes matched");
    if (!j->exists)
        return FAILED;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_EXISTS, .out = j->exists};
    int code = DONE;
    if (showing)
        result_matches(showing, j->exists);
    else
        code = call(j, &sink);
    j->search = search;
    return code;
}

/* A sum without a value is none, as in SQL. The library says 0 then, but it says of minima whether there is
 * one. The time of this call is not counted. */
static int find_sums(lookup_job *j, struct result *sum)
{
    const kr_column *values = &sum->values->view;
    const double search = j->search;
    void *minima = tool_alloc(sum->n, kr_type_nbytes(values->type), "minima, which say where sums are");
    sum->valid = minima ? tool_alloc((sum->n + 7) / 8, 1, "the results' validity") : NULL;
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_MIN,
                          .values = values,
                          .out = minima,
                          .valid = sum->valid};
    const int code = sum->valid ? call(j, &sink) : FAILED;
    j->search = search;
    free(minima);
    return code;
}

static kr_sink sink_of(const lookup_job *j, const struct result *r, kr_report *report)
{
    return (kr_sink){.struct_size = sizeof(kr_sink),
                     .result = result_asked(r),
                     .order = j->options.order ? KR_ORDER_KEY : KR_ORDER_ROW,
                     .values = r->values ? &r->values->view : NULL,
                     .out = r->out,
                     .valid = r->valid,
                     .rows = r->rows,
                     .rows_capacity = r->n_rows,
                     .report = report,
                     .count_work = 1,
                     .limit = r->kind == KR_RESULT_ROWS ? j->options.limit : 0};
}

static void add_report(lookup_job *j, const kr_report *report)
{
    report_facts one;
    report_facts_take(report, &one);
    if (!j->did.probes) {
        j->did = one;
        return;
    }
    facts_add(&j->did.phases, &one.phases);
    facts_add(&j->did.counters, &one.counters);
}

/* What calls did: of row lists, whose lengths take a call before, only the last one counts. */
typedef struct reports {
    kr_report *of_list, *of_other;
} reports;

static int fill_list(lookup_job *j, const struct result *r, const reports *filled)
{
    const kr_sink sink = sink_of(j, r, filled->of_list);
    return call(j, &sink);
}

/* All results but row lists, by one search for as many as a call takes. */
static int fill_others(lookup_job *j, const reports *filled)
{
    enum { MOST = 64 };
    kr_sink sinks[MOST];
    const kr_sink *all[MOST];
    kr_error err = {0};
    int code = DONE;
    for (uint32_t i = 0, n = 0; i < j->n_results && !code; ++i) {
        if (j->results[i].kind != KR_RESULT_ROWS) {
            sinks[n] = sink_of(j, &j->results[i], n ? NULL : filled->of_other);
            all[n] = &sinks[n];
            ++n;
        }
        if (!n || (n < MOST && i + 1 < j->n_results))
            continue;
        const double begin = tool_now();
        const kr_status status =
            n == 1 ? KR_OK
                   : kr_index_lookup_many(j->index, &j->lower.view, j->is_range ? &j->upper.view : NULL,
                                          j->options.nearest.side ? &j->nearest : NULL, all, n, NULL, &err);
        nearest_rename(&err);
        j->search += n == 1 ? 0 : tool_now() - begin;
        code = n == 1 ? call(j, &sinks[0]) : tool_check(status, &err);
        if (!code)
            add_report(j, filled->of_other);
        n = 0;
    }
    return code;
}

/* Row lists: once their lengths are known. */
static int list_rows(lookup_job *j, const reports *filled)
{
    for (uint32_t i = 0; i < j->n_results; ++i) {
        struct result *r = &j->results[i];
        if (r->kind != KR_RESULT_ROWS)
            continue;
        const int code = result_open_rows(r);
        return code ? code : fill_list(j, r, filled);
    }
    return DONE;
}

static uint64_t count_lines(const lookup_job *j)
{
    const struct result *list = lookup_find_result(j, KR_RESULT_ROWS);
    return result_lines(list ? list : &j->results[0]);
}

/* 1: without -o, but the answers are few enough to be shown. */
static int shows_answers(const lookup_job *j)
{
    return !j->printing.json && !j->printing.quiet && count_lines(j) <= ANSWERS_SMALL_MOST;
}

/* 1: answers are written as text, which has empty cells. */
static int has_cells(const lookup_job *j)
{
    return j->form == ANSWERS_NONE ? shows_answers(j) : j->form != ANSWERS_NPY;
}

static int search_all(lookup_job *j, const reports *filled)
{
    int code = open_results(j);
    if (!code)
        code = fill_others(j, filled);
    for (uint32_t i = 0; !code && i < j->n_results; ++i)
        if (j->results[i].kind == KR_RESULT_ROWS)
            code = fill_list(j, &j->results[i], filled);
    if (!code)
        code = find_matches(j);
    for (uint32_t i = 0; !code && i < j->n_results; ++i) {
        j->results[i].exists = j->exists;
        result_count(&j->results[i]);
    }
    for (uint32_t i = 0; !code && has_cells(j) && i < j->n_results; ++i)
        if (j->results[i].kind == KR_RESULT_SUM && j->results[i].values->view.validity)
            code = find_sums(j, &j->results[i]);
    if (!code && (j->form != ANSWERS_NONE || shows_answers(j)))
        code = list_rows(j, filled);
    if (!code && lookup_find_result(j, KR_RESULT_ROWS))
        add_report(j, filled->of_list);
    return code;
}

int lookup_search(lookup_job *j)
{
    kr_error err = {0};
    reports filled = {0};
    int code = tool_check(kr_report_create(&filled.of_list, &err), &err);
    if (!code)
        code = tool_check(kr_report_create(&filled.of_other, &err), &err);
    if (!code)
        code = search_all(j, &filled);
    kr_report_destroy(filled.of_list);
    kr_report_destroy(filled.of_other);
    return code;
}

/* ---- Where they go --------------------------------------------------------------------------- */

/* The lines of row lists, which are asked for one after the other. */
typedef struct row_lines {
    const struct result *result;
    uint64_t probe, next; /* of the line to come: its probe, and its row among all */
} row_lines;

/* answers.place */
static kr_status place_list(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    row_lines *lines = ctx;
    const uint64_t *offsets = lines->result->out, p = lines->probe;
    const int is_empty = offsets[p] == offsets[p + 1];
    (void)line;
    (void)err;
    places[AT_PROBE] = p;
    places[AT_ROW] = is_empty ? NO_PLACE : lines->result->rows[lines->next];
    lines->next += !is_empty;
    lines->probe += lines->next == offsets[p + 1];
    return KR_OK;
}

/* The same with the smallest row of each probe, or with none. */
static kr_status place_row(void *ctx, uint64_t line, uint64_t places[N_PLACES], kr_error *err)
{
    const struct result *rows = ctx;
    const uint32_t row = rows ? ((const uint32_t *)rows->out)[line] : KR_NO_ROW;
    (void)err;
    places[AT_ROW] = row == KR_NO_ROW ? NO_PLACE : row;
    return KR_OK;
}

static int write_text(lookup_job *j)
{
    const struct result *list = lookup_find_result(j, KR_RESULT_ROWS);
    row_lines lines = {list, 0, 0};
    answers *all = calloc(1, sizeof *all);
    if (!all)
        return tool_fail_machine("no host memory for a table of answers");
    all->lines = count_lines(j);
    all->no_rows = j->options.no_rows;
    all->place = list ? place_list : place_row;
    all->ctx = list ? (void *)&lines : (void *)lookup_find_result(j, KR_RESULT_ROW);
    answers_add_file(all, j->is_range ? "lower" : "probe", AT_PROBE, j->lower.file);
    if (j->is_range)
        answers_add_file(all, "upper", AT_PROBE, j->upper.file);
    for (uint32_t i = 0; i < j->n_results; ++i)
        result_add(&j->results[i], all);
    shown_add(&j->shown, AT_ROW, all);
    const int code = answers_write(all, j->form, j->options.output, j->progress);
    free(all);
    return code;
}

int lookup_write(lookup_job *j)
{
    const double begin = tool_now();
    int code = DONE;
    if (j->form == ANSWERS_NPY)
        code = result_write(&j->results[0], j->options.output, j->progress);
    else if (j->form != ANSWERS_NONE || (!j->printing.json && !j->printing.quiet))
        code = write_text(j);
    j->write = tool_now() - begin;
    return code;
}
