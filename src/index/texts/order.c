/* The order of distinct texts, and the layers by which it is searched (layers.h).
 *
 * A pass sorts the members of all groups by the eight bytes behind what the group shares. Members that tie
 * are the groups of the next pass; they alone go on. So each pass reads eight bytes or more of each text that
 * it still has, and what it has sorted are the slices of that layer. */
#include "index/texts/order_body.h"
#include "index/texts/texts.h"

static const char what[] = "the order of texts";

enum { FIRST_LIMIT = 256 }; /* bytes */

/* Memory that grows: what is in use is copied. */
typedef struct growing {
    char *data;
    uint64_t nbytes, used;
} growing;

static void grow(kr_work *w, growing *g, uint64_t more)
{
    if (g->used + more > g->nbytes) {
        const uint64_t nbytes = g->used ? (g->used + more) + (g->used + more) / 2 : more;
        char *larger = kr_work_take(w, nbytes, "slices of texts");
        if (g->used)
            kr_work_copy(w, larger, g->data, g->used);
        kr_work_give(w, g->data);
        *g = (growing){larger, nbytes, g->used};
    }
}

static void take_members(kr_work *w, texts_order_members *members, uint64_t n, uint64_t n_groups)
{
    uint32_t *slots = kr_work_take(w, 3 * n * sizeof *slots, what);
    uint64_t *groups = kr_work_take(w, (4 * n_groups + 2) * sizeof *groups, what);
    *members = (texts_order_members){
        .ids = slots,
        .groups = KR_PLACE_IN(slots, n),
        .places = KR_PLACE_IN(slots, 2 * n),
        .skips = groups,
        .parents = KR_PLACE_IN(groups, n_groups),
        .firsts = KR_PLACE_IN(groups, 2 * n_groups),
        .runs = KR_PLACE_IN(groups, 3 * n_groups + 1),
    };
}

static void give_members(kr_work *w, const texts_order_members *members)
{
    kr_work_give(w, members->skips);
    kr_work_give(w, members->ids);
}

static uint32_t bits_of(uint64_t largest)
{
    uint32_t bits = 0;
    for (; largest; largest >>= 1)
        ++bits;
    return bits;
}

/* By slices, then, where there is more than one group or a text ends, stably by groups and classes. */
static void sort_members(kr_work *w, texts_order_params *p, int by_classes)
{
    const uint64_t n = p->n;
    uint64_t *sorted = kr_work_take(w, n * sizeof *sorted, what);
    uint32_t *from = kr_work_take(w, n * sizeof *from, what);
    kr_sort sort = {
        .key_bits = 64, .end_bit = 64, .n = n, .keys_in = p->slices, .keys_out = sorted, .rows_out = from};
    kr_work_sort(w, &sort);
    p->sorted_slices = sorted;
    p->from = from;
    p->sorted_classes = NULL;
    if (!by_classes)
        return;
    uint32_t *again = kr_work_take(w, n * sizeof *again, what);
    kr_work_run(w, &texts_order_class, p, n); /* to p->ties, which is not in use yet */
    sort = (kr_sort){.key_bits = 64,
                     .end_bit = ORDER_CLASS_BITS + bits_of(p->n_groups - 1),
                     .n = n,
                     .keys_in = p->ties,
                     .keys_out = p->classes,
                     .rows_in = from,
                     .rows_out = again};
    kr_work_sort(w, &sort);
    p->sorted_classes = p->classes;
    p->from = again;
    kr_work_run(w, &texts_order_gather, p, n); /* to p->kept, likewise */
    kr_work_copy(w, sorted, p->kept, n * sizeof *sorted);
    kr_work_give(w, from);
}

/* What a pass finds out: how many go on, in how many groups; slices and runs to keep. */
typedef struct counts {
    uint64_t ties, kept, runs;
} counts;

/* Bytes that groups share are looked for in steps that grow. So the time is that of what all members share,
 * and not of what each shares with the first one, also where each of many long texts begins as the next. */
static void find_depths(kr_work *w, texts_order_params *p)
{
    uint64_t goes_on = 1;
    p->compared = 0;
    for (p->limit = FIRST_LIMIT; goes_on && kr_work_goes_on(w); p->limit *= 4) {
        p->deeper = kr_work_counters(w, 1);
        kr_work_run(w, &texts_order_depth, p, p->n);
        kr_work_read(w, &goes_on, p->deeper, sizeof goes_on);
        kr_work_give(w, p->deeper);
        p->compared += p->limit;
    }
}

static void sort_pass(kr_work *w, texts_order_params *p)
{
    uint64_t ended = 0;
    const uint64_t n = p->n;
    p->ended = kr_work_counters(w, 1);
    p->refs = kr_work_take(w, 2 * p->n_groups * sizeof *p->refs, what);
    p->depths = KR_PLACE_IN(p->refs, p->n_groups);
    kr_work_fill(w, p->refs, 0, 2 * p->n_groups * sizeof *p->refs);
    p->slices = kr_work_take(w, 2 * n * sizeof *p->slices, what);
    p->classes = KR_PLACE_IN(p->slices, n);
    p->ties = kr_work_take(w, 2 * (n + 1) * sizeof *p->ties, what);
    p->kept = KR_PLACE_IN(p->ties, n + 1);
    kr_work_run(w, &texts_order_refer, p, n);
    find_depths(w, p);
    kr_work_run(w, &texts_order_slice, p, n);
    kr_work_read(w, &ended, p->ended, sizeof ended);
    sort_members(w, p, ended || p->n_groups > 1);
}

/* One pass; its members are given back, those of the next are in p->next. Returns their number. */
static uint64_t run_pass(kr_work *w, texts_order_params *p, growing *slices, growing *runs)
{
    const uint64_t n = p->n;
    counts found = {0};
    sort_pass(w, p);
    p->sorted_ids = kr_work_take(w, n * sizeof *p->sorted_ids, what);
    kr_work_run(w, &texts_order_mark, p, n);
    kr_work_fill(w, KR_PLACE_IN(p->ties, n), 0, sizeof *p->ties);
    kr_work_fill(w, KR_PLACE_IN(p->kept, n), 0, sizeof *p->kept);
    kr_work_sum(w, p->ties, n + 1);
    kr_work_sum(w, p->kept, n + 1);
    kr_work_read(w, &found.ties, KR_PLACE_IN(p->ties, n), sizeof found.ties);
    kr_work_read(w, &found.kept, KR_PLACE_IN(p->kept, n), sizeof found.kept);
    kr_work_read(w, &found.runs, KR_PLACE_IN(p->now.runs, p->n_groups), sizeof found.runs);
    const uint64_t next = (uint32_t)found.ties, next_groups = found.ties >> 32;
    grow(w, slices, found.kept * sizeof(uint64_t));
    grow(w, runs, found.runs * sizeof(texts_run));
    p->out = (uint64_t *)(void *)slices->data;
    p->out_runs = (texts_run *)(void *)runs->data;
    kr_work_run(w, &texts_order_keep, p, n);
    kr_work_run(w, &texts_order_runs, p, p->n_groups);
    p->next = (texts_order_members){0};
    if (next) {
        take_members(w, &p->next, next, next_groups);
        kr_work_run(w, &texts_order_next, p, n);
        p->n_groups = next_groups;
        kr_work_run(w, &texts_order_long, p, next_groups + 1);
        kr_work_sum(w, p->next.runs, next_groups + 1);
    }
    slices->used += found.kept * sizeof(uint64_t);
    runs->used += found.runs * sizeof(texts_run);
    p->base += found.kept;
    p->run_base += found.runs;
    return kr_work_goes_on(w) ? next : 0;
}

static void give_pass(kr_work *w, const texts_order_params *p)
{
    kr_work_give(w, p->sorted_ids);
    kr_work_give(w, p->from);
    kr_work_give(w, p->sorted_slices);
    kr_work_give(w, p->ties);
    kr_work_give(w, p->slices);
    kr_work_give(w, p->refs);
    kr_work_give(w, p->ended);
    give_members(w, &p->now);
}

/* ---- Levels and marks -------------------------------------------------------------------------- */

void kr_texts_level_starts(uint64_t n_slices, uint64_t starts[KR_TEXTS_LEVELS + 1])
{
    uint64_t n = n_slices;
    starts[0] = 0;
    for (uint32_t i = 0; i < KR_TEXTS_LEVELS; ++i) {
        /* Nodes of a cache line begin at one; a search may read a node behind the last. */
        starts[i + 1] = starts[i] + ((n + 7) & ~(uint64_t)7) + 8;
        n = (n + 7) / 8;
    }
}

static void make_levels(kr_work *w, const growing *slices, kr_texts_layers *layers)
{
    uint64_t starts[KR_TEXTS_LEVELS + 1], n = layers->n_slices;
    kr_texts_level_starts(n, starts);
    const uint64_t nbytes = starts[KR_TEXTS_LEVELS] * sizeof(uint64_t);
    uint64_t *all = kr_work_take_or(w, nbytes, "slices of texts", "ranges=off");
    kr_work_fill(w, all, 0, nbytes);
    kr_work_copy(w, all, slices->data, n * sizeof *all);
    for (uint32_t i = 0; i + 1 < KR_TEXTS_LEVELS; ++i) {
        const texts_order_levels_params params = {KR_PLACE_IN(all, starts[i]),
                                                  KR_PLACE_IN(all, starts[i + 1])};
        n = (n + 7) / 8;
        kr_work_run(w, &texts_order_level, &params, n);
    }
    layers->slices = (kr_buffer){all, nbytes, 0};
}

static void make_marks(kr_work *w, const growing *runs, kr_texts_layers *layers)
{
    const uint64_t n = layers->n_slices / 64 + 1;
    layers->runs = kr_work_buffer(w, runs->used, "runs of slices", "ranges=off");
    kr_work_copy(w, layers->runs.data, runs->data, runs->used);
    layers->marks = kr_work_buffer(w, n * sizeof(texts_mark), "marks of slices", "ranges=off");
    kr_work_fill(w, layers->marks.data, 0, n * sizeof(texts_mark));
    texts_order_marks_params params = {layers->runs.data, layers->marks.data, NULL};
    params.before = kr_work_take(w, n * sizeof *params.before, "marks of slices");
    kr_work_run(w, &texts_order_mark_runs, &params, layers->n_runs - 1);
    kr_work_run(w, &texts_order_count_marks, &params, n);
    kr_work_sum(w, params.before, n);
    kr_work_run(w, &texts_order_rank_marks, &params, n);
    kr_work_give(w, params.before);
}

void kr_texts_order(kr_work *w, const kr_strings *strings, uint32_t *rows, uint64_t n,
                    kr_texts_layers *layers)
{
    growing slices = {0}, runs = {0};
    texts_order_params params = {.strings = *strings, .n = n, .n_groups = 1, .order = rows};
    if (n == 0)
        return;
    take_members(w, &params.now, n, 1);
    kr_work_copy(w, params.now.ids, rows, n * sizeof *rows);
    kr_work_run(w, &texts_order_begin, &params, n);
    for (uint64_t next = n; next;) {
        next = run_pass(w, &params, &slices, &runs);
        give_pass(w, &params);
        params.now = params.next;
        params.n = next;
    }
    layers->n_slices = params.base;
    layers->n_runs = params.run_base;
    if (!kr_work_goes_on(w))
        return;
    make_levels(w, &slices, layers);
    make_marks(w, &runs, layers);
    kr_work_give(w, runs.data);
    kr_work_give(w, slices.data);
}
