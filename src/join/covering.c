#include "join/covering.h"
#include "base/key/encode.h"
#include "index/kinds/index.h"
#include "index/kinds/nearest.h"
#include "index/results/bitmap.h"
#include "join/covering_body.h"
#include "join/pairs.h"

#define HELP "join parts of the sides, or use kr_join_chunks"

static void *take(kr_work *w, uint64_t nbytes, const char *what)
{
    return kr_work_take_or(w, nbytes, what, HELP);
}

/* ---- The build -------------------------------------------------------------------------------- */

/* Ranges as codes, and which of them are not empty. */
typedef struct coded {
    void *lowers, *uppers;
    uint8_t *flags, *validity;
} coded;

static coded encode(kr_work *w, kr_type type, const kr_column *lower, const kr_column *upper)
{
    const uint64_t n = lower->count, nbytes = n * kr_type_nbytes(type);
    const coded made = {
        .lowers = take(w, nbytes, "ranges as codes"),
        .uppers = take(w, nbytes, "ranges as codes"),
        .flags = take(w, n, "flags of ranges"),
        .validity = take(w, n / 8 + 1, "which ranges are not empty"),
    };
    const covering_codes_params params = {
        .lower = lower->data,
        .upper = upper->data,
        .lower_validity = lower->validity,
        .upper_validity = upper->validity,
        .lower_offset = lower->validity_offset,
        .upper_offset = upper->validity_offset,
        .lowers = made.lowers,
        .uppers = made.uppers,
        .flags = made.flags,
        .type = lower->type,
        .out_type = type,
    };
    kr_work_run(w, &covering_codes, &params, n);
    kr_bitmap_pack(w, made.flags, n, made.validity);
    return made;
}

static void lay_out(kr_covering *c)
{
    kr_covering_view *v = &c->view;
    uint64_t n = c->sorted.n;
    v->is_wide = c->type == KR_U64;
    for (v->levels = 0; n; n = n == 1 ? 0 : (n + COVERING_FAN - 1) / COVERING_FAN, ++v->levels)
        v->first[v->levels + 1] = v->first[v->levels] + n;
}

static void fill_levels(kr_work *w, kr_covering *c, const void *uppers)
{
    kr_covering_view *v = &c->view;
    const uint64_t nbytes = v->first[v->levels] * kr_type_nbytes(c->type);
    v->largest = take(w, nbytes, "upper bounds of ranges");
    v->reach = take(w, nbytes, "upper bounds of ranges");
    covering_level_params params = {.view = *v, .uppers = uppers, .rows = c->sorted.rows.data};
    for (; params.level < v->levels; ++params.level)
        kr_work_run(w, &covering_largest, &params, v->first[params.level + 1] - v->first[params.level]);
    while (params.level--)
        kr_work_run(w, &covering_reach, &params, v->first[params.level + 1] - v->first[params.level]);
}

/* All but the index. */
static void arrange(kr_work *w, const kr_spec *spec, const kr_column *lower, const kr_column *upper,
                    kr_covering *c)
{
    c->type = kr_type_key_bits(lower->type) == 64 ? KR_U64 : KR_U32;
    c->n_right = lower->count;
    const coded ranges = encode(w, c->type, lower, upper);
    const kr_build build = {
        .spec = spec,
        .keys = {.type = c->type, .count = c->n_right, .data = ranges.lowers, .validity = ranges.validity},
    };
    c->sorted = kr_sorted_build(w, &build);
    lay_out(c);
    fill_levels(w, c, ranges.uppers);
    kr_work_give(w, ranges.validity);
    kr_work_give(w, ranges.flags);
    kr_work_give(w, ranges.uppers);
    kr_work_give(w, ranges.lowers);
}

void kr_covering_build(kr_work *w, const kr_spec *spec, const kr_column *lower, const kr_column *upper,
                       kr_covering *c)
{
    arrange(w, spec, lower, upper, c);
    kr_work_lap(w, "sort");
    const kr_column keys = {.type = c->type, .count = c->sorted.n, .data = c->sorted.keys.data};
    KR_STEP(w, kr_index_make(w->device, spec, &keys, NULL, w->stream, &c->index, w->err));
    kr_work_give(w, c->sorted.keys.data);
}

/* ---- The search ------------------------------------------------------------------------------- */

void kr_covering_query(kr_work *w, kr_covering *c, const kr_column *left, kr_query *query)
{
    const kr_nearby rank = {.how = KR_NEAR_RANK, .type = (uint16_t)c->type};
    kr_column keys = *left;
    c->keys = take(w, left->count * kr_type_nbytes(c->type), "keys as codes");
    const kr_encode_job job = {left->data, NULL, c->keys, left->count, left->type};
    if (left->count)
        kr_encode(w, &job);
    keys.type = c->type;
    keys.data = c->keys;
    kr_query_make_nearest(w, c->index, &keys, &rank, query);
}

static covering_scan_params scan_of(const kr_covering *c)
{
    return (covering_scan_params){.view = c->view,
                                  .keys = c->keys,
                                  .ranks = c->ranks,
                                  .rests = c->rests,
                                  .offsets = c->offsets,
                                  .slices = c->slices,
                                  .found = c->found,
                                  .rows = c->sorted.rows.data,
                                  .n = c->n_left};
}

/* A prefix sum of n values and the end, which it returns. Blocks. */
static uint64_t add_up(kr_work *w, uint64_t *values, uint64_t n)
{
    uint64_t total = 0;
    kr_work_fill(w, KR_PLACE_IN(values, n), 0, sizeof *values);
    kr_work_sum(w, values, n + 1);
    kr_work_read(w, &total, KR_PLACE_IN(values, n), sizeof total);
    return total;
}

/* Most slices in all, unless there are more keys that need them. */
enum { SLICES = 1 << 18 };

/* Cuts the rests of `long_keys` keys into slices, and adds what these find. Blocks. */
static void count_slices(kr_work *w, kr_covering *c, covering_scan_params *params, uint64_t long_keys)
{
    const uint64_t n = params->n;
    c->slices = params->slices = take(w, (n + 1) * sizeof *c->slices, "slices of keys");
    params->most = SLICES / long_keys + 1;
    kr_work_run(w, &covering_slices, params, n);
    c->n_slices = add_up(w, c->slices, n);
    c->found = params->found = take(w, (c->n_slices + 1) * sizeof *c->found, "pairs of slices");
    kr_work_run(w, &covering_slice_count, params, c->n_slices);
    add_up(w, c->found, c->n_slices);
    kr_work_run(w, &covering_slice_add, params, n);
}

/* Counters: whether some key has several; keys that need slices. Blocks. */
static void count(kr_work *w, kr_covering *c, covering_scan_params *params)
{
    uint64_t seen[2] = {0};
    params->counts = kr_work_counters(w, 2);
    kr_work_run(w, &covering_count, params, params->n);
    kr_work_read(w, seen, params->counts, sizeof seen);
    if (seen[1]) {
        count_slices(w, c, params, seen[1]);
        kr_work_read(w, seen, params->counts, sizeof seen);
    }
    c->several = seen[0] != 0;
}

uint64_t kr_covering_find(kr_work *w, kr_covering *c, const kr_query *query, int first)
{
    const uint64_t n = query->n;
    c->n_left = n;
    c->ranks = take(w, n * sizeof *c->ranks, "ranks of keys");
    kr_query_locate(w, query, KR_PUT_ROW, c->ranks);
    c->offsets = take(w, (n + 1) * sizeof *c->offsets, "offsets of pairs");
    c->rests = first ? NULL : take(w, n * sizeof *c->rests, "ranges that are left");
    covering_scan_params params = scan_of(c);
    params.first = (uint64_t)first;
    count(w, c, &params);
    const uint64_t pairs = add_up(w, c->offsets, n);
    kr_work_lap(w, "count");
    return pairs;
}

void kr_covering_list(kr_work *w, const kr_covering *c, uint64_t n, int ordered, uint32_t **left,
                      uint32_t **right)
{
    covering_scan_params params = scan_of(c);
    *left = params.left = kr_join_take(w, n, "left rows");
    *right = params.right = kr_join_take(w, n, "right rows");
    if (n) {
        kr_work_run(w, &covering_list, &params, c->n_left);
        kr_work_run(w, &covering_slice_list, &params, c->n_slices);
    }
    kr_work_lap(w, "rows");
    if (!n || !ordered || !c->several)
        return;
    kr_join_sort(w, c->n_right, right, left, n);
    kr_join_sort(w, c->n_left, left, right, n);
}

/* ---- Parts of ranges --------------------------------------------------------------------------- */

/* A column of n values in memory of its own, which is scratch memory so far. */
static kr_column take_bound(kr_work *w, kr_type type, uint64_t n)
{
    return (kr_column){.type = type,
                       .count = n,
                       .data = take(w, n * kr_type_nbytes(type), "ranges without what others hold")};
}

void kr_covering_ranges_part(kr_work *w, const kr_spec *spec, kr_column *low, kr_column *high)
{
    const kr_type type = low->type;
    kr_covering c = {.n_right = 0};
    arrange(w, spec, low, high, &c);
    kr_join_give_column(w, high);
    kr_join_give_column(w, low);
    *low = take_bound(w, type, c.sorted.n);
    *high = take_bound(w, type, c.sorted.n);
    const covering_part_params params = {
        c.view, c.sorted.keys.data, (void *)low->data, (void *)high->data, type, 0};
    kr_work_run(w, &covering_part, &params, c.sorted.n);
    kr_work_give(w, c.view.reach);
    kr_work_give(w, c.view.largest);
    kr_sorted_give(w, &c.sorted);
}
