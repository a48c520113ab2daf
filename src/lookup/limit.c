#include "lookup/limit.h"
#include "lookup/limit_body.h"
#include "results/dense.h"
#include "results/row_lists.h"

#include <stdlib.h>

/* Rows that are gathered at a time, unless one match has more. */
enum { GATHERED = 1 << 24 };

int kr_limit_gathers(const kr_query *query)
{
    return query->limit && query->order == KR_ORDER_ROW && query->batch.upper;
}

/* The matches of a slice of probes, and all of their rows. */
typedef struct slice {
    const kr_query *query;
    const kr_matches *matches;
    const kr_matches_copy_job *part;
    const uint64_t *whole; /* host: of the part's probes, from part->first on */
    uint64_t first, end;   /* probes, counted from part->first */
} slice;

static uint64_t end_of(const slice *s)
{
    uint64_t end = s->first + 1;
    while (end < s->part->count && s->whole[end + 1] - s->whole[s->first] <= GATHERED)
        ++end;
    return end;
}

static kr_row_lists_job job_of(const slice *s, const kr_rows *rows, const kr_match *matches,
                               const kr_buffer *offsets)
{
    return (kr_row_lists_job){
        .rows = rows,
        .matches = matches,
        .offsets = (const uint64_t *)offsets->data + s->part->first + s->first,
        .n = s->end - s->first,
        .row_limit = s->query->index->row_limit,
    };
}

/* All rows of the slice's matches, ascending. */
static kr_status gather(const slice *s, kr_buffer *rows, kr_error *err)
{
    const kr_query *query = s->query;
    const kr_rows from = query->index->ops->rows(query->index->self);
    const kr_match *matches = (const kr_match *)s->matches->matches.data + s->part->first + s->first;
    kr_row_lists_job job = job_of(s, &from, matches, &s->matches->whole);
    job.base = s->whole[s->first];
    job.capacity = s->whole[s->end] - job.base;
    const kr_status status =
        kr_buffer_allocate(query->index->device, job.capacity * sizeof(uint32_t), query->stream,
                           "all rows of ranges", "use KR_ORDER_KEY, which reads only the first", rows, err);
    job.out = rows->data;
    return status == KR_OK ? kr_row_lists_copy_ascending(query->index->device, &job, query->stream, err)
                           : status;
}

/* The first rows of each match of the slice, where gathered. */
static kr_status take_first(const slice *s, const kr_buffer *rows, kr_error *err)
{
    kr_device *device = s->query->index->device;
    const uint64_t n = s->end - s->first;
    const kr_rows from = kr_dense_rows(rows->data, sizeof(uint32_t), rows->nbytes / sizeof(uint32_t));
    kr_buffer firsts = {0};
    kr_status status = kr_buffer_allocate(device, n * sizeof(kr_match), s->query->stream,
                                          "the first rows of ranges", NULL, &firsts, err);
    const limit_params params = {
        .whole = (const uint64_t *)s->matches->whole.data + s->part->first + s->first,
        .matches = firsts.data,
        .base = s->whole[s->first],
        .limit = s->query->limit,
    };
    if (status == KR_OK)
        status = kr_device_run(device, &limit_firsts, &params, n, s->query->stream, err);
    kr_row_lists_job job = job_of(s, &from, firsts.data, &s->matches->offsets);
    job.base = s->part->base;
    job.capacity = s->part->capacity;
    job.out = s->part->out;
    if (status == KR_OK)
        status = kr_row_lists_copy(device, &job, s->query->stream, err);
    kr_buffer_release(device, &firsts, s->query->stream);
    return status;
}

static kr_status copy_slice(const slice *s, kr_error *err)
{
    kr_buffer rows = {0};
    if (s->whole[s->end] == s->whole[s->first])
        return KR_OK;
    kr_status status = gather(s, &rows, err);
    if (status == KR_OK)
        status = take_first(s, &rows, err);
    kr_buffer_release(s->query->index->device, &rows, s->query->stream);
    return status;
}

kr_status kr_limited_copy(const kr_query *query, const kr_matches *matches, const kr_matches_copy_job *part,
                          kr_error *err)
{
    kr_device *device = query->index->device;
    const uint64_t nbytes = (part->count + 1) * sizeof(uint64_t);
    uint64_t *whole = kr_host_calloc(part->count + 1, sizeof *whole, "offsets", err);
    if (!whole)
        return KR_ERR_HOST_MEMORY;
    kr_status status = kr_device_copy(device, whole, (const uint64_t *)matches->whole.data + part->first,
                                      nbytes, query->stream, err);
    if (status == KR_OK)
        status = kr_device_sync(device, query->stream, err);
    slice s = {.query = query, .matches = matches, .part = part, .whole = whole};
    for (; s.first < part->count && status == KR_OK; s.first = s.end) {
        s.end = end_of(&s);
        status = copy_slice(&s, err);
    }
    free(whole);
    return status;
}
