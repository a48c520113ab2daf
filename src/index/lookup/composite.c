#include "index/lookup/composite.h"
#include "index/kinds/nearest.h"
#include "index/lookup/composite_body.h"

#define HELP "look up fewer probes at once"

/* ---- Equal values, and bounds --------------------------------------------------------------------- */

/* All columns are asked for equal values. */
static int is_point(const kr_composite *c, const kr_composite_probes *probes)
{
    return probes->n == c->n && !probes->has_upper;
}

/* The keys of both bounds. */
static void fold_bounds(kr_work *w, const kr_composite *c, const kr_composite_probes *probes,
                        kr_column keys[2])
{
    kr_composite_probes upper = *probes;
    const kr_composite_rows from = {
        .columns = probes->columns, .n = probes->n, .last = probes->has_upper ? KR_FOLD_LEAST : KR_FOLD_ONLY};
    const kr_composite_rows to = {.columns = upper.columns,
                                  .n = probes->n,
                                  .last = probes->has_upper ? KR_FOLD_MOST : KR_FOLD_ONLY,
                                  .fills = 1};
    if (probes->has_upper)
        upper.columns[probes->n - 1] = probes->upper;
    keys[0] = kr_composite_fold(w, c, &from, HELP);
    keys[1] = kr_composite_fold(w, c, &to, HELP);
}

/* ---- Nearest keys ----------------------------------------------------------------------------------- */

static int is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

static int is_either(const kr_nearby *near)
{
    return near->how & KR_NEAR_BELOW && near->how & KR_NEAR_ABOVE;
}

/* Differences of the column's values are differences of keys. */
static int has_distances(const kr_composite *c, uint32_t i)
{
    return kr_composite_is_last(c, i) && (!is_float(c->columns[i].type) || kr_composite_is_whole(c, i));
}

kr_status kr_query_check_composite(const kr_index *index, const kr_composite_probes *probes, kr_error *err)
{
    const uint32_t i = probes->n - 1;
    if (!is_either(&probes->near) || has_distances(index->composite, i))
        return KR_OK;
    return kr_fail(
        err, KR_ERR_UNSUPPORTED,
        "the nearer of two values of column %u: keys of this index do not tell their distances, as "
        "other columns follow it, or all take more than 64 bits together; look up KR_NEAREST_BELOW "
        "and KR_NEAREST_ABOVE, or use kr_join_create_asof",
        i);
}

/* What the search itself heeds: the probe's group and the tolerance, where keys tell them. */
static kr_nearby near_of_keys(const kr_composite *c, const kr_composite_probes *probes)
{
    const uint32_t i = probes->n - 1, level = c->columns[i].level;
    const int tells = has_distances(c, i);
    kr_nearby near = probes->near;
    if (!tells) {
        near.how &= ~(uint32_t)KR_NEAR_LIMITED;
        near.tolerance = 0;
    }
    if (!tells || !is_float(near.type))
        near.type = KR_U64;
    if (level + 1 == c->n_levels) {
        const int is_first = i == 0 || c->columns[i - 1].level < level;
        near.how |= KR_NEAR_GROUPED;
        near.low_bits = (uint16_t)(!is_first ? c->columns[i - 1].shift
                                   : level   ? c->heads[level].shift
                                             : c->bits);
    }
    return near;
}

/* 1: the search may find a key of another group, one that is too far away, or NaN. So it is asked first
 * whether there is any key that may answer: then the nearest one does. */
static int needs_filter(const kr_composite *c, const kr_composite_probes *probes)
{
    const uint32_t i = probes->n - 1, how = probes->near.how;
    const int is_exact = has_distances(c, i);
    const int is_near = is_exact && kr_composite_has_margin(c, i, probes->near.tolerance);
    return c->columns[i].level + 1 < c->n_levels || (how & KR_NEAR_LIMITED && !is_near) ||
           (how & KR_NEAR_ABOVE && is_float(probes->near.type) && !is_exact);
}

/* A bit for each probe: 1 where a key may answer. */
static uint8_t *filter(kr_work *w, const kr_index *index, const kr_composite_probes *probes)
{
    const kr_column *values = &probes->columns[probes->n - 1];
    const uint64_t n = values->count, nbytes = n * sizeof(uint64_t);
    uint8_t *bitmap = kr_work_take_or(w, n / 8 + 1, "which probes have an answer", HELP);
    const composite_reach_params params = {.probes = values->data,
                                           .lower = kr_work_take_or(w, nbytes, "values within reach", HELP),
                                           .upper = kr_work_take_or(w, nbytes, "values within reach", HELP),
                                           .near = probes->near};
    kr_composite_probes reached = *probes;
    const kr_sink sink = {.result = KR_RESULT_EXISTS, .out = bitmap};
    kr_column keys[2];
    kr_query query;
    kr_work_run(w, &composite_reach, &params, n);
    reached.columns[probes->n - 1].type = KR_U64; /* whose values are their codes */
    reached.columns[probes->n - 1].data = params.lower;
    reached.upper = reached.columns[probes->n - 1];
    reached.upper.data = params.upper;
    reached.has_upper = 1;
    fold_bounds(w, index->composite, &reached, keys);
    kr_query_make(w, index, &keys[0], &keys[1], &query);
    if (kr_work_goes_on(w))
        kr_query_answer(w, &query, &sink, NULL);
    kr_composite_give(w, &keys[1]);
    kr_composite_give(w, &keys[0]);
    kr_work_give(w, params.upper);
    kr_work_give(w, params.lower);
    return bitmap;
}

static void make_nearest(kr_work *w, const kr_index *index, const kr_composite_probes *probes,
                         kr_column keys[2], kr_query *query)
{
    const kr_composite *c = index->composite;
    const int is_below = (probes->near.how & KR_NEAR_BELOW) != 0;
    const uint32_t is_strict = (probes->near.how & KR_NEAR_STRICT) != 0;
    const kr_composite_rows rows = {.columns = probes->columns,
                                    .n = probes->n,
                                    .last = is_below != (int)is_strict ? KR_FOLD_MOST : KR_FOLD_LEAST,
                                    .fills = is_below != (int)is_strict,
                                    .not_nan = 1};
    const kr_nearby near = near_of_keys(c, probes);
    uint8_t *bitmap = needs_filter(c, probes) ? filter(w, index, probes) : NULL;
    keys[0] = kr_composite_fold(w, c, &rows, HELP);
    if (bitmap) {
        kr_work_give(w, keys[0].validity);
        keys[0].validity = bitmap;
    }
    kr_query_make_nearest(w, index, &keys[0], &near, query);
}

void kr_query_make_composite(kr_work *w, const kr_index *index, const kr_composite_probes *probes,
                             kr_column keys[2], kr_query *query)
{
    const kr_composite_rows rows = {.columns = probes->columns, .n = probes->n, .last = KR_FOLD_ONLY};
    keys[1] = (kr_column){.data = NULL};
    if (probes->near.how) {
        make_nearest(w, index, probes, keys, query);
    } else if (is_point(index->composite, probes)) {
        keys[0] = kr_composite_fold(w, index->composite, &rows, HELP);
        kr_query_make(w, index, &keys[0], NULL, query);
    } else {
        fold_bounds(w, index->composite, probes, keys);
        kr_query_make(w, index, &keys[0], &keys[1], query);
    }
    kr_work_lap(w, "fold");
}
