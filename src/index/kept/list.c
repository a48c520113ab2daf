/* Row ids of probes, those of a probe in the order of keys: part by part, so in the order of the parts. */
#include "index/kept/list_body.h"
#include "index/kept/reach.h"
#include "index/kept/spread.h"
#include "index/kept/travel.h"
#include "index/kinds/column.h"
#include "index/results/row_lists.h"

#include <stdlib.h>

enum { PIECE_MOST = 1 << 26, PROBES_LEAST = 128 };

typedef struct listing {
    reach side;
    const kr_kept_lists *job;
    spread s;
    list_params params; /* of the piece */
} listing;

/* ---- A part -------------------------------------------------------------------------------------- */

/* Row ids and their places that are copied at a time: at least those of one stop. */
static uint64_t room_for_rows(const kr_work *w, const kr_index *part)
{
    const uint64_t room = kr_device_left(w->device) / 16 / (2 * sizeof(uint32_t));
    return room > part->info.rows ? room : part->info.rows;
}

/* Rows of the places first .. end - 1. */
static void put_rows(kr_work *w, const kr_rows *rows, const kr_match *matches, uint64_t first, uint64_t end,
                     uint64_t n, list_params *p)
{
    const uint32_t mark = kr_work_mark(w);
    uint32_t *ids = kr_work_take_or(w, n * sizeof *ids, "rows of a part", "ask for fewer probes at a time");
    uint32_t *places =
        kr_work_take_or(w, n * sizeof *places, "rows of a part", "ask for fewer probes at a time");
    const kr_row_lists_job job = {.rows = rows,
                                  .matches = matches + first,
                                  .offsets = p->local + first,
                                  .n = end - first,
                                  .base = p->base,
                                  .capacity = n,
                                  .out = ids,
                                  .probes = places,
                                  .row_limit = KR_NO_ROW,
                                  .first_probe = (uint32_t)first};
    p->rows = ids;
    p->places = places;
    if (kr_work_goes_on(w))
        kr_row_lists_copy(w, &job);
    kr_work_run(w, &list_put, p, n);
    kr_work_give_since(w, mark);
}

/* Many rows: as many places at a time as there is room for. */
static void put_in_turn(kr_work *w, const kr_rows *rows, const kr_match *matches, uint64_t places,
                        uint64_t room, list_params *p)
{
    uint64_t *local = kr_work_array(w, places + 1, sizeof *local, "offsets");
    if (local)
        kr_work_read(w, local, p->local, (places + 1) * sizeof *local);
    for (uint64_t first = 0, end; first < places && kr_work_goes_on(w); first = end) {
        for (end = first + 1; end < places && local[end + 1] - local[first] <= room;)
            ++end;
        p->base = local[first];
        if (local[end] > local[first])
            put_rows(w, rows, matches, first, end, local[end] - local[first], p);
    }
    free(local);
}

/* What is written for a part must be there before the next part goes on. */
static void search(void *ctx, kr_work *w, const kr_index *index, uint32_t part)
{
    const listing *l = ctx;
    const kr_query stops = spread_query(&l->s, l->job->query, index, part);
    const kr_rows rows = index->ops->rows(index->self);
    const uint64_t room = room_for_rows(w, index), n = stops.n;
    list_params p = l->params;
    kr_match *matches = kr_work_take(w, n * sizeof *matches, "matches");
    uint64_t *local = kr_work_take(w, (n + 1) * sizeof *local, "offsets"), found = 0;
    p.local = local;
    p.order = l->s.order + l->s.starts[part];
    kr_query_locate(w, &stops, KR_PUT_MATCH, matches);
    kr_row_lists_offsets(w, matches, n, UINT64_MAX, local);
    if (kr_work_goes_on(w))
        kr_work_read(w, &found, local + n, sizeof found);
    if (found && found <= room)
        put_rows(w, &rows, matches, 0, n, found, &p);
    else if (found)
        put_in_turn(w, &rows, matches, n, room, &p);
    if (p.seen && found)
        kr_work_run(w, &list_pass, &p, n);
    kr_work_sync(w);
}

/* ---- A piece of the batch ------------------------------------------------------------------------ */

static kr_column slice_of(const kr_kept_lists *job, int upper, uint64_t first, uint64_t n)
{
    const kr_batch *batch = &job->query->batch;
    const kr_column all = {.type = batch->lower_type,
                           .count = job->query->n,
                           .data = upper ? batch->upper : batch->lower,
                           .validity = upper ? batch->upper_validity : batch->lower_validity,
                           .validity_offset = upper ? batch->upper_offset : batch->lower_offset};
    return kr_column_slice(&all, first, n);
}

/* Where the lists of some probes begin, and the end of the last. */
static const uint64_t *bring_offsets(listing *l, uint64_t first, uint64_t n)
{
    const kr_column all = {.type = KR_U64, .count = n + 1, .data = l->job->offsets + first};
    return reach_column(&l->side, &all, "offsets").data;
}

static uint64_t list_piece(listing *l, uint64_t first, uint64_t n, uint64_t most)
{
    kr_work *w = l->side.work;
    const kr_kept_lists *job = l->job;
    const uint32_t mark = kr_work_mark(w);
    const kr_column low = slice_of(job, 0, first, n);
    const kr_column lower = reach_column(&l->side, &low, "a piece of the batch");
    kr_column upper = {.count = 0};
    if (job->query->batch.upper) {
        const kr_column high = slice_of(job, 1, first, n);
        upper = reach_column(&l->side, &high, "a piece of the batch");
    }
    const kr_query query = kr_query_over(job->query, &lower, job->query->batch.upper ? &upper : NULL);
    n = kr_work_goes_on(w) ? spread_make(w, l->side.of, &query, n, most, SPREAD_TO_LIST, &l->s) : 0;
    l->params.offsets = n ? bring_offsets(l, first, n) : NULL;
    l->params.probes = l->s.probes;
    l->params.seen = NULL;
    if (query.batch.upper) {
        l->params.seen = kr_work_take(w, n * sizeof *l->params.seen, "rows in the parts before");
        kr_work_fill(w, l->params.seen, 0, n * sizeof *l->params.seen);
    }
    kr_work_sync(w);
    const travel_job travel = {l->side.of, l->s.starts, search, l, job->query->log};
    if (l->s.n)
        travel_parts(w, &travel);
    spread_end(&l->s);
    kr_work_give_since(w, mark);
    kr_work_lap(l->side.callers, w == l->side.callers ? "travel" : "host");
    return n;
}

static void list_all(listing *l)
{
    const kr_kept_lists *job = l->job;
    const uint64_t end = job->first + job->count, least = PROBES_LEAST * (uint64_t)l->side.of->n_parts;
    const uint64_t each = spread_nbytes(l->side.of, job->query) + 5 * sizeof(uint64_t);
    uint64_t most = reach_room(&l->side) / 2 / each, done;
    most = most < least ? least : most > PIECE_MOST ? PIECE_MOST : most;
    for (uint64_t first = job->first; first < end && kr_work_goes_on(l->side.work); first += done) {
        l->s = (spread){.n = 0};
        done = list_piece(l, first, end - first < most ? end - first : most, most);
    }
}

void divided_list(kr_work *w, const kr_kept_lists *job)
{
    const kr_divided *d = job->query->index->self;
    listing l = {.job = job};
    if (!kr_work_goes_on(w))
        return;
    reach_begin(&l.side, d, w, reach_prefers_host(d, job->count));
    const int here = reach_has(&l.side, job->out);
    const uint64_t nbytes = job->n_rows * sizeof *job->out;
    l.params = (list_params){.from = job->from, .n_rows = job->n_rows};
    l.params.out = here ? job->out : kr_work_take(l.side.work, nbytes, "rows of matches");
    if (kr_work_goes_on(l.side.work))
        list_all(&l);
    if (!here) {
        kr_work_sync(l.side.work);
        reach_copy(&l.side, job->out, l.params.out, nbytes);
        kr_work_give(l.side.work, l.params.out);
    }
    reach_end(&l.side);
}
