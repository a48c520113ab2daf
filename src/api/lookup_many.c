/* kr_index_lookup_many: several results of one batch. */
#include "api/call.h"
#include "index/lookup/many.h"

#include <stdlib.h>

/* The sinks as they were read, and the values of each, which the device reaches. */
typedef struct many {
    kr_call call;
    uint32_t n;
    kr_sink sinks[KR_SINKS_MOST];
    kr_resident values[KR_SINKS_MOST];
    kr_column columns[KR_SINKS_MOST];
} many;

/* The bytes of an array of answers. */
typedef struct extent {
    const char *name, *first, *end;
} extent;

static extent extent_of(const char *name, const void *array, uint64_t bits, uint64_t n)
{
    const char *first = array;
    return (extent){name, first, first ? first + (bits * n + 7) / 8 : first};
}

/* Sinks with memory in common would write over each other. */
static kr_status check_apart(const many *m, uint32_t i, uint64_t n, kr_error *err)
{
    const kr_sink *mine = &m->sinks[i];
    const extent here[2] = {extent_of("out", mine->out, kr_query_result_bits(mine), n),
                            extent_of("valid", mine->valid, 1, n)};
    for (uint32_t j = 0; j < i; ++j) {
        const kr_sink *other = &m->sinks[j];
        const extent there[2] = {extent_of("out", other->out, kr_query_result_bits(other), n),
                                 extent_of("valid", other->valid, 1, n)};
        for (int k = 0; k < 4; ++k)
            if (here[k / 2].first < there[k % 2].end && there[k % 2].first < here[k / 2].end)
                return kr_fail(err, KR_ERR_ARGUMENT,
                               "%s of sink %u and %s of sink %u have memory in common: give each its own",
                               there[k % 2].name, j, here[k / 2].name, i);
        if (mine->report && mine->report == other->report)
            return kr_fail(err, KR_ERR_ARGUMENT, "sinks %u and %u have the same report: give each its own", j,
                           i);
    }
    return KR_OK;
}

static kr_status read_sinks(many *m, const kr_wanted *w, const kr_sink *const *sinks, kr_error *err)
{
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < m->n && status == KR_OK; ++i) {
        status =
            kr_call_read_sink(m->call.index, sinks[i], w->lower->count, &m->sinks[i], &m->call.reaches, err);
        if (status == KR_OK && m->sinks[i].result == KR_RESULT_ROWS)
            status = kr_fail(err, KR_ERR_UNSUPPORTED,
                             "sink %u wants ROWS, whose size is not known before: look them up in a call of "
                             "their own",
                             i);
        if (status == KR_OK)
            status = check_apart(m, i, w->lower->count, err);
    }
    return status;
}

/* The sink before i that takes its values of the same column; i itself if there is none. */
static uint32_t first_with(const many *m, uint32_t i)
{
    const kr_column *values = m->sinks[i].values;
    uint32_t j = 0;
    while (j < i && (!m->sinks[j].values || m->sinks[j].values->data != values->data ||
                     m->sinks[j].values->type != values->type || m->sinks[j].values->count != values->count ||
                     m->sinks[j].values->validity != values->validity ||
                     m->sinks[j].values->validity_offset != values->validity_offset))
        ++j;
    return j;
}

/* A work has no room for the copies of all sinks. */
static void bring_values(kr_work *w, many *m)
{
    for (uint32_t i = 0; i < m->n; ++i) {
        const uint32_t first = m->sinks[i].values ? first_with(m, i) : 0;
        if (m->sinks[i].values && first == i)
            KR_STEP(w, kr_column_resident_make(w->device, m->sinks[i].values, "a copy of the values",
                                               w->stream, &m->values[i], w->err));
        if (m->sinks[i].values)
            m->columns[i] = m->values[first].column;
    }
    kr_work_lap(w, "copy");
}

/* A copy of values that lie in host memory must be there until the call is done. */
static void release_values(kr_work *w, many *m)
{
    int copied = 0;
    for (uint32_t i = 0; i < m->n; ++i)
        copied |= m->values[i].data.data || m->values[i].validity.data;
    if (copied)
        kr_work_finish(w);
    for (uint32_t i = 0; i < m->n; ++i)
        kr_column_resident_release(w->device, &m->values[i], w->stream);
}

static kr_status run(many *m, const kr_wanted *wanted, kr_stream *stream, kr_error *err)
{
    kr_work w = kr_work_on(m->call.index->device, stream, err);
    kr_stopwatch watch;
    int reports = 0, counts = 0;
    for (uint32_t i = 0; i < m->n; ++i) {
        reports |= m->sinks[i].report != NULL;
        counts |= m->sinks[i].report && m->sinks[i].count_work;
    }
    kr_call_open(&w, &m->call, wanted, reports ? &watch : NULL, counts);
    if (!m->call.index->ops->kept) /* which brings values where they are read, if at all */
        bring_values(&w, m);
    const kr_many job = {&m->call.query, m->call.lower,   m->call.upper, m->sinks,
                         m->columns,     m->call.reaches, m->n};
    kr_many_answer(&w, &job);
    release_values(&w, m);
    for (uint32_t i = 0; i < m->n; ++i)
        if (m->sinks[i].report)
            kr_call_report(&w, &m->call, m->sinks[i].report);
    return kr_call_close(&w);
}

kr_status kr_index_lookup_many(kr_index *index, const kr_column *lower, const kr_column *upper,
                               const kr_nearest_options *nearest, const kr_sink *const *sinks,
                               uint32_t n_sinks, kr_stream *stream, kr_error *err)
{
    const kr_wanted w = {.lower = lower,
                         .upper = upper,
                         .is_range = upper != NULL,
                         .is_nearest = nearest != NULL,
                         .nearest = nearest};
    int reaches = 1;
    kr_status status = kr_call_check_batch(index, &w, stream, &reaches, err);
    if (status == KR_OK && upper && nearest)
        status =
            kr_fail(err, KR_ERR_ARGUMENT, "upper and nearest are both given: ranges have no nearest key");
    if (status == KR_OK && (!sinks || !n_sinks))
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_index_lookup_many: no sinks are given");
    if (status == KR_OK && n_sinks > KR_SINKS_MOST)
        status = kr_fail(err, KR_ERR_LIMIT, "%u sinks, but a call takes at most %d: make several calls",
                         n_sinks, KR_SINKS_MOST);
    if (status != KR_OK)
        return status;
    many *m = kr_host_calloc(1, sizeof *m, "several results", err);
    if (!m)
        return KR_ERR_HOST_MEMORY;
    m->call = (kr_call){.index = index, .reaches = reaches};
    m->n = n_sinks;
    status = read_sinks(m, &w, sinks, err);
    if (status == KR_OK)
        status = run(m, &w, stream, err);
    free(m);
    return status;
}
