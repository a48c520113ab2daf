#include "index/lookup/limit.h"
#include "index/lookup/limit_body.h"
#include "index/results/dense.h"
#include "index/results/row_lists.h"

#include <stdlib.h>

/* Rows that are gathered at a time, unless one match has more. */
enum { GATHERED = 1 << 24 };

int kr_limit_gathers(const kr_query *query)
{
    return query->limit && query->order == KR_ORDER_ROW && query->batch.upper;
}

/* The matches of a slice of probes, and all of their rows. */
typedef struct slice {
    kr_work *work;
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
                               const uint64_t *offsets)
{
    return (kr_row_lists_job){
        .rows = rows,
        .matches = matches,
        .offsets = offsets + s->part->first + s->first,
        .n = s->end - s->first,
        .row_limit = s->query->index->row_limit,
    };
}

/* All rows of the slice's matches, ascending, and how many. */
static uint32_t *gather(const slice *s, uint64_t *n)
{
    const kr_match *matches = s->matches->matches + s->part->first + s->first;
    kr_row_lists_job job = job_of(s, &s->matches->rows, matches, s->matches->whole);
    job.base = s->whole[s->first];
    job.capacity = *n = s->whole[s->end] - job.base;
    job.out = kr_work_take_or(s->work, job.capacity * sizeof *job.out, "all rows of ranges",
                              "use KR_ORDER_KEY, which reads only the first");
    kr_row_lists_copy_ascending(s->work, &job);
    return job.out;
}

/* The first rows of each match of the slice, where gathered. */
static void take_first(const slice *s, const uint32_t *rows, uint64_t n_rows)
{
    const uint64_t n = s->end - s->first;
    const kr_rows from = kr_dense_rows(rows, sizeof *rows, n_rows);
    kr_match *firsts = kr_work_take(s->work, n * sizeof *firsts, "the first rows of ranges");
    const limit_params params = {
        .whole = s->matches->whole + s->part->first + s->first,
        .matches = firsts,
        .base = s->whole[s->first],
        .limit = s->query->limit,
    };
    kr_work_run(s->work, &limit_firsts, &params, n);
    kr_row_lists_job job = job_of(s, &from, firsts, s->matches->offsets);
    job.base = s->part->base;
    job.capacity = s->part->capacity;
    job.out = s->part->out;
    kr_row_lists_copy(s->work, &job);
    kr_work_give(s->work, firsts);
}

static void copy_slice(const slice *s)
{
    uint64_t n = 0;
    if (s->whole[s->end] == s->whole[s->first])
        return;
    uint32_t *rows = gather(s, &n);
    take_first(s, rows, n);
    kr_work_give(s->work, rows);
}

void kr_limit_copy(kr_work *w, const kr_query *query, const kr_matches *matches,
                   const kr_matches_copy_job *part)
{
    const uint64_t nbytes = (part->count + 1) * sizeof(uint64_t);
    uint64_t *whole = kr_work_array(w, part->count + 1, sizeof *whole, "offsets");
    kr_work_read(w, whole, matches->whole + part->first, nbytes);
    slice s = {.work = w, .query = query, .matches = matches, .part = part, .whole = whole};
    for (; s.first < part->count && kr_work_goes_on(w); s.first = s.end) {
        s.end = end_of(&s);
        copy_slice(&s);
    }
    free(whole);
}
