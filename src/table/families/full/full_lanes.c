/* From plans to lanes. The leaves of an AND are one lane. So are those of an OR: its complement is the AND of
 * the leaves' complements. What stands above is folded afterwards, word by word. */
#include "base/key/key.h"
#include "table/condition/grow.h"
#include "table/families/full/full_batch.h"

#include <stdlib.h>
#include <string.h>

void full_batch_begin(full_batch *batch, const full_table *table)
{
    full_lane_leaf *leaves = batch->leaves;
    const uint64_t room = batch->room_leaves;
    *batch = (full_batch){.table = table, .leaves = leaves, .room_leaves = room};
}

void full_batch_release(full_batch *batch)
{
    free(batch->leaves);
    batch->leaves = NULL;
}

/* ---- Whether there is room ------------------------------------------------------------------- */

static uint32_t place_of(const full_batch *batch, const kr_leaf *leaf)
{
    uint32_t c = 0;
    while (c < batch->n_columns &&
           (batch->sources[c].column != leaf->column || batch->sources[c].other != leaf->other))
        ++c;
    return c;
}

/* Nodes that have leaves of their own. */
static uint64_t count_lanes(const kr_plan *plan)
{
    uint64_t n = plan->n_nodes == 1;
    for (uint64_t at = 0; at < plan->n_nodes; ++at) {
        const kr_plan_node *node = plan->nodes + at;
        uint64_t child = at - 1;
        int has_leaf = 0;
        for (uint32_t i = 0; node->op != KR_PLAN_LEAF && i < node->n; child -= plan->nodes[child].size, ++i)
            has_leaf |= plan->nodes[child].op == KR_PLAN_LEAF;
        n += (uint64_t)has_leaf;
    }
    return n;
}

/* Counts the plan's columns and edges in, as far as there is room; 0: there is none. */
static int take_columns(full_batch *batch, const kr_plan *plan)
{
    for (uint64_t l = 0; l < plan->n_leaves; ++l) {
        const kr_leaf *leaf = plan->leaves + l;
        const uint32_t c = place_of(batch, leaf);
        if (c == FULL_BATCH_COLUMNS || (c < batch->n_columns && batch->sources[c].n_edges > FULL_EDGES_MOST))
            return 0;
        if (c == batch->n_columns)
            batch->sources[batch->n_columns++] = (full_batch_source){leaf->column, leaf->other, 0};
        batch->is_wide |= kr_type_key_bits(full_read_of(batch->table, leaf)->type) == 64;
        batch->sources[c].n_edges +=
            leaf->other == KR_NO_COLUMN ? 2 * full_codes_in(batch->table, leaf).n : 0;
        if (batch->sources[c].n_edges > FULL_EDGES_MOST)
            return 0;
    }
    return 1;
}

int full_batch_holds(const full_table *table, const kr_plan *plan)
{
    full_batch batch = {.table = table};
    return count_lanes(plan) <= FULL_LANES && take_columns(&batch, plan);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static void add_leaf(full_batch *batch, const kr_leaf *leaf, uint32_t lane, uint32_t is_or)
{
    batch->leaves[batch->n_leaves++] = (full_lane_leaf){leaf, lane, place_of(batch, leaf), is_or};
}

static uint32_t add_lane(full_batch *batch, uint32_t is_or)
{
    const uint32_t lane = batch->n_lanes++;
    batch->inverts[lane / 32] |= is_or << lane % 32;
    return lane;
}

/* The team that has least to do so far; it does all folds of a plan, one after the other. */
static uint32_t choose_team(const full_batch *batch)
{
    uint32_t best = 0;
    for (uint32_t t = 1; t < FULL_BATCH_TEAMS; ++t)
        if (batch->n_folds[t] < batch->n_folds[best])
            best = t;
    return best;
}

/* The lane of a node's own leaves; KR_NO_PLACE: it has none. */
static uint32_t add_node(full_batch *batch, const kr_plan *plan, uint64_t at)
{
    const kr_plan_node *node = plan->nodes + at;
    const uint32_t is_or = node->op == KR_PLAN_OR;
    uint32_t lane = KR_NO_PLACE;
    uint64_t child = at - 1;
    for (uint32_t i = 0; i < node->n; child -= plan->nodes[child].size, ++i) {
        if (plan->nodes[child].op != KR_PLAN_LEAF)
            continue;
        lane = lane == KR_NO_PLACE ? add_lane(batch, is_or) : lane;
        add_leaf(batch, plan->leaves + plan->nodes[child].n, lane, is_or);
    }
    return lane;
}

/* Returns the lane of the result. `lanes` has room for a lane of each node. */
static uint32_t add_plan(full_batch *batch, const kr_plan *plan, uint32_t *lanes)
{
    const uint32_t team = choose_team(batch);
    for (uint64_t at = 0; at < plan->n_nodes; ++at)
        lanes[at] = plan->nodes[at].op == KR_PLAN_LEAF ? KR_NO_PLACE : add_node(batch, plan, at);
    if (plan->n_nodes == 1) {
        lanes[0] = add_lane(batch, 0);
        add_leaf(batch, plan->leaves, lanes[0], 0);
    }
    return kr_plan_fold(plan, lanes, batch->folds[team], &batch->n_folds[team]);
}

kr_status full_batch_add(full_batch *batch, const kr_batch_job *job, uint32_t i, kr_error *err)
{
    const kr_plan *plan = job->plan;
    full_batch before = *batch;
    if (batch->n_lanes + count_lanes(plan) > FULL_LANES || !take_columns(batch, plan)) {
        *batch = before;
        return KR_OK;
    }
    uint32_t *lanes = kr_host_calloc(plan->n_nodes, sizeof *lanes, "a batch of conditions", err);
    if (!lanes || !kr_condition_grow((void **)&batch->leaves, &batch->room_leaves, batch->n_leaves,
                                     plan->n_leaves, sizeof *batch->leaves, "a batch of conditions", err)) {
        free(lanes);
        return KR_ERR_HOST_MEMORY;
    }
    batch->results[add_plan(batch, plan, lanes)] = job->bitmap;
    batch->members |= (uint64_t)1 << i;
    ++batch->n_jobs;
    free(lanes);
    return KR_OK;
}
