#include "join/side.h"
#include "index/kinds/choose.h"
#include "join/sample.h"

#include <stdio.h>
#include <string.h>

static double of_side(const kr_join_costs *costs, int left)
{
    return left ? costs->left : costs->right;
}

/* ---- By the numbers of rows --------------------------------------------------------------------- */

/* Each left row has a partner, as foreign keys do, unless a sample tells. Pairs are dearer where ranges are
 * indexed: if that does not pay without any, their number does not matter. */
static void shape_make(kr_work *w, const kr_join_job *job, const kr_kind *kind, kr_join_shape *shape)
{
    *shape = (kr_join_shape){.device = w->device,
                             .kind = kind,
                             .left = job->left->count,
                             .right = job->right->count,
                             .in_order = !job->unordered && kr_join_has_pairs(job->type),
                             .is_range = (uint32_t)kr_join_has_ranges(job),
                             .is_pairs = (uint32_t)kr_join_has_pairs(job->type)};
    const kr_join_costs without = kr_join_cost(shape);
    shape->pairs = (double)job->left->count;
    if (job->right_upper && job->left->data && shape->is_pairs && job->index_side == KR_INVERSE_AUTO &&
        without.right < without.left)
        kr_join_sample(w, job, &shape->pairs);
}

static void fill_info(kr_work *w, const kr_join_side *side, const kr_join_costs *costs, kr_join_info *info)
{
    KR_STEP(w, kr_spec_format(&side->spec, info->spec, sizeof info->spec, w->err));
    info->cost_left = costs->left;
    info->cost_right = costs->right;
    snprintf(info->device, sizeof info->device, "%s", w->device->name);
    snprintf(info->indexed, sizeof info->indexed, "%s", side->is_left ? "left" : "right");
}

kr_join_side kr_join_decide(kr_work *w, const kr_join_job *job, kr_join_info *info)
{
    const int may_choose = job->index_side == KR_INVERSE_AUTO;
    kr_join_side side = {.looks_for = NULL};
    KR_STEP(w, kr_choose(w->device, job->spec, &side.spec, NULL, w->err));
    /* before any time is spent on a build */
    KR_STEP(w, kr_query_check(side.spec.kind, kr_join_has_ranges(job), w->err));
    if (!kr_work_goes_on(w))
        return side;
    side.looks_for = kr_choose_looks(w->device, job->spec) ? job->spec : NULL;
    shape_make(w, job, side.spec.kind, &side.shape);
    const kr_join_costs costs = kr_join_cost(&side.shape);
    side.is_left = may_choose ? costs.left < costs.right : job->index_side == KR_INVERSE_ON;
    if (job->right_upper && !side.is_left) { /* ranges are found by the nearest lower bound */
        if (may_choose)
            side.is_left = kr_kind_check(side.spec.kind, KR_CAN_NEAREST, NULL) != KR_OK;
        else
            KR_STEP(w, kr_kind_check(side.spec.kind, KR_CAN_NEAREST, w->err));
    }
    fill_info(w, &side, &costs, info);
    return side;
}

/* ---- By the columns ----------------------------------------------------------------------------- */

/* Values for each row that bits are made for: 4 bytes at most. */
enum { NEAR = 32 };

/* A side as the look goes on. */
typedef struct view_of_side {
    const kr_column *column;
    kr_spec spec;
    kr_look seen;       /* n > 0: it was looked at */
    double cost, least; /* as far as it is known; if its keys are as they may be */
    int can_look;
} view_of_side;

static double cost_with(const kr_join_side *side, const kr_kind *kind, int left)
{
    kr_join_shape shape = side->shape;
    shape.kind = kind;
    const kr_join_costs costs = kr_join_cost(&shape);
    return of_side(&costs, left);
}

/* What keys that are close together may lead to. */
static double least_cost(const kr_join_side *side, int left, double cost)
{
    kr_spec other;
    double least = cost;
    for (uint32_t i = 0; side->looks_for && kr_choose_other(side->shape.device, side->looks_for, i, &other);
         ++i) {
        const double found = cost_with(side, other.kind, left);
        least = found < least ? found : least;
    }
    return least;
}

static view_of_side view_side(kr_work *w, const kr_join_job *job, const kr_join_side *side, int left)
{
    const kr_column *column = left ? job->left : job->right;
    const int is_ranges = !left && job->right_upper,
              can = !is_ranges && column->count && kr_column_is_reached(w->device, column);
    view_of_side v = {.column = column, .spec = side->spec, .can_look = can};
    v.cost = cost_with(side, side->spec.kind, left);
    v.least = can ? least_cost(side, left, v.cost) : v.cost;
    return v;
}

/* Rows of the other side look up in a side, once. */
static uint64_t lookups_in(const kr_join_job *job, int left)
{
    return left ? job->right->count : job->left->count;
}

static void look_at(kr_work *w, const kr_join_job *job, const kr_join_side *side, int left, view_of_side *v)
{
    if (!v->can_look || v->seen.n || !kr_work_goes_on(w))
        return;
    v->seen = kr_look_at(w, v->column);
    if (side->looks_for)
        kr_choose_seen(w->device, job->spec, &v->seen, lookups_in(job, left), &v->spec, NULL);
    v->cost = cost_with(side, v->spec.kind, left);
}

/* Semi and anti joins of a side that is addressed need no index: the right side's values become bits. 1: one
 * is found; the right side is then the one that counts as indexed. */
static int look_for_bits(kr_work *w, const kr_join_job *job, kr_join_side *side, view_of_side views[2])
{
    const int sides = side->looks_for && job->index_side == KR_INVERSE_AUTO ? 2 : 1;
    if (job->index_side == KR_INVERSE_ON || side->shape.is_pairs || side->shape.is_range ||
        kr_index_divides(w->device, &side->spec)) /* whose columns need not fit on the device */
        return 0;
    for (int left = 0; left < sides; ++left) {
        view_of_side *v = &views[left];
        if (side->looks_for || kr_join_addresses(side->spec.kind))
            look_at(w, job, side, left, v);
        if (kr_join_addresses(v->spec.kind) && kr_look_is_close(&v->seen, NEAR)) {
            side->near = v->seen;
            side->shape.is_bits = 1;
            views[0].spec = v->spec;
            views[0].cost = cost_with(side, v->spec.kind, 0);
            return 1;
        }
    }
    return 0;
}

/* Looks at the side that promises most, and at the other one if it may still cost less. Returns the side that
 * does. */
static int look_at_both(kr_work *w, const kr_join_job *job, const kr_join_side *side, view_of_side views[2])
{
    const int first = views[1].least < views[0].least;
    look_at(w, job, side, first, &views[first]);
    if (views[!first].least < views[first].cost)
        look_at(w, job, side, !first, &views[!first]);
    return views[1].cost < views[0].cost;
}

void kr_join_look(kr_work *w, const kr_join_job *job, int may_mark, kr_join_side *side, kr_join_info *info)
{
    view_of_side views[2]; /* of the right side, and of the left one */
    if (!kr_work_goes_on(w))
        return;
    for (int left = 0; left < 2; ++left)
        views[left] = view_side(w, job, side, left);
    if (may_mark && look_for_bits(w, job, side, views))
        side->is_left = 0;
    else if (side->looks_for && job->index_side == KR_INVERSE_AUTO)
        side->is_left = look_at_both(w, job, side, views);
    else if (side->looks_for)
        look_at(w, job, side, side->is_left, &views[side->is_left]);
    const view_of_side *chosen = &views[side->is_left];
    side->spec = chosen->spec;
    if (chosen->can_look || (!side->is_left && job->right_upper))
        side->looks_for = NULL;
    const kr_join_costs costs = {views[1].cost, views[0].cost};
    fill_info(w, side, &costs, info);
    kr_work_lap(w, "look");
}

/* ---- The index ---------------------------------------------------------------------------------- */

kr_index *kr_join_build(kr_work *w, const kr_join_job *job, const kr_join_side *side, kr_join_info *info)
{
    const kr_column *indexed = side->is_left ? job->left : job->right;
    kr_shape shape;
    kr_index *index = NULL;
    KR_STEP(w, kr_index_shape_make(w->device, &side->spec, indexed, NULL, &shape, w->err));
    if (job->used_bits)
        KR_STEP(w, kr_index_make_narrow(w->device, &side->spec, indexed, NULL, job->used_bits, w->stream,
                                        &index, w->err));
    else if (side->looks_for)
        KR_STEP(w, kr_index_make_best(w->device, side->looks_for, lookups_in(job, side->is_left), &side->spec,
                                      indexed, NULL, w->stream, &index, w->err));
    else
        KR_STEP(w, kr_index_make(w->device, &side->spec, indexed, NULL, w->stream, &index, w->err));
    if (index)
        memcpy(info->spec, index->info.spec, sizeof info->spec);
    return index;
}
