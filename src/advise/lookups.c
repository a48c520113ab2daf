/* Lookups like those of the caller, or made of the keys: points that hit and miss, ranges, updates. */
#include "advise/lookups.h"

#include <stdlib.h>
#include <string.h>

/* Rows that a pass of ranges adds up, on a GPU and on a CPU; what is added up to compare. */
static const uint64_t range_rows[2] = {UINT64_C(1) << 30, UINT64_C(1) << 24};
/* How many times as many lookups as the time suffices for a large batch may have. */
enum { MORE_MOST = 4 };
enum { CALLS_MOST = 1 << 14, SUM_ROWS_MOST = 1 << 22, FEW_ROWS = 1 << 16, MISS_ROUNDS = 16 };

static uint32_t width(const kr_advise_lookups *w)
{
    return kr_type_nbytes(w->whole.view.type);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static void free_values(kr_advise_lookups *w, kr_advise_values *values, uint64_t room)
{
    if (!w->s.is_host && values->device)
        kr_memory_release(w->s.device, values->device, room * width(w), NULL);
    free(values->host);
    *values = (kr_advise_values){NULL, NULL};
}

void kr_advise_lookups_free(kr_advise_lookups *w)
{
    for (int i = 0; i < KR_ADVISE_ASKS; ++i) {
        free_values(w, &w->asks[i].bounds[0], w->asks[i].room);
        free_values(w, &w->asks[i].bounds[1], w->asks[i].room);
        w->asks[i] = (kr_advise_ask){.n = 0};
    }
    if (w->out)
        kr_memory_release(w->s.device, w->out, w->out_n * 8, NULL);
    free(w->out_host);
    free(w->inserts);
    free(w->deletes);
    w->out = w->out_host = w->inserts = w->deletes = NULL;
    w->out_n = 0;
}

static kr_status take_values(kr_advise_lookups *w, kr_advise_values *values, uint64_t n, kr_error *err)
{
    values->host = kr_host_calloc(n, width(w), "lookups to be measured", err);
    if (!values->host)
        return KR_ERR_HOST_MEMORY;
    values->device = w->s.is_host ? values->host : NULL;
    return w->s.is_host ? KR_OK : kr_memory_allocate(w->s.device, n * width(w), NULL, &values->device, err);
}

static kr_status take_out(kr_advise_lookups *w, kr_error *err)
{
    w->out_n = 1;
    for (int i = 0; i < KR_ADVISE_ASKS; ++i)
        w->out_n = w->asks[i].n > w->out_n ? w->asks[i].n : w->out_n;
    w->out_host = kr_host_calloc(w->out_n, 8, "answers to be compared", err);
    if (!w->out_host)
        return KR_ERR_HOST_MEMORY;
    return kr_memory_allocate(w->s.device, w->out_n * 8, NULL, &w->out, err);
}

/* ---- Points -------------------------------------------------------------------------------- */

uint64_t kr_advise_lookups_of(const kr_advise_lookups *w)
{
    const uint64_t batch = w->options->batch;
    uint64_t n = kr_advise_standard(w->s.is_host, w->options->seconds);
    if (w->now != &w->whole && w->now->valid < FEW_ROWS)
        n /= 8;
    else if (n < batch)
        n = batch < MORE_MOST * n ? batch : MORE_MOST * n;
    return batch < n / CALLS_MOST ? batch * CALLS_MOST : n;
}

static uint64_t batch_of(const kr_advise_lookups *w, uint64_t n)
{
    return w->options->batch < n ? w->options->batch : n;
}

/* A row that has a key; every column here has one. */
static uint64_t random_row(const kr_advise_column *c, uint64_t *state)
{
    uint64_t row;
    do
        row = kr_advise_below(state, c->view.count);
    while (!kr_advise_is_valid(&c->view, row));
    return row;
}

/* Keys of random rows. A column that is nearly all NULLs gives those that were found before. */
static void random_keys(const kr_advise_lookups *w, uint64_t seed, void *to, uint64_t n)
{
    const kr_advise_column *c = w->now;
    const int is_sparse = c->valid < c->view.count / 64;
    uint64_t state = seed;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t code = is_sparse ? c->sorted[kr_advise_below(&state, c->n_sorted)]
                                        : kr_advise_code(c->view.type, c->view.data, random_row(c, &state));
        kr_advise_value(c->view.type, code, to, i);
    }
}

static int is_miss(const kr_advise_lookups *w, uint64_t i)
{
    return kr_advise_hash(i, 1) % 10000 < (uint64_t)(w->options->miss_percent * 100 + 0.5);
}

/* 1: a probe of the caller is asked of the sample, too: it lies among its rows; or below or above all keys,
 * where it misses whatever the sample is, and is kept as often as others are. */
static int is_kept(const kr_advise_lookups *w, uint64_t code, uint64_t i)
{
    const kr_advise_column *now = w->now, *whole = &w->whole;
    if (code >= now->lowest && code <= now->highest)
        return 1;
    return (code < whole->sorted[0] || code > whole->sorted[whole->n_sorted - 1]) &&
           kr_advise_hash(i, 7) % whole->valid < now->valid;
}

/* Those of the caller that suit the rows of a sample, or all, if these are few. */
static kr_status choose_given(kr_advise_lookups *w, const kr_advise_column *given, kr_advise_column *chosen,
                              kr_error *err)
{
    const kr_status status = kr_advise_within(given, 0, UINT64_MAX, given->view.count, chosen, err);
    const kr_column *view = &chosen->view;
    const double share = (double)w->now->valid / (double)w->whole.valid;
    uint64_t kept = 0;
    if (status != KR_OK || w->now == &w->whole)
        return status;
    for (uint64_t i = 0; i < view->count; ++i)
        kept += (uint64_t)is_kept(w, kr_advise_code(view->type, view->data, i), i);
    if ((double)kept < 0.25 * (double)view->count * share)
        return KR_OK;
    kept = 0;
    for (uint64_t i = 0; i < view->count; ++i) {
        const uint64_t code = kr_advise_code(view->type, view->data, i);
        if (is_kept(w, code, i))
            kr_advise_value(view->type, code, chosen->data, kept++);
    }
    chosen->view.count = kept;
    return KR_OK;
}

static kr_status make_points(kr_advise_lookups *w, kr_advise_ask *ask, kr_error *err)
{
    kr_advise_column chosen = {.n_sorted = 0};
    const kr_advise_column *given = &w->given[0];
    kr_status status = given->view.type ? choose_given(w, given, &chosen, err) : KR_OK;
    ask->n = given->view.type ? chosen.view.count : kr_advise_lookups_of(w);
    if (given->view.type && kr_advise_lookups_of(w) < ask->n)
        ask->n = kr_advise_lookups_of(w);
    ask->room = ask->n;
    if (status == KR_OK && !ask->n)
        status = kr_fail(err, KR_ERR_ARGUMENT,
                         "all of kr_advise_options.probes are NULL; leave it out to have "
                         "probes made of the keys");
    if (status == KR_OK)
        status = take_values(w, &ask->bounds[0], ask->n, err);
    if (status == KR_OK && given->view.type)
        memcpy(ask->bounds[0].host, chosen.view.data, ask->n * width(w));
    else if (status == KR_OK)
        random_keys(w, 1, ask->bounds[0].host, ask->n);
    ask->batch = batch_of(w, ask->n);
    kr_advise_drop(&chosen);
    return status;
}

/* ---- Ranges -------------------------------------------------------------------------------- */

/* The bounds of a range that begins at sorted[at] and has `hits` rows, or about as many where only some rows
 * are sorted: then values are taken to be even near it. */
static void bounds_of(const kr_advise_column *c, uint64_t at, uint64_t hits, uint64_t *lower, uint64_t *upper)
{
    const uint64_t n = c->n_sorted, most = kr_advise_code_most(c->view.type);
    const double steps = (double)(hits - 1) * (double)n / (double)c->valid; /* in sorted */
    *lower = c->sorted[at];
    if (n == c->valid || steps >= 64) {
        const uint64_t to = at + (uint64_t)steps;
        *upper = c->sorted[to < n ? to : n - 1];
        return;
    }
    const uint64_t first = at > 32 ? at - 32 : 0, last = at + 32 < n ? at + 32 : n - 1;
    const double gap =
        (double)(c->sorted[last] - c->sorted[first]) / (double)(last > first ? last - first : 1);
    const double reach = gap * steps;
    *upper = reach < (double)(most - *lower) ? *lower + (uint64_t)reach : most;
}

static void make_bounds(kr_advise_lookups *w, kr_advise_ask *ask)
{
    const kr_advise_column *c = w->now;
    uint64_t state = 2, lower, upper;
    const uint64_t hits = w->options->range_hits < c->valid ? w->options->range_hits : c->valid;
    uint64_t starts = c->n_sorted - (uint64_t)((double)(hits - 1) * (double)c->n_sorted / (double)c->valid);
    starts = starts ? starts : 1;
    for (uint64_t i = 0; i < ask->n; ++i) {
        bounds_of(c, kr_advise_below(&state, starts), hits, &lower, &upper);
        kr_advise_value(c->view.type, lower, ask->bounds[0].host, i);
        kr_advise_value(c->view.type, upper, ask->bounds[1].host, i);
    }
}

/* Those of the caller, without NULLs; of a sample, those whose lower bounds lie in it. */
static uint64_t copy_bounds(const kr_advise_lookups *w, int all, uint64_t most, kr_advise_ask *ask)
{
    const kr_column *lower = &w->given[1].view, *upper = &w->given[2].view;
    uint64_t n = 0;
    for (uint64_t i = 0; i < lower->count && n < most; ++i) {
        if (!kr_advise_is_valid(lower, i) || !kr_advise_is_valid(upper, i))
            continue;
        const uint64_t low = kr_advise_code(lower->type, lower->data, i);
        if (!all && (low < w->now->lowest || low > w->now->highest))
            continue;
        kr_advise_value(lower->type, low, ask->bounds[0].host, n);
        kr_advise_value(upper->type, kr_advise_code(upper->type, upper->data, i), ask->bounds[1].host, n++);
    }
    return n;
}

static kr_status make_ranges(kr_advise_lookups *w, kr_advise_ask *ask, kr_error *err)
{
    const int is_given = w->given[1].view.type != 0;
    const uint64_t n = kr_advise_lookups_of(w), all = w->given[1].view.count;
    ask->n = ask->room = is_given && all < n ? all : n;
    kr_status status = take_values(w, &ask->bounds[0], ask->n, err);
    if (status == KR_OK)
        status = take_values(w, &ask->bounds[1], ask->n, err);
    if (status != KR_OK)
        return status;
    if (is_given) {
        const double few = 0.25 * (double)all * (double)w->now->valid / (double)w->whole.valid;
        ask->n = copy_bounds(w, 0, ask->room, ask);
        if (w->now != &w->whole && (double)ask->n < (few < (double)ask->room ? few : (double)ask->room))
            ask->n = copy_bounds(w, 1, ask->room, ask);
        if (!ask->n)
            return kr_fail(
                err, KR_ERR_ARGUMENT,
                "no row of kr_advise_options.lower and upper has both bounds, as NULL is none; leave "
                "both out to have ranges made of the keys");
    } else {
        make_bounds(w, ask);
    }
    ask->batch = batch_of(w, ask->n);
    return KR_OK;
}

/* ---- Updates ------------------------------------------------------------------------------- */

/* Inserts keys of random rows, and deletes keys that have about as many rows. No key is deleted twice, and
 * where rows repeat few are, so that the index keeps its size. */
static kr_status make_updates(kr_advise_lookups *w, kr_error *err)
{
    const kr_advise_column *c = w->now;
    const double rows = w->options->update_percent / (100 - w->options->update_percent);
    const uint64_t batch = w->asks[0].n ? w->asks[0].batch : w->asks[1].batch;
    uint64_t n = (uint64_t)(rows * (double)batch / 2), state = 3, distinct = 0;
    n = n < c->valid / 4 ? n : c->valid / 4;
    n = n ? n : 1;
    w->s.updated_rows = 2 * n;
    w->s.updates_of_lookup = rows / (double)(2 * n);
    w->inserts = kr_host_calloc(n * KR_ADVISE_UPDATES, width(w), "updates to be measured", err);
    w->deletes = w->inserts
                     ? kr_host_calloc((n + 1) * KR_ADVISE_UPDATES, width(w), "updates to be measured", err)
                     : NULL;
    uint64_t *codes =
        w->deletes ? kr_host_calloc(c->n_sorted, sizeof *codes, "updates to be measured", err) : NULL;
    if (!codes)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < c->n_sorted; ++i)
        if (!i || c->sorted[i] != c->sorted[i - 1])
            codes[distinct++] = c->sorted[i];
    random_keys(w, 4, w->inserts, n * KR_ADVISE_UPDATES);
    w->n_deletes = (uint64_t)((double)n * (double)distinct / (double)c->n_sorted);
    w->n_deletes = w->n_deletes < distinct / KR_ADVISE_UPDATES ? w->n_deletes : distinct / KR_ADVISE_UPDATES;
    w->n_deletes = w->n_deletes ? w->n_deletes : 1;
    for (uint64_t i = 0; i < w->n_deletes * KR_ADVISE_UPDATES; ++i) {
        const uint64_t first = i < distinct ? i : distinct - 1,
                       at = first + kr_advise_below(&state, distinct - first), code = codes[at];
        codes[at] = codes[first];
        codes[first] = code;
        kr_advise_value(c->view.type, code, w->deletes, i);
    }
    free(codes);
    return KR_OK;
}

kr_status kr_advise_lookups_make(kr_advise_lookups *w, kr_error *err)
{
    kr_status status = KR_OK;
    if (w->s.operations & KR_CAN_POINT)
        status = make_points(w, &w->asks[KR_ADVISE_POINTS], err);
    if (status == KR_OK && w->s.operations & KR_CAN_RANGE)
        status = make_ranges(w, &w->asks[KR_ADVISE_RANGES], err);
    if (status == KR_OK && w->options->update_percent > 0)
        status = make_updates(w, err);
    return status == KR_OK ? take_out(w, err) : status;
}

/* ---- Asking -------------------------------------------------------------------------------- */

static uint32_t answer_nbytes(kr_result result)
{
    return result == KR_RESULT_ROW ? 4 : 8;
}

kr_status kr_advise_lookups_ask(kr_advise_lookups *w, kr_index *index, int which, kr_result result,
                                uint64_t first, uint64_t n, int from_host, kr_error *err)
{
    const kr_advise_ask *ask = &w->asks[which];
    kr_column bounds[2];
    for (int i = 0; i < 2; ++i) {
        const kr_advise_values *values = &ask->bounds[i];
        const char *data = from_host ? values->host : values->device;
        bounds[i] = (kr_column){.type = w->whole.view.type,
                                .count = n,
                                .data = data ? data + first * width(w) : NULL,
                                .dictionary = w->whole.view.dictionary};
    }
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = result,
                          .out = (char *)(from_host ? w->out_host : w->out) + first * answer_nbytes(result)};
    return which == KR_ADVISE_RANGES ? kr_index_range(index, &bounds[0], &bounds[1], &sink, NULL, err)
                                     : kr_index_lookup(index, &bounds[0], &sink, NULL, err);
}

/* ---- What needs an index ------------------------------------------------------------------- */

/* Random values near the keys, and later of the whole type. */
static void offer_misses(const kr_advise_lookups *w, int round, void *to, uint64_t n)
{
    const kr_advise_column *c = w->now;
    const uint64_t most = kr_advise_code_most(c->view.type);
    uint64_t state = (uint64_t)round + 5, low = c->sorted[0], high = c->sorted[c->n_sorted - 1];
    const uint64_t margin = (high - low) / 16 + 1024;
    low = round >= MISS_ROUNDS / 2 || low < margin ? 0 : low - margin;
    high = round >= MISS_ROUNDS / 2 || most - high < margin ? most : high + margin;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t span = high - low;
        const uint64_t code =
            low + (span == UINT64_MAX ? kr_advise_random(&state) : kr_advise_below(&state, span + 1));
        kr_advise_value(c->view.type, code, to, i);
    }
}

/* Puts misses[0 .. n) in the place of points that are to miss. */
static void put_misses(kr_advise_lookups *w, const char *misses, uint64_t n)
{
    kr_advise_ask *ask = &w->asks[KR_ADVISE_POINTS];
    uint64_t used = 0;
    for (uint64_t i = 0; i < ask->n; ++i)
        if (is_miss(w, i))
            memcpy((char *)ask->bounds[0].host + i * width(w), misses + (used++ % n) * width(w), width(w));
}

static kr_status find_misses(kr_advise_lookups *w, kr_index *index, uint64_t wanted, char *misses,
                             char *offered, uint64_t *found, kr_error *err)
{
    kr_status status = KR_OK;
    *found = 0;
    for (int round = 0; round < MISS_ROUNDS && *found < wanted && status == KR_OK; ++round) {
        const uint64_t n = wanted < w->out_n ? wanted : w->out_n;
        const kr_column probes = {
            .type = w->whole.view.type, .count = n, .data = offered, .dictionary = w->whole.view.dictionary};
        const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = w->out_host};
        const uint32_t *rows = w->out_host;
        offer_misses(w, round, offered, n);
        status = kr_index_lookup(index, &probes, &sink, NULL, err);
        for (uint64_t i = 0; status == KR_OK && i < n && *found < wanted; ++i)
            if (rows[i] == KR_NO_ROW)
                memcpy(misses + (*found)++ * width(w), offered + i * width(w), width(w));
    }
    return status;
}

static kr_status make_misses(kr_advise_lookups *w, kr_index *index, kr_error *err)
{
    uint64_t wanted = 0, found = 0;
    for (uint64_t i = 0; i < w->asks[KR_ADVISE_POINTS].n; ++i)
        wanted += (uint64_t)is_miss(w, i);
    if (!wanted)
        return KR_OK;
    char *misses = kr_host_calloc(wanted, width(w), "probes that miss", err);
    char *offered = misses ? kr_host_calloc(wanted, width(w), "probes that miss", err) : NULL;
    kr_status status =
        offered ? find_misses(w, index, wanted, misses, offered, &found, err) : KR_ERR_HOST_MEMORY;
    if (status == KR_OK && !found)
        status = kr_fail(err, KR_ERR_ARGUMENT,
                         "no value of %s was found that is not a key, so no probe can miss: leave "
                         "kr_advise_options.miss_percent 0, or give probes",
                         kr_type_name(w->whole.view.type));
    if (status == KR_OK)
        put_misses(w, misses, found);
    free(offered);
    free(misses);
    return status;
}

/* Counts what is found, and leaves out ranges that add up too many rows for a pass. */
static kr_status count(kr_advise_lookups *w, kr_index *index, int which, kr_error *err)
{
    kr_advise_ask *ask = &w->asks[which];
    const uint64_t *counts = w->out_host, most = range_rows[w->s.is_host];
    const kr_status status = kr_advise_lookups_ask(w, index, which, KR_RESULT_COUNT, 0, ask->n, 1, err);
    uint64_t n = 0;
    for (; status == KR_OK && n < ask->n; ++n) {
        if (which == KR_ADVISE_RANGES && n && ask->found + counts[n] > most)
            break;
        ask->found += counts[n];
        ask->hits += counts[n] > 0;
        if (ask->found <= SUM_ROWS_MOST)
            ask->n_sums = n + 1;
    }
    if (status != KR_OK)
        return status;
    ask->is_cut = n < ask->n;
    ask->n = n;
    ask->batch = ask->batch < n ? ask->batch : n;
    return KR_OK;
}

kr_status kr_advise_lookups_settle(kr_advise_lookups *w, kr_index *index, kr_error *err)
{
    kr_status status = KR_OK;
    if (w->asks[KR_ADVISE_POINTS].n && !w->given[0].view.type)
        status = make_misses(w, index, err);
    for (int which = 0; which < KR_ADVISE_ASKS && status == KR_OK; ++which) {
        kr_advise_ask *ask = &w->asks[which];
        if (ask->n)
            status = count(w, index, which, err);
        for (int i = 0; i < 2 && status == KR_OK && !w->s.is_host; ++i)
            if (ask->bounds[i].host)
                status = kr_memory_copy(w->s.device, ask->bounds[i].device, ask->bounds[i].host,
                                        ask->n * width(w), NULL, err);
    }
    return status;
}
