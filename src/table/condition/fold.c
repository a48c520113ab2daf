#include "table/condition/fold.h"

static void fold_operands(const kr_plan *plan, uint64_t at, uint32_t *places, uint32_t *folds,
                          uint32_t *n_folds)
{
    const kr_plan_node *node = plan->nodes + at;
    const uint32_t op = node->op == KR_PLAN_OR ? KR_FOLD_OR : KR_FOLD_AND;
    uint64_t child = at - 1;
    for (uint32_t i = 0; i < node->n; child -= plan->nodes[child].size, ++i) {
        if (places[child] == KR_NO_PLACE)
            continue;
        if (places[at] == KR_NO_PLACE)
            places[at] = places[child];
        else
            folds[(*n_folds)++] = kr_plan_fold_of(op, places[at], places[child]);
    }
}

uint32_t kr_plan_fold(const kr_plan *plan, uint32_t *places, uint32_t *folds, uint32_t *n_folds)
{
    for (uint64_t at = 0; at < plan->n_nodes; ++at)
        if (plan->nodes[at].op != KR_PLAN_LEAF)
            fold_operands(plan, at, places, folds, n_folds);
    return places[plan->n_nodes - 1];
}
