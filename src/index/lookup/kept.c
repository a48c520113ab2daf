#include "index/lookup/kept.h"
#include "index/lookup/kept_body.h"
#include "index/lookup/limit.h"
#include "index/results/dense.h"

/* ---- Every result but ROWS --------------------------------------------------------------------- */

/* Arrays of the query in device memory, as columns. */
static kr_column lower_of(const kr_query *query)
{
    const kr_batch *batch = &query->batch;
    return (kr_column){.type = batch->lower_type,
                       .count = query->n,
                       .data = batch->lower,
                       .validity = batch->lower_validity,
                       .validity_offset = batch->lower_offset};
}

static kr_column upper_of(const kr_query *query)
{
    const kr_batch *batch = &query->batch;
    return (kr_column){.type = batch->upper_type,
                       .count = query->n,
                       .data = batch->upper,
                       .validity = batch->upper_validity,
                       .validity_offset = batch->upper_offset};
}

void kr_query_kept_answer(kr_work *w, const kr_query *query, const kr_sink *sink, const kr_column *values)
{
    const kr_column lower = lower_of(query), upper = upper_of(query);
    kr_sink asked = *sink;
    asked.values = values;
    const kr_kept_answers job = {.whole = query,
                                 .lower = &lower,
                                 .upper = query->batch.upper ? &upper : NULL,
                                 .sinks = &asked,
                                 .n_sinks = 1};
    if (kr_work_goes_on(w) && query->n)
        query->index->ops->kept->answer(w, &job);
}

void kr_query_kept_locate(kr_work *w, const kr_query *query, uint32_t what, void *out)
{
    const kr_sink sink = {.result = what == KR_PUT_COUNT ? KR_RESULT_COUNT : KR_RESULT_ROW, .out = out};
    if (what == KR_PUT_COUNT || what == KR_PUT_ROW)
        kr_query_kept_answer(w, query, &sink, NULL);
    else
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_INTERNAL, "a divided index has no matches as a whole; report this"));
}

/* About so many bytes of scratch memory for a probe, its answers and rows, and two pieces at a time. */
enum { PIECE_SHARE = 128, PIECE_LEAST = 1 << 12, PIECE_MOST = 1 << 27 };

uint64_t kr_query_piece(const kr_index *index, uint64_t usual)
{
    if (!index->ops->kept)
        return usual;
    const uint64_t room = kr_device_left(index->device) / PIECE_SHARE / 64 * 64;
    return room < PIECE_LEAST ? PIECE_LEAST : room < PIECE_MOST ? room : PIECE_MOST;
}

/* ---- ROWS -------------------------------------------------------------------------------------- */

/* offsets[i] := rows of the probes before probe i, at most `limit` of each. */
static void sum_counts(kr_work *w, const uint64_t *counts, uint64_t n, uint64_t limit, uint64_t *offsets)
{
    const kept_counts_params params = {counts, offsets, limit};
    kr_work_run(w, &query_limit_counts, &params, n);
    kr_work_fill(w, KR_PLACE_IN(offsets, n), 0, sizeof *offsets);
    kr_work_sum(w, offsets, n + 1);
}

kr_matches kr_matches_kept_find(kr_work *w, const kr_query *query)
{
    static const char help[] = "use kr_index_lookup_chunks, which needs less";
    const uint64_t n = query->n, nbytes = (n + 1) * sizeof(uint64_t);
    kr_matches made = {.offsets = kr_work_take_or(w, nbytes, "offsets", help)};
    kr_query_kept_locate(w, query, KR_PUT_COUNT, made.offsets);
    if (kr_limit_gathers(query)) {
        made.whole = kr_work_take_or(w, nbytes, "offsets", "use KR_ORDER_KEY");
        sum_counts(w, made.offsets, n, UINT64_MAX, made.whole);
    }
    sum_counts(w, made.offsets, n, query->limit ? query->limit : UINT64_MAX, made.offsets);
    kr_work_lap(w, "offsets");
    return made;
}

static uint64_t read_offset(kr_work *w, const uint64_t *offsets, uint64_t i)
{
    uint64_t offset = 0;
    if (kr_work_goes_on(w))
        kr_work_read(w, &offset, offsets + i, sizeof offset);
    return offset;
}

/* The first probe of first .. end whose list begins at `offset` or later; `end` if there is none. */
static uint64_t find_probe(kr_work *w, const uint64_t *offsets, uint64_t first, uint64_t end, uint64_t offset)
{
    while (first < end && kr_work_goes_on(w)) {
        const uint64_t middle = first + (end - first) / 2;
        if (read_offset(w, offsets, middle) < offset)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Row ids that are gathered at a time, unless more are asked for: a share of what memory is left. */
static uint64_t room_of(const kr_work *w)
{
    const uint64_t room = kr_device_left(w->device) / 16 / sizeof(uint32_t);
    return room < KR_NO_ROW / 2 ? room : KR_NO_ROW / 2;
}

/* Gathers rows from offset `from` on, at least `least` of them, and more where they follow: they are likely
 * to be asked for next. */
static void gather(kr_work *w, const kr_query *query, const uint64_t *lists, uint64_t first, uint64_t from,
                   uint64_t least, kr_gathered *g)
{
    const uint64_t n = query->n;
    kr_work_give(w, g->rows);
    g->rows = NULL;
    if (!g->total)
        g->total = read_offset(w, lists, n);
    const uint64_t room = room_of(w), left = g->total - from, wanted = room > least ? room : least;
    g->from = from;
    g->n = wanted < left ? wanted : left;
    const uint64_t end = g->n == left ? n : find_probe(w, lists, first + 1, n, from + g->n);
    g->rows = kr_work_take_or(w, g->n * sizeof *g->rows, "rows of matches",
                              "use kr_index_lookup_chunks with a smaller cap");
    const kr_kept_lists job = {.query = query,
                               .first = first,
                               .count = end - first,
                               .offsets = lists,
                               .from = from,
                               .n_rows = g->n,
                               .out = g->rows};
    if (kr_work_goes_on(w) && g->n)
        query->index->ops->kept->list(w, &job);
}

/* The offset behind the last row that a copy reads. */
static uint64_t find_end(kr_work *w, const kr_matches *matches, const kr_matches_copy_job *part,
                         uint64_t from)
{
    const uint64_t *lists = matches->whole ? matches->whole : matches->offsets;
    const uint64_t end = read_offset(w, lists, part->first + part->count);
    return matches->whole || end - from <= part->capacity ? end : from + part->capacity;
}

kr_matches kr_matches_kept_gather(kr_work *w, const kr_query *query, kr_matches *matches,
                                  kr_matches_copy_job *part)
{
    const uint64_t *lists = matches->whole ? matches->whole : matches->offsets;
    kr_gathered *g = &matches->gathered;
    const uint64_t base = matches->whole ? read_offset(w, lists, part->first) : part->base;
    const uint64_t from = base + part->skip, end = find_end(w, matches, part, from);
    if (!g->rows || from < g->from || end > g->from + g->n)
        gather(w, query, lists, part->first, from, end - from, g);
    kr_matches made = {.matches = kr_work_take(w, part->count * sizeof(kr_match), "matches"),
                       .offsets = matches->offsets + part->first,
                       .whole = matches->whole ? matches->whole + part->first : NULL,
                       .rows = kr_dense_rows(g->rows, sizeof *g->rows, g->n)};
    const kept_matches_params params = {lists + part->first, made.matches, g->from, part->skip};
    kr_work_run(w, &matches_of_lists, &params, part->count);
    part->first = 0;
    part->skip = 0;
    return made;
}

kr_matches kr_matches_kept_read(kr_work *w, const kr_query *query)
{
    kr_matches found = kr_matches_kept_find(w, query);
    kr_matches_copy_job all = {.count = query->n, .capacity = read_offset(w, found.offsets, query->n)};
    const kr_matches made = kr_matches_kept_gather(w, query, &found, &all);
    return made;
}
